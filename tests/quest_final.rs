//! The final gate, its controls and its negative control; and polling the checks during the work.

use std::fs;
use std::time::Duration;

use comail::judge::{FinalResult, FinalWord, JudgeContext, Poll};
use comail::quest::QuestId;
use comail::session::Session;

use crate::harness::case::copy;
use crate::harness::poll::until;
use crate::harness::quest_play::{QuestPlay, Shipped};
use crate::harness::{Place, Run, tools};

/// One quest a page, with nothing to submit; the final part goes after it.
const PAGES: &str = include_str!("harness/quests/pages.toml");

const CONTROLS: &str = include_str!("harness/quests/pages_controls.toml");
const FINAL: &str = include_str!("harness/quests/pages_final.toml");

#[test]
fn the_handbook_is_fixed_and_its_chapters_fit_together() {
    let shipped = Shipped::named("handbook");
    let place = Place::new();
    let mut check = place.command();
    check.env("PATH", tools::path()).args(["quest", "check"]);
    let run = Run::of(check.arg(&shipped.file)).ok();
    for said in [
        "passed  final: every chapter, and every link leads somewhere",
        "leads somewhere, broken by [final.negative]",
        "passed  final: two chapters, each right alone",
    ] {
        assert!(run.contains(said), "{said}: {run}");
    }

    let play = QuestPlay::of("handbook");
    play.scan(&play.beside("chapters.jsonl"), &[]);
    play.fails(&["--id=1"], "written");
    play.put_control("untidy");
    // The fixer takes the white space away, for a try.
    let (_, answer) = play.place.json(["submit", "--id=1"]);
    assert_eq!(answer["verdict"], "PASS", "{answer:#}");
    assert_eq!(answer["attempt"], 3, "{answer:#}");
    assert_eq!(answer["tries"], 2, "{answer:#}");
    assert_eq!(answer["fixes"], serde_json::json!([{"fixer": "changed"}]));
    play.put_control("whole");
    play.passes(&["--chapter=use"]);
    play.ends(2);
}

#[test]
fn quest_check_finds_a_negative_control_that_passes() {
    let place = Place::new();
    fs::create_dir_all(place.at("handbook")).expect("a folder");
    let shipped = Shipped::named("handbook");
    copy(&shipped.beside(""), &place.at("handbook"));
    let text = fs::read_to_string(&shipped.file).expect("the quest file");
    // What it breaks has no links, so that nothing notices.
    let worthless = text.replace("See [nothing](nothing.md).", "See nothing.");
    assert_ne!(text, worthless);
    place.write("handbook.toml", worthless);
    let mut check = place.command();
    check.env("PATH", tools::path());
    let run = Run::of(check.args(["quest", "check", "handbook.toml"])).exits(8);
    assert!(run.contains("FAILED  final: every chapter"), "{run:?}");
}

#[test]
fn a_final_gate_needs_a_control_that_fails() {
    let (bare, _) = FINAL.split_once("[[final.control]]").expect("a control");
    let negative = format!("{bare}[final.negative]\nremove = [\"known.txt\"]\n");
    for (last, holds) in [(FINAL, true), (negative.as_str(), true), (bare, false)] {
        let place = unscanned(last);
        let (code, proof) = place.json(["quest", "check", "pages.toml"]);
        assert_eq!(code, if holds { 0 } else { 8 }, "{proof:#}");
        let lacking = serde_json::json!([{"final-rule": "whole"}]);
        assert_eq!(proof["lacking"] == lacking, !holds, "{proof:#}");
        let scan = place.run(["scan", "list.txt", "--quest=pages.toml"]);
        scan.exits(if holds { 0 } else { 2 });
        assert_eq!(place.at(".comail/session.json").exists(), holds);
    }
}

/// A session of pages, whose final part is this.
fn pages(last: &str) -> Place {
    let place = unscanned(last);
    place.run(["scan", "list.txt", "--quest=pages.toml"]).ok();
    place
}

