//! Settings that `scan` was not given and a person adds: a column of known sites, the operator's key.

use comail::session::{Amended, Event, SigningKey};

use crate::harness::forge::{append, found};
use crate::harness::terminal::at_terminal;
use crate::harness::{EmailNet, Run};

const ADD_SITES: [&str; 5] = ["scan", "--update", "companies.csv", "--site-col", "site"];
const ADD_KEY: [&str; 4] = ["scan", "--update", "--operator-key", "operator.key"];

/// A session of two companies whose list has a column of sites, which `scan` was not told.
fn scanned(flags: &[&str]) -> EmailNet {
    let world = EmailNet::unscanned();
    world.company("acme.de", "Acme Foods");
    world.place.write("operator.key", [7; 32]);
    world.place.write("wrong.key", [8; 32]);
    let csv = "company,site\nAcme Foods,acme.co.kr\nBeta Steel,\n";
    world.scan_csv(csv, &[&["--col", "company"], flags].concat());
    world
}

#[track_caller]
fn unchanged(world: &EmailNet, before: &[u8], run: &Run, code: i32, words: &str) {
    assert_eq!(run.code, code, "{run:?}");
    // A terminal breaks long lines.
    let said = format!("{}{}", run.stdout, run.stderr);
    let said: Vec<&str> = said.split_whitespace().collect();
    assert!(said.join(" ").contains(words), "{run:?}");
    assert_eq!(world.place.ledger(), before, "{run:?}");
}

#[track_caller]
fn typed(world: &EmailNet, args: &[&str]) -> String {
    let run = at_terminal(&world.place, args, "add");
    assert_eq!(run.code, 0, "{run:?}");
    run.stdout
}

#[test]
fn a_forgotten_column_of_sites_is_added_by_a_person() {
    let world = scanned(&[]);
    let before = world.place.ledger();
    let run = world.place.run(ADD_SITES);
    unchanged(&world, &before, &run, 2, "run it on a terminal");
    for word in ["", "yes"] {
        let run = at_terminal(&world.place, &ADD_SITES, word);
        unchanged(&world, &before, &run, 1, "not confirmed");
    }
    let said = typed(&world, &ADD_SITES);
    assert!(said.contains("1 quest now has a known site"), "{said}");
    let (_, shown) = world.place.json(["show", "1"]);
    assert!(shown.to_string().contains("acme.co.kr"), "{shown}");
    // The gate compares answers with it, and a PASS is anchored.
    world.expect(1, &world.right("acme.de"), "FAIL", &["site-not-expected"]);
    world.expect(1, &world.acme(), "PASS", &[]);
    assert_eq!(world.place.json(["status"]).1["unanchored"], 0);
    // The column belongs to the session now, so that the next update adds nothing to the settings.
    world.place.run(ADD_SITES).ok();
    assert_eq!(world.place.events("amended").len(), 1);
    let log = world.place.run(["log"]).ok();
    assert!(log.contains("1 known site added by"), "{log}");
    assert_eq!(world.place.json(["audit"]).0, 0);
    // Another session takes the site over with the PASS.
    let carry = ["scan", "companies.csv", "--col=company", "--site-col=site"];
    let carry = carry.iter().map(|arg| (*arg).to_owned());
    let flags = world.flags_with(&["--carry", ".comail", "--session", "next"]);
    let said = world.place.run(carry.chain(flags)).ok();
    assert!(said.contains("1 PASS carried"), "{said}");
}

#[test]
fn a_wrong_column_of_sites_adds_no_quests() {
    let world = scanned(&["--site-col", "site"]);
    let csv = "company,site,city,web\nAcme Foods,acme.co.kr,Berlin,acme.com\nBeta Steel,,,\n";
    world.place.write("companies.csv", csv);
    let moved =
        "company,city,web\nAcme Foods,Berlin,acme.co.kr\nBeta Steel,,\nGamma Mart,Bonn,gamma.kr\n";
    world.place.write("moved.csv", moved);
    let before = world.place.ledger();
    let update = |list, column| {
        world
            .place
            .run(["scan", "--update", list, "--site-col", column])
    };
    for (list, column, words) in [
        (
            "companies.csv",
            "city",
            "are in the column `site`, not `city`",
        ),
        ("companies.csv", "web", "leave --site-col out"),
        ("moved.csv", "city", "the column `city` names no website"),
    ] {
        unchanged(&world, &before, &update(list, column), 2, words);
    }
    // A newer list may call the session's own column otherwise.
    let moved = update("moved.csv", "web").ok();
    assert!(moved.contains("1 new quest"), "{moved}");
}

#[test]
fn the_sessions_own_column_of_sites_may_be_named_by_its_letter() {
    let world = scanned(&["--site-col", "site"]);
    let update = ["scan", "--update", "companies.csv", "--site-col=B"];
    let same = world.place.run(update).ok();
    assert!(same.contains("0 new quests"), "{same}");
}

