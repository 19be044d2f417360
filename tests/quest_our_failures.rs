//! Failures of the gate itself: nothing is judged or recorded, and the same answer can be sent
//! again.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use comail::judge::{self, Answer, JudgeError, Judged};
use comail::quest::template::Template;
use comail::quest::{FieldName, Span, Submission, Verdict};
use comail::session::Session;
use comail::world::World;
use comail::world::evidence::recorded::RecordedWorld;
use comail::world::sandbox::{
    Confinement, Launcher, LiveSandbox, Means, Network, Ready, Sandbox as _, SandboxConfig,
    ServicePlan, Started,
};
use walkdir::WalkDir;

use crate::harness::letters::{LETTERS, Letters, PATH};
use crate::harness::made::{at, id, salt};
use crate::harness::shell_quest::ShellQuest;
use crate::harness::{Place, Run};

const SUBMIT: [&str; 3] = ["submit", "--id=1", "--file=in/try.sh"];

/// As where the kernel offers nothing.
const NO_MEANS: Means = Means {
    namespaces: false,
    landlock: false,
};

/// Submits while the gate could not run, and then the same while it can.
#[track_caller]
fn submits_twice(quest: &ShellQuest, takes: impl Fn(), brings: impl Fn()) {
    fs::write(quest.at("in/try.sh"), "exit 0\n").expect("a script");
    let before = recorded(&quest.place);
    takes();
    let run = quest.place.run(SUBMIT);
    assert_eq!(run.code, 1, "{run:?}");
    run.says("the gate could not run: ");
    run.says("nothing changed");
    assert_eq!(recorded(&quest.place), before);
    brings();
    let (code, answer) = quest.place.json(SUBMIT);
    let said = (code, &answer["verdict"], &answer["attempt"]);
    assert_eq!(said, (0, &"PASS".into(), &1.into()), "{answer:#}");
    assert_eq!(quest.place.json(["audit"]).0, 0);
}

/// What a session holds: its ledger, and the names of its evidence.
fn recorded(place: &Place) -> (Vec<u8>, Vec<PathBuf>) {
    let entries = WalkDir::new(place.at(".comail/evidence")).sort_by_file_name();
    let names = entries.into_iter().map(|it| it.expect("an entry"));
    let names = names.map(walkdir::DirEntry::into_path).collect();
    (place.ledger(), names)
}

fn renames(from: &Path, to: &Path) {
    fs::rename(from, to).expect("a folder to rename");
}

#[test]
fn a_missing_tree_or_folder_for_copies_costs_no_try() {
    for folder in ["tree", "tmp"] {
        let quest = ShellQuest::new("20s");
        let (here, away) = (quest.place.at(folder), quest.place.at("away"));
        submits_twice(&quest, || renames(&here, &away), || renames(&away, &here));
    }
}

#[test]
fn less_confinement_than_at_the_scan_costs_no_try() {
    let quest = ShellQuest::new("20s");
    fs::write(quest.at("in/try.sh"), "exit 0\n").expect("a script");
    let before = recorded(&quest.place);
    let mut session = Session::open(&quest.place.at(".comail")).expect("a session");
    let error = submit(&mut session, NO_MEANS).expect_err("less than was frozen");
    assert!(matches!(error, JudgeError::Sandbox(_)), "{error}");
    assert!(error.to_string().contains("confines"), "{error}");
    assert_eq!(recorded(&quest.place), before);
    match submit(&mut session, Means::ALL) {
        Ok(judged) => assert_eq!(judged.judgement.verdict, Verdict::Pass),
        other => panic!("{other:?}"),
    }
}

