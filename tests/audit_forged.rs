//! `comail audit` on ledgers that were written anew, with a chain that holds.

use std::fs;

use comail::base::Digest;
use comail::quest::Verdict;
use comail::session::{Attempt, Event, Mark, State, VerdictBasis};
use comail::world::evidence::{Evidence, Exchange};
use serde_json::value::{RawValue, to_raw_value};

use crate::harness::EmailNet;
use crate::harness::audited::{assert_clean, assert_found, audit, session};
use crate::harness::email_net::ACME;
use crate::harness::forge::{events, found, replaced, rewrite, rewrite_with};
use crate::servers::http::Reply;

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

/// Two companies, of which the first has passed: line 4.
fn passed() -> EmailNet {
    let world = EmailNet::with(&[ACME, "Bolt Toys"], &[]);
    world.company("bolt.co.kr", "Bolt Toys");
    world.expect(1, &world.acme(), "PASS", &[]);
    world
}

fn attempt(world: &EmailNet, quest: &str) -> Attempt {
    let events = events(&session(world));
    let found = events.into_iter().find_map(|event| match event {
        Event::Attempt(attempt) if attempt.quest.to_string() == quest => Some(*attempt),
        _ => None,
    });
    found.expect("an attempt")
}

/// An edit of an attempt, which may use the honest PASS of quest 1 and the first FAIL of quest 4.
type Edit = fn(&mut Attempt, &Attempt, &Attempt);

