//! Blotting out a line without the right to: it is damage, and never believed.

use std::fs;
use std::path::PathBuf;

use comail::base::Digest;
use comail::session::{
    Event, Forgotten, Line, Projection, RedactedLine, Session, SessionError, Suppressed,
};
use serde_json::json;

use crate::harness::EmailNet;
use crate::harness::email_net::ACME;
use crate::harness::forge::{append, blot_in_place, found, line_with};
use crate::harness::forgotten::{ADDRESS, forget, known};

fn ledger(world: &EmailNet) -> PathBuf {
    world.place.at(".comail/ledger.jsonl")
}

/// Writes the ledger anew with this line, by number from 0, blotted out as `blot` says; gives
/// what the line is now.
fn blot(world: &EmailNet, number: usize, blot: impl Fn(&str) -> String) -> RedactedLine {
    let text = fs::read_to_string(ledger(world)).expect("a ledger");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let line = Line::parse_unchained(&lines[number]).expect("a line");
    let blotted = line.with_body(&blot(line.body()));
    let named = RedactedLine {
        line: blotted.seq(),
        digest: blotted.redacted().expect("a mark"),
    };
    let other = blotted.text().to_owned();
    lines[number] = other;
    fs::write(ledger(world), lines.join("\n") + "\n").expect("a ledger");
    fs::remove_file(world.place.at(".comail/index.sqlite")).ok();
    named
}

fn forgotten(lines: Vec<RedactedLine>, address: &str) -> Event {
    Event::Forgotten(Box::new(Forgotten {
        address: Suppressed::new(Digest::of(b"salt"), address),
        lines,
        evidence: Vec::new(),
        copies: Vec::new(),
        by: "mallory".to_owned(),
        note: String::new(),
        seal: None,
    }))
}

/// The number of the line that records the attempt of quest 1.
fn passed(world: &EmailNet) -> usize {
    let session = world.place.at(".comail");
    line_with(&session, &["\"type\":\"attempt\"", "\"quest\":1,"])
}

#[track_caller]
fn assert_damaged(world: &EmailNet, line: usize) {
    let (code, report) = world.place.json(["audit"]);
    assert_eq!(code, 8, "{report:#}");
    assert_eq!(
        found(&report)[0].split(' ').nth(1),
        Some(&*(line + 1).to_string())
    );
    let what = report["findings"][0]["what"].as_str().expect("words");
    assert!(what.contains("redacted"), "{what}");
    world.place.run(["status"]).exits(1);
    world.place.run(["next"]).exits(1);
    let opened = Session::open(&world.place.at(".comail"));
    assert!(
        matches!(opened, Err(SessionError::Damaged { .. })),
        "{opened:?}"
    );
}

#[test]
fn a_line_that_was_blotted_out_by_hand_never_comes_under_the_operators_seal() {
    let world = known();
    let session = world.place.at(".comail");
    let line = line_with(&session, &["\"type\":\"attempt\"", "\"quest\":4,"]);
    let whole = world.place.ledger();
    blot_in_place(&session, line, |body| {
        body["verdict"] = "PASS".into();
        body["state"] = "PASS".into();
        body["rules"] = json!([]);
        body["judgement"] = json!({"verdict": "PASS", "facts": [], "checks": []});
        body["evidence"] = json!({"exchanges": []});
    });
    let forged = world.place.ledger();
    let run = forget(&world);
    assert_eq!(run.code, 1, "{run:?}");
    run.says("redacted");
    assert_eq!(world.place.ledger(), forged);
    fs::write(ledger(&world), whole).expect("a ledger");
    forget(&world).ok();
    world.place.run(["audit"]).ok();
    let (_, status) = world.place.json(["status"]);
    assert_eq!(status["effective"]["open"], 1, "{status:#}");
}