/// Otherwise an agent could choose the known site that its answer is compared with.
#[test]
fn a_person_confirms_that_rows_replace_quests() {
    let world = scanned(&["--site-col", "site"]);
    let before = world.place.ledger();
    for (rows, words) in [
        (
            "Acme Foods,acme.de\nBeta Steel,\n",
            "leaves 1 quest of the session without a row and adds 1 quest with the key",
        ),
        (
            "Acme Foods,acme.co.kr\nAcme  Foods,acme.de\nBeta Steel,\n",
            "leaves 0 quests of the session without a row and adds 1 quest",
        ),
        (
            "Acme Foods,acme.co.kr\n",
            "leaves 1 quest of the session without a row",
        ),
    ] {
        let list = format!("company,site\n{rows}");
        world.place.write("companies.csv", list);
        let update = ["scan", "--update", "companies.csv"];
        let run = world.place.run(update);
        unchanged(&world, &before, &run, 2, "run it on a terminal");
        let run = at_terminal(&world.place, &update, "yes");
        unchanged(&world, &before, &run, 1, words);
    }
    let run = at_terminal(
        &world.place,
        &["scan", "--update", "companies.csv"],
        "update",
    );
    assert_eq!(run.code, 0, "{run:?}");
    assert_ne!(world.place.ledger(), before);
    // The operator's key needs no word.
    let world = scanned(&["--site-col=site", "--operator-key=operator.key"]);
    world
        .place
        .write("companies.csv", "company,site\nAcme Foods,acme.de\n");
    let update = ["scan", "--update", "companies.csv"];
    let before = world.place.ledger();
    let run = world.place.run(update);
    unchanged(&world, &before, &run, 2, "--operator-key FILE");
    let signed = [&update[..], &["--operator-key=operator.key"]].concat();
    world.place.run(signed).ok();
}

#[test]
fn nothing_is_added_once_a_submission_is_judged() {
    let world = scanned(&[]);
    assert_eq!(world.place.give_up(2), 5);
    let before = world.place.ledger();
    for args in [&ADD_SITES[..], &ADD_KEY] {
        let run = at_terminal(&world.place, args, "add");
        unchanged(
            &world,
            &before,
            &run,
            2,
            "before the first submission is judged",
        );
    }
    world.place.run(["scan", "--update", "companies.csv"]).ok();
}

#[test]
fn a_forgotten_key_is_added_by_a_person_and_then_required() {
    let world = scanned(&[]);
    let before = world.place.ledger();
    let run = world.place.run(ADD_KEY);
    unchanged(&world, &before, &run, 2, "run it on a terminal");
    let run = at_terminal(&world.place, &ADD_KEY, "accept");
    unchanged(&world, &before, &run, 1, "not confirmed");
    // Without a list, the one that was scanned last is read again.
    let said = typed(&world, &ADD_KEY);
    assert!(said.contains("the operator's key was added"), "{said}");

    let before = world.place.ledger();
    let update = ["scan", "--update"];
    let wrong = ["scan", "--update", "--operator-key", "wrong.key"];
    for run in [
        world.place.run(update),
        at_terminal(&world.place, &update, "add"),
        at_terminal(&world.place, &ADD_SITES, "add"),
        world.place.run(wrong),
        at_terminal(&world.place, &wrong, "add"),
    ] {
        unchanged(&world, &before, &run, 2, "key");
    }
    // The key replaces the terminal.
    let key = "--operator-key=operator.key";
    world.place.run([&ADD_SITES[..], &[key]].concat()).ok();
    let signed = &world.place.events("amended")[1];
    assert!(signed["seal"].is_object(), "{signed}");

    let spelled = world.contact("info [at] acme [dot] co [dot] kr");
    world.expect(1, &spelled, "REVIEW", &["email-obfuscated"]);
    let accept = ["review", "accept", "1", "--note=called"];
    let before = world.place.ledger();
    let run = at_terminal(&world.place, &accept, "accept");
    unchanged(&world, &before, &run, 2, "only the operator can do this");
    let run = world
        .place
        .run([&accept[..], &["--operator-key=wrong.key"]].concat());
    unchanged(&world, &before, &run, 2, "not the key file");
    world.place.run([&accept[..], &[key]].concat()).ok();
    assert_eq!(world.place.json(["status"]).1["effective"]["accepted"], 1);
    assert_eq!(world.place.json(["audit"]).0, 0);
}

#[test]
fn what_the_operator_did_not_sign_adds_nothing() {
    let world = scanned(&["--operator-key", "operator.key"]);
    world.spoils();
    let before = world.place.ledger();
    let run = at_terminal(&world.place, &ADD_SITES, "add");
    unchanged(&world, &before, &run, 2, "only the operator can do this");
    let forged = Amended {
        operator_key: Some(SigningKey::read(&[8; 32]).unwrap().public()),
        by: "mallory".to_owned(),
        ..Amended::default()
    };
    append(
        &world.place.at(".comail"),
        &Event::Amended(Box::new(forged)),
    );
    let run = world
        .place
        .run([&ADD_SITES[..], &["--operator-key=wrong.key"]].concat());
    assert_eq!(run.code, 2, "{run:?}");
    world
        .place
        .run([&ADD_SITES[..], &["--operator-key=operator.key"]].concat())
        .ok();
    let (code, report) = world.place.json(["audit"]);
    assert_eq!(code, 8, "{report}");
    assert_eq!(found(&report), ["seal 4 -"], "{report}");
}
