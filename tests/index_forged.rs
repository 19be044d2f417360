//! An index that somebody wrote to, seals and all: a person's decision never rests on it.

use std::fs;
use std::path::PathBuf;

use comail::base::Digest;
use rusqlite::{Connection, Row, params};
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

/// The index, with what seals its rows.
struct Forger {
    index: Connection,
    session: String,
}

impl Forger {
    fn open(world: &EmailNet) -> Self {
        let index = Connection::open(session(world).join("index.sqlite")).expect("an index");
        let settings = fs::read(session(world).join("session.json")).expect("settings");
        Self {
            index,
            session: Digest::of(&settings).to_string(),
        }
    }

    fn seal(&self, table: &str, said: &str) -> i64 {
        let parts = [self.session.as_bytes(), table.as_bytes(), said.as_bytes()];
        i64::from_be_bytes(Digest::of_parts(parts).first_bytes())
    }

    /// Writes the checkpoint anew.
    fn checkpoint(&self, edit: impl FnOnce(&str) -> String) {
        let select = "SELECT body, seal FROM checkpoint";
        let read = |row: &Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?));
        let (body, seal) = self.index.query_row(select, [], read).expect("a row");
        assert_eq!(seal, self.seal("checkpoint", &body));
        let other = edit(&body);
        assert_ne!(other, body);
        let put = "UPDATE checkpoint SET body = ?, seal = ?";
        let seal = self.seal("checkpoint", &other);
        self.index
            .execute(put, params![other, seal])
            .expect("a row");
    }

    /// What the row of a quest says, as it is sealed.
    fn said(&self, id: u32) -> String {
        let select = "SELECT * FROM quest WHERE id = ?";
        let read = |row: &Row<'_>| {
            let text = |name: &str| row.get::<_, Option<String>>(name).map(|it| json!(it));
            let number = |name: &str| row.get::<_, Option<i64>>(name).map(|it| json!(it));
            let span = |of: &str| {
                let offset = number(&format!("{of}_offset"))?;
                let length = number(&format!("{of}_length"))?;
                Ok::<_, rusqlite::Error>(if offset.is_null() {
                    json!(null)
                } else {
                    json!([offset, length])
                })
            };
            let mut lines = Vec::new();
            for of in ["quest", "last", "outcome", "settled", "dispute", "handover"] {
                lines.push(span(of)?);
            }
            let parts = [
                ("id", number("id")?),
                ("key", text("key")?),
                ("fold", number("fold")?),
                ("state", text("state")?),
                ("tries", number("tries")?),
                ("attempts", number("attempts")?),
                ("lines", json!(lines)),
                ("grounds", text("grounds")?),
                ("outcome", text("outcome")?),
                ("settled", text("settled")?),
                ("revisions", number("revisions")?),
                ("asked", json!(row.get::<_, bool>("asked")?)),
                ("claim", number("claim")?),
            ];
            let parts = parts.map(|(name, value)| format!("\"{name}\":{value}"));
            let seal: i64 = row.get("seal")?;
            Ok((format!("{{{}}}", parts.join(",")), seal))
        };
        let (said, seal) = self.index.query_row(select, [id], read).expect("a row");
        assert!(
            seal == self.seal("quest", &said) || said.contains("\"settled\":\"accepted\""),
            "{said}"
        );
        said
    }

    /// Says of a quest that it was accepted where another one was.
    fn accept(&self, id: u32, other: u32) {
        self.said(id);
        let put = "UPDATE quest SET settled = 'accepted', \
             settled_offset = (SELECT settled_offset FROM quest WHERE id = ?2), \
             settled_length = (SELECT settled_length FROM quest WHERE id = ?2) WHERE id = ?1";
        self.index.execute(put, [id, other]).expect("a row");
        let seal = self.seal("quest", &self.said(id));
        let put = "UPDATE quest SET seal = ? WHERE id = ?";
        self.index.execute(put, params![seal, id]).expect("a row");
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
    assert!(run.stderr.contains("rebuilt from the ledger"), "{run:?}");
    assert!(run.stderr.contains("nothing to take back"), "{run:?}");
    assert_eq!(world.place.ledger(), before);
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
