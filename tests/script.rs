//! A script that says no, one that an answer makes crash, and one that is broken.

use std::fs;

use crate::harness::Run;
use crate::harness::agents::{PATH, QUICK};
use crate::harness::letters::Letters;

const QUEST: &str = r#"
name = "scripted"
unit = "letter"
[input]
key = ["letter"]
[tree]
root = "tree"
write = ["out/**"]
[prompt]
text = "Read {{ key }}."
[[field]]
name = "quote"
kind = "text"
[[check]]
name = "by-script"
kind = "script"
interpreter = ["sh"]
script = "judge.sh"
pass_env = ["WORDS"]
fail_exit = [10]
[[control]]
name = "right"
key = "letter-7"
submit = { quote = "pay" }
writes = "right"
verdict = "PASS"
[[control]]
name = "wrong"
key = "letter-7"
submit = { quote = "play" }
writes = "right"
verdict = "FAIL"
[[control]]
name = "crashing"
key = "letter-7"
submit = { quote = "pay" }
verdict = "FAIL"
fires = ["by-script"]
"#;

/// The script passes `pay`. It crashes if the agent wrote no answer, for a quote that begins with
/// `kill`, and if the file `words` of the operator is gone.
fn letters() -> Letters {
    let letters = unscanned();
    scan(&letters, "/usr/bin:/bin").ok();
    // After the scan, only the session knows the control.
    fs::remove_dir_all(letters.place.at("right")).expect("it is there");
    letters
}

/// The script may read the file that a variable names, wherever it is.
fn scan(letters: &Letters, path: &str) -> Run {
    let mut command = letters.place.command();
    let words = letters.place.at("words");
    command.env("PATH", path).env("WORDS", words);
    Run::of(command.args(["scan", "list.jsonl", "--quest=letters.toml"]))
}

fn unscanned() -> Letters {
    let letters = Letters::with(QUEST);
    let place = &letters.place;
    place.write("words", "pay\n");
    fs::create_dir_all(place.at("right/out")).expect("a folder");
    fs::create_dir_all(place.at("tree/out")).expect("a folder");
    place.write("right/out/answer", "yes\n");
    let script = "set -e\ncat $WORDS out/answer > /dev/null\ncase $COMAIL_FIELD_QUOTE in\n\
                  pay) exit 0 ;;\nkill*) kill -SEGV $$ ;;\n*) exit 10 ;;\nesac\n";
    place.write("judge.sh", script);
    letters
}

fn submit(letters: &Letters, quote: &str) -> Run {
    letters.run(["submit", "--id=1", &format!("--quote={quote}")])
}

#[test]
fn a_script_fails_an_answer_by_its_code_or_because_the_answer_makes_it_crash() {
    let letters = letters();
    let tried = |quote: &str, exit: i32| {
        let quote = format!("--quote={quote}");
        let (code, judged) = letters.json(["submit", "--id=1", &quote]);
        assert_eq!(judged["verdict"], "FAIL", "{judged:#}");
        assert_eq!(code, exit, "{judged:#}");
        let fact = judged["facts"][0].clone();
        assert_eq!(fact["rule"], "by-script");
        fact
    };
    let no_answer = tried("pay", 5);
    letters.place.write("tree/out/answer", "yes\n");
    let killed = tried("kill it", 5);
    let wrong = tried("play", 6);
    assert_eq!(no_answer["location"], "judge.sh", "{no_answer:#}");
    assert_eq!(killed["location"], "judge.sh", "{killed:#}");
    for (fact, expected) in [
        (&no_answer, "it exited with the code 1: "),
        (&killed, "it was killed by signal 11"),
        (&wrong, "it says FAIL"),
    ] {
        let actual = fact["actual"].as_str().expect("a text");
        assert!(actual.starts_with(expected), "{fact:#}");
    }
    let passes = ["submit", "--id=2", "--quote=pay"];
    letters.run(passes).ok();
    letters.run(["audit"]).ok();
}

#[test]
fn a_script_that_crashes_on_its_control_too_judges_nothing() {
    let letters = letters();
    letters.place.write("tree/out/answer", "yes\n");
    let words = letters.place.at("words");
    fs::remove_file(&words).expect("it is there");
    let before = letters.place.ledger();
    for quote in ["pay", "play", "kill it", "pay"] {
        let run = submit(&letters, quote);
        run.says(
            "error: the gate could not run: the script judge.sh crashes on the control `right`",
        );
        run.says("nothing changed");
        run.exits(1);
        assert_eq!(letters.place.ledger(), before);
    }
    fs::write(words, "pay\n").expect("a file");
    submit(&letters, "pay").ok();
    letters.run(["audit"]).ok();
}

#[test]
fn a_run_ends_with_the_reason_where_the_gate_judges_nothing() {
    let letters = letters();
    fs::remove_file(letters.place.at("words")).expect("it is there");
    let mut command = letters.place.command();
    let script = "cat > prompt; comail submit --id=1 --quote=pay; :";
    command.env("PATH", PATH).arg("run").args(QUICK);
    let run = Run::of(command.args(["--", "sh", "-c", script]));
    run.says(
        "answers could not be judged three times in a row: the gate could not run: the script \
         judge.sh crashes on the control `right` too",
    );
    run.exits(8);
    assert_eq!(letters.place.attempts(), []);
}

#[test]
fn a_check_of_the_quest_file_names_a_script_that_is_broken() {
    let broken = Letters::with(&QUEST.replace("pass_env = [\"WORDS\"]\n", ""));
    fs::create_dir_all(broken.place.at("right/out")).expect("a folder");
    fs::create_dir_all(broken.place.at("tree")).expect("a folder");
    broken.place.write("right/out/answer", "yes\n");
    broken
        .place
        .write("judge.sh", "no-such-program $COMAIL_FIELD_QUOTE\n");
    for run in [broken.check(), broken.scan()] {
        run.says("the script judge.sh crashes on the control `right` too");
        assert_eq!(run.code, 1, "{run:?}");
    }
    assert!(!broken.has_session());
}

/// What an interpreter loads lies beside it: a file there decides what every script does.
#[test]
fn a_program_in_an_ignored_folder_of_the_tree_is_refused() {
    let letters = unscanned();
    let place = &letters.place;
    let quest = QUEST.replace("write = ", "ignore = [\".venv/**\"]\nwrite = ");
    place.write("letters.toml", &quest);
    fs::create_dir_all(place.at("tree/.venv/bin")).expect("a folder");
    let inside = format!("{}:/usr/bin:/bin", place.at("tree/.venv/bin").display());
    std::os::unix::fs::symlink("/bin/sh", place.at("tree/.venv/bin/sh")).expect("a link");
    let refused = scan(&letters, &inside);
    refused.says("which is in the tree but not a part of it that is compared");
    refused.exits(2);
    assert!(!letters.has_session());
    scan(&letters, "/usr/bin:/bin").ok();
}
