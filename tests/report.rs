//! `comail report`: COMPLETE only if all holds that must, and whatever does not is named.

use std::fs;

use serde_json::{Value, json};

use crate::harness::EmailNet;
use crate::harness::audited::{bodies, session};
use crate::harness::email_net::ACME;
use crate::harness::forge::{self, replaced};

/// The report's exit code and JSON, by these arguments.
#[track_caller]
pub fn report(world: &EmailNet, args: &[&str]) -> (i32, Value) {
    world.place.json([&["report"], args].concat())
}

/// The shortfalls, each as `kind quests`.
pub fn shortfalls(report: &Value) -> Vec<String> {
    let found = report["shortfalls"].as_array().expect("shortfalls");
    let found = found.iter().map(|it| {
        let kind = it["kind"].as_str().expect("a kind");
        let quests = it["quests"].as_array().cloned().unwrap_or_default();
        format!("{kind} {quests:?}").replace("Number", "")
    });
    found.collect()
}

/// Expects these shortfalls and no other, in JSON, in the text and in the exit code.
#[track_caller]
fn assert_short(world: &EmailNet, args: &[&str], expected: &[&str]) -> Value {
    let (code, report) = report(world, args);
    assert_eq!(
        (code, shortfalls(&report)),
        (8, expected.iter().map(ToString::to_string).collect()),
        "{report:#}"
    );
    assert_eq!(report["complete"], false);
    let text = world.place.run([&["report"], args].concat()).exits(8);
    assert!(text.starts_with("# NOT COMPLETE\n"), "{text}");
    for shortfall in expected {
        let kind = shortfall.split(' ').next().expect("a kind");
        assert!(text.contains(&format!("- **{kind}**: ")), "{kind}: {text}");
    }
    report
}

#[track_caller]
fn assert_complete(world: &EmailNet, args: &[&str]) -> Value {
    let (code, report) = report(world, args);
    assert_eq!((code, shortfalls(&report)), (0, vec![]), "{report:#}");
    assert_eq!(report["complete"], true);
    let text = world.place.run([&["report"], args].concat()).ok();
    assert!(text.starts_with("# COMPLETE\n"), "{text}");
    report
}

/// A session of four quests: PASS, REVIEW, and two that were given up.
fn settled() -> EmailNet {
    let names = [ACME, "Bolt Toys", "Cargo Ring", "Delta Works"];
    let world = EmailNet::with(&names, &["--pause-after=0", "--max-tries=1"]);
    world.expect(1, &world.acme(), "PASS", &[]);
    let (_, answer) = world.submit(2, &world.acme());
    assert_eq!(answer["verdict"], "REVIEW", "{answer:#}");
    for quest in [3, 4] {
        assert_eq!(world.place.give_up(quest), 6);
    }
    world
}

#[test]
fn nothing_is_complete_while_a_quest_is_todo() {
    let world = EmailNet::with(&[ACME, "Bolt Toys"], &["--max-tries=1"]);
    assert_short(&world, &[], &["todo [(1), (2)]"]);
    world.expect(1, &world.acme(), "PASS", &[]);
    let found = assert_short(&world, &[], &["todo [(2)]"]);
    assert_eq!(found["shares"]["todo"], 1);
    assert_eq!(found["run"], Value::Null, "nobody ran an agent");
    assert_eq!(world.place.give_up(2), 6);
    assert_complete(&world, &[]);
}

