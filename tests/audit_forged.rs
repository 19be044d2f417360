//! `comail audit` on ledgers that were written anew, with a chain that holds.

use std::fs;
use std::path::PathBuf;

use comail::quest::Verdict;
use comail::session::{Attempt, Event, Mark, State, VerdictBasis};
use comail::world::evidence::{Evidence, Exchange};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::harness::EmailNet;
use crate::harness::email_net::ACME;
use crate::harness::forge::{events, found, replaced, rewrite};

fn session(world: &EmailNet) -> PathBuf {
    world.place.at(".comail")
}

/// Rewrites the attempts.
#[track_caller]
fn forge(world: &EmailNet, mut edit: impl FnMut(&mut Attempt)) {
    world.spoils();
    rewrite(&session(world), |_, event| {
        if let Event::Attempt(attempt) = event {
            edit(attempt);
        }
        true
    });
}

#[track_caller]
fn assert_found(world: &EmailNet, expected: &[&str]) -> Value {
    let (code, report) = world.place.json(["audit"]);
    let code_expected = if expected.is_empty() { 0 } else { 8 };
    assert_eq!(found(&report), expected, "{report:#}");
    assert_eq!(code, code_expected);
    report
}

/// Two companies, of which the first has passed: line 4.
fn passed() -> EmailNet {
    let world = EmailNet::with(&[ACME, "Bolt Toys"], &[]);
    world.company("bolt.co.kr", "Bolt Toys");
    world.expect(1, &world.acme(), "PASS", &[]);
    world
}

/// The session's only attempt of this quest.
fn attempt(world: &EmailNet, quest: &str) -> Attempt {
    let events = events(&session(world));
    let found = events.into_iter().find_map(|event| match event {
        Event::Attempt(attempt) if attempt.quest.to_string() == quest => Some(*attempt),
        _ => None,
    });
    found.expect("an attempt")
}

#[test]
fn a_ledger_written_anew_as_it_was_is_clean() {
    let world = passed();
    forge(&world, |_| ());
    assert_found(&world, &[]);
}

#[test]
fn a_fail_turned_into_a_pass_is_found_by_judging_it_again() {
    let world = passed();
    let wrong = world.right("bolt.co.kr").email("made.up@bolt.co.kr");
    world.expect(2, &wrong, "FAIL", &["email-not-on-source"]);
    let honest = attempt(&world, "1");
    forge(&world, |attempt| {
        if attempt.verdict == Verdict::Fail {
            *attempt = Attempt {
                verdict: Verdict::Pass,
                state: State::Pass,
                tries: 0,
                rules: Vec::new(),
                grounds: VerdictBasis::Confirmed,
                holds: ["mailbox made.up@bolt.co.kr", "domain bolt.co.kr"]
                    .map(|mark| Mark(mark.to_owned()))
                    .to_vec(),
                judgement: honest.judgement.clone(),
                ..attempt.clone()
            };
        }
    });
    let report = assert_found(&world, &["replay 5 2"]);
    let finding = &report["findings"][0];
    assert_eq!(finding["key"], "Bolt Toys");
    assert_eq!(finding["facts"][0]["rule"], "email-not-on-source");
    let text = world.place.run(["audit"]).exits(8);
    assert!(
        text.starts_with("replay: line 5, quest 2 (Bolt Toys): judged again"),
        "{text}"
    );
    assert!(text.contains("\n  email-not-on-source: "), "{text}");
}

#[test]
fn a_nothing_turned_into_a_pass_is_found() {
    let world = passed();
    assert_eq!(world.place.give_up(2), 5);
    let honest = attempt(&world, "1");
    forge(&world, |attempt| {
        if attempt.verdict == Verdict::Fail {
            *attempt = Attempt {
                quest: attempt.quest,
                submission: attempt.submission.clone(),
                submitted: attempt.submitted,
                ..honest.clone()
            };
        }
    });
    let (code, report) = world.place.json(["audit"]);
    assert_eq!(code, 8);
    assert!(
        found(&report).contains(&"field 5 2".to_owned()),
        "{report:#}"
    );
}

