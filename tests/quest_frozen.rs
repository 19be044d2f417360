//! What a session freezes of its quest file: later edits change nothing or are found, and the
//! environment of `comail submit` does not reach the checks.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::thread;

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use serde_json::Value;

use crate::harness::letters::{LETTERS, Letters, PATH};
use crate::harness::shell_quest::{ShellQuest, said};
use crate::harness::{Place, Run};

/// The letters, judged by a script beside the file and a program of the test's own.
fn of_own_program() -> Letters {
    let script = r#"[[check]]
name = "by-script"
kind = "script"
interpreter = ["./judge"]
script = "judge.sh"
level = "review"

[[control]]
name = "honest""#;
    let file = LETTERS.replace("[[control]]\nname = \"honest\"", script);
    let letters = Letters::with(&file);
    letters.place.write("judge.sh", JUDGE);
    program(&letters.place, "judge", "exec /bin/sh \"$@\"");
    letters.scan().ok();
    letters
}

/// The script, which passes whatever quote there is.
const JUDGE: &str = "test -n \"$COMAIL_FIELD_QUOTE\"\n";

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
fn a_changed_program_confirms_nothing_and_is_found() {
    let letters = of_own_program();
    submits(&letters, "one", "pay 10", "PASS");
    letters.run(["audit"]).ok();
    program(&letters.place, "judge", "exit 0");
    let answer = submits(&letters, "two", "nothing", "REVIEW");
    assert_eq!(answer["facts"][0]["rule"], "by-script-unconfirmed");
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
    let text = letters.run(["audit"]).exits(8);
    assert!(
        text.contains("program: ") && text.contains("is not a file that can be run"),
        "{text}"
    );
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
