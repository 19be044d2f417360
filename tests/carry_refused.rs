//! What `scan --carry` does not carry, and what it refuses: a PASS is worth no more than its
//! evidence.

use std::fs;

use comail::quest::QuestId;
use comail::session::{
    Attempt, Carried, CarriedPass, NewSession, Origin, Salt, Session, SessionError, Unwatched,
    create_carrying,
};
use comail::world::evidence::{Evidence, pack};
use serde_json::{Value, json};

use crate::harness::EmailNet;
use crate::harness::email_net::page;
use crate::quarters::{attempts_of, carry, counts, quarter, scan, tally, tree};
use crate::sheets::{names, pass};

#[test]
fn other_sites_and_namesakes_are_other_companies() {
    let world = quarter();
    let list = "company,site\nAcme Foods,acme.de\nBeta Steel,beta.co.kr\n";
    world.place.write("sites.csv", list);
    let why = [("other-anchor", 2)];
    assert_eq!(carry(&world, "sites.csv", "sites", &[]), counts(0, &why));
    world.place.write("bare.csv", "company,site\nAcme Foods,\n");
    let why = [("gone", 1), ("other-anchor", 1)];
    assert_eq!(carry(&world, "bare.csv", "bare", &[]), counts(0, &why));
    // A second company of the name has come to light since.
    let list = "company,site\nBeta Steel,beta.co.kr\nBeta Steel,beta.de\n";
    world.place.write("more.csv", list);
    world.place.run(["scan", "--update", "more.csv"]).ok();
    let why = [("namesake", 1)];
    assert_eq!(carry(&world, "new.csv", "q2", &[]), counts(1, &why));
    assert_eq!(tally(&world, "q2"), [1, 0, 0, 4]);
    let text = scan(&world, "new.csv", &["--session=q3", "--carry=.comail"]).ok();
    assert!(
        text.contains("1 PASS carried from .comail, 1 not\n"),
        "{text}"
    );
    assert!(text.contains("1  several companies of that name"), "{text}");
}

#[test]
fn the_new_sessions_settings_decide() {
    let world = EmailNet::unscanned();
    world.place.write("old.csv", "company,site\nAcme Foods,\n");
    scan(&world, "old.csv", &[]).ok();
    let shown = page("Acme Foods", "Write to minsu.kim@acme.co.kr");
    world.net.web.page("www.acme.co.kr", "/contact", &shown);
    let person = world.acme().email("minsu.kim@acme.co.kr");
    world.expect(1, &person, "PASS", &[]);
    let why = [("not-passed", 1)];
    let strict = carry(&world, "old.csv", "strict", &["--role-only"]);
    assert_eq!(strict, counts(0, &why));
    assert_eq!(tally(&world, "strict"), [0, 0, 0, 1]);
    assert_eq!(carry(&world, "old.csv", "same", &[]), counts(1, &[]));
}

#[test]
fn without_its_evidence_nothing_is_proven() {
    let world = quarter();
    world.spoils();
    let bodies = |attempt: &Attempt| -> Vec<String> {
        let evidence: Evidence = serde_json::from_str(attempt.evidence.get()).unwrap();
        let names = evidence.bodies().map(|body| body.sha256.to_string());
        names.collect()
    };
    let attempts = attempts_of(&world, ".comail");
    let shared = bodies(&attempts[1]);
    let mut own = bodies(&attempts[0]);
    own.retain(|name| !shared.contains(name));
    let path = |name: &str| {
        let (folder, file) = name.split_at(2);
        world
            .place
            .at(&format!(".comail/evidence/{folder}/{file}.gz"))
    };
    let why = [("evidence", 1)];
    let (first, last) = (path(&own[0]), path(own.last().unwrap()));
    let good = fs::read(&first).unwrap();
    fs::write(&first, pack(b"another page")).unwrap();
    assert_eq!(carry(&world, "new.csv", "edited", &[]), counts(1, &why));
    fs::write(&first, &good[..good.len() / 2]).unwrap();
    assert_eq!(carry(&world, "new.csv", "cut", &[]), counts(1, &why));
    fs::write(&first, good).unwrap();
    fs::remove_file(&last).unwrap();
    assert_eq!(carry(&world, "new.csv", "removed", &[]), counts(1, &why));
    assert_eq!(tally(&world, "removed"), [1, 0, 0, 4]);
}