#[test]
fn evidence_of_another_submission_does_not_bear_out_a_pass() {
    let world = passed();
    let wrong = world.right("bolt.co.kr").email("made.up@bolt.co.kr");
    world.expect(2, &wrong, "FAIL", &["email-not-on-source"]);
    let honest = attempt(&world, "1");
    forge(&world, |attempt| {
        if attempt.verdict == Verdict::Fail {
            let forged = Attempt {
                quest: attempt.quest,
                submission: attempt.submission.clone(),
                submitted: attempt.submitted,
                ..honest.clone()
            };
            *attempt = forged;
        }
    });
    let (code, report) = world.place.json(["audit"]);
    assert_eq!(code, 8);
    assert!(
        found(&report).contains(&"replay 5 2".to_owned()),
        "{report:#}"
    );
}

#[test]
fn a_judgement_that_says_the_same_in_other_bytes_is_found() {
    let world = passed();
    forge(&world, |attempt| {
        attempt.judgement = replaced(&attempt.judgement, "\"facts\":[]", "\"facts\": []");
    });
    assert_found(&world, &["replay 4 1"]);
}

#[test]
fn a_holder_that_was_hidden_from_the_gate_is_found_although_its_judgement_replays() {
    let world = passed();
    world.spoils();
    // Bolt's page names both companies and shows Acme's address, so that nothing but the holder
    // keeps it from passing.
    let html = crate::harness::email_net::page("Acme Foods | Bolt Toys", "info@acme.co.kr");
    for path in ["/", "/contact"] {
        world.put(path, &html);
    }
    // What an edited index did to the gate, and put back afterwards: the judgement is honest.
    let other = EmailNet::with(&[ACME, "Bolt Toys"], &[]);
    for path in ["/", "/contact"] {
        other.put(path, &html);
    }
    other.expect(2, &other.acme(), "PASS", &[]);
    let blind = attempt(&other, "2");
    for folder in fs::read_dir(session(&other).join("evidence")).expect("evidence") {
        let folder = folder.expect("a folder").path();
        let to = session(&world)
            .join("evidence")
            .join(folder.file_name().expect("a name"));
        fs::create_dir_all(&to).expect("a folder");
        for file in fs::read_dir(folder).expect("a folder") {
            let file = file.expect("a file").path();
            fs::copy(&file, to.join(file.file_name().expect("a name"))).expect("a copy");
        }
    }
    crate::harness::forge::rewrite_with(
        &session(&world),
        |_, _| true,
        vec![Event::Attempt(Box::new(blind))],
    );
    let report = assert_found(&world, &["answer 5 2"]);
    let what = report["findings"][0]["what"].as_str().expect("what");
    assert!(
        what.contains("the gate was told that nobody had passed with info@acme.co.kr"),
        "{what}"
    );
    assert!(what.contains("by the ledger \"Acme Foods\" had"), "{what}");
}

#[test]
fn a_holder_whose_mark_was_removed_is_found() {
    let world = passed();
    forge(&world, |attempt| attempt.holds.clear());
    assert_found(&world, &["field 4 1"]);
}

/// An edit of an attempt.
type Edit = fn(&mut Attempt);

#[test]
fn every_field_of_a_line_is_held_against_its_judgement() {
    let world = passed();
    let silent = world.right("bolt.co.kr");
    world.net.web.reply(
        "www.bolt.co.kr",
        "/contact",
        crate::servers::http::Reply::Reset,
    );
    world.expect(2, &silent, "REVIEW", &["source-unanswered"]);
    let good = fs::read(session(&world).join("ledger.jsonl")).expect("a ledger");
    let edits: [(Edit, &str); 6] = [
        (|it| it.rules = vec!["mx-null".into()], "rules"),
        (|it| it.anchored = !it.anchored, "anchored"),
        (
            |it| it.submitted = comail::base::Digest::of(b"x"),
            "submitted",
        ),
        // A REVIEW that rests on silence could pass at a recheck.
        (|it| it.grounds = VerdictBasis::World, "grounds"),
        (|it| it.grounds = VerdictBasis::NoResult, "grounds"),
        (
            |it| {
                it.judgement = replaced(
                    &it.judgement,
                    "\"verdict\":\"REVIEW\"",
                    "\"verdict\":\"FAIL\"",
                );
            },
            "verdict",
        ),
    ];
    for (edit, field) in edits {
        forge(&world, |attempt| {
            if attempt.verdict == Verdict::Review {
                edit(attempt);
            }
        });
        let (code, report) = world.place.json(["audit"]);
        assert_eq!(
            (code, found(&report)),
            (8, vec!["field 5 2".to_owned()]),
            "{report:#}"
        );
        let what = report["findings"][0]["what"].as_str().expect("what");
        assert!(what.contains(&format!("{field:?}")), "{field}: {what}");
        fs::write(session(&world).join("ledger.jsonl"), &good).expect("a ledger");
    }
    forge(&world, |attempt| {
        if attempt.verdict == Verdict::Review {
            attempt.judgement = RawValue::from_string("{}".to_owned()).expect("JSON");
        }
    });
    assert_found(&world, &["field 5 2"]);
    forge(&world, |attempt| {
        if attempt.verdict == Verdict::Review {
            attempt.evidence = RawValue::from_string("[]".to_owned()).expect("JSON");
        }
    });
    assert_found(&world, &["evidence 5 2"]);
}

