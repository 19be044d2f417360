//! Sessions for audits, and what an audit finds in them.

use std::fs;
use std::path::PathBuf;

use comail::base::Digest;
use comail::session::{
    Attempt, Carried, Event, Origin, Outcome, Resolution, Session, VerdictBasis,
};
use serde_json::Value;

use super::EmailNet;
use super::email_net::ACME;
use super::forge::{found, rewrite_with};
use super::replayed::attempts;
use crate::servers::http::Reply;

pub const NAMES: [&str; 6] = [
    ACME,
    "Bolt Toys",
    "Cargo Ring",
    "Delta Works",
    "Ember Glass",
    "Bolt Toys Inc.",
];

/// A session with every kind of event: PASS, REVIEW, DONE, FAIL, a repeat, claims, a release, a
/// lifted pause and a newer list.
pub fn worked() -> EmailNet {
    let world = EmailNet::unscanned();
    world.company("bolt.co.kr", "Bolt Toys");
    world.company("ember.co.kr", "Ember Glass");
    world.place.write("key", [7; 32]);
    let flags = [
        "--set=scan.pause-after=2",
        "--operator-key=key",
        "--set=scan.lease=1h",
    ];
    world.place.scan(&NAMES, &world.flags_with(&flags));
    let place = &world.place;
    let wrong = world.acme().email("made.up@acme.co.kr");
    assert_eq!(world.submit(1, &wrong).0, 5);
    assert_eq!(world.submit(1, &wrong).0, 5, "a repeat");
    assert_eq!(world.judge(&world.acme()).0, "PASS");
    place.run(["next", "--worker=w1"]).ok();
    place.run(["next", "--worker=w2"]).ok();
    let mut bolt = world.right("bolt.co.kr").args(2);
    bolt.push("--worker=w1".to_owned());
    place.run(bolt).ok();
    let release = ["release", "--operator-key=key", "--worker=w2"];
    let released = place.run(release);
    assert_eq!(released.code, 0, "{released:?}");
    world
        .net
        .web
        .reply("www.ember.co.kr", "/contact", Reply::Reset);
    let silent = world.right("ember.co.kr");
    world.expect(5, &silent, "REVIEW", &["source-unanswered"]);
    for code in [5, 5, 6] {
        assert_eq!(place.give_up(3), code);
    }
    assert_eq!(place.run(["next"]).code, 9);
    place.run(["resume", "--operator-key=key"]).ok();
    // The address is taken, which is an answer of the session.
    world.expect(
        4,
        &world.acme(),
        "REVIEW",
        &["company-not-on-site", "email-reused"],
    );
    place.write(
        "companies.txt",
        [&NAMES[..], &["Gold Oak"]].concat().join("\n"),
    );
    let update = ["scan", "--update", "companies.txt", "--operator-key=key"];
    place.run(update).ok();
    world
}

/// The audit's exit code and report, text and JSON alike.
#[track_caller]
pub fn audit(world: &EmailNet, args: &[&str]) -> (i32, Value) {
    world.place.json([&["audit"], args].concat())
}

#[track_caller]
pub fn assert_clean(world: &EmailNet, args: &[&str]) -> Value {
    let (code, report) = audit(world, args);
    assert_eq!((code, found(&report)), (0, vec![]), "{report:#}");
    report
}

/// Expects these findings and no other, each as `kind line quest`.
#[track_caller]
pub fn assert_found(world: &EmailNet, args: &[&str], expected: &[&str]) -> Value {
    let (code, report) = audit(world, args);
    assert_eq!(found(&report), expected, "{report:#}");
    assert_eq!(code, 8, "{report:#}");
    report
}

pub fn session(world: &EmailNet) -> PathBuf {
    world.place.at(".comail")
}

pub fn head(world: &EmailNet) -> String {
    let (_, status) = world.place.json(["status"]);
    status["head"].as_str().expect("a head").to_owned()
}

pub fn bodies(world: &EmailNet) -> Vec<PathBuf> {
    let folders = fs::read_dir(session(world).join("evidence")).expect("evidence");
    let files = folders
        .flat_map(|folder| fs::read_dir(folder.expect("a folder").path()).expect("a folder"));
    files.map(|file| file.expect("a body").path()).collect()
}

/// Appends the confirmation of a REVIEW and a carried PASS to the ledger.
pub fn resolve_and_carry(world: &EmailNet) {
    let dir = session(world);
    let attempts = {
        let session = Session::open(&dir).expect("a session");
        attempts(&session)
    };
    let silent = attempts
        .iter()
        .find(|it| it.grounds == VerdictBasis::Unanswered);
    let silent = silent.expect("a REVIEW of silence");
    let bolt = attempts.iter().find(|it| it.quest.to_string() == "2");
    let bolt = bolt.expect("a PASS").clone();
    let resolved = Resolution {
        quest: silent.quest,
        attempt: silent.number,
        outcome: Outcome::Open,
        verdict: silent.verdict,
        grounds: silent.grounds,
        rules: silent.rules.clone(),
        holds: Vec::new(),
        judgement: silent.judgement.clone(),
        evidence: silent.evidence.clone(),
    };
    let carried = Carried {
        origin: Origin {
            session: "/elsewhere".to_owned(),
            manifest: Digest::of(b"manifest"),
            head: Digest::of(b"head"),
            quest: "3".parse().expect("an id"),
            at: "2026-01-01T00:00:00Z".parse().expect("a time"),
        },
        attempt: Attempt {
            quest: "6".parse().expect("an id"),
            ..bolt
        },
    };
    let more = vec![
        Event::Resolution(Box::new(resolved)),
        Event::Carried(Box::new(carried)),
    ];
    rewrite_with(&dir, |_, _| true, more);
}
