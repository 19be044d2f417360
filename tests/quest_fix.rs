//! Fixers: started only for what they can fix, a bounded number of times; each judgement after
//! a fix is an attempt.

use std::fs;

use serde_json::{Value, json};

use crate::harness::{Place, Run, tools};

/// A quest whose file must say `good` and `mine`; the fixer is for `good` alone.
const QUEST: &str = include_str!("harness/quests/notes.toml");

/// A session with this fixer, where out/a says this.
fn session(script: &str, text: &str) -> Place {
    let place = Place::new();
    for (dir, text) in [
        ("tree", ""),
        ("good", "good mine\n"),
        ("bad", "mine\n"),
        ("theirs", "good\n"),
    ] {
        fs::create_dir_all(place.at(dir).join("out")).expect("a folder");
        if !text.is_empty() {
            place.write(&format!("{dir}/out/a"), text);
        }
    }
    place.write("list.txt", "a\nb\n");
    place.write("notes.toml", QUEST.replace("SCRIPT", script));
    let mut scan = place.command();
    scan.env("PATH", tools::path())
        .env("SECRET", "of-the-operator");
    Run::of(scan.args(["scan", "list.txt", "--quest=notes.toml"])).ok();
    place.write("tree/out/a", text);
    place
}

/// The verdict, the tries, the attempt, and what the fixer did.
fn submit(place: &Place) -> (String, u64, u64, Value) {
    let (_, answer) = place.json(["submit", "--id=1"]);
    let number = |name: &str| answer[name].as_u64();
    let (tries, attempt) = number("tries").zip(number("attempt")).expect("numbers");
    let verdict = answer["verdict"].as_str().unwrap_or_default().to_owned();
    (verdict, tries, attempt, answer["fixes"].clone())
}

#[test]
fn a_fixer_fixes_the_file_for_one_try() {
    let script = "cat > out/told; env > out/env; pwd > out/place; echo good >> out/a";
    let place = session(script, "mine\n");
    let expected = ("PASS".to_owned(), 1, 2, json!([{"fixer": "changed"}]));
    assert_eq!(submit(&place), expected);
    assert_eq!(place.attempts(), [(1, 1), (1, 2)]);
    let read = |name: &str| fs::read_to_string(place.at("tree/out").join(name)).expect("a file");
    let told: Value = serde_json::from_str(&read("told")).expect("JSON");
    assert_eq!(told["quest"]["key"], "a");
    assert_eq!(told["facts"][0]["rule"], "good", "{told:#}");
    // Confined, it may find the tree at another path.
    assert!(read("place").trim().ends_with("/tree"), "{}", read("place"));
    let env = read("env");
    assert!(
        env.contains("HOME=/nonexistent") && !env.contains("SECRET"),
        "{env}"
    );

    // Nobody fixes anything where what was judged is judged again.
    fs::remove_file(place.at("tree/out/told")).expect("removed");
    let (code, report) = place.json(["audit"]);
    assert_eq!(code, 0, "{report:#}");
    assert!(!place.at("tree/out/told").exists());
}

#[test]
fn a_fixer_is_not_started_for_other_failures() {
    for text in ["nothing\n", "good\n"] {
        let place = session("echo good mine >> out/a", text);
        let expected = ("FAIL".to_owned(), 1, 1, Value::Null);
        assert_eq!(submit(&place), expected, "{text}");
    }
    let place = session("echo good mine >> out/a", "mine\n");
    let (_, answer) = place.json(["submit", "--id=1", "--none", "it is hard"]);
    assert_eq!(answer["attempt"], 1, "{answer:#}");
    assert_eq!(answer["fixes"], Value::Null, "{answer:#}");
    assert_eq!(place.attempts(), [(1, 1)]);
}

#[test]
fn no_second_fix_follows_one_that_changes_nothing_or_fails() {
    let nothing = json!([{"fixer": "changed-nothing"}]);
    let failed = json!([{"fixer": "failed", "why": "it ended with 3: no"}]);
    for (script, fixes) in [
        ("exit 0", &nothing),
        // Files outside the zones reach no check, and are no change.
        ("echo x > elsewhere", &nothing),
        ("echo good >> out/a; echo no >&2; exit 3", &failed),
    ] {
        let place = session(script, "mine\n");
        let expected = ("FAIL".to_owned(), 1, 1, fixes.clone());
        assert_eq!(submit(&place), expected, "{script}");
        if script.contains("good") {
            let run = place.run(["submit", "--id=1"]).ok();
            assert!(!run.contains("fixer"), "{run}");
        }
    }
}

#[test]
fn max_fixes_bounds_the_fixes_and_a_done_quest_has_none() {
    let place = session("echo x >> out/a", "mine\n");
    let twice = json!([{"fixer": "changed"}, {"fixer": "changed"}]);
    assert_eq!(submit(&place), ("FAIL".to_owned(), 3, 3, twice));
    let text = place.run(["submit", "--id=1"]).exits(6);
    assert!(text.contains("now DONE"), "{text}");
    assert!(!text.contains("fixer"), "{text}");
    let written = fs::read_to_string(place.at("tree/out/a")).expect("a file");
    assert_eq!(written, "mine\nx\nx\n");
    assert_eq!(place.attempts(), [(1, 1), (1, 2), (1, 3), (1, 4)]);
}

#[test]
fn submit_says_what_the_fixer_did() {
    let place = session("echo good >> out/a", "mine\n");
    let run = place.run(["submit", "--id=1"]).ok();
    let first = run.lines().next();
    let expected = "the fixer made changes, and the quest was judged again";
    assert_eq!(first, Some(expected), "{run}");
    let place = session("exit 0", "mine\n");
    let run = place.run(["submit", "--id=1"]).exits(5);
    assert!(run.contains("the fixer found nothing to change"), "{run}");
}
