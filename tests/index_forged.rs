//! An index that somebody forged as comail would write it: a person's decision never rests on it.

use std::fs;
use std::path::PathBuf;

use rusqlite::Connection;
use serde_json::json;

use crate::harness::EmailNet;
use crate::harness::forge::{blot_in_place, found, line_with};
use crate::harness::forgotten::{ADDRESS, forget, known};

fn session(world: &EmailNet) -> PathBuf {
    world.place.at(".comail")
}

/// A session with the operator's key, a PASS and two REVIEWs, quests 2 and 3.
fn reviewed() -> EmailNet {
    let world = EmailNet::unscanned();
    world.place.write("key", [7; 32]);
    let keys = ["Acme Foods", "Delta Works", "Epsilon Works"];
    world
        .place
        .scan(&keys, &world.flags_with(&["--operator-key=key"]));
    world.expect(1, &world.acme(), "PASS", &[]);
    for id in [2, 3] {
        let (code, answer) = world.submit(id, &world.acme());
        assert_eq!(
            (code, &answer["state"]),
            (0, &"REVIEW".into()),
            "{answer:#}"
        );
    }
    world.spoils();
    world
}

/// Writes to the index as comail does: with the count of changes that the file has then.
fn forge(world: &EmailNet, sql: &str) {
    let index = Connection::open(session(world).join("index.sqlite")).expect("an index");
    let counted = "UPDATE checkpoint SET changes = changes + 1";
    index
        .execute_batch(&format!("BEGIN; {sql}; {counted}; COMMIT"))
        .unwrap_or_else(|error| panic!("{sql}: {error}"));
}

/// Quest 2 was accepted as quest 3 was.
const ACCEPT_2_AS_3: &str = "UPDATE quest SET body = json_set(body, '$.settled', \
     json((SELECT json_extract(body, '$.settled') FROM quest WHERE id = 3))) WHERE id = 2";

#[test]
fn what_was_never_decided_is_not_taken_back() {
    let world = reviewed();
    let key = "--operator-key=key";
    world
        .place
        .run(["review", "accept", "3", "--note=x", key])
        .ok();
    let counted = "UPDATE checkpoint SET body = json_remove(json_set(body, \
         '$.totals.effective.accepted', 2), '$.totals.effective.open')";
    forge(&world, &format!("{ACCEPT_2_AS_3}; {counted}"));
    let before = world.place.ledger();
    let run = world.place.run(["review", "reopen", "2", "--note=x", key]);
    assert_eq!(run.code, 2, "{run:?}");
    run.says("rebuilt from the ledger");
    run.says("nothing to withdraw");
    assert_eq!(world.place.ledger(), before);
    world.place.run(["audit"]).ok();
}

#[test]
fn a_forged_tally_is_found_by_audit() {
    let world = reviewed();
    let more = "UPDATE checkpoint SET body = json_set(body, '$.totals.tally.pass', 2)";
    forge(&world, more);
    let (code, report) = world.place.json(["audit"]);
    assert_eq!((code, found(&report)), (8, vec!["index - -".to_owned()]));
    world.place.run(["audit"]).ok();
}

#[test]
fn a_dispute_rests_on_no_index_either() {
    let world = reviewed();
    let key = "--operator-key=key";
    world
        .place
        .run(["review", "accept", "3", "--note=x", key])
        .ok();
    forge(&world, ACCEPT_2_AS_3);
    let before = world.place.ledger();
    let run = world.place.run(["dispute", "2", "--note=x", key]);
    assert_eq!(run.code, 2, "{run:?}");
    assert_eq!(world.place.ledger(), before);
}

#[test]
fn nobody_is_shown_a_body_that_was_put_in_for_a_while() {
    let world = reviewed();
    let whole = world.place.ledger();
    let line = line_with(&session(&world), &["\"type\":\"attempt\"", "\"quest\":2,"]);
    blot_in_place(&session(&world), line, |body| {
        body["submission"]["fields"]["email"] = "evil@corp.com".into();
        body["evidence"] = json!({"exchanges": []});
    });
    let key = "--operator-key=key";
    for args in [
        &["review", "show", "2"][..],
        &["review"],
        &["review", "--export=queue.xlsx"],
        &["review", "accept", "2", "--note=x", key],
        &["review", "reject", "2", "--note=x", key],
    ] {
        let run = world.place.run(args);
        assert_eq!(run.code, 1, "{args:?}: {run:?}");
        assert!(run.stderr.contains("redacted"), "{args:?}: {run:?}");
        assert!(!run.stdout.contains("evil"), "{args:?}: {run:?}");
    }
    fs::write(session(&world).join("ledger.jsonl"), whole).expect("a ledger");
    let (_, status) = world.place.json(["status"]);
    assert_eq!(status["effective"]["open"], 2, "{status:#}");
}

#[test]
fn an_address_that_came_back_is_found() {
    let world = known();
    forget(&world).ok();
    let address = ADDRESS.replacen("info", "INFO", 1);
    let answer = world.right("bolt.co.kr").email(&address);
    // An index that knows of no address suppresses none.
    let unknown = "UPDATE checkpoint SET body = \
         json_set(body, '$.totals.forgetting.suppressed', json('[]'))";
    forge(&world, unknown);
    let line = world.place.ledger().split(|byte| *byte == b'\n').count();
    let (_, told) = world.submit(3, &answer);
    assert_ne!(told["facts"][0]["rule"], "forgotten-address", "{told:#}");
    fs::remove_file(session(&world).join("index.sqlite")).expect("an index");
    let (code, report) = world.place.json(["audit"]);
    assert_eq!(code, 8, "{report:#}");
    assert_eq!(
        found(&report),
        [format!("forgotten {line} 3")],
        "{report:#}"
    );
    assert!(!report.to_string().contains(ADDRESS), "{report:#}");
    forget(&world).ok();
    world.place.run(["audit"]).ok();
}
