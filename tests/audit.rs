//! `comail audit`: honest work gives no findings; what was edited, damaged, cut or written anew with
//! a chain that holds is named.

use std::fs;
use std::process::{Command, Stdio};
use std::sync::{Arc, Barrier};

use comail::base::Digest;
use comail::quest::Verdict;
use comail::session::{Attempt, Event, Mark, State, VerdictBasis};
use comail::world::evidence::{Evidence, Exchange, pack, unpack};
use rusqlite::Connection;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use crate::harness::audited::{
    assert_clean, assert_found, audit, bodies, head, resolve_and_carry, session, worked,
};
use crate::harness::email_net::{ACME, page, rules};
use crate::harness::forge::{events, found, replaced, rewrite, rewrite_with};
use crate::harness::{EmailNet, Run, until};
use crate::servers::http::Reply;

#[test]
fn a_pass_carried_to_another_company_is_found() {
    let world = worked();
    world.spoils();
    resolve_and_carry(&world);
    let lines = events(&session(&world)).len();
    rewrite_with(
        &session(&world),
        |_, event| {
            if let Event::Carried(carried) = event {
                carried.attempt.quest = "7".parse().expect("an id");
            }
            true
        },
        Vec::new(),
    );
    let report = assert_found(&world, &[], &[&format!("replay {lines} 7")]);
    assert_eq!(
        report["findings"][0]["facts"][0]["rule"],
        "company-not-on-site"
    );
}

#[test]
fn honest_work_of_every_kind_is_clean() {
    let world = worked();
    let kinds: Vec<_> = events(&session(&world))
        .iter()
        .map(|event| event.kind().name())
        .collect();
    for kind in ["claim", "released", "resumed", "extended", "attempt"] {
        assert!(kinds.contains(&kind), "no {kind} in {kinds:?}");
    }
    let before = world.place.ledger();
    let report = assert_clean(&world, &[]);
    let checked = &report["checked"];
    assert_eq!(checked["lines"], kinds.len());
    assert_eq!(checked["quests"], 7);
    assert_eq!(
        (&checked["judgements"], &checked["passes"]),
        (&9.into(), &2.into())
    );
    assert_eq!(report["head"], head(&world));
    let text = world.place.run(["audit"]).ok();
    assert!(text.starts_with("0 findings: "), "{text}");
    assert!(
        text.contains("9 judgements (2 PASSes judged again from evidence)"),
        "{text}"
    );
    assert_eq!(world.place.ledger(), before);
}

#[test]
fn a_missing_index_and_one_that_is_behind_are_no_findings() {
    let world = EmailNet::start();
    let index = session(&world).join("index.sqlite");
    let early = fs::read(&index).expect("an index");
    assert_eq!(world.says(&world.acme()), "PASS");
    assert_clean(&world, &[]);
    fs::write(&index, early).expect("an index");
    assert_clean(&world, &[]);
    fs::remove_file(&index).expect("an index");
    assert_clean(&world, &[]);
}

#[test]
fn an_index_edited_by_hand_is_found_and_made_anew() {
    let world = worked();
    for (what, edit) in [
        ("state", "UPDATE quest SET state = 'PASS' WHERE id = 6"),
        ("quest", "DELETE FROM quest WHERE id = 6"),
        ("mark", "DELETE FROM mark WHERE body = '1'"),
        (
            "submission",
            "UPDATE quest SET body = json_remove(body, '$.submissions') WHERE id = 1",
        ),
        (
            "claim",
            "UPDATE quest SET worker = 'w9', held_ms = 4102444800000, lease_s = 86400 WHERE id = 6",
        ),
        (
            "complete",
            "UPDATE checkpoint SET body = replace(body, '\"todo\":', '\"todo\":0')",
        ),
    ] {
        let index = Connection::open(session(&world).join("index.sqlite")).expect("an index");
        run(&index, edit);
        drop(index);
        let report = assert_found(&world, &[], &["index - -"]);
        let said = report["findings"][0]["what"].as_str().expect("what");
        assert!(said.contains("rebuilt"), "{what}: {said}");
        assert_clean(&world, &[]);
    }
}