enum Finds {
    /// This, once.
    Only(&'static str),
    /// This among others.
    Also(&'static str),
    /// This, and nothing else.
    All(&'static str),
}

fn with_another_submission(attempt: &mut Attempt, pass: &Attempt) {
    *attempt = Attempt {
        quest: attempt.quest,
        submission: attempt.submission.clone(),
        submitted: attempt.submitted,
        ..pass.clone()
    };
}

fn empty(json: &str) -> Box<RawValue> {
    RawValue::from_string(json.to_owned()).expect("JSON")
}

fn fail_to_pass(attempt: &mut Attempt, pass: &Attempt, _first: &Attempt) {
    *attempt = Attempt {
        verdict: Verdict::Pass,
        state: State::Pass,
        tries: 0,
        rules: Vec::new(),
        grounds: VerdictBasis::Confirmed,
        holds: ["mailbox made.up@bolt.co.kr", "domain bolt.co.kr"]
            .map(|mark| Mark(mark.to_owned()))
            .to_vec(),
        judgement: pass.judgement.clone(),
        ..attempt.clone()
    };
}

#[test]
#[expect(clippy::too_many_lines, reason = "it is a table")]
fn each_forgery_of_an_attempt_is_found() {
    let names = [
        ACME,
        "Bolt Toys",
        "Cargo Ring",
        "Delta Works",
        "Ember Glass",
    ];
    let world = EmailNet::with(&names, &["--pause-after=0"]);
    for (domain, name) in [("bolt.co.kr", names[1]), ("ember.co.kr", names[4])] {
        world.company(domain, name);
    }
    // Line 7: a PASS of quest 1. Line 8: a FAIL of quest 2. Line 9: quest 3 found nothing. Lines 10
    // and 11: a FAIL of quest 4 and its repeat. Line 12: a REVIEW of quest 5.
    world.expect(1, &world.acme(), "PASS", &[]);
    let wrong = world.right("bolt.co.kr").email("made.up@bolt.co.kr");
    world.expect(2, &wrong, "FAIL", &["email-not-on-source"]);
    assert_eq!(world.place.give_up(3), 5);
    let wrong = world.acme().email("made.up@acme.co.kr");
    assert_eq!(world.submit(4, &wrong).0, 5);
    world.expect(4, &wrong, "FAIL", &["repeated-submission"]);
    let silent = world.right("ember.co.kr");
    let web = &world.net.web;
    web.reply("www.ember.co.kr", "/contact", Reply::Reset);
    world.expect(5, &silent, "REVIEW", &["source-unanswered"]);

    let (pass, first) = (attempt(&world, "1"), attempt(&world, "4"));
    let path = session(&world).join("ledger.jsonl");
    let good = fs::read(&path).expect("a ledger");
    let forged = |line: usize, edit: Edit| {
        fs::write(&path, &good).expect("a ledger");
        world.spoils();
        rewrite(&session(&world), |number, event| {
            if let Event::Attempt(attempt) = event
                && number == line
            {
                edit(attempt, &pass, &first);
            }
            true
        });
        let (code, report) = audit(&world, &[]);
        (code, found(&report), report)
    };
    let (code, honest, report) = forged(7, |_, _, _| ());
    assert_eq!((code, honest), (0, vec![]), "as it was: {report:#}");

    let forgeries: [(&str, usize, Edit, Finds, &str); 8] = [
        (
            "a FAIL turned into a PASS",
            8,
            fail_to_pass,
            Finds::Only("replay 8 2"),
            "judged again from its evidence, it is FAIL",
        ),
        (
            "evidence of another submission",
            8,
            |it, pass, _| with_another_submission(it, pass),
            Finds::Also("replay 8 2"),
            "",
        ),
        (
            "nothing turned into a PASS",
            9,
            |it, pass, _| with_another_submission(it, pass),
            Finds::Also("field 9 3"),
            "",
        ),
        (
            "the same judgement in other bytes",
            7,
            |it, _, _| it.judgement = replaced(&it.judgement, "\"facts\":[]", "\"facts\": []"),
            Finds::Only("replay 7 1"),
            "",
        ),
        (
            "a holder without its mark",
            7,
            |it, _, _| it.holds.clear(),
            Finds::Only("field 7 1"),
            "\"holds\"",
        ),
        (
            "a step that cannot have been",
            7,
            |it, _, _| it.tries = 1,
            Finds::Only("ledger 7 1"),
            "the verdict leads to another state",
        ),
        (
            "a PASS without its pages",
            7,
            |it, _, _| {
                let read = serde_json::from_str(it.evidence.get());
                let mut evidence: Evidence = read.expect("evidence");
                let page = |exchange: &Exchange| matches!(exchange, Exchange::Get { .. });
                evidence.exchanges.retain(|exchange| !page(exchange));
                it.evidence = to_raw_value(&evidence).expect("evidence");
            },
            Finds::Also("replay 7 1"),
            "",
        ),
        (
            "a repeat judged as if it were new",
            11,
            |it, _, first| {
                *it = Attempt {
                    number: 2,
                    tries: 2,
                    ..first.clone()
                };
            },
            Finds::All("field 11 4"),
            "",
        ),
    ];
    for (name, line, edit, finds, said) in forgeries {
        let (code, found, report) = forged(line, edit);
        assert_eq!(code, 8, "{name}: {report:#}");
        match finds {
            Finds::Only(finding) => assert_eq!(found, [finding], "{name}: {report:#}"),
            Finds::Also(finding) => {
                assert!(found.iter().any(|it| it == finding), "{name}: {report:#}");
            }
            Finds::All(finding) => {
                assert!(found.iter().all(|it| it == finding), "{name}: {report:#}");
            }
        }
        let what = report["findings"][0]["what"].as_str().expect("what");
        assert!(what.contains(said), "{name}: {what}");
        // Lines 10 and 11 are both of quest 4.
        let key = names[(line - 7).min(3)];
        assert_eq!(report["findings"][0]["key"], key, "{name}: {report:#}");
    }
    // What each edit makes the audit name: all are fields but the last.
    let edits: [(Edit, &str); 8] = [
        (|it, _, _| it.rules = vec!["mx-null".into()], "rules"),
        (|it, _, _| it.anchored = !it.anchored, "anchored"),
        (|it, _, _| it.submitted = Digest::of(b"x"), "submitted"),
        // A REVIEW that rests on silence could pass at a recheck.
        (|it, _, _| it.grounds = VerdictBasis::World, "grounds"),
        (|it, _, _| it.grounds = VerdictBasis::NoResult, "grounds"),
        (
            |it, _, _| {
                let (from, to) = ("\"verdict\":\"REVIEW\"", "\"verdict\":\"FAIL\"");
                it.judgement = replaced(&it.judgement, from, to);
            },
            "verdict",
        ),
        (|it, _, _| it.judgement = empty("{}"), "judgement"),
        (|it, _, _| it.evidence = empty("[]"), "evidence"),
    ];
    for (edit, said) in edits {
        let (code, found, report) = forged(12, edit);
        let kind = if said == "evidence" { said } else { "field" };
        assert_eq!(found, [format!("{kind} 12 5")], "{said}: {report:#}");
        assert_eq!(code, 8, "{said}");
        let what = report["findings"][0]["what"].as_str().expect("what");
        assert!(what.contains(said), "{said}: {what}");
    }
    let (_, _, report) = forged(8, fail_to_pass);
    let rule = &report["findings"][0]["facts"][0]["rule"];
    assert_eq!(rule, "email-not-on-source", "{report:#}");
    let text = world.place.run(["audit"]).exits(8);
    let head = "replay: line 8, quest 2 (Bolt Toys): judged again";
    assert!(text.starts_with(head), "{text}");
    assert!(text.contains("\n  email-not-on-source: "), "{text}");
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
    rewrite_with(
        &session(&world),
        |_, _| true,
        vec![Event::Attempt(Box::new(blind))],
    );
    let report = assert_found(&world, &[], &["answer 5 2"]);
    let what = report["findings"][0]["what"].as_str().expect("what");
    assert!(
        what.contains("the session told the gate that nobody had passed with info@acme.co.kr"),
        "{what}"
    );
    assert!(what.contains("by the ledger \"Acme Foods\" had"), "{what}");
}

/// Writes the session anew as one of other lists, or of another program.
fn made_elsewhere(world: &EmailNet, from: &str, to: &str) {
    world.spoils();
    let path = session(world).join("session.json");
    let text = fs::read_to_string(&path).expect("session.json");
    assert!(text.contains(from), "{text}");
    let text = text.replacen(from, to, 1);
    fs::write(&path, &text).expect("session.json");
    let manifest = Digest::of(text.as_bytes());
    rewrite(&session(world), |_, event| {
        if let Event::Session(started) = event {
            started.manifest = manifest;
        }
        true
    });
}

#[test]
fn what_others_judged_otherwise_is_told_apart() {
    let version = format!("\"comail\": \"{}\"", env!("CARGO_PKG_VERSION"));
    for (from, to) in [
        ("\"freemail\": \"", "\"freemail-2019\": \""),
        (version.as_str(), "\"comail\": \"0.0.1\""),
    ] {
        let world = passed();
        made_elsewhere(&world, from, to);
        let judge = assert_clean(&world, &[])["judge"].take();
        if from == version {
            assert_eq!(judge["program"], "0.0.1");
        } else {
            let lists = judge["lists"].as_array().expect("lists");
            let names: Vec<_> = lists.iter().map(|list| &list["name"]).collect();
            assert_eq!(names, ["freemail", "freemail-2019"]);
            let text = world.place.run(["audit"]).ok();
            let note = "note: the session was judged by other lists: freemail";
            assert!(text.contains(note), "{text}");
        }
        forge(&world, |it| {
            it.judgement = replaced(&it.judgement, "\"facts\":[]", "\"facts\": []");
        });
        assert_found(&world, &[], &["other-lists 4 1"]);
    }
}