#[test]
fn a_repeat_that_was_judged_as_if_it_were_new_is_found() {
    let world = EmailNet::start();
    let wrong = world.acme().email("made.up@acme.co.kr");
    world.expect(1, &wrong, "FAIL", &["email-not-on-source"]);
    let first = attempt(&world, "1");
    world.expect(1, &wrong, "FAIL", &["repeated-submission"]);
    forge(&world, |attempt| {
        if attempt.number == 2 {
            *attempt = Attempt {
                number: 2,
                tries: 2,
                ..first.clone()
            };
        }
    });
    let (code, report) = world.place.json(["audit"]);
    assert_eq!(code, 8);
    assert!(
        found(&report).iter().all(|text| text == "field 4 1"),
        "{report:#}"
    );
}

#[test]
fn a_step_that_cannot_have_been_is_found() {
    let world = passed();
    forge(&world, |attempt| attempt.tries = 1);
    let report = assert_found(&world, &["ledger 4 1"]);
    let what = report["findings"][0]["what"].as_str().expect("what");
    assert!(
        what.contains("the verdict leads to another state"),
        "{what}"
    );
    assert_eq!(report["findings"][0]["key"], ACME);
}

#[test]
fn a_pass_whose_evidence_was_thinned_is_found() {
    let world = passed();
    forge(&world, |attempt| {
        let mut evidence: Evidence =
            serde_json::from_str(attempt.evidence.get()).expect("evidence");
        let page = |exchange: &Exchange| matches!(exchange, Exchange::Get { .. });
        evidence.exchanges.retain(|exchange| !page(exchange));
        attempt.evidence = to_raw_value(&evidence).expect("evidence");
    });
    let (code, report) = world.place.json(["audit"]);
    assert_eq!(code, 8);
    assert!(
        found(&report).contains(&"replay 4 1".to_owned()),
        "{report:#}"
    );
}

/// Writes the session anew as one of other lists, or of another program.
fn made_elsewhere(world: &EmailNet, from: &str, to: &str) {
    world.spoils();
    let path = session(world).join("session.json");
    let text = fs::read_to_string(&path).expect("session.json");
    assert!(text.contains(from), "{text}");
    let text = text.replacen(from, to, 1);
    fs::write(&path, &text).expect("session.json");
    let manifest = comail::base::Digest::of(text.as_bytes());
    rewrite(&session(world), |_, event| {
        if let Event::Session(started) = event {
            started.manifest = manifest;
        }
        true
    });
}

#[test]
fn what_other_lists_judged_otherwise_is_told_apart() {
    let world = passed();
    made_elsewhere(&world, "\"freemail\": \"", "\"freemail-2019\": \"");
    let report = assert_found(&world, &[]);
    let lists = report["judge"]["lists"].as_array().expect("lists");
    let names: Vec<_> = lists.iter().map(|list| list["name"].clone()).collect();
    assert_eq!(names, ["freemail", "freemail-2019"]);
    let text = world.place.run(["audit"]).ok();
    assert!(
        text.contains("note: the session was judged by other lists: freemail"),
        "{text}"
    );
    forge(&world, |attempt| {
        attempt.judgement = replaced(&attempt.judgement, "\"facts\":[]", "\"facts\": []");
    });
    assert_found(&world, &["other-lists 4 1"]);
}

#[test]
fn what_another_version_judged_otherwise_is_told_apart() {
    let world = passed();
    let version = format!("\"comail\": \"{}\"", env!("CARGO_PKG_VERSION"));
    made_elsewhere(&world, &version, "\"comail\": \"0.0.1\"");
    let report = assert_found(&world, &[]);
    assert_eq!(report["judge"]["program"], "0.0.1");
    forge(&world, |attempt| {
        attempt.judgement = replaced(&attempt.judgement, "\"facts\":[]", "\"facts\": []");
    });
    assert_found(&world, &["other-lists 4 1"]);
}
