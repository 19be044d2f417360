//! A session in PostgreSQL, and several machines that work on it.

use std::collections::BTreeSet;

use postgres::error::SqlState;
use serde_json::Value;

use crate::harness::postgres::{Cluster, Machine};
use crate::harness::{Place, Run};

const NAMES: &str = "Acme\nBolt\nCorp\nDyne\n";

/// A session of four quests, as the machine that scanned it sees it.
fn scanned(cluster: &Cluster, name: &str) -> Machine {
    let machine = Machine::of(cluster, name);
    machine.place.write("names.txt", NAMES);
    machine.run(&["scan", "names.txt"]).ok();
    machine
}

fn given_up(machine: &Machine, id: &str) -> i32 {
    machine
        .run(&["submit", "--id", id, "--none", "looked everywhere"])
        .code
}

#[test]
fn two_machines_work_on_one_session_and_see_the_same_ledger() {
    let cluster = Cluster::shared();
    let one = scanned(&cluster, "two-machines");
    let other = Machine::of(&cluster, "two-machines");
    let quest = |machine: &Machine, worker: &str| {
        let (code, next) = machine.json(&["next", "--worker", worker]);
        assert_eq!(code, 0, "{next}");
        next["quest"]["id"].as_u64().expect("a number")
    };
    let held: BTreeSet<u64> = [
        quest(&one, "a"),
        quest(&other, "b"),
        quest(&one, "c"),
        quest(&other, "d"),
    ]
    .into();
    assert_eq!(held.len(), 4, "a quest was handed out twice");
    assert_eq!(other.run(&["next", "--worker", "e"]).code, 4);
    // An answer on one machine is known on the other at once.
    let answer = [
        "submit",
        "--id=1",
        "--none=looked",
        "--worker=a",
        "--idempotency-key=k1",
    ];
    assert_eq!(one.run(&answer).code, 5);
    assert_eq!(other.run(&answer).code, 5);
    let (_, status) = other.json(&["status"]);
    assert_eq!(
        (&status["attempts"], &status["tries"]),
        (&1.into(), &1.into()),
        "{status}"
    );
    assert_eq!(
        one.json(&["status"]).1["head"],
        other.json(&["status"]).1["head"]
    );
    assert_eq!(one.ledger(), other.ledger());
    for machine in [&one, &other] {
        machine.run(&["audit"]).ok();
    }
}

#[test]
fn a_mirror_that_is_lost_cut_or_forged_is_made_again() {
    let cluster = Cluster::shared();
    let machine = scanned(&cluster, "lost-mirror");
    given_up(&machine, "1");
    let ledger = machine.ledger();
    let path = machine.mirror().join("ledger.jsonl");
    let half = &ledger[..ledger.len() - 7];
    std::fs::write(&path, half).expect("a file of ours");
    machine.run(&["audit"]).ok();
    assert_eq!(machine.ledger(), ledger);

    std::fs::remove_dir_all(machine.mirror()).expect("a directory of ours");
    machine.run(&["audit"]).ok();
    assert_eq!(machine.ledger(), ledger);

    // What was written here alone is no line of the session.
    let mut lines: Vec<&str> = ledger.lines().collect();
    let last = lines.pop().expect("a line");
    let forged = last.replace("looked", "hooked");
    std::fs::write(&path, format!("{}\n{forged}\n", lines.join("\n"))).expect("a file of ours");
    let audit = machine.run(&["audit"]);
    assert_ne!(audit.code, 0, "{audit:?}");
}

#[test]
fn a_session_is_made_once() {
    let cluster = Cluster::shared();
    let machine = scanned(&cluster, "made-once");
    let again = machine.run(&["scan", "names.txt"]);
    assert_eq!(again.code, 1);
    again.says("already exists");
    let other = Machine::of(&cluster, "made-once");
    other.place.write("names.txt", NAMES);
    other.run(&["scan", "names.txt"]).says("already exists");
    let missing = Machine::of(&cluster, "made-never").run(&["status"]);
    assert_eq!(missing.code, 1);
    missing.says("no session found at postgres:///");
}

#[test]
fn an_acknowledged_answer_outlives_a_crash_of_the_database() {
    // Its own cluster, because others use the shared one meanwhile.
    let cluster = Cluster::start();
    let machine = scanned(&cluster, "crash");
    let answer = [
        "submit",
        "--id",
        "1",
        "--none",
        "looked",
        "--idempotency-key",
        "k1",
    ];
    assert_eq!(machine.run(&answer).code, 5);
    cluster.stop();
    let down = machine.run(&[
        "submit",
        "--id",
        "2",
        "--none",
        "looked",
        "--idempotency-key",
        "k2",
    ]);
    assert_eq!(down.code, 1);
    down.says("run the command again");
    let (_, error) = machine.json(&["next"]);
    assert_eq!(error["error"]["kind"], "database", "{error}");
    cluster.serve();
    assert_eq!(
        machine.run(&answer).code,
        5,
        "the key finds the recorded answer"
    );
    let (_, status) = machine.json(&["status"]);
    assert_eq!(status["attempts"], 1, "{status}");
    machine.run(&["audit"]).ok();
}

