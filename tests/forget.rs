//! `comail forget`: an address leaves the session, and does not come back.

use std::fs;

use comail::session::Session;
use serde_json::Value;

use crate::harness::EmailNet;
use crate::harness::email_net::{ACME, rules};
use crate::harness::forge::found;
use crate::harness::forgotten::{ADDRESS, forget, known, left_in};

#[track_caller]
fn assert_clean(world: &EmailNet, args: &[&str]) -> Value {
    let (code, report) = world.place.json([&["audit"], args].concat());
    assert_eq!((code, found(&report)), (0, vec![]), "{report:#}");
    report
}

fn head(world: &EmailNet) -> String {
    let (_, status) = world.place.json(["status"]);
    status["head"].as_str().expect("a head").to_owned()
}

#[test]
fn no_spelling_of_it_is_left_and_the_chain_holds() {
    let world = known();
    let dir = world.place.at(".comail");
    let before = left_in(&dir);
    for file in ["ledger.jsonl", "source.csv", "index.sqlite", "evidence"] {
        assert!(
            before.iter().any(|it| it.contains(file)),
            "{file}: {before:?}"
        );
    }
    let (_, status) = world.place.json(["status"]);
    let head = head(&world);
    let said = forget(&world).ok();
    assert!(said.contains("in 6 lines"), "{said}");
    assert!(
        said.contains("companies.csv) and earlier exports are unchanged"),
        "{said}"
    );
    assert_eq!(left_in(&dir), Vec::<String>::new());
    let report = assert_clean(&world, &["--head", &head]);
    let notes = report["notes"].as_array().expect("notes");
    let words = notes.iter().filter_map(Value::as_str);
    assert!(
        words.clone().all(|note| note.contains("not judged again")),
        "{report:#}"
    );
    assert!(words.count() >= 3, "{report:#}");
    let (_, after) = world.place.json(["status"]);
    for count in ["tally", "effective", "attempts", "disputed", "remaining"] {
        assert_eq!(after[count], status[count], "{count}");
    }
    let list = fs::read_to_string(world.place.at("companies.csv")).expect("the list");
    assert!(
        list.contains(ADDRESS),
        "the operator's own list stays: {list}"
    );
    let log = world.place.run(["log"]).ok();
    assert!(
        log.contains("forgotten   an address, in 6 lines, by kim: [forgotten] asked"),
        "{log}"
    );
}

#[test]
fn what_others_have_stays() {
    let world = known();
    forget(&world).ok();
    let ledger = String::from_utf8(world.place.ledger()).expect("UTF-8");
    for text in ["info@bolt.co.kr", "sales.info@acme.co.kr"] {
        assert!(ledger.contains(text), "{text}");
    }
    let source = fs::read_to_string(world.place.at(".comail/source.csv")).expect("a copy");
    assert!(
        source.contains("Acme Foods,ask [forgotten] first\n"),
        "{source}"
    );
    assert!(
        source.contains("sales.info@acme.co.kr is another\n"),
        "{source}"
    );
}

#[test]
fn an_export_shows_where_it_stood() {
    let world = known();
    forget(&world).ok();
    world.place.run(["export", "out.csv"]).ok();
    let out = fs::read_to_string(world.place.at("out.csv")).expect("an export");
    assert!(out.contains("[forgotten]"), "{out}");
    assert!(out.contains("info@bolt.co.kr"), "{out}");
    let others = out.replace("sales.info@acme.co.kr", "").to_lowercase();
    assert!(!others.contains(ADDRESS), "{out}");
}

#[test]
fn a_pass_and_a_dispute_stay_what_they_were() {
    let world = known();
    forget(&world).ok();
    let (_, status) = world.place.json(["status"]);
    assert_eq!(status["tally"]["pass"], 2, "{status:#}");
    let (_, log) = world.place.json(["log", "--type=disputed"]);
    let text = log.to_string();
    assert!(text.contains("[forgotten] bounced"), "{text}");
    let session = Session::open(&world.place.at(".comail")).expect("a session");
    let counts = session
        .projection()
        .expect("a board")
        .totals()
        .counts
        .clone();
    assert_eq!((counts.disputed, counts.unsealed), (1, 0));
}

#[test]
fn it_does_not_come_back() {
    let world = known();
    forget(&world).ok();
    let asked = world.net.web.connections();
    for (turn, email) in ["info@acme.co.kr", "Info%40ACME.co.kr"].iter().enumerate() {
        let (code, answer) = world.submit(3, &world.acme().email(email));
        assert_eq!(code, 5, "{answer:#}");
        assert_eq!(answer["tries"], turn + 1, "{answer:#}");
        assert_eq!(
            answer["facts"][0]["rule"], "forgotten-address",
            "{answer:#}"
        );
    }
    let elsewhere = world
        .acme()
        .email("sales@acme.co.kr")
        .source("https://www.acme.co.kr/?to=info%40acme.co.kr");
    world.expect(3, &elsewhere, "FAIL", &["forgotten-address"]);
    assert_eq!(world.net.web.connections(), asked, "nothing is looked up");
    assert_eq!(left_in(&world.place.at(".comail")), Vec::<String>::new());
    assert_clean(&world, &[]);
}