fn run(index: &Connection, sql: &str) {
    assert_ne!(index.execute(sql, []).expect("an edit"), 0, "{sql}");
}

#[test]
fn evidence_that_was_lost_or_changed_is_found() {
    let world = EmailNet::with(&[ACME, "Bolt Toys"], &[]);
    world.spoils();
    world.company("bolt.co.kr", "Bolt Toys");
    world.expect(1, &world.acme(), "PASS", &[]);
    world.expect(2, &world.right("bolt.co.kr"), "PASS", &[]);
    let bodies = bodies(&world);
    let mut blamed = Vec::new();
    for path in &bodies {
        let good = fs::read(path).expect("a body");
        let body = unpack(&good, 1_000_000).expect("a packed body");
        let mut other = body.clone();
        other.extend(b"<!-- -->");
        let swapped = bodies.iter().find(|other| *other != path).expect("another");
        let swapped = fs::read(swapped).expect("a body");
        let cut = good[..good.len() / 2].to_vec();
        fs::remove_file(path).expect("a body");
        let (code, first) = audit(&world, &[]);
        assert_eq!(code, 8, "{first:#}");
        for bad in [pack(&other), swapped, cut, Vec::new()] {
            fs::write(path, bad).expect("a body");
            let (code, report) = audit(&world, &[]);
            assert_eq!((code, found(&report)), (8, found(&first)), "{report:#}");
        }
        fs::remove_file(path).expect("a body");
        fs::create_dir(path).expect("a folder");
        assert_eq!(audit(&world, &[]).0, 8);
        fs::remove_dir(path).expect("a folder");
        fs::write(path, good).expect("a body");
        blamed.extend(found(&first));
    }
    blamed.sort();
    blamed.dedup();
    assert_eq!(blamed, ["evidence 4 1", "evidence 5 2"]);
    assert_clean(&world, &[]);
}

#[test]
fn a_pipe_in_place_of_a_body_is_found_and_not_waited_for() {
    let world = EmailNet::start();
    world.spoils();
    world.expect(1, &world.acme(), "PASS", &[]);
    let path = bodies(&world).remove(0);
    fs::remove_file(&path).expect("a body");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.expect("mkfifo").success());
    assert_found(&world, &[], &["evidence 3 1"]);
}

#[test]
fn settings_and_lists_that_were_edited_are_found() {
    let world = worked();
    world.spoils();
    for name in ["source.txt", "source-2.txt"] {
        let path = session(&world).join(name);
        let good = fs::read(&path).expect("a copy");
        fs::write(&path, "Evil Foods\n").expect("a copy");
        let (code, report) = audit(&world, &[]);
        assert_eq!(
            (code, &report["findings"][0]["kind"]),
            (8, &"source".into()),
            "{report:#}"
        );
        assert!(report["findings"][0]["line"].is_u64(), "{report:#}");
        fs::remove_file(&path).expect("a copy");
        let (code, report) = audit(&world, &[]);
        assert_eq!((code, found(&report).len()), (8, 1), "{report:#}");
        fs::write(&path, good).expect("a copy");
    }
    assert_clean(&world, &[]);
    let path = session(&world).join("session.json");
    let good = fs::read_to_string(&path).expect("session.json");
    for bad in [
        good.replace("\"max_tries\": 3", "\"max_tries\": 9"),
        "{}".into(),
    ] {
        fs::write(&path, bad).expect("session.json");
        assert_found(&world, &[], &["settings 1 -"]);
    }
    fs::write(&path, good).expect("session.json");
    assert_clean(&world, &[]);
}

#[test]
fn no_session_and_no_ledger_are_errors() {
    let world = EmailNet::start();
    world.spoils();
    let missing = world.place.run(["audit", "--session", "none"]);
    missing.exits(1);
    fs::remove_file(session(&world).join("ledger.jsonl")).expect("a ledger");
    world.place.run(["audit"]).exits(1);
}

