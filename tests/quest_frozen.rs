//! What a session froze of its quest file: later edits change nothing, or are found.

use std::fs;

use serde_json::Value;

use crate::harness::Run;
use crate::harness::letters::{LETTERS, Letters, PATH};

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
    program(&letters, "exec /bin/sh \"$@\"");
    letters
        .run(["scan", "list.jsonl", "--quest", "letters.toml"])
        .ok();
    letters
}

/// The script, which passes whatever quote there is.
const JUDGE: &str = "test -n \"$COMAIL_FIELD_QUOTE\"\n";

fn program(letters: &Letters, body: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    let path = letters.place.write("judge", format!("#!/bin/sh\n{body}\n"));
    let all = fs::Permissions::from_mode(0o755);
    fs::set_permissions(path, all).expect("a mode");
}

fn submit(letters: &Letters, letter: &str, quote: &str) -> (i32, Value) {
    letters.json(["submit", "--letter", letter, "--quote", quote])
}

#[test]
fn an_edit_of_the_file_reaches_no_session_and_is_a_note() {
    let letters = Letters::scanned(LETTERS);
    let easy = LETTERS
        .replace("\"-qF\"", "\"-cvF\"")
        .replace("Read {{", "Do {{");
    letters.place.write("letters.toml", easy);
    let next = letters.run(["next"]).ok();
    assert!(next.contains("Read one"), "{next}");
    assert_eq!(submit(&letters, "one", "made up").0, 5);
    assert_eq!(submit(&letters, "one", "pay 10").0, 0);
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
fn a_file_beside_it_is_frozen() {
    let letters = of_own_program();
    letters.place.write("judge.sh", "exit 9\n");
    let (code, answer) = submit(&letters, "one", "pay 10");
    assert_eq!(
        (code, answer["verdict"].as_str()),
        (0, Some("PASS")),
        "{answer}"
    );
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
    let (code, answer) = submit(&letters, "one", "pay 10");
    assert_eq!(
        (code, answer["verdict"].as_str()),
        (0, Some("PASS")),
        "{answer}"
    );
    letters.run(["audit"]).ok();
    program(&letters, "exit 0");
    let (code, answer) = submit(&letters, "two", "nothing");
    assert_eq!(
        (code, answer["verdict"].as_str()),
        (0, Some("REVIEW")),
        "{answer}"
    );
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
fn an_edit_of_what_was_frozen_is_found() {
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
fn variables_are_frozen_with_it() {
    let with = "pass_env = [\"MODE\"]\ntimeout";
    let letters = Letters::with(&LETTERS.replace("timeout", with));
    let missing = letters.run(["scan", "list.jsonl", "--quest", "letters.toml"]);
    assert_eq!(missing.code, 2, "{missing:?}");
    missing.says("MODE is not set");
    let mut scan = letters.place.command();
    scan.args(["scan", "list.jsonl", "--quest", "letters.toml"]);
    Run::of(scan.env("PATH", PATH).env("MODE", "a")).ok();
    assert_eq!(submit(&letters, "one", "pay 10").0, 0);
}
