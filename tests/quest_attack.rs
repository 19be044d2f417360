//! `comail quest attack`: the shipped quest files survive it, and it finds the holes of weaker ones.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::harness::case::copy;
use crate::harness::quest_play::Shipped;
use crate::harness::{Place, Run, tools};

fn run(place: &Place, file: &Path, args: &[&str]) -> Run {
    let mut command = place.command();
    command.env("PATH", tools::path());
    Run::of(command.args(["quest", "attack"]).arg(file).args(args))
}

fn attack(place: &Place, file: &Path) -> (i32, Value) {
    run(place, file, &["--json"]).json()
}

#[test]
fn shipped_quest_files_survive() {
    let quests = Shipped::named("claims").file;
    let entries = fs::read_dir(quests.parent().expect("a folder")).expect("quest files");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut files: Vec<_> = paths
        .filter(|it| it.extension().is_some_and(|it| it == "toml"))
        .collect();
    let place = Place::new();
    let _ = place.run(["quest", "new", "letters"]).ok();
    files.push(place.at("letters.toml"));
    assert_eq!(files.len(), 14);
    for file in files {
        let (code, attacked) = attack(&place, &file);
        assert_eq!(code, 0, "{}: {attacked:#}", file.display());
        assert!(attacked["tried"].as_u64() > Some(2), "{attacked:#}");
    }
}

/// The quest file without the planted tests and lists of tests.
fn without_proof(text: &str) -> String {
    let tables = text.split("\n[");
    let tables =
        tables.filter(|it| !it.starts_with("check.canary]") && !it.starts_with("check.list]"));
    let text = tables.collect::<Vec<_>>().join("\n[");
    let lines = text.split_inclusive('\n');
    lines
        .filter(|line| !line.starts_with("canary = "))
        .collect()
}

/// The quest file without a check and without the controls that fire it.
fn without(text: &str, check: &str) -> String {
    if check == PROOF {
        return without_proof(text);
    }
    let name = format!("\"{check}\"");
    let needs = format!("needs = [{name}]\n");
    let text = text.replace(&needs, "");
    let blocks = text.split("\n[[").filter(|block| {
        let is_own =
            |line: &str| line == format!("name = {name}") || line == format!("fires = [{name}]");
        !block.lines().any(is_own)
    });
    blocks.collect::<Vec<_>>().join("\n[[")
}

/// Stands for the planted tests and lists of tests.
const PROOF: &str = "canary";

/// Attacks the shipped quest file without these checks: the kinds of the cheats that pass.
#[track_caller]
fn holes(name: &str, checks: &[&str]) -> Vec<String> {
    let shipped = Shipped::named(name);
    let text = fs::read_to_string(&shipped.file).expect("the quest file");
    let weaker = checks.iter().fold(text, |text, check| {
        let weaker = without(&text, check);
        assert_ne!(text, weaker, "{check}");
        weaker
    });
    // A file that is beside the shipped ones finds their folders.
    let place = Place::new();
    let beside = shipped.file.parent().expect("a folder");
    copy(&beside.join(name), &place.at(name));
    copy(&beside.join("structure"), &place.at("structure"));
    place.write("weaker.toml", weaker);
    let (code, attacked) = attack(&place, Path::new("weaker.toml"));
    let passed = attacked["passed"].as_array().expect("cheats");
    assert_eq!(code, if passed.is_empty() { 0 } else { 8 }, "{attacked:#}");
    for cheat in passed {
        assert_eq!(cheat["verdict"], "PASS", "{cheat:#}");
        assert!(cheat["advice"].as_str() > Some(""), "{cheat:#}");
    }
    let kinds = passed
        .iter()
        .map(|cheat| cheat["cheat"].as_str().expect("a kind"));
    kinds.map(str::to_owned).collect()
}

#[test]
fn code_that_ends_the_tests_is_found() {
    assert!(holes("code-review", &["plain-code"]).is_empty());
    assert_eq!(
        holes("code-review", &["plain-code", PROOF]),
        ["forged-report"]
    );
}

#[test]
fn tests_that_test_nothing_are_found() {
    // A test of the source's digest fails over a neutral change.
    assert!(holes("unit-tests", &["plain-tests"]).is_empty());
    let mut weaker = vec!["plain-tests", "tests-bite"];
    assert_eq!(holes("unit-tests", &weaker), ["weak-assertions"]);
    weaker.extend([PROOF, "lines-covered"]);
    let both = ["forged-report", "weak-assertions"];
    assert_eq!(holes("unit-tests", &weaker), both);
}

#[test]
fn tests_that_print_their_own_report_are_found() {
    let weaker = ["plain-tests", "tests-bite"];
    assert_eq!(holes("rust-tests", &weaker), ["weak-assertions"]);
    let both = ["forged-report", "weak-assertions"];
    assert_eq!(holes("rust-tests", &[weaker[0], weaker[1], PROOF]), both);
}

#[test]
fn a_cheat_that_passes_is_shown_with_what_would_close_it() {
    let place = Place::new();
    let _ = place.run(["quest", "new", "letters"]).ok();
    let text = fs::read_to_string(place.at("letters.toml")).expect("the quest file");
    let loose = text.replace(
        "argv = [\"grep\", \"-qF\", \"-e{{ field.quote }}\"]",
        "argv = [\"true\", \"{{ field.quote }}\"]",
    );
    assert_ne!(text, loose);
    let (before, _) = loose
        .split_once("[[control]]\nname = \"a-made-up")
        .expect("a control");
    place.write("letters.toml", before);
    let file = Path::new("letters.toml");
    let shown = run(&place, file, &[]).exits(8);
    let expected = "PASS  other-script: the field `quote` has letters of another script";
    assert!(shown.contains(expected), "{shown}");
    // A gate that honest work does not pass is not attacked.
    let broken = text.replace("please pay the total of 1200", "please pay");
    place.write("letters.toml", broken);
    let refused = run(&place, file, &[]);
    refused.says("it must be PASS, but is FAIL");
    refused.exits(2);
}
