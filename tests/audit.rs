//! `comail audit`: what is clean stays unblamed, and what was edited beside the ledger is named.

use std::fs;

use comail::session::Event;
use comail::world::evidence::{pack, unpack};
use rusqlite::Connection;

use crate::harness::EmailNet;
use crate::harness::audited::{
    assert_clean, assert_found, audit, bodies, head, resolve_and_carry, session, strings, worked,
};
use crate::harness::email_net::ACME;
use crate::harness::forge::{events, found, rewrite_with};

#[test]
fn a_pass_carried_to_another_company_is_found() {
    let world = worked();
    world.spoils();
    resolve_and_carry(&world);
    let lines = events(&session(&world)).len();
    rewrite_with(
        &session(&world),
        |_, event| {
            if let Event::Carried(carried) = event {
                carried.attempt.quest = "7".parse().expect("an id");
            }
            true
        },
        Vec::new(),
    );
    let report = assert_found(&world, &[&format!("replay {lines} 7")]);
    assert_eq!(
        report["findings"][0]["facts"][0]["rule"],
        "company-not-on-site"
    );
}

#[test]
fn honest_work_of_every_kind_is_clean() {
    let world = worked();
    let kinds: Vec<_> = events(&session(&world))
        .iter()
        .map(|event| event.kind().name())
        .collect();
    for kind in ["claim", "released", "resumed", "extended", "attempt"] {
        assert!(kinds.contains(&kind), "no {kind} in {kinds:?}");
    }
    let before = world.place.ledger();
    let report = assert_clean(&world, &[]);
    let checked = &report["checked"];
    assert_eq!(checked["lines"], kinds.len());
    assert_eq!(checked["quests"], 7);
    assert_eq!(
        (&checked["judgements"], &checked["passes"]),
        (&9.into(), &2.into())
    );
    assert_eq!(report["head"], head(&world));
    let text = world.place.run(["audit"]).ok();
    assert!(text.starts_with("0 findings: "), "{text}");
    assert!(
        text.contains("9 judgements (2 PASSes judged again from evidence)"),
        "{text}"
    );
    assert_eq!(world.place.ledger(), before);
}

#[test]
fn a_missing_index_and_one_that_is_behind_are_no_findings() {
    let world = EmailNet::start();
    let index = session(&world).join("index.sqlite");
    let early = fs::read(&index).expect("an index");
    assert_eq!(world.says(&world.acme()), "PASS");
    assert_clean(&world, &[]);
    fs::write(&index, early).expect("an index");
    assert_clean(&world, &[]);
    fs::remove_file(&index).expect("an index");
    assert_clean(&world, &[]);
}

#[test]
fn an_index_edited_by_hand_is_found_and_made_anew() {
    let world = worked();
    for (what, edit) in [
        ("state", "UPDATE quest SET state = 'PASS' WHERE id = 6"),
        ("quest", "DELETE FROM quest WHERE id = 6"),
        ("mark", "DELETE FROM mark WHERE quest = 1"),
        (
            "submission",
            "UPDATE quest SET body = json_remove(body, '$.submissions') WHERE id = 1",
        ),
        (
            "claim",
            "UPDATE quest SET worker = 'w9', held_ms = 4102444800000, lease_s = 86400 WHERE id = 6",
        ),
        (
            "complete",
            "UPDATE checkpoint SET body = replace(body, '\"todo\":', '\"todo\":0')",
        ),
    ] {
        let index = Connection::open(session(&world).join("index.sqlite")).expect("an index");
        run(&index, edit);
        drop(index);
        let (code, report) = audit(&world, &[]);
        assert_eq!(
            (code, found(&report)),
            (8, strings(&["index - -"])),
            "{what}: {report:#}"
        );
        let said = report["findings"][0]["what"].as_str().expect("what");
        assert!(said.contains("rebuilt"), "{what}: {said}");
        assert_clean(&world, &[]);
    }
}

