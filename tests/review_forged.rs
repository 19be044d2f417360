//! Decisions by others than the operator, and an index that somebody forged as comail would write it:
//! they are refused or found, and have no effect.

use std::fs;
use std::path::PathBuf;

use comail::base::Digest;
use comail::session::{
    Decision, DecisionPolicy, Dispute, Event, Seal, SettledQuest, Settlement, SigningKey,
    read_manifest,
};
use rusqlite::types::Value as Cell;
use rusqlite::{Connection, Row};
use serde_json::{Value, json};

use crate::harness::forge::{append, blot_in_place, events, found, line_with, tip};
use crate::harness::forgotten::{ADDRESS, forget, known};
use crate::harness::made::id;
use crate::harness::terminal::at_terminal;
use crate::harness::{EmailNet, Run};

/// A session with one REVIEW, with or without the operator's key.
fn reviewed(key: bool) -> EmailNet {
    let world = EmailNet::unscanned();
    let path = world.place.write("operator.key", [7; 32]);
    let path = path.display().to_string();
    let flags: &[&str] = if key { &["--operator-key", &path] } else { &[] };
    world.place.scan(&["Acme Foods"], &world.flags_with(flags));
    let spelled = world.contact("info [at] acme [dot] co [dot] kr");
    world.expect(1, &spelled, "REVIEW", &["email-obfuscated"]);
    world
}

const ACCEPT: [&str; 4] = ["review", "accept", "1", "--note=called"];

fn session(world: &EmailNet) -> PathBuf {
    world.place.at(".comail")
}

fn status(world: &EmailNet) -> Value {
    world.place.json(["status"]).1
}

#[track_caller]
fn assert_open(world: &EmailNet, before: &[u8], run: &Run, code: i32) {
    assert_eq!(run.code, code, "{run:?}");
    assert_eq!(world.place.ledger(), before, "{run:?}");
    assert_eq!(status(world)["effective"]["open"], 1);
}

#[test]
fn without_a_key_it_takes_a_terminal_and_the_word() {
    let world = reviewed(false);
    let before = world.place.ledger();
    let run = world.place.run(ACCEPT);
    run.says("run it on a terminal");
    assert_open(&world, &before, &run, 2);
    let yes = [&ACCEPT[..], &["--yes"]].concat();
    let run = world.place.run(&yes);
    run.says("keeps a program from deciding");
    assert_open(&world, &before, &run, 2);
    assert_open(
        &world,
        &before,
        &at_terminal(&world.place, &yes, "accept"),
        2,
    );
    for word in ["", "yes", "reject"] {
        let run = at_terminal(&world.place, &ACCEPT, word);
        assert_open(&world, &before, &run, 1);
    }
    let key = [&ACCEPT[..], &["--operator-key=operator.key"]].concat();
    assert_open(&world, &before, &world.place.run(&key), 2);
    let run = at_terminal(&world.place, &ACCEPT, "accept");
    assert!(
        run.stdout
            .contains("accept 1 REVIEW: quest 1, Acme Foods, info@acme.co.kr; note: called\r\n"),
        "{run:?}"
    );
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(status(&world)["effective"]["accepted"], 1);
}

#[test]
fn where_a_key_was_frozen_neither_terminal_nor_another_key_does() {
    let world = reviewed(true);
    world.place.write("wrong.key", [8; 32]);
    world.place.write("no.key", "not a key");
    let other = reviewed(true);
    other.place.write("other.key", [9; 32]);
    let of_another = other.place.at("other.key").display().to_string();
    let of_another = format!("--operator-key={of_another}");
    let before = world.place.ledger();
    for verb in ["accept", "reject", "reopen"] {
        let bare = ["review", verb, "1", "--note=called"];
        assert_open(&world, &before, &world.place.run(bare), 2);
        let run = at_terminal(&world.place, &bare, verb);
        assert_open(&world, &before, &run, 2);
        for (key, code) in [
            ("--operator-key=wrong.key", 2),
            ("--operator-key=no.key", 2),
            // An open quest is not reopened, whichever key is named.
            (
                "--operator-key=gone.key",
                if verb == "reopen" { 2 } else { 1 },
            ),
            (of_another.as_str(), 2),
        ] {
            let args = [&bare[..], &["--yes", key]].concat();
            assert_open(&world, &before, &world.place.run(&args), code);
            let run = at_terminal(&world.place, &args, verb);
            assert_open(&world, &before, &run, code);
        }
    }
    let dispute = ["dispute", "1", "--note=x"];
    let run = at_terminal(&world.place, &dispute, "dispute");
    assert_open(&world, &before, &run, 2);
    let accept = [&ACCEPT[..], &["--operator-key=operator.key"]].concat();
    world.place.run(accept).ok();
    let accepted = world.place.ledger();
    let reopen = ["review", "reopen", "1", "--note=called"];
    for key in [None, Some("--operator-key=wrong.key"), Some(&*of_another)] {
        let args: Vec<&str> = reopen.into_iter().chain(key).collect();
        at_terminal(&world.place, &args, "reopen").exits(2);
        assert_eq!(world.place.ledger(), accepted);
    }
}

