//! What keeps us from looking is our failure, and what the agent or the operator did is not.

use super::*;

/// A bench without a tree, whose one program is as it was.
fn bench(scratch: &Path) -> SandboxConfig {
    let program = std::env::current_exe().unwrap();
    let sha256 = Digest::of(&fs::read(&program).unwrap());
    SandboxConfig {
        root: None,
        baseline: Listing::default(),
        zones: Zones::new(&[]).unwrap(),
        ignored: Ignored::new(&[]).unwrap(),
        load: Box::new(|_| Ok(None)),
        scratch: scratch.to_owned(),
        programs: vec![Pinned {
            target: fs::canonicalize(&program).unwrap(),
            path: program,
            sha256,
        }],
        services: BTreeMap::new(),
        launcher: Launcher::new("/no/such/launcher".into()),
        confinement: Confinement::default(),
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

/// What is said to have kept a bench from running this.
fn failure(bench: &SandboxConfig, order: &CommandSpec) -> Option<String> {
    let sandbox = LiveSandbox::new(bench);
    assert_eq!(sandbox.failure(), None);
    let ran = sandbox.run(order);
    assert!(matches!(ran.end, End::NotStarted(_)), "{ran:?}");
    sandbox.failure()
}

#[test]
fn a_start_a_copy_and_a_tree_that_fail_are_our_failures() {
    let place = tempfile::tempdir().unwrap();
    let mut bench = bench(place.path());
    let order = order(&bench.programs[0].path);
    assert!(failure(&bench, &order).is_some());
    bench.scratch = "/no/such/directory".into();
    let why = failure(&bench, &order).unwrap();
    assert!(why.contains("no scratch copy"), "{why}");
    bench.root = Some(place.path().join("moved"));
    let sandbox = LiveSandbox::new(&bench);
    assert!(sandbox.changes().is_err());
    assert!(sandbox.failure().is_some());
}

#[test]
fn less_confinement_than_before_is_our_failure() {
    let place = tempfile::tempdir().unwrap();
    let mut bench = bench(place.path());
    bench.confinement.landlock = Some(1);
    let sandbox = LiveSandbox::new(&bench);
    let same = bench.confinement.clone();
    assert_eq!(sandbox.refuse_less(&same, &Network::None), Ok(()));
    assert_eq!(sandbox.failure(), None);
    let less = sandbox.refuse_less(&Confinement::default(), &Network::None);
    assert_eq!(sandbox.failure(), less.err());
    assert!(sandbox.failure().is_some());
}

#[test]
fn a_changed_program_and_a_refused_edit_are_not() {
    let place = tempfile::tempdir().unwrap();
    let bench = bench(place.path());
    assert_eq!(failure(&bench, &order(Path::new("/bin/other"))), None);
    let mut edited = order(&bench.programs[0].path);
    edited.edits.push(Edit {
        path: "../out".into(),
        text: String::new(),
    });
    assert_eq!(failure(&bench, &edited), None);
    let mut elsewhere = order(&bench.programs[0].path);
    elsewhere.dir = "taken-away".into();
    assert_eq!(failure(&bench, &elsewhere), None);
}