#[test]
fn a_flipped_bit_in_any_kind_of_line_is_found_there() {
    let world = worked();
    world.spoils();
    resolve_and_carry(&world);
    assert_clean(&world, &[]);
    let path = session(&world).join("ledger.jsonl");
    let good = fs::read(&path).expect("a ledger");
    let text = String::from_utf8(good.clone()).expect("UTF-8");
    let mut seen = Vec::new();
    let mut offset = 0;
    for (index, line) in text.lines().enumerate() {
        let begins = offset;
        offset += line.len() + 1;
        let (_, kind) = line.split_once("\"type\":\"").expect("a type");
        let kind = kind.split('"').next().expect("a type").to_owned();
        if seen.contains(&kind) {
            continue;
        }
        seen.push(kind);
        for field in [
            "seq\":",
            "prev\":\"",
            "salt\":\"",
            "digest\":\"",
            "body\":{\"",
        ] {
            let at = begins + line.find(field).expect("a field") + field.len();
            let mut bad = good.clone();
            bad[at] ^= 1;
            fs::write(&path, &bad).expect("a ledger");
            let (code, report) = audit(&world, &[]);
            assert_eq!(code, 8, "{field} of {line}: {report}");
            let finding = &report["findings"][0];
            assert_eq!(finding["kind"], "ledger", "{field} of {line}: {report}");
            assert_eq!(finding["line"], index + 1, "{field} of {line}: {report}");
        }
    }
    assert_eq!(seen.len(), 9, "{seen:?}");
    fs::write(&path, &good).expect("a ledger");
    assert_clean(&world, &[]);
}

#[test]
fn lines_that_were_removed_swapped_or_doubled_are_found() {
    let world = worked();
    world.spoils();
    let path = session(&world).join("ledger.jsonl");
    let good = fs::read_to_string(&path).expect("a ledger");
    let lines: Vec<&str> = good.lines().collect();
    let join = |lines: &[&str]| lines.join("\n") + "\n";
    let mut swapped = lines.clone();
    swapped.swap(8, 9);
    let mut doubled = lines.clone();
    doubled.insert(9, lines[8]);
    for (bad, line) in [
        (join(&[&lines[..8], &lines[9..]].concat()), 9),
        (join(&swapped), 9),
        (join(&doubled), 10),
        (join(&lines[1..]), 1),
        (String::new(), 1),
    ] {
        fs::write(&path, bad).expect("a ledger");
        let (code, report) = audit(&world, &[]);
        assert_eq!((code, found(&report).len()), (8, 1), "{report:#}");
        assert_eq!(report["findings"][0]["line"], line, "{report:#}");
    }
    let text = world.place.run(["audit"]).exits(8);
    assert!(text.starts_with("ledger: line 1: "), "{text}");
}

#[test]
fn damage_names_the_quest_of_its_line() {
    let world = worked();
    world.spoils();
    let path = session(&world).join("ledger.jsonl");
    let good = fs::read_to_string(&path).expect("a ledger");
    fs::write(
        &path,
        good.replacen("looked everywhere", "locked everywhere", 1),
    )
    .expect("a ledger");
    let (code, report) = audit(&world, &[]);
    let finding = &report["findings"][0];
    assert_eq!((code, &finding["quest"]), (8, &3.into()), "{report:#}");
    assert_eq!(finding["key"], "Cargo Ring");
}

#[test]
fn lines_cut_off_the_end_show_against_a_noted_head() {
    let world = worked();
    world.spoils();
    let path = session(&world).join("ledger.jsonl");
    let good = fs::read_to_string(&path).expect("a ledger");
    let lines = good.lines().count() as u64;
    let noted = head(&world);
    let report = assert_clean(&world, &["--head", &noted]);
    assert_eq!(
        (&report["noted"]["line"], &report["noted"]["since"]),
        (&lines.into(), &0.into())
    );
    let cut: Vec<&str> = good.lines().take(good.lines().count() - 2).collect();
    fs::write(&path, cut.join("\n") + "\n").expect("a ledger");
    // The index still knows of them.
    let report = assert_found(&world, &[], &["index - -"]);
    let what = report["findings"][0]["what"].as_str().expect("what");
    assert!(what.contains("acknowledged lines are missing"), "{what}");
    // Nothing else does.
    assert_clean(&world, &[]);
    assert_found(&world, &["--head", &noted], &["head - -"]);
    let text = world.place.run(["audit", "--head", &noted]).exits(8);
    assert!(
        text.contains(&format!("no line has the head {noted}")),
        "{text}"
    );
}

