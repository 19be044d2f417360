//! What a session freezes of its quest file, lists of every format that `[input]` names, and
//! failures of the gate itself, after which the same answer can be sent again.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::{fs, thread};

use comail::judge::{self, Answer, CallKey, JudgeError, Judged};
use comail::quest::template::Template;
use comail::quest::{FieldName, Span, Submission, Verdict};
use comail::session::Session;
use comail::world::World;
use comail::world::evidence::recorded::RecordedWorld;
use comail::world::sandbox::{
    Confinement, Launcher, LiveSandbox, Means, Network, Ready, RunPlace, Sandbox as _,
    SandboxConfig, ServicePlan, Started,
};
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use serde_json::Value;
use walkdir::WalkDir;

use crate::harness::letters::{LETTERS, Letters, PATH};
use crate::harness::made::{at, id, salt};
use crate::harness::shell_quest::{ShellQuest, said};
use crate::harness::{Place, Run};

/// The letters, judged by a script beside the file and a program of the test's own.
fn of_own_program() -> Letters {
    let script = r#"[[check]]
name = "by-script"
kind = "script"
interpreter = ["./judge"]
script = "judge.sh"
fail_exit = [10]
level = "review"

[[control]]
name = "honest""#;
    let file = LETTERS.replace("[[control]]\nname = \"honest\"", script);
    let letters = Letters::with(&file);
    letters.place.write("judge.sh", JUDGE);
    program(&letters.place, "judge", RUNS);
    letters.scan().ok();
    letters
}

/// The program, which runs the script.
const RUNS: &str = "exec /bin/sh \"$@\"";

/// The script, which passes whatever quote there is.
const JUDGE: &str = "test -n \"$COMAIL_FIELD_QUOTE\" || exit 10\n";