/// Makes a settlement that the operator did not make, for the line after this hash.
type Forge = dyn Fn(DecisionPolicy, Digest) -> Settlement;

fn settlement(decision: Decision, note: &str) -> Settlement {
    Settlement {
        quests: vec![SettledQuest {
            quest: id(0),
            attempt: 1,
        }],
        decision,
        by: "kim".to_owned(),
        note: note.to_owned(),
        seal: None,
    }
}

/// The policy of the session, and the hash of its last line.
fn policy(world: &EmailNet) -> (DecisionPolicy, Digest) {
    let (manifest, session_digest) = read_manifest(&session(world)).expect("a manifest");
    let policy = DecisionPolicy {
        session: session_digest,
        key: manifest.frozen.operator_key,
    };
    (policy, tip(&session(world)).head)
}

/// Expects that the REVIEW is as open as it was, and that everybody is told of `count` forgeries.
#[track_caller]
fn assert_told(world: &EmailNet, count: usize, became: &str, what: &str) {
    let status = status(world);
    assert_eq!(status["effective"][became], 1, "{what}: {status:#}");
    assert_eq!(status["unsealed"], json!(count), "{what}");
    let (code, report) = world.place.json(["audit"]);
    assert_eq!(code, 8, "{what}: {report:#}");
    let seals = found(&report);
    assert_eq!(seals.len(), count, "{what}: {report:#}");
    assert!(
        seals
            .iter()
            .all(|it| it.starts_with("seal ") && it.ends_with(" 1"))
    );
    let export = world.place.run(["export", "--out=out.csv", "--force"]);
    assert_eq!(export.code, 8, "{what}: {export:?}");
    export.says("not signed with");
    let log = world.place.run(["log", "--type=settled,disputed"]).ok();
    let unsealed = log.lines().filter(|line| line.contains("not signed"));
    assert_eq!(unsealed.count(), count, "{what}: {log}");
}

#[test]
fn a_forged_decision_changes_nothing_and_is_told_of() {
    let accepted = || settlement(Decision::Accepted, "called");
    let stranger = SigningKey::read(&[8; 32]).expect("a key");
    let operator = SigningKey::read(&[7; 32]).expect("a key");
    let other_session = Digest::of(b"another session");
    let forgeries: [(&str, Box<Forge>); 5] = [
        ("no seal", Box::new(move |_, _| accepted())),
        (
            "a stranger's seal",
            Box::new(move |policy, here| policy.seal(accepted(), here, &stranger).expect("a seal")),
        ),
        (
            "a seal for another session",
            Box::new(move |policy, here| {
                let elsewhere = DecisionPolicy {
                    session: other_session,
                    ..policy
                };
                let key = SigningKey::read(&[7; 32]).expect("a key");
                elsewhere.seal(accepted(), here, &key).expect("a seal")
            }),
        ),
        (
            "a changed note",
            Box::new(move |policy, here| {
                let sealed = policy.seal(accepted(), here, &operator).expect("a seal");
                Settlement {
                    note: "did not call".to_owned(),
                    ..sealed
                }
            }),
        ),
        (
            "a seal said to be for here",
            Box::new(move |policy, here| {
                let key = SigningKey::read(&[7; 32]).expect("a key");
                let there = Digest::of(b"elsewhere");
                let sealed = policy.seal(accepted(), there, &key).expect("a seal");
                let seal = sealed.seal.map(|seal| Seal {
                    after: here,
                    ..seal
                });
                Settlement { seal, ..sealed }
            }),
        ),
    ];
    let world = reviewed(true);
    world.spoils();
    for (index, (what, forge)) in forgeries.iter().enumerate() {
        let (policy, here) = policy(&world);
        let event = Event::Settled(Box::new(forge(policy, here)));
        append(&session(&world), &event);
        assert_told(&world, index + 1, "open", what);
    }
}