#[test]
fn a_judge_may_append_but_neither_change_nor_remove_lines_and_a_reader_only_reads() {
    let cluster = Cluster::shared();
    scanned(&cluster, "rights");
    let mut client = cluster.client();
    for role in ["judge", "reader"] {
        // Another test may have made it.
        let _ = client.batch_execute(&format!(
            "CREATE ROLE {role} LOGIN; GRANT comail_{role} TO {role}"
        ));
    }
    let judge = Machine::at(cluster.address_for("judge", "rights"));
    assert_eq!(given_up(&judge, "1"), 5);
    let reader = Machine::at(cluster.address_for("reader", "rights"));
    assert_eq!(reader.json(&["status"]).1["attempts"], 1);
    reader.run(&["audit"]).ok();
    let refused = reader.run(&["submit", "--id", "2", "--none", "looked"]);
    assert_eq!(refused.code, 1);
    refused.says("permission denied");
    for (role, may) in [("judge", true), ("reader", false)] {
        client
            .batch_execute(&format!("SET ROLE {role}"))
            .expect("a role");
        for statement in [
            "UPDATE comail.ledger SET line = ''",
            "DELETE FROM comail.ledger",
            "TRUNCATE comail.ledger",
            "INSERT INTO comail.ledger VALUES (1, 99, '')",
            "UPDATE comail.session SET lines = 0",
            "UPDATE comail.evidence SET body = ''",
            "DELETE FROM comail.evidence",
            "UPDATE comail.file SET body = ''",
            "SELECT comail.redact(1, 0, '{}', '{}', '{}', '')",
        ] {
            let refused = client.batch_execute(statement).expect_err(statement);
            assert_eq!(
                refused.code().map(SqlState::code),
                Some("42501"),
                "{statement}"
            );
        }
        let hold = client.batch_execute("SELECT * FROM comail.hold('rights')");
        assert_eq!(hold.is_ok(), may, "{role}: {hold:?}");
        client.batch_execute("RESET ROLE").expect("the own role");
    }
}

#[test]
fn the_owner_forgets_for_all_machines() {
    let cluster = Cluster::shared();
    let one = Machine::of(&cluster, "forget");
    one.place
        .write("names.csv", "name,note\nAcme,jo@acme.com\nBolt,\n");
    one.place.write("key", [7; 32]);
    let key = "--operator-key=key";
    one.run(&["scan", "names.csv", "--col=name", "--show=note", key])
        .ok();
    let other = Machine::of(&cluster, "forget");
    let note = "asked jo@acme.com by phone";
    let submit = other.run(&["submit", "--id", "1", "--none", note]);
    assert_eq!(submit.code, 5, "{submit:?}");
    let holds = |machine: &Machine| {
        let list = std::fs::read_to_string(machine.mirror().join("source.csv")).expect("a list");
        let ledger = machine.ledger();
        [ledger, list].map(|text| text.contains("jo@acme.com"))
    };
    assert_eq!(holds(&other), [true, true]);
    let forget = [
        "forget",
        "jo@acme.com",
        "--note=on request",
        "--by=kim",
        key,
    ];
    one.run(&forget).ok();
    assert_eq!(holds(&one), [false, false]);
    other.run(&["audit"]).ok();
    assert_eq!(holds(&other), [false, false]);
    let left = "SELECT count(*) FROM comail.ledger WHERE line LIKE '%jo@acme.com%'";
    let left: i64 = cluster
        .client()
        .query_one(left, &[])
        .expect("a count")
        .get(0);
    assert_eq!(left, 0);
    let again = other.run(&["submit", "--id", "2", "--none", note]);
    assert!(!other.ledger().contains("jo@acme.com"), "{again:?}");
    for machine in [&one, &other] {
        machine.run(&["audit"]).ok();
    }
}

#[test]
fn the_address_never_carries_a_password() {
    let machine = Machine::at("postgres://jo:secret@localhost/db?session=x".to_owned());
    let refused = machine.run(&["status"]);
    assert_eq!(refused.code, 2, "{refused:?}");
    refused.says("PGPASSWORD");
    assert!(!refused.stderr.contains("secret"), "{refused:?}");
    let nameless = Machine::at("postgres://localhost/db".to_owned()).run(&["next"]);
    assert_eq!(nameless.code, 2, "{nameless:?}");
    nameless.says("it names no session");
}

#[test]
fn a_directory_stays_a_directory() {
    let place = Place::on_disk();
    place.write("names.txt", NAMES);
    place.run(["scan", "names.txt"]).ok();
    assert!(!place.at(".comail/database.json").exists());
    let (code, status): (i32, Value) = Run::of(place.command().args(["status", "--json"])).json();
    assert_eq!(
        (code, &status["attempts"]),
        (0, &Value::from(0)),
        "{status}"
    );
}