#[test]
fn a_head_of_an_earlier_line_says_how_many_came_since() {
    let world = EmailNet::start();
    let noted = head(&world);
    world.expect(1, &world.acme(), "PASS", &[]);
    let report = assert_clean(&world, &["--head", &noted]);
    assert_eq!(report["noted"], serde_json::json!({"line": 2, "since": 1}));
    let text = world.place.run(["audit", "--head", &noted]).ok();
    assert!(
        text.contains("the head that you noted is that of line 2; 1 line since\n"),
        "{text}"
    );
    let other = Digest::of(b"other").to_string();
    assert_found(&world, &["--head", &other], &["head - -"]);
    for bad in ["", "abc", "g"] {
        assert_eq!(world.place.run(["audit", "--head", bad]).code, 2);
    }
}

/// Two companies that have passed: lines 4 and 5.
fn passed() -> EmailNet {
    let world = EmailNet::with(&[ACME, "Bolt Toys"], &[]);
    world.company("bolt.co.kr", "Bolt Toys");
    world.expect(1, &world.acme(), "PASS", &[]);
    world.expect(2, &world.right("bolt.co.kr"), "PASS", &[]);
    world
}

#[track_caller]
fn assert_drifted(world: &EmailNet, rule: &str) {
    let report = assert_found(world, &["--live"], &["drift 4 1"]);
    assert_eq!(rules(&report["findings"][0]), [rule], "{report:#}");
    assert_eq!(report["findings"][0]["key"], ACME);
    assert_eq!(report["live"], json!({"asked": 2, "unanswered": []}));
    // Without the world there is nothing to be found.
    assert_clean(world, &[]);
}

#[test]
fn a_world_that_still_says_so_is_clean_and_the_ledger_stays_as_it_is() {
    let world = passed();
    let before = world.place.ledger();
    let asked = world.net.web.count("www.acme.co.kr", "/contact");
    let report = assert_clean(&world, &["--live"]);
    assert_eq!(report["live"], json!({"asked": 2, "unanswered": []}));
    assert_eq!(report["status"], "clean");
    assert_eq!(world.place.ledger(), before);
    assert_eq!(world.net.web.count("www.acme.co.kr", "/contact"), asked + 1);
    let text = world.place.run(["audit", "--live"]).ok();
    let line = "the world was asked again about 2 of them: 0 drifted, 0 unanswered\n";
    assert!(text.contains(line), "{text}");
    // Nobody asks the world who was not told to.
    let connections = world.net.web.connections();
    assert_clean(&world, &[]);
    assert_eq!(world.net.web.connections(), connections);
}

#[test]
fn an_address_a_page_or_mail_that_is_gone_has_drifted() {
    let world = passed();
    world.contact("Write to sales@acme.co.kr");
    assert_drifted(&world, "email-not-on-source");
    let text = world.place.run(["audit", "--live"]).exits(8);
    let head = "drift: line 4, quest 1 (Acme Foods): the gate says FAIL now";
    assert!(text.starts_with(head), "{text}");
    assert!(text.contains("\n  email-not-on-source: "), "{text}");
    world.answers(Reply::status(404));
    assert_drifted(&world, "source-missing");
    world.contact("Write to info@acme.co.kr");
    world.net.dns.null_mx("acme.co.kr");
    assert_drifted(&world, "mx-null");
}