fn unscanned(last: &str) -> Place {
    let place = Place::new();
    fs::create_dir_all(place.at("tree/out")).expect("a folder");
    place.write("tree/known.txt", "yes\n");
    place.write("list.txt", "a\nb\n");
    for (dir, known) in [("done", "yes\n"), ("wrong", "no\n")] {
        fs::create_dir_all(place.at(dir).join("out")).expect("a folder");
        place.write(&format!("{dir}/known.txt"), known);
        place.write(&format!("{dir}/out/a"), "x\n");
    }
    place.write("pages.toml", format!("{PAGES}{last}{CONTROLS}"));
    place
}

fn open(place: &Place) -> Session {
    Session::open(&place.at(".comail")).expect("a session")
}

fn asked(place: &Place) -> FinalResult {
    let session = open(place);
    let context = JudgeContext::of(&session, None).expect("a kind");
    context.final_gate(&session).expect("an outcome")
}

/// Expects this word, and as many details as it has reasons.
#[track_caller]
fn says(place: &Place, word: FinalWord) -> Vec<String> {
    let said = asked(place);
    assert_eq!(said.word, word, "{said:?}");
    assert_eq!(
        said.details.is_empty(),
        word != FinalWord::Refused,
        "{said:?}"
    );
    said.details
}

#[test]
fn the_final_gate_judges_the_tree_as_it_is_now() {
    let plain = pages("");
    says(&plain, FinalWord::None);

    let place = pages(FINAL);
    let before = place.ledger();
    let said = says(&place, FinalWord::Refused);
    assert!(said[0].starts_with("whole "), "{said:?}");
    place.write("tree/out/b", "x\n");
    says(&place, FinalWord::Passed);
    fs::remove_file(place.at("tree/out/b")).expect("removed");
    says(&place, FinalWord::Refused);
    assert_eq!(place.ledger(), before, "nothing of it is recorded");

    let doubtful = FINAL.replace("kind =", "level = \"review\"\nkind =");
    let doubtful = pages(&doubtful.replace("verdict = \"FAIL\"", "verdict = \"REVIEW\""));
    says(&doubtful, FinalWord::Refused);
}

#[test]
fn a_final_gate_that_passes_its_negative_control_refuses() {
    for (negative, expected) in [
        ("remove = [\"out/b\"]\nfires = [\"whole\"]", true),
        ("files = { \"out/b\" = \" \" }", true),
        ("files = { \"out/other\" = \"x\" }", false),
        ("remove = [\"known.txt\"]", false),
    ] {
        let place = pages(&format!("{FINAL}[final.negative]\n{negative}\n"));
        let said = says(&place, FinalWord::Refused);
        assert!(!said[0].contains("negative control"), "{said:?}");
        place.write("tree/out/b", "x\n");
        if expected {
            says(&place, FinalWord::Proven);
        } else {
            let said = says(&place, FinalWord::Refused);
            assert!(said[0].starts_with("its negative control"), "{said:?}");
        }
        // It was broken in a copy alone.
        let text = fs::read_to_string(place.at("tree/out/b")).expect("what was written");
        assert_eq!(text, "x\n");
        assert!(!place.at("tree/out/other").exists() && place.at("tree/known.txt").exists());
    }
}

#[test]
fn a_poll_reports_when_the_checks_hold_and_records_nothing() {
    let place = pages("");
    let session = open(&place);
    let start = || {
        let poll = Poll::start(&session, QuestId::FIRST, Duration::from_millis(5));
        poll.expect("it starts").expect("nothing is submitted")
    };
    let poll = start();
    let before = place.ledger();
    assert!(!poll.holds());
    place.write("tree/out/b", "another\n");
    place.write("tree/out/a", "x\n");
    until("the checks hold", || poll.holds());
    // Of one state it is said once, and of the next again.
    place.write("tree/out/a", "xy\n");
    until("it is said again", || poll.holds());
    assert_eq!(place.ledger(), before);

    let (_, answer) = place.json(["submit", "--id=1"]);
    assert_eq!(answer["verdict"], "PASS", "{answer:#}");
}

#[test]
fn a_quest_with_fields_is_not_polled() {
    let place = Place::new();
    place.scan(&["Acme"], &[]);
    let poll = Poll::start(&open(&place), QuestId::FIRST, Duration::from_millis(5));
    assert!(poll.expect("it is told").is_none());
}