fn run(index: &Connection, sql: &str) {
    assert_ne!(index.execute(sql, []).expect("an edit"), 0, "{sql}");
}

#[test]
fn evidence_that_was_lost_or_changed_is_found() {
    let world = EmailNet::with(&[ACME, "Bolt Toys"], &[]);
    world.spoils();
    world.company("bolt.co.kr", "Bolt Toys");
    world.expect(1, &world.acme(), "PASS", &[]);
    world.expect(2, &world.right("bolt.co.kr"), "PASS", &[]);
    let bodies = bodies(&world);
    let mut blamed = Vec::new();
    for path in &bodies {
        let good = fs::read(path).expect("a body");
        let body = unpack(&good, 1_000_000).expect("a packed body");
        let mut other = body.clone();
        other.extend(b"<!-- -->");
        let swapped = bodies.iter().find(|other| *other != path).expect("another");
        let swapped = fs::read(swapped).expect("a body");
        let cut = good[..good.len() / 2].to_vec();
        fs::remove_file(path).expect("a body");
        let (code, first) = audit(&world, &[]);
        assert_eq!(code, 8, "{first:#}");
        for bad in [pack(&other), swapped, cut, Vec::new()] {
            fs::write(path, bad).expect("a body");
            let (code, report) = audit(&world, &[]);
            assert_eq!((code, found(&report)), (8, found(&first)), "{report:#}");
        }
        fs::remove_file(path).expect("a body");
        fs::create_dir(path).expect("a folder");
        assert_eq!(audit(&world, &[]).0, 8);
        fs::remove_dir(path).expect("a folder");
        fs::write(path, good).expect("a body");
        blamed.extend(found(&first));
    }
    blamed.sort();
    blamed.dedup();
    assert_eq!(blamed, ["evidence 4 1", "evidence 5 2"]);
    assert_clean(&world, &[]);
}

#[test]
fn a_pipe_in_place_of_a_body_is_found_and_not_waited_for() {
    let world = EmailNet::start();
    world.spoils();
    world.expect(1, &world.acme(), "PASS", &[]);
    let path = bodies(&world).remove(0);
    fs::remove_file(&path).expect("a body");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.expect("mkfifo").success());
    assert_found(&world, &["evidence 3 1"]);
}

#[test]
fn settings_and_lists_that_were_edited_are_found() {
    let world = worked();
    world.spoils();
    for name in ["source.txt", "source-2.txt"] {
        let path = session(&world).join(name);
        let good = fs::read(&path).expect("a copy");
        fs::write(&path, "Evil Foods\n").expect("a copy");
        let (code, report) = audit(&world, &[]);
        assert_eq!(
            (code, &report["findings"][0]["kind"]),
            (8, &"source".into()),
            "{report:#}"
        );
        assert!(report["findings"][0]["line"].is_u64(), "{report:#}");
        fs::remove_file(&path).expect("a copy");
        let (code, report) = audit(&world, &[]);
        assert_eq!((code, found(&report).len()), (8, 1), "{report:#}");
        fs::write(&path, good).expect("a copy");
    }
    assert_clean(&world, &[]);
    let path = session(&world).join("session.json");
    let good = fs::read_to_string(&path).expect("session.json");
    for bad in [
        good.replace("\"max_tries\": 3", "\"max_tries\": 9"),
        "{}".into(),
    ] {
        fs::write(&path, bad).expect("session.json");
        assert_found(&world, &["settings 1 -"]);
    }
    fs::write(&path, good).expect("session.json");
    assert_clean(&world, &[]);
}

#[test]
fn no_session_and_no_ledger_are_errors() {
    let world = EmailNet::start();
    world.spoils();
    let missing = world.place.run(["audit", "--session", "none"]);
    missing.exits(1);
    fs::remove_file(session(&world).join("ledger.jsonl")).expect("a ledger");
    world.place.run(["audit"]).exits(1);
}