#[test]
fn nor_does_a_reason_or_a_newer_list_bring_it_back() {
    let world = known();
    forget(&world).ok();
    let none = ["submit", "--id=3", "--none=only info@acme.co.kr is there"];
    let (code, answer) = world.place.json(none);
    assert_eq!(code, 5, "{answer:#}");
    assert_eq!(
        answer["facts"][0]["rule"], "forgotten-address",
        "{answer:#}"
    );
    let update = ["scan", "--update", "companies.csv", "--operator-key=key"];
    let said = world.place.run(update);
    said.says("must forget");
    said.exits(2);
    assert_eq!(left_in(&world.place.at(".comail")), Vec::<String>::new());
    assert_clean(&world, &[]);
}

#[test]
fn a_page_that_still_shows_it_does_not_bring_it_back() {
    let world = known();
    forget(&world).ok();
    let wrong = world.acme().email("made.up@acme.co.kr");
    let (code, answer) = world.submit(3, &wrong);
    assert_eq!(code, 5, "{answer:#}");
    let fired = rules(&answer);
    assert!(
        fired.contains(&"email-not-on-source".to_owned()),
        "{answer:#}"
    );
    assert!(answer.to_string().contains("[forgotten]"), "{answer:#}");
    assert_eq!(left_in(&world.place.at(".comail")), Vec::<String>::new());
    assert_clean(&world, &[]);
}

#[test]
fn to_forget_again_records_nothing() {
    let world = known();
    forget(&world).ok();
    let ledger = world.place.ledger();
    let (code, answer) = world.place.json([
        "forget",
        "INFO@ACME.CO.KR",
        "--note=again",
        "--operator-key=key",
    ]);
    assert_eq!((code, &answer["status"]), (0, &"forgotten-before".into()));
    assert_eq!(world.place.ledger(), ledger);
}

#[test]
fn a_second_address_leaves_the_same_lines() {
    let world = known();
    forget(&world).ok();
    let other = [
        "forget",
        "sales.info@acme.co.kr",
        "--note=x",
        "--operator-key=key",
    ];
    world.place.run(other).ok();
    let bolt = [
        "forget",
        "info@bolt.co.kr",
        "--note=x",
        "--operator-key=key",
    ];
    world.place.run(bolt).ok();
    assert_clean(&world, &[]);
    let ledger = String::from_utf8(world.place.ledger()).expect("UTF-8");
    assert!(
        !ledger.contains("sales.info@") && !ledger.contains("info@bolt"),
        "{ledger}"
    );
}

#[test]
fn a_process_that_had_the_session_open_goes_on() {
    let world = known();
    let dir = world.place.at(".comail");
    let mut session = Session::open(&dir).expect("a session");
    forget(&world).ok();
    let now = || "2026-01-02T03:04:05Z".parse().expect("a time");
    let salt = || comail::session::Salt([7; 16]);
    let appended = session.append(&mut (now, salt), |session| {
        assert!(!session.totals().forgetting.is_empty());
        Ok::<_, ()>(Vec::new())
    });
    assert!(appended.is_ok(), "{appended:?}");
}

#[test]
fn what_scan_froze_is_not_changed() {
    let world = EmailNet::unscanned();
    world.place.write("key", [7; 32]);
    world.place.write("info@acme.co.kr.txt", ACME);
    let scan = ["scan", "info@acme.co.kr.txt"].map(str::to_owned);
    let flags = world.flags_with(&["--operator-key=key"]);
    world.place.run(scan.iter().chain(&flags)).ok();
    let before = world.place.ledger();
    let said = forget(&world);
    said.says("session.json contains the address");
    said.exits(2);
    assert_eq!(world.place.ledger(), before);
}

#[test]
fn a_workbook_forgets_it_too() {
    let world = EmailNet::unscanned();
    world.place.write("key", [7; 32]);
    world.place.write(
        "list.csv",
        format!("company,note\n{ACME},write to Info@acme.co.kr\n"),
    );
    let first = ["--session=first", "scan", "list.csv", "--col=company"];
    world.place.run(first).ok();
    world
        .place
        .run(["--session=first", "export", "list.xlsx"])
        .ok();
    let scan = ["scan", "list.xlsx", "--col=company"].map(str::to_owned);
    let flags = world.flags_with(&["--operator-key=key"]);
    world.place.run(scan.iter().chain(&flags)).ok();
    world.expect(1, &world.acme(), "PASS", &[]);
    world.spoils();
    forget(&world).ok();
    assert_clean(&world, &[]);
    world.place.run(["export", "out.csv"]).ok();
    let out = fs::read_to_string(world.place.at("out.csv")).expect("an export");
    assert!(out.contains("write to [forgotten]"), "{out}");
    assert!(!out.to_lowercase().contains(ADDRESS), "{out}");
}

#[test]
fn it_does_not_come_back_as_the_name_of_a_worker() {
    let world = known();
    forget(&world).ok();
    let before = world.place.ledger();
    for name in [ADDRESS, "INFO@acme.co.kr", "w:info@acme.co.kr"] {
        let worker = format!("--worker={name}");
        let run = world.place.run(["next", &worker]);
        assert_eq!(run.code, 1, "{run:?}");
        run.says("choose another name");
        let run = world
            .place
            .run(["submit", "--id=3", "--none=nothing", &worker]);
        assert_eq!(run.code, 1, "{run:?}");
    }
    assert_eq!(world.place.ledger(), before);
    let other = "--worker=sales.info@acme.co.kr";
    world.place.run(["next", other]).ok();
    assert_eq!(left_in(&world.place.at(".comail")), Vec::<String>::new());
}