#[test]
fn a_damaged_session_is_a_finding_and_nothing_is_made() {
    let world = quarter();
    world.spoils();
    let ledger = world.place.at(".comail/ledger.jsonl");
    let whole = world.place.ledger();
    let manifest = fs::read(world.place.at(".comail/session.json")).unwrap();
    let args = ["--session=q2", "--carry=.comail"];
    for at in [10, whole.len() / 3, whole.len() / 2, whole.len() - 30] {
        let mut bad = whole.clone();
        bad[at] ^= 1;
        fs::write(&ledger, bad).unwrap();
        let run = scan(&world, "new.csv", &args);
        run.says("ledger.jsonl, line");
        run.exits(8);
    }
    fs::write(&ledger, &whole).unwrap();
    let other = [&manifest[..], b"\n"].concat();
    fs::write(world.place.at(".comail/session.json"), other).unwrap();
    let run = scan(&world, "new.csv", &args);
    run.says("session.json was changed");
    run.exits(8);
    let made = names(world.place.path());
    let made: Vec<_> = made.iter().filter(|name| !name.contains('.')).collect();
    assert!(made.is_empty(), "{made:?}");
    assert!(
        !names(world.place.path())
            .iter()
            .any(|name| name.starts_with(".comail-"))
    );
}

#[test]
fn of_two_that_hold_one_address_the_first_is_carried() {
    let world = EmailNet::unscanned();
    let list = "company,site\nAcme Foods,\nAcme Foods Inc.,\n";
    world.place.write("old.csv", list);
    scan(&world, "old.csv", &[]).ok();
    pass(&world, 1, "acme.co.kr", "Acme Foods");
    let old = Session::read_only(&world.place.at(".comail"), &Unwatched).unwrap();
    let attempt = attempts_of(&world, ".comail").remove(0);
    // No gate would let the second pass: this session was written by hand.
    let brought = [0, 1].map(|index| {
        let quest = QuestId::from_index(index).unwrap();
        let origin = Origin {
            session: String::new(),
            manifest: old.config().policy.session,
            head: old.head(),
            quest,
            at: old.manifest().created,
        };
        let attempt = Attempt {
            quest,
            ..attempt.clone()
        };
        let carried = Carried { origin, attempt };
        let bodies = Vec::new();
        Ok::<_, SessionError>(CarriedPass { carried, bodies })
    });
    let mut reader = old.reader().unwrap();
    let read = |at: Result<_, _>| reader.quest(&at.unwrap()).unwrap();
    let quests: Vec<_> = old.index().quests().map(read).collect();
    let new = NewSession {
        stock: &comail::session::nothing_to_stock,
        watch: &comail::session::Unwatched,
        manifest: old.manifest(),
        source: &world.place.at("old.csv"),
        quests: &quests,
        now: old.manifest().created,
    };
    let forged = world.place.at("forged");
    let mut clock = (|| new.now, || Salt([0; 16]));
    create_carrying(&forged, &new, brought.into_iter(), &mut clock).unwrap();
    fs::remove_dir(forged.join("evidence")).unwrap();
    fs::rename(world.place.at(".comail/evidence"), forged.join("evidence")).unwrap();
    fs::remove_dir_all(world.place.at(".comail")).unwrap();
    assert_eq!(tally(&world, "forged"), [2, 0, 0, 0]);
    let run = scan(
        &world,
        "old.csv",
        &["--session=q2", "--carry=forged", "--json"],
    );
    let answer: Value = serde_json::from_str(&run.ok()).unwrap();
    let expected = json!({"from": "forged", "carried": 1, "not_carried": {"taken": 1}});
    assert_eq!(answer["carried"], expected);
    let next = world.place.run(["next", "--session=q2"]).ok();
    assert!(next.contains("company: Acme Foods Inc."), "{next}");
}

#[test]
fn a_session_is_carried_into_another_one() {
    let world = quarter();
    let before = tree(&world.place.at(".comail"));
    let code = |args: &[&str]| scan(&world, "new.csv", args).code;
    assert_eq!(code(&["--carry=.comail"]), 2);
    assert_eq!(code(&["--carry=./.comail/", "--session=.comail"]), 2);
    assert_eq!(
        code(&["--carry=.comail", "--session=.comail/evidence/q2"]),
        2
    );
    assert_eq!(code(&["--carry=none", "--session=q2"]), 1);
    assert_eq!(code(&["--recheck", "--session=q2"]), 2);
    let update = ["scan", "--update", "new.csv", "--carry=q1"];
    assert_eq!(world.place.run(update).code, 2);
    fs::create_dir(world.place.at("there")).unwrap();
    fs::write(world.place.at("there/file"), "mine").unwrap();
    assert_eq!(code(&["--carry=.comail", "--session=there"]), 1);
    assert_eq!(tree(&world.place.at(".comail")), before);
    assert!(!world.place.at("q2").exists());
}

#[test]
fn what_another_world_answered_proves_nothing_here() {
    let world = quarter();
    let live = [
        "scan",
        "new.csv",
        "--col=company",
        "--session=live",
        "--carry=.comail",
    ];
    let refused = world.place.run(live).exits(2);
    assert_eq!(refused, "");
    let run = world.place.run(live);
    run.says("has other network settings");
    assert!(!world.place.at("live").exists());
}