#[test]
fn what_is_unproven_is_told_under_complete_and_can_be_a_condition() {
    let world = settled();
    // A lost index is nothing to a report.
    fs::remove_file(session(&world).join("index.sqlite")).expect("an index");
    let found = assert_complete(&world, &[]);
    let quest = &found["quests"][2];
    assert_eq!(
        (&quest["key"], &quest["state"], &quest["tries"]),
        (&json!("Cargo Ring"), &json!("DONE"), &json!(1))
    );
    assert_eq!(quest["rules"], json!({"no-result": 1}), "{found:#}");
    assert_eq!(quest["driven"], json!([]));
    assert_eq!(found["quests"][1]["effective"], "open");
    assert_eq!(found["format"], 1);
    let shares = &found["shares"];
    let counts = ["quests", "pass", "review", "done", "todo"].map(|name| shares[name].clone());
    assert_eq!(counts, [4, 1, 1, 2, 0].map(Value::from));
    assert_eq!(
        shares["unproven"],
        json!({"quests": 3, "no_result": 2, "unanswered": 0}),
        "{found:#}"
    );
    let text = world.place.run(["report"]).ok();
    let told = "PASS: 1 of 4 (25.0 %). Ended without proof: 3 (75.0 %).";
    assert!(text.contains(told), "{text}");
    assert_complete(&world, &["--min-pass=25%"]);
    let found = assert_short(&world, &["--min-pass=25.01%"], &["min-pass []"]);
    let what = found["shortfalls"][0]["what"].as_str().expect("a sentence");
    assert!(what.contains("at least 25.01 % are required"), "{what}");
    for bad in ["101%", "-1", "most"] {
        let arg = format!("--min-pass={bad}");
        world.place.run(["report", &arg]).exits(2);
    }
}

#[test]
fn a_pass_whose_evidence_was_damaged_does_not_count() {
    let world = settled();
    world.spoils();
    assert_complete(&world, &[]);
    for body in bodies(&world) {
        let good = fs::read(&body).expect("a body");
        fs::remove_file(&body).expect("a body");
        assert_short(&world, &[], &["not-replayed [(1)]"]);
        fs::write(&body, good).expect("a body");
    }
    assert_complete(&world, &[]);
}

#[test]
fn a_pass_that_was_made_up_does_not_count() {
    let world = EmailNet::with(&[ACME], &["--max-tries=1"]);
    world.spoils();
    let bad = world.acme().email("made.up@acme.co.kr");
    assert_eq!(world.submit(1, &bad).0, 6);
    assert_complete(&world, &[]);
    forge::rewrite(&session(&world), |_, event| {
        if let comail::session::Event::Attempt(attempt) = event {
            attempt.verdict = comail::quest::Verdict::Pass;
            attempt.state = comail::session::State::Pass;
            attempt.tries = 0;
            attempt.judgement = replaced(&attempt.judgement, "\"FAIL\"", "\"PASS\"");
        }
        true
    });
    let (code, found) = report(&world, &["--min-pass=100"]);
    assert_eq!(code, 8, "{found:#}");
    let kinds = shortfalls(&found);
    assert!(
        kinds.contains(&"not-replayed [(1)]".to_owned()),
        "{kinds:?}"
    );
}

#[test]
fn a_broken_chain_is_no_session_that_is_complete() {
    let world = settled();
    world.spoils();
    let path = session(&world).join("ledger.jsonl");
    let good = fs::read_to_string(&path).expect("a ledger");
    let cut: Vec<&str> = good.lines().collect();
    let swapped = [&cut[..6], &[cut[7], cut[6]], &cut[8..]]
        .concat()
        .join("\n")
        + "\n";
    let salted = good.replacen("\"salt\":\"", "\"salt\":\"0", 1);
    for bad in [
        swapped,
        salted,
        good.replacen("\"tries\":1", "\"tries\":0", 1),
    ] {
        fs::write(&path, bad).expect("a ledger");
        let (code, found) = report(&world, &[]);
        assert_eq!((code, &found["shares"]), (8, &Value::Null), "{found:#}");
        assert_eq!(found["shortfalls"][0]["kind"], "ledger", "{found:#}");
        let text = world.place.run(["report"]).exits(8);
        assert!(text.starts_with("# NOT COMPLETE\n"), "{text}");
        assert!(text.contains("line "), "{text}");
    }
    fs::write(&path, good).expect("a ledger");
    assert_complete(&world, &[]);
    // Settings and lists that were edited count as a broken ledger.
    let path = session(&world).join("source.txt");
    let good = fs::read(&path).expect("a copy");
    fs::write(&path, "Evil Foods\n").expect("a copy");
    assert_short(&world, &[], &["ledger []"]);
    fs::write(&path, good).expect("a copy");
    let path = session(&world).join("session.json");
    fs::write(&path, "{}").expect("session.json");
    let (code, found) = report(&world, &[]);
    assert_eq!((code, &found["kind"]), (8, &Value::Null), "{found:#}");
}

#[test]
fn no_session_is_an_error_and_no_report() {
    let world = EmailNet::unscanned();
    let run = world.place.run(["report"]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{run:?}");
}