#[test]
fn where_no_key_was_frozen_it_is_damage_too() {
    let world = EmailNet::with(&[ACME], &[]);
    world.expect(1, &world.acme(), "PASS", &[]);
    world.spoils();
    let line = passed(&world);
    let named = blot(&world, line, |body| body.replace(ADDRESS, "[forgotten]"));
    assert_damaged(&world, line);
    let other = RedactedLine {
        digest: Digest::of(b"another body"),
        ..named
    };
    append(&world.place.at(".comail"), &forgotten(vec![other], ADDRESS));
    assert_damaged(&world, line);
}

#[test]
fn a_line_that_is_blotted_out_by_hand_is_damage_also_with_a_decision_without_the_key() {
    let world = known();
    let line = passed(&world);
    let named = blot(&world, line, |body| body.replace(ADDRESS, "[forgotten]"));
    assert_damaged(&world, line);
    append(&world.place.at(".comail"), &forgotten(vec![named], ADDRESS));
    assert_damaged(&world, line);
}

#[test]
fn nor_does_it_suppress_anything() {
    let world = known();
    append(
        &world.place.at(".comail"),
        &forgotten(Vec::new(), "sales@acme.co.kr"),
    );
    let (_, answer) = world.submit(3, &world.acme().email("sales@acme.co.kr"));
    assert_ne!(
        answer["facts"][0]["rule"], "forgotten-address",
        "{answer:#}"
    );
    let projection: Projection = {
        let session = Session::open(&world.place.at(".comail")).expect("a session");
        session.projection().expect("a projection")
    };
    assert_eq!(projection.totals().counts.unsealed, 1);
    let (code, report) = world.place.json(["audit"]);
    assert_eq!((code, &report["findings"][0]["kind"]), (8, &"seal".into()));
    assert!(projection.totals().forgetting.is_empty());
}

#[test]
fn without_the_key_and_at_no_terminal_it_is_refused() {
    let (keyed, open) = (known(), EmailNet::start());
    fs::write(keyed.place.at("other"), [8; 32]).expect("a key");
    for (world, key) in [
        (&keyed, None),
        (&keyed, Some("--operator-key=other")),
        (&open, None),
    ] {
        let before = world.place.ledger();
        let forget = ["forget", ADDRESS, "--note=x"].into_iter().chain(key);
        world.place.run(forget).exits(2);
        assert_eq!(world.place.ledger(), before);
    }
}

#[test]
fn what_was_forgotten_cannot_be_put_back() {
    let world = known();
    let line = passed(&world);
    let whole = fs::read_to_string(ledger(&world)).expect("a ledger");
    forget(&world).ok();
    let blotted = fs::read_to_string(ledger(&world)).expect("a ledger");
    let mut lines: Vec<&str> = blotted.lines().collect();
    lines[line] = whole.lines().nth(line).expect("a line");
    fs::write(ledger(&world), lines.join("\n") + "\n").expect("a ledger");
    fs::remove_file(world.place.at(".comail/index.sqlite")).ok();
    let (code, report) = world.place.json(["audit"]);
    assert_eq!(code, 8, "{report:#}");
    let what = report["findings"][0]["what"].as_str().expect("words");
    assert!(what.contains("stands there whole"), "{what}");
}

#[test]
fn the_body_of_a_forgotten_line_cannot_be_changed() {
    let world = known();
    let line = passed(&world);
    forget(&world).ok();
    blot(&world, line, |body| {
        body.replace("[forgotten]", "other@acme.co.kr")
    });
    assert_damaged(&world, line);
}

#[test]
fn the_settings_cannot_be_changed_by_blotting_out_the_first_line() {
    let world = known();
    let path = world.place.at(".comail/session.json");
    let settings = fs::read_to_string(&path).expect("settings");
    let other = settings.replace("\"pause_after\": 25", "\"pause_after\": 26");
    assert_ne!(other, settings);
    fs::write(&path, &other).expect("settings");
    let digest = Digest::of(other.as_bytes());
    blot(&world, 0, |_| format!("{{\"manifest\":\"{digest}\"}}"));
    world.place.run(["audit"]).exits(8);
    assert!(Session::open(&world.place.at(".comail")).is_err());
}
