//! What keeps us from looking is our failure, and what the agent did is not.

use std::fs;
use std::path::Path;

use super::*;

/// A sandbox without a tree, whose one program is as it was.
fn config(scratch: &Path) -> SandboxConfig {
    let program = std::env::current_exe().unwrap();
    let sha256 = Digest::of(&fs::read(&program).unwrap());
    SandboxConfig {
        programs: vec![Pinned {
            target: fs::canonicalize(&program).unwrap(),
            path: program,
            sha256,
        }],
        ..SandboxConfig::without_tree(
            scratch.to_owned(),
            Launcher::new("/no/such/launcher".into()),
        )
    }
}

fn order(program: &Path) -> CommandSpec {
    CommandSpec {
        name: "check".into(),
        argv: vec![program.to_str().unwrap().to_owned()],
        timeout_ms: 1_000,
        output_bytes: 100,
        ..CommandSpec::default()
    }
}

/// What kept the sandbox from running this.
fn failure(config: &SandboxConfig, order: &CommandSpec) -> Option<String> {
    let sandbox = LiveSandbox::new(config);
    assert_eq!(sandbox.failure(), None);
    let ran = sandbox.run(order);
    assert!(matches!(ran.end, End::NotStarted(_)), "{ran:?}");
    sandbox.failure()
}

#[test]
fn failed_starts_copies_and_trees_are_our_failures() {
    let place = tempfile::tempdir().unwrap();
    let mut config = config(place.path());
    let order = order(&config.programs[0].path);
    assert!(failure(&config, &order).is_some());
    config.scratch = "/no/such/directory".into();
    let why = failure(&config, &order).unwrap();
    assert!(why.contains("no scratch copy"), "{why}");
    config.root = Some(place.path().join("moved"));
    let sandbox = LiveSandbox::new(&config);
    assert!(sandbox.changes().is_err());
    assert!(sandbox.failure().is_some());
}

#[test]
fn less_confinement_than_before_is_our_failure() {
    let place = tempfile::tempdir().unwrap();
    let mut config = config(place.path());
    config.confinement.landlock = Some(1);
    let sandbox = LiveSandbox::new(&config);
    let same = config.confinement.clone();
    assert_eq!(sandbox.refuse_less(&same, &Network::None), Ok(()));
    assert_eq!(sandbox.failure(), None);
    let less = sandbox.refuse_less(&Confinement::default(), &Network::None);
    assert_eq!(sandbox.failure(), less.err());
    assert!(sandbox.failure().is_some());
}

#[test]
fn a_changed_program_is_our_failure() {
    let place = tempfile::tempdir().unwrap();
    let mut config = config(place.path());
    let order = order(&config.programs[0].path);
    config.programs[0].sha256 = Digest::of(b"before");
    let why = failure(&config, &order).unwrap();
    assert!(
        why.contains("changed since the session was made: its digest is now"),
        "{why}"
    );
    let plan = ServicePlan {
        argv: vec![Template::fixed(&order.argv[0])],
        env: BTreeMap::new(),
        ready: Ready::Port,
        within: Span::from_millis(1_000),
    };
    config.services.insert("shop".to_owned(), plan);
    let sandbox = LiveSandbox::new(&config);
    let started = sandbox.service("shop", RunPlace::Submission);
    assert_eq!(started, Started::Failed(why.clone()));
    assert_eq!(sandbox.failure(), Some(why));
}

#[test]
fn a_refused_edit_and_a_removed_folder_are_not_our_failures() {
    let place = tempfile::tempdir().unwrap();
    let config = config(place.path());
    let mut edited = order(&config.programs[0].path);
    edited.edits.push(Edit {
        path: "../out".into(),
        text: String::new(),
    });
    assert_eq!(failure(&config, &edited), None);
    let mut elsewhere = order(&config.programs[0].path);
    elsewhere.dir = "taken-away".into();
    assert_eq!(failure(&config, &elsewhere), None);
}

#[test]
fn every_judgement_sees_the_same_tree() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("a.txt");
    fs::write(&file, "then").unwrap();
    let mut config = config(place.path());
    config.root = Some(place.path().to_owned());
    config.zones = Zones::new(&["*.txt".to_owned()]).unwrap();
    let taken = TreeLook::take(&config).unwrap();
    fs::write(&file, "now").unwrap();
    let path = TreePath::parse("a.txt").unwrap();
    let seen = |taken| LiveSandbox::over(&config, taken, Alteration::default()).file(&path);
    assert_eq!(seen(Some(&taken)), FileSeen::File(b"then".to_vec()));
    assert_eq!(seen(None), FileSeen::File(b"now".to_vec()));
    let edit = Edit {
        path: "a.txt".into(),
        text: "edited".into(),
    };
    let altered = Alteration {
        files: vec![edit],
        removed: Vec::new(),
    };
    let sandbox = LiveSandbox::over(&config, Some(&taken), altered);
    assert_eq!(sandbox.file(&path), FileSeen::File(b"edited".to_vec()));
}

#[test]
fn judgements_of_a_tree_share_its_copy_unless_it_is_edited_or_was_changed() {
    let place = tempfile::tempdir().unwrap();
    let config = config(place.path());
    let look = TreeLook::of(Snapshot::default(), Vec::new());
    let copy = |look: &TreeLook| look.copy(&config).unwrap();
    let first = copy(&look);
    assert!(Arc::ptr_eq(&first, &copy(&look.clone())));
    let mut edited = look.clone();
    let altered = Alteration {
        files: vec![Edit {
            path: "a.txt".into(),
            text: "edited".into(),
        }],
        removed: Vec::new(),
    };
    edited.alter(&altered, &config.zones).unwrap();
    assert!(!Arc::ptr_eq(&first, &copy(&edited)));
    let sandbox = LiveSandbox::over(&config, Some(&look), Alteration::default());
    let order = order(&config.programs[0].path);
    assert!(sandbox.copy_for(&order).is_ok());
    assert_eq!(sandbox.failure(), None);
    fs::write(first.path().join("new"), "").unwrap();
    assert!(sandbox.failure().is_some());
    assert!(!Arc::ptr_eq(&first, &copy(&look)));
}
