//! What is shown of an answer that was forgotten, and what is still decided of it.

use std::fs;

use crate::harness::forgotten::{forget, known};
use crate::harness::{EmailNet, terminal::at_terminal};

fn review(world: &EmailNet, verb: &str, id: &str) -> i32 {
    let args = ["review", verb, id, "--note=x", "--operator-key=key"];
    world.place.run(args).code
}

#[test]
fn an_export_shows_no_address_and_says_why() {
    let world = known();
    forget(&world).ok();
    let columns = "--columns=email,status";
    let said = world.place.run(["export", "out.csv", columns]).ok();
    assert!(
        said.contains("2 PASS, 1 REVIEW, 0 DONE, 1 still TODO; of these 1 disputed, 2 forgotten"),
        "{said}"
    );
    let out = fs::read_to_string(world.place.at("out.csv")).expect("an export");
    let ends: Vec<&str> = out.lines().skip(1).collect();
    assert!(
        ends[0].ends_with(",,\"PASS (disputed, forgotten)\""),
        "{out}"
    );
    assert!(ends[1].ends_with("info@bolt.co.kr,PASS"), "{out}");
    assert!(ends[3].ends_with(",,REVIEW (forgotten)"), "{out}");
    let (_, status) = world.place.json(["status"]);
    assert_eq!(status["forgotten"], 2, "{status:#}");
    let status = world.place.run(["status"]).ok();
    assert!(
        status.contains("forgotten: the answer of 2 quests"),
        "{status}"
    );
}

#[test]
fn it_waits_for_nobody_and_is_rejected_alone() {
    let world = known();
    forget(&world).ok();
    let (_, queue) = world.place.json(["review"]);
    assert_eq!(queue["open"], 0, "{queue:#}");
    let shown = world.place.run(["review", "show", "4"]).ok();
    assert!(
        shown.contains("cannot be shown: it was removed when its address was forgotten"),
        "{shown}"
    );
    let ledger = world.place.ledger();
    assert_eq!(review(&world, "accept", "4"), 2);
    assert_eq!(world.place.ledger(), ledger);
    assert_eq!(review(&world, "reject", "4"), 0);
}

#[test]
fn an_export_counts_what_it_wrote() {
    let world = known();
    assert_eq!(review(&world, "accept", "4"), 0);
    let said = world.place.run(["export", "all.csv"]).ok();
    let expected = "2 PASS, 1 REVIEW (1 accepted), 0 DONE, 1 still TODO; of these 1 disputed";
    assert!(said.contains(expected), "{said}");
    let said = world
        .place
        .run(["export", "some.csv", "--only=review"])
        .ok();
    let expected = "0 PASS, 1 REVIEW (1 accepted), 0 DONE, 0 still TODO\n";
    assert!(said.contains(expected), "{said}");
}

#[test]
fn what_stands_nowhere_is_refused_before_anybody_is_asked() {
    let world = known();
    let ledger = world.place.ledger();
    let forget = [
        "forget",
        "nobody@acme.co.kr",
        "--note=x",
        "--operator-key=key",
    ];
    let run = world.place.run(forget);
    assert_eq!(run.code, 2, "{run:?}");
    run.says("is not in this session");
    assert_eq!(world.place.ledger(), ledger);
}

#[test]
fn a_question_names_what_it_is_about_and_comes_after_the_checks() {
    let world = EmailNet::with(&["Acme Foods", "Bolt Toys"], &[]);
    world.expect(1, &world.acme(), "PASS", &[]);
    let dispute = |id, typed| at_terminal(&world.place, &["dispute", id, "--note=bounced"], typed);
    for id in ["2", "9"] {
        let run = dispute(id, "dispute");
        assert_eq!(run.code, 2, "{run:?}");
        assert!(!run.stdout.contains("to go on"), "{run:?}");
    }
    let run = dispute("1", "no");
    let question = "dispute quest 1, Acme Foods, info@acme.co.kr: bounced";
    assert!(run.stdout.contains(question), "{run:?}");
    assert!(!run.stdout.contains("is disputed"), "{run:?}");
    let run = dispute("1", "dispute");
    assert!(run.stdout.contains("quest 1 is disputed"), "{run:?}");
}