#[test]
fn a_true_seal_does_not_hold_at_another_place() {
    let world = reviewed(true);
    world.spoils();
    for verb in ["accept", "reject"] {
        let key = "--operator-key=operator.key";
        world
            .place
            .run(["review", verb, "1", "--note=called", key])
            .ok();
    }
    let first = events(&session(&world))
        .into_iter()
        .find(|event| matches!(event, Event::Settled(_)))
        .expect("the acceptance");
    append(&session(&world), &first);
    assert_told(&world, 1, "rejected", "an acceptance that was taken back");
}

#[test]
fn a_forged_dispute_is_told_of_too() {
    let world = reviewed(true);
    world.spoils();
    let key = "--operator-key=operator.key";
    world
        .place
        .run(["review", "accept", "1", "--note=called", key])
        .ok();
    let dispute = Dispute {
        quest: id(0),
        by: "kim".to_owned(),
        note: "bounced".to_owned(),
        seal: None,
    };
    append(&session(&world), &Event::Disputed(Box::new(dispute)));
    assert_told(&world, 1, "accepted", "a dispute");
    assert_eq!(status(&world)["disputed"], 0);
}

/// A session with the operator's key, a PASS and two REVIEWs, quests 2 and 3.
fn two_reviews() -> EmailNet {
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

/// Writes to the index as comail does: with the count of changes that the file has then, and with
/// the seal of each row.
fn forge(world: &EmailNet, sql: &str) {
    let settings = fs::read(session(world).join("session.json")).expect("settings");
    let settings = Digest::of(&settings).to_string();
    let index = Connection::open(session(world).join("index.sqlite")).expect("an index");
    let counted = "UPDATE checkpoint SET changes = changes + 1";
    index
        .execute_batch(&format!("BEGIN; {sql}; {counted}"))
        .unwrap_or_else(|error| panic!("{sql}: {error}"));
    for table in ["checkpoint", "quest"] {
        let select = format!("SELECT * FROM {table}");
        let mut select = index.prepare(&select).expect("a table");
        let columns = select.column_count() - 1;
        let cells = |row: &Row<'_>| (0..columns).map(|at| row.get(at)).collect();
        let rows = select.query_map([], cells).expect("rows");
        let rows: Result<Vec<Vec<Cell>>, _> = rows.collect();
        for cells in rows.expect("cells") {
            let seal = seal(&settings, table, &cells);
            let sealed = format!("UPDATE {table} SET seal = ? WHERE id = ?");
            index.execute(&sealed, (seal, &cells[0])).expect("a row");
        }
    }
    index.execute_batch("COMMIT").expect("an index");
}

fn seal(session: &str, table: &str, cells: &[Cell]) -> i64 {
    let mut said = Vec::new();
    for cell in cells {
        match cell {
            Cell::Integer(number) => {
                said.push(b'i');
                said.extend(number.to_be_bytes());
            }
            Cell::Text(text) => {
                said.push(b't');
                said.extend((text.len() as u64).to_be_bytes());
                said.extend(text.bytes());
            }
            _ => said.push(b'n'),
        }
    }
    let digest = Digest::of_parts([session.as_bytes(), table.as_bytes(), &said]);
    i64::from_be_bytes(digest.first_bytes())
}

/// Quest 2 was accepted as quest 3 was.
const ACCEPT_2_AS_3: &str = "UPDATE quest SET body = json_set(body, '$.settled', \
     json((SELECT json_extract(body, '$.settled') FROM quest WHERE id = 3))) WHERE id = 2";

#[test]
fn what_was_never_decided_is_not_taken_back() {
    let world = two_reviews();
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
    let world = two_reviews();
    let more = "UPDATE checkpoint SET body = json_set(body, '$.totals.tally.pass', 2)";
    forge(&world, more);
    let (code, report) = world.place.json(["audit"]);
    assert_eq!((code, found(&report)), (8, vec!["index - -".to_owned()]));
    world.place.run(["audit"]).ok();
}

#[test]
fn a_dispute_rests_on_no_index_either() {
    let world = two_reviews();
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
    let world = two_reviews();
    let whole = world.place.ledger();
    let line = line_with(&session(&world), &["\"type\":\"attempt\"", "\"quest\":2,"]);
    blot_in_place(&session(&world), line, |body| {
        body["submission"]["fields"]["email"] = "evil@corp.com".into();
        body["evidence"] = json!({"exchanges": []});
    });
    let key = "--operator-key=key";
    for args in [
        &["show", "2"][..],
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
