//! An index that somebody wrote to, seals and all: a person's decision never rests on it.

use std::fs;
use std::path::PathBuf;

use comail::base::Digest;
use rusqlite::types::Value;
use rusqlite::{Connection, Row, params_from_iter};
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

/// Somebody who writes to the index as comail does: with seals, and with the count of changes.
struct Forger {
    index: Connection,
    path: PathBuf,
    session: String,
}

impl Forger {
    fn open(world: &EmailNet) -> Self {
        let path = session(world).join("index.sqlite");
        let settings = fs::read(session(world).join("session.json")).expect("settings");
        Self {
            index: Connection::open(&path).expect("an index"),
            path,
            session: Digest::of(&settings).to_string(),
        }
    }

    fn seal(&self, table: &str, cells: &[Value]) -> i64 {
        let mut said = Vec::new();
        for cell in cells {
            match cell {
                Value::Integer(number) => {
                    said.push(b'i');
                    said.extend(number.to_be_bytes());
                }
                Value::Text(text) => {
                    said.push(b't');
                    said.extend((text.len() as u64).to_be_bytes());
                    said.extend(text.bytes());
                }
                _ => said.push(b'n'),
            }
        }
        let parts = [self.session.as_bytes(), table.as_bytes(), &said];
        i64::from_be_bytes(Digest::of_parts(parts).first_bytes())
    }

    /// The cells of a row, of which the last is the seal, and the last but one the body.
    fn row(&self, table: &str, id: u32) -> Vec<Value> {
        let select = format!("SELECT * FROM {table} WHERE id = ?");
        let mut select = self.index.prepare(&select).expect("a table");
        let columns = select.column_count();
        let read = |row: &Row<'_>| (0..columns).map(|at| row.get(at)).collect();
        let cells: Vec<Value> = select.query_row([id], read).expect("a row");
        let (seal, said) = cells.split_last().expect("cells");
        assert_eq!(*seal, Value::Integer(self.seal(table, said)));
        cells
    }

    /// Writes a row with another body.
    fn put(&self, table: &str, mut cells: Vec<Value>, body: String) {
        let last = cells.len() - 1;
        cells[last - 1] = Value::Text(body);
        cells[last] = Value::Integer(self.seal(table, &cells[..last]));
        let places = vec!["?"; cells.len()].join(", ");
        let put = format!("INSERT OR REPLACE INTO {table} VALUES ({places})");
        self.index
            .execute(&put, params_from_iter(cells))
            .expect("a row");
    }

    fn body(cells: &[Value]) -> String {
        match &cells[cells.len() - 2] {
            Value::Text(body) => body.clone(),
            other => panic!("{other:?}"),
        }
    }

    /// Writes the checkpoint, which knows how often the file will have been changed then.
    fn checkpoint(&self, edit: impl FnOnce(&str) -> String) {
        let mut cells = self.row("checkpoint", 1);
        let header = fs::read(&self.path).expect("an index");
        let changes = u32::from_be_bytes(header[24..28].try_into().expect("four bytes"));
        cells[1] = Value::Integer(i64::from(changes) + 1);
        let body = edit(&Self::body(&cells));
        self.put("checkpoint", cells, body);
    }

    /// Says of a quest that it was accepted where another one was.
    fn accept(&self, id: u32, other: u32) {
        let parsed = |id| -> serde_json::Value {
            serde_json::from_str(&Self::body(&self.row("quest", id))).expect("a record")
        };
        let mut record = parsed(id);
        record["settled"] = parsed(other)["settled"].clone();
        assert_eq!(record["settled"]["decision"], "accepted");
        self.put("quest", self.row("quest", id), record.to_string());
        self.checkpoint(str::to_owned);
    }
}

#[test]
fn what_was_never_decided_is_not_taken_back() {
    let world = reviewed();
    let key = "--operator-key=key";
    world
        .place
        .run(["review", "accept", "3", "--note=x", key])
        .ok();
    let forger = Forger::open(&world);
    forger.accept(2, 3);
    forger.checkpoint(|body| {
        body.replace("\"accepted\":1", "\"accepted\":2")
            .replace("\"open\":1,", "")
            .replace(",\"open\":1", "")
    });
    drop(forger);
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
    Forger::open(&world).checkpoint(|body| body.replacen("\"pass\":1", "\"pass\":2", 1));
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
    Forger::open(&world).accept(2, 3);
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
    Forger::open(&world).checkpoint(|body| {
        let (before, after) = body
            .split_once("\"suppressed\":[")
            .expect("what was forgotten");
        let (_, after) = after.split_once(']').expect("an end");
        format!("{before}\"suppressed\":[]{after}")
    });
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
