//! `comail audit --live`: what the world says now of what was proven.

use std::process::{Command, Stdio};
use std::sync::{Arc, Barrier};

use serde_json::{Value, json};

use crate::harness::audited::{assert_clean, audit};
use crate::harness::email_net::{ACME, page, rules};
use crate::harness::forge::found;
use crate::harness::{EmailNet, Run, until};
use crate::servers::http::Reply;

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
    let (code, report) = audit(world, &["--live"]);
    assert_eq!(
        (code, found(&report)),
        (8, vec!["drift 4 1".to_owned()]),
        "{report:#}"
    );
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
    let (code, report) = audit(&world, &["--live"]);
    assert_eq!(
        (code, found(&report)),
        (8, vec!["drift 4 1".to_owned()]),
        "{report:#}"
    );
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