fn program(place: &Place, name: &str, body: &str) {
    let path = place.at(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(&path, format!("#!/bin/sh\n{body}\n")).expect("a program");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a mode");
}

/// Submits a quote for a letter, and expects this verdict.
#[track_caller]
fn submits(letters: &Letters, letter: &str, quote: &str, verdict: &str) -> Value {
    letters.submits(&["--letter", letter, "--quote", quote], verdict)
}

#[test]
fn edits_of_the_quest_file_change_no_session_and_are_noted() {
    let letters = Letters::scanned(LETTERS);
    let easy = LETTERS
        .replace("\"-qF\"", "\"-cvF\"")
        .replace("Read {{", "Do {{");
    letters.place.write("letters.toml", easy);
    let next = letters.run(["next"]).ok();
    assert!(next.contains("Read one"), "{next}");
    submits(&letters, "one", "made up", "FAIL");
    submits(&letters, "one", "pay 10", "PASS");
    let (code, report) = letters.json(["audit"]);
    assert_eq!(
        (code, &report["findings"]),
        (0, &serde_json::json!([])),
        "{report}"
    );
    let note = report["notes"][0].as_str().expect("a note");
    assert!(
        note.contains("letters.toml was edited since the scan"),
        "{note}"
    );
    assert!(letters.run(["audit"]).ok().contains("note: "));
    fs::remove_file(letters.place.at("letters.toml")).expect("the file is there");
    let (_, report) = letters.json(["audit"]);
    let note = report["notes"][0].as_str().expect("a note");
    assert!(note.contains("cannot be read any more"), "{note}");
}

#[test]
fn scripts_next_to_the_quest_file_are_frozen() {
    let letters = of_own_program();
    letters.place.write("judge.sh", "exit 9\n");
    submits(&letters, "one", "pay 10", "PASS");
    let (code, report) = letters.json(["audit"]);
    assert_eq!(code, 0, "{report}");
    let notes = report["notes"].as_array().expect("notes");
    assert_eq!(notes.len(), 1, "{report}");
    assert!(
        notes[0]
            .as_str()
            .is_some_and(|note| note.contains("judge.sh was edited"))
    );
}

#[test]
fn a_changed_program_judges_nothing_and_is_found() {
    let letters = of_own_program();
    submits(&letters, "one", "pay 10", "PASS");
    letters.run(["audit"]).ok();
    let before = letters.place.ledger();
    let refused = || {
        let run = letters.run(["submit", "--letter=two", "--quote=pay 1200"]);
        run.says("error: the gate could not run: ");
        run.says("/judge changed since the session was made");
        run.says("nothing changed");
        run.exits(1);
        assert_eq!(letters.place.ledger(), before);
    };
    program(&letters.place, "judge", "exit 0");
    refused();
    let (code, report) = letters.json(["audit"]);
    assert_eq!(
        (code, &report["findings"][0]["kind"]),
        (8, &"program".into())
    );
    let what = report["findings"][0]["what"].as_str().expect("a sentence");
    assert!(
        what.contains("`./judge`") && what.contains("its digest is"),
        "{what}"
    );
    fs::remove_file(letters.place.at("judge")).expect("the program is there");
    refused();
    let text = letters.run(["audit"]).exits(8);
    assert!(
        text.contains("program: ") && text.contains("is not a file that can be run"),
        "{text}"
    );
    program(&letters.place, "judge", RUNS);
    submits(&letters, "two", "nothing is due", "PASS");
}

#[test]
fn edits_of_the_manifest_are_found() {
    let letters = Letters::scanned(LETTERS);
    let path = letters.place.at(".comail/session.json");
    let manifest = fs::read_to_string(&path).expect("a manifest");
    let edited = manifest.replace("pay 1200", "pay 1201");
    assert_ne!(manifest, edited);
    fs::write(&path, edited).expect("it can be written");
    letters.run(["audit"]).exits(8);
    assert_ne!(letters.run(["submit", "--id=1", "--quote=pay 10"]).code, 0);
}

#[test]
fn variables_that_a_check_needs_are_frozen() {
    let with = "pass_env = [\"MODE\"]\ntimeout";
    let letters = Letters::with(&LETTERS.replace("timeout", with));
    let missing = letters.scan();
    missing.says("MODE is not set");
    missing.exits(2);
    let mut scan = letters.place.command();
    scan.args(["scan", "list.jsonl", "--quest", "letters.toml"]);
    Run::of(scan.env("PATH", PATH).env("MODE", "a")).ok();
    submits(&letters, "one", "pay 10", "PASS");
}

#[test]
fn another_program_of_the_same_name_is_not_run() {
    let quest = ShellQuest::new("20s");
    program(&quest.place, "fake/sh", "exit 0");
    fs::write(quest.at("in/try.sh"), "exit 1\n").expect("a script");
    let mut command = quest.place.command();
    command
        .env("PATH", quest.place.at("fake"))
        .args(["submit", "--id=1", "--file=in/try.sh"]);
    assert_eq!(Run::of(&mut command).code, 5);
}

#[test]
fn the_environment_of_submit_does_not_reach_the_checks() {
    let quest = ShellQuest::new("20s");
    let names = [
        "PYTHONPATH",
        "PYTHONSTARTUP",
        "PYTHONHOME",
        "LD_PRELOAD_NOT",
        "ENV",
        "BASH_ENV",
        "COMAIL_FIELD_OTHER",
        "COMAIL_WISH",
        "HOME",
        "CARGO_HOME",
        "PYTEST_ADDOPTS",
    ];
    let unset = names.map(|name| match name {
        // Nobody's, whoever submits.
        "HOME" => "[ \"$HOME\" = /nonexistent ] || exit 7\n".to_owned(),
        name => format!("[ -z \"${{{name}+set}}\" ] || exit 7\n"),
    });
    let script = unset.concat() + "[ \"$COMAIL_KEY\" = one ]\n";
    fs::write(quest.at("in/try.sh"), script).expect("a script");
    let mut command = quest.place.command();
    command.envs(names.map(|name| (name, "/tmp")));
    command.env("COMAIL_KEY", "two").env("TMPDIR", "/nowhere");
    command.args(["submit", "--id=1", "--file=in/try.sh"]);
    let run = Run::of(&mut command);
    assert_eq!(run.code, 0, "{run:?}");
}

#[test]
fn edits_during_a_judgement_do_not_count() {
    let quest = ShellQuest::new("60s");
    let pipe = quest.place.at("pipe");
    mkfifo(&pipe, Mode::S_IRWXU).expect("a pipe");
    fs::write(quest.at("in/data"), "before\n").expect("a file");
    let script = format!("read go <{}; grep -q before in/data", pipe.display());
    fs::write(quest.at("in/try.sh"), script).expect("a script");
    let judged = thread::scope(|scope| {
        let judging = scope.spawn(|| quest.place.json(["submit", "--id=1", "--file=in/try.sh"]));
        // Opens when the script reads: then the copy is made.
        let mut go = fs::OpenOptions::new()
            .write(true)
            .open(&pipe)
            .expect("a reader");
        fs::write(quest.at("in/data"), "after\n").expect("a file");
        fs::write(quest.at("in/try.sh"), "exit 1\n").expect("a script");
        writeln!(go, "go").expect("a reader");
        judging.join().expect("a judgement")
    });
    assert_eq!(said(judged).verdict, "PASS");
    // What it was judged by is what is audited.
    assert_eq!(quest.place.json(["audit"]).0, 0);
}

#[test]
fn a_report_from_before_the_run_does_not_count() {
    let quest = ShellQuest::scanned("20s", |place| {
        let path = place.at("quest.toml");
        let text = fs::read_to_string(&path).expect("a quest file");
        let reports = "reports = [\"in/report.xml\"]\n\
                       facts = { adapter = \"junit\", from = \"in/report.xml\" }\ntimeout";
        fs::write(&path, text.replace("timeout", reports)).expect("a quest file");
        place.write(
            "tree/in/yes.sh",
            "echo '<testsuite><testcase/></testsuite>' >in/report.xml\n",
        );
    });
    fs::write(
        quest.at("in/report.xml"),
        "<testsuite><testcase/></testsuite>",
    )
    .expect("a report");
    quest.refuses("exit 0");
    quest.refuses("rm -f in/report.xml; ln -s yes.xml in/report.xml; exit 0");
    let written = quest.tries("echo '<testsuite><testcase/></testsuite>' >in/report.xml");
    assert_eq!(written.verdict, "PASS");
}

/// A quest file whose answers must repeat the keys, without a format of its list.
const THINGS: &str = include_str!("harness/quests/things.toml");

fn things(input: &str, prompt: &str) -> Letters {
    let file = THINGS.replace("[input]\n", &format!("[input]\n{input}\n"));
    let place = Letters::with(&file.replace("PROMPT", prompt));
    fs::remove_file(place.place.at("list.jsonl")).expect("a list");
    place
}

fn scan(things: &Letters, list: &[&str], more: &[&str]) -> Value {
    let args = ["scan"].iter().chain(list).chain(more);
    let (code, scanned) = things.json(args.copied());
    assert_eq!(code, 0, "{scanned}");
    scanned
}

/// Scans, passes the first quest, writes more, updates, and returns the second prompt.
fn grown(things: &Letters, list: &[&str], first: &str, more: impl Fn()) -> String {
    let scanned = scan(things, list, &["--quest=letters.toml"]);
    assert_eq!(scanned["quests"], 1, "{scanned}");
    let answer = format!("--answer={first}");
    things.run(["submit", "--thing", first, &answer]).ok();
    more();
    let updated = scan(things, list, &["--update"]);
    assert_eq!(
        (&updated["added"], &updated["gone"]),
        (&1.into(), &0.into()),
        "{updated}"
    );
    let (code, next) = things.json(["next"]);
    assert_eq!((code, &next["quest"]["id"]), (0, &2.into()), "{next}");
    things.run(["audit"]).ok();
    next["prompt"].as_str().expect("a prompt").to_owned()
}

#[test]
fn a_list_of_any_format_is_read_and_read_again() {
    let with_cell = "{{ key }} {{ input.n }}";
    // The keys of [input], the prompt, the list, a file of it before and after, the first key and
    // the second prompt.
    for (input, prompt, list, before, after, first, second) in [
        (
            "format = 'jsonl'\nkey = ['k']\nshow = ['n']",
            with_cell,
            "list.txt",
            ("list.txt", "{\"k\":\"a\",\"n\":1}\n"),
            ("list.txt", "{\"k\":\"a\",\"n\":1}\n{\"k\":\"b\",\"n\":2}\n"),
            "a",
            "b 2",
        ),
        (
            "format = 'csv'\nkey = ['k']\nanchor = ['n']",
            with_cell,
            "list.txt",
            ("list.txt", "k,n\na,1\n"),
            ("list.txt", "k,n\na,1\nb,2\n"),
            "a",
            "b 2",
        ),
        (
            "format = 'lines'",
            "{{ key }}",
            "list.csv",
            ("list.csv", "a,x\n"),
            ("list.csv", "a,x\nb,y\n"),
            "a,x",
            "b,y",
        ),
        (
            "format = 'dir'\nkey = ['path']\nglob = '**/*.py'",
            "{{ key }}",
            "src",
            ("src/a.py", ""),
            ("src/in/b.py", ""),
            "a.py",
            "in/b.py",
        ),
        (
            "",
            "{{ key }}",
            "src",
            ("src/a.py", ""),
            ("src/b.py", ""),
            "a.py",
            "b.py",
        ),
    ] {
        let things = things(input, prompt);
        fs::create_dir_all(things.place.at("src/in")).expect("a directory");
        if input.contains("glob") {
            things.place.write("src/a.txt", "");
        }
        things.place.write(before.0, before.1);
        let prompt = grown(&things, &[list], first, || {
            things.place.write(after.0, after.1);
        });
        assert_eq!(prompt, second, "{input}");
    }
}

#[test]
fn update_refuses_a_row_whose_prompt_cannot_be_rendered() {
    let things = things(
        "format = 'jsonl'\nkey = ['k']\nshow = ['n']",
        "{{ key }} {{ input.n | int }}",
    );
    things.place.write("list.txt", "{\"k\":\"a\",\"n\":1}\n");
    scan(&things, &["list.txt"], &["--quest=letters.toml"]);
    let list = |n: &str| format!("{{\"k\":\"a\",\"n\":1}}\n{{\"k\":\"b\",\"n\":{n}}}\n");
    things.place.write("list.txt", list("\"two\""));
    let refused = things.run(["scan", "list.txt", "--update"]);
    refused.says("row 2 (b): the prompt cannot be rendered");
    refused.exits(2);
    things.place.write("list.txt", list("2"));
    let updated = scan(&things, &["list.txt"], &["--update"]);
    assert_eq!(updated["added"], 1, "{updated}");
    things.run(["audit"]).ok();
}

#[test]
fn scan_asks_for_the_list_and_for_the_column_that_names_the_unit() {
    let things = things("key = ['k']", "{{ key }}");
    let run = things.run(["scan", "--quest=letters.toml"]);
    run.says("no list given");
    run.exits(2);
    let things = self::things("", "{{ key }}");
    things.place.write("list.csv", "k,n\na,1\n");
    let run = things.run(["scan", "list.csv", "--quest=letters.toml"]);
    run.says("which column names the thing?");
    run.exits(2);
}

#[test]
fn quests_wait_for_those_that_the_list_puts_before_them() {
    let things = things("key = ['k']\nafter = 'after'", "{{ key }}");
    let list = "{\"k\":\"a\"}\n{\"k\":\"b\",\"after\":\"a\"}\n{\"k\":\"c\",\"after\":\"a;b\"}\n";
    things.place.write("list.jsonl", list);
    scan(
        &things,
        &["list.jsonl"],
        &["--quest=letters.toml", "--max-tries=1"],
    );
    things.run(["submit", "--thing=b", "--answer=b"]).exits(7);
    things.run(["submit", "--thing=a", "--answer=a"]).ok();
    let (_, next) = things.json(["next"]);
    assert_eq!(next["quest"]["key"], "b");
    let (code, next) = things.json(["next", "--worker=w"]);
    assert_eq!((code, &next["quest"]["key"]), (0, &"b".into()), "{next}");
    let text = things.run(["next", "--worker=v"]).exits(4);
    assert!(text.contains("for quest 2 (b), which is TODO"), "{text}");
    things
        .run(["submit", "--worker=w", "--thing=b", "--answer=x"])
        .exits(6);
    let text = things.run(["next"]).exits(4);
    assert!(text.contains("blocked: 1 quest"), "{text}");
    assert!(things.run(["status"]).ok().contains("blocked 1"));
}

#[test]
fn a_list_with_circular_dependencies_is_refused() {
    let things = things("key = ['k']\nafter = 'after'", "{{ key }}");
    let list = "{\"k\":\"a\",\"after\":\"b\"}\n{\"k\":\"b\",\"after\":\"a\"}\n";
    things.place.write("list.jsonl", list);
    let run = things.scan();
    assert_ne!(run.code, 0, "{run:?}");
    assert!(!things.has_session());
}

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

/// The checks' program is in a virtual environment, and the quest file names what else it reads.
#[test]
fn a_change_of_what_programs_load_costs_no_try() {
    let scanned = || {
        ShellQuest::scanned("20s", |place| {
            let text = fs::read_to_string(place.at("quest.toml")).expect("a quest file");
            let text = text.replace("[\"sh\",", "[\"./env/bin/tool\",");
            let text = text.replace("[tree]\n", "[tree]\nruntime = [\"common.sh\"]\n");
            place.write("quest.toml", text);
            place.write("common.sh", "");
            program(place, "env/bin/tool", RUNS);
            place.write("env/pyvenv.cfg", "home = /usr/bin\n");
        })
    };
    let quest = scanned();
    let added = quest.place.at("env/lib.pth");
    let adds = || fs::write(&added, "import os\n").expect("a file");
    submits_twice(&quest, adds, || fs::remove_file(&added).expect("a file"));
    let quest = scanned();
    let common = quest.place.at("common.sh");
    let writes = |text: &'static str| fs::write(&common, text).expect("a file");
    submits_twice(&quest, || writes("exit 0\n"), || writes(""));
    writes("exit 0\n");
    let run = quest.place.run(["submit", "--id=2", "--file=in/try.sh"]);
    run.says("common.sh, which the checks' programs may load, changed since the session was made");
    run.exits(1);
}

#[test]
fn a_runtime_that_contains_the_session_is_refused() {
    let (quest, run) = ShellQuest::scan("20s", |place| {
        let text = fs::read_to_string(place.at("quest.toml")).expect("a quest file");
        place.write(
            "quest.toml",
            text.replace("[tree]\n", "[tree]\nruntime = [\".\"]\n"),
        );
    });
    run.says("which contains the session");
    run.exits(2);
    assert!(!quest.place.at(".comail").exists());
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
        key: CallKey::None,
        submission: &Submission::Fields(BTreeMap::from(fields)),
        files: judge::AnswerFiles::WorkingTree,
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
        (
            sandbox.service("api", RunPlace::Submission),
            sandbox.failure(),
        )
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
    cannot(&["quest", "prove"]);
    fs::create_dir(&tmp).expect("a folder");
    run(&["quest", "prove"]).ok();
}