#[test]
fn a_site_that_does_not_answer_is_told_apart_and_is_no_finding() {
    let world = passed();
    world.answers(Reply::Reset);
    let report = assert_clean(&world, &["--live"]);
    assert_eq!(report["live"]["asked"], 2);
    let unanswered = report["live"]["unanswered"].as_array().expect("a list");
    assert_eq!(unanswered.len(), 1, "{report:#}");
    let silent = &unanswered[0];
    assert_eq!(
        (&silent["line"], &silent["quest"], &silent["key"]),
        (&4.into(), &1.into(), &ACME.into())
    );
    assert_eq!(rules(silent), ["source-unanswered"]);
    let text = world.place.run(["audit", "--live"]).ok();
    let line = "unanswered: line 4, quest 1 (Acme Foods): source-unanswered\n";
    assert!(text.contains(line), "{text}");
}

#[test]
fn a_review_that_was_confirmed_is_audited_and_asked_about_as_well() {
    let world = EmailNet::start();
    let silent = world.answers(Reply::Reset);
    world.expect(1, &silent, "REVIEW", &["source-unanswered"]);
    world.contact("info@acme.co.kr");
    let (code, report) = world.place.json(["recheck"]);
    assert_eq!((code, &report["confirmed"]), (0, &1.into()));
    let report = assert_clean(&world, &["--live"]);
    assert_eq!(report["checked"]["passes"], 1);
    assert_eq!(report["live"]["asked"], 1);
    world.contact("nobody");
    assert_found(&world, &["--live"], &["drift 4 1"]);
}

#[test]
fn ctrl_c_ends_it_at_once_and_what_was_found_is_told() {
    let world = EmailNet::patient(&[ACME, "Bolt Toys"]);
    world.company("bolt.co.kr", "Bolt Toys");
    world.expect(1, &world.acme(), "PASS", &[]);
    world.expect(2, &world.right("bolt.co.kr"), "PASS", &[]);
    let barrier = Arc::new(Barrier::new(2));
    let held = Reply::Meet(Arc::clone(&barrier), page("Bolt Toys", "info@bolt.co.kr"));
    world.net.web.reply("www.bolt.co.kr", "/contact", held);
    let asked = world.net.web.count("www.bolt.co.kr", "/contact");
    let mut command = world.place.command();
    let command = command.args(["audit", "--live", "--json"]);
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let child = child.expect("the program starts");
    let being_asked = || world.net.web.count("www.bolt.co.kr", "/contact") > asked;
    until("Bolt is being asked", being_asked);
    let id = child.id().to_string();
    let killed = Command::new("kill").args(["-INT", &id]).status();
    assert!(killed.expect("kill runs").success());
    let run = Run::from(child.wait_with_output().expect("the program ends"));
    let report: Value = serde_json::from_str(&run.exits(130)).expect("one document");
    assert_eq!(report["status"], "interrupted", "{report:#}");
    assert_eq!(report["checked"]["passes"], 2, "{report:#}");
    assert!(
        report["live"]["left"].as_u64().expect("a number") >= 1,
        "{report:#}"
    );
    barrier.wait();
}

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
fn acme_passed() -> EmailNet {
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
    let world = EmailNet::with(&names, &["--set=scan.pause-after=0"]);
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
    let world = acme_passed();
    world.spoils();
    // The notice names both companies, and the pages show Acme's address, so that nothing but the
    // holder keeps Bolt's answer from passing.
    let html = crate::harness::email_net::page("Acme Foods", "info@acme.co.kr");
    let link = "<br><a href=/legal>Legal notice</a></footer>";
    let html = html.replace("</footer>", link);
    let notice = "<h1>Legal notice</h1><p>Bolt Toys is a trading name of Acme Foods</p>".to_owned();
    let pages = [("/", &html), ("/contact", &html), ("/legal", &notice)];
    for (path, html) in pages {
        world.put(path, html);
    }
    // What an edited index did to the gate, and put back afterwards: the judgement is honest.
    let other = EmailNet::with(&[ACME, "Bolt Toys"], &[]);
    for (path, html) in pages {
        other.put(path, html);
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
        let world = acme_passed();
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