/// Submits through the library, with commands confined by no more than these means.
fn submit(session: &mut Session, means: Means) -> Result<Judged, JudgeError> {
    let mut bench = bench(session);
    // Of the frozen level it is known what it must be where all means are used.
    assert_ne!(bench.confinement, Confinement::default());
    bench.launcher.means = means;
    let kind = judge::SessionKind::load(session.manifest()).expect("a kind");
    let world = RecordedWorld::from_json(r#"{"pages": {}}"#).expect("a world");
    let world = World {
        fetcher: &world,
        resolver: &world,
        accepted: &judge::NothingAccepted,
        sandbox: &LiveSandbox::new(&bench),
    };
    let fields = [(FieldName::from("file".to_owned()), "in/try.sh".to_owned())];
    let answer = Answer {
        quest: id(0),
        worker: None,
        submission: &Submission::Fields(BTreeMap::from(fields)),
    };
    judge::submit(session, answer, &kind, world, &mut (at, salt))
}

/// The session's bench, whose commands are started by the built program.
fn bench(session: &Session) -> SandboxConfig {
    let dir = session.dir().to_owned();
    let kind = judge::SessionKind::load(session.manifest()).expect("a kind");
    let bench = kind.sandbox_config(session.evidence(), dir);
    SandboxConfig {
        launcher: Launcher::new(PathBuf::from(env!("CARGO_BIN_EXE_comail"))),
        ..bench.expect("a bench").expect("a quest file's")
    }
}

#[test]
fn a_service_with_less_confinement_than_at_the_scan_fails() {
    let quest = ShellQuest::new("20s");
    let session = Session::open(&quest.place.at(".comail")).expect("a session");
    let starts = |means| {
        let mut bench = bench(&session);
        let shell = bench.programs[0].path.display().to_string();
        let argv = [shell.as_str(), "-c", "echo up; exec sleep 60"];
        let plan = ServicePlan {
            argv: argv.map(Template::fixed).into(),
            env: BTreeMap::new(),
            ready: Ready::Line(regex::bytes::Regex::new("^up$").expect("a pattern")),
            within: Span::from_millis(60_000),
        };
        bench.services.insert("api".to_owned(), plan);
        bench.launcher.means = means;
        let sandbox = LiveSandbox::new(&bench);
        (sandbox.service("api"), sandbox.failure())
    };
    let (started, failure) = starts(Means::ALL);
    assert!(matches!(started, Started::Listening { .. }), "{started:?}");
    assert_eq!(failure, None);
    let (started, failure) = starts(NO_MEANS);
    assert!(matches!(started, Started::Failed(_)), "{started:?}");
    let why = failure.expect("a failure of ours");
    assert!(why.contains("confines"), "{why}");
}

#[test]
fn the_scan_freezes_the_confinement_of_its_commands() {
    let quest = ShellQuest::new("20s");
    assert_eq!(quest.tries("exit 0").verdict, "PASS");
    let session = Session::open(&quest.place.at(".comail")).expect("a session");
    let frozen = bench(&session).confinement;
    let attempts = quest.place.events("attempt");
    let exchanges = attempts[0]["evidence"].to_string();
    let seen = serde_json::to_string(&frozen).expect("JSON");
    assert!(exchanges.contains(&seen), "{seen} in {exchanges}");
    assert!(!frozen.is_less(&frozen, &Network::None));
}

#[test]
fn a_control_that_cannot_run_proves_nothing() {
    let letters = Letters::with(LETTERS);
    let tmp = letters.place.at("tmp");
    let run = |args: &[&str]| {
        let mut command = letters.place.command();
        Run::of(command.env("PATH", PATH).env("TMPDIR", &tmp).args(args))
    };
    let cannot = |args: &[&str]| {
        let run = run(args);
        assert_eq!(run.code, 1, "{run:?}");
        for words in [
            "control `honest`",
            "the gate could not run",
            "no scratch copy",
        ] {
            assert!(run.stderr.contains(words), "{words}: {run:?}");
        }
        assert_eq!(run.stdout, "");
    };
    let scan = ["scan", "list.jsonl", "--quest", "letters.toml"];
    cannot(&scan);
    assert!(!letters.has_session());
    fs::create_dir(&tmp).expect("a folder");
    run(&scan).ok();
    fs::remove_dir(&tmp).expect("a folder to remove");
    cannot(&["prove"]);
    fs::create_dir(&tmp).expect("a folder");
    run(&["prove"]).ok();
}
