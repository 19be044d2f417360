//! The main job, end to end: scan, next, submit, status, export.

use crate::harness::{EmailNet, Place};

#[test]
fn an_address_that_the_company_shows_passes_and_locks() {
    let world = EmailNet::start();
    let right = world.right("acme.co.kr");
    let (code, answer) = world.submit(1, &right);
    assert_eq!(
        (code, answer["verdict"].as_str()),
        (0, Some("PASS")),
        "{answer}"
    );
    let before = world.place.ledger();
    let (code, answer) = world.submit(1, &right);
    assert_eq!((code, answer["status"].as_str()), (7, Some("locked")));
    assert_eq!(world.place.ledger(), before);
    world.place.run(["next"]).exits(3);
}

#[test]
fn a_made_up_address_fails_with_facts_and_the_third_ends_the_quest() {
    let world = EmailNet::start();
    let right = world.right("acme.co.kr");
    for (number, code) in [(1, 5), (2, 5), (3, 6)] {
        let mut wrong = right.clone();
        wrong.email = format!("made.up{number}@acme.co.kr");
        let (exit, answer) = world.submit(1, &wrong);
        assert_eq!(exit, code, "{answer}");
        assert_eq!(answer["facts"][0]["rule"], "email-not-on-source");
        assert!(
            answer["facts"][0]["actual"]
                .as_str()
                .unwrap()
                .contains("info@acme.co.kr"),
            "{answer}"
        );
    }
    world.place.run(["next"]).exits(3);
}

#[test]
fn without_a_session_every_command_says_how_to_make_one() {
    let place = Place::new();
    for command in ["next", "status", "export", "resume"] {
        let run = place.run([command]);
        assert_eq!(run.code, 1);
        run.says("comail scan");
    }
}
