//! `comail forget`: an address leaves the session, and does not come back.

use std::fs;

use comail::session::Session;
use serde_json::Value;

use crate::harness::email_net::{ACME, rules};
use crate::harness::forge::found;
use crate::harness::forgotten::{ADDRESS, forget, known, left_in};
use crate::harness::replayed::assert_audited;
use crate::harness::reviewed::{QUEST, place};
use crate::harness::terminal::at_terminal;
use crate::harness::{EmailNet, Place, Run};

#[track_caller]
fn assert_clean(world: &EmailNet, args: &[&str]) -> Value {
    let (code, report) = world.place.json([&["audit"], args].concat());
    assert_eq!((code, found(&report)), (0, vec![]), "{report:#}");
    report
}

/// Has the session forget another address.
fn forget_other(place: &Place, address: &str) -> Run {
    place.run(["forget", address, "--note=x", "--operator-key=key"])
}

fn exported(world: &EmailNet, args: &[&str]) -> (String, String) {
    let said = world
        .place
        .run([&["export", "out.csv", "--force"], args].concat());
    let said = said.ok();
    let out = fs::read_to_string(world.place.at("out.csv")).expect("an export");
    (said, out)
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
    let head = status["head"].as_str().expect("a head");
    // A process that has the session open goes on afterwards.
    let mut open = Session::open(&dir).expect("a session");
    let said = forget(&world).ok();
    assert!(said.contains("in 6 lines"), "{said}");
    assert!(
        said.contains("companies.csv) and earlier exports are unchanged"),
        "{said}"
    );
    assert_eq!(left_in(&dir), Vec::<String>::new());
    let now = || "2026-01-02T03:04:05Z".parse().expect("a time");
    let salt = || comail::session::Salt([7; 16]);
    let appended = open.append(&mut (now, salt), |session, _| {
        assert!(!session.totals().forgetting.is_empty());
        Ok::<_, ()>(Vec::new())
    });
    assert!(appended.is_ok(), "{appended:?}");
    let report = assert_clean(&world, &["--head", head]);
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
    assert_eq!(after["tally"]["pass"], 2, "{after:#}");
    assert_eq!(after["forgotten"], 2, "{after:#}");
    let text = world.place.run(["status"]).ok();
    assert!(text.contains("forgotten: the answer of 2 quests"), "{text}");
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
    assert!(log.contains("[forgotten] bounced"), "{log}");
    let session = Session::open(&dir).expect("a session");
    let totals = session.projection().expect("a projection").totals().clone();
    let counts = (totals.counts.disputed, totals.counts.unsealed);
    assert_eq!(counts, (1, 0));
}

#[test]
fn what_others_have_stays_until_it_is_forgotten_too() {
    let world = known();
    forget(&world).ok();
    let ledger = world.place.ledger();
    let text = String::from_utf8(ledger.clone()).expect("UTF-8");
    for others in ["info@bolt.co.kr", "sales.info@acme.co.kr"] {
        assert!(text.contains(others), "{others}");
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
    let again = [
        "forget",
        "INFO@ACME.CO.KR",
        "--note=again",
        "--operator-key=key",
    ];
    let (code, answer) = world.place.json(again);
    assert_eq!((code, &answer["status"]), (0, &"forgotten-before".into()));
    assert_eq!(world.place.ledger(), ledger);
    forget_other(&world.place, "sales.info@acme.co.kr").ok();
    forget_other(&world.place, "info@bolt.co.kr").ok();
    assert_clean(&world, &[]);
    let text = String::from_utf8(world.place.ledger()).expect("UTF-8");
    assert!(
        !text.contains("sales.info@") && !text.contains("info@bolt"),
        "{text}"
    );
}

#[test]
fn an_export_shows_no_address_and_says_why() {
    let world = known();
    let reviewed = |verb: &str| {
        let args = ["review", verb, "4", "--note=x", "--operator-key=key"];
        world.place.run(args).code
    };
    forget(&world).ok();
    let (said, out) = exported(&world, &["--columns=email,status"]);
    assert!(
        said.contains("2 PASS, 1 REVIEW, 0 DONE, 1 still TODO; of these 1 disputed, 2 forgotten"),
        "{said}"
    );
    let ends: Vec<&str> = out.lines().skip(1).collect();
    assert!(
        ends[0].ends_with(",,\"PASS (disputed, forgotten)\""),
        "{out}"
    );
    assert!(ends[1].ends_with("info@bolt.co.kr,PASS"), "{out}");
    assert!(ends[3].ends_with(",,REVIEW (forgotten)"), "{out}");
    let (_, out) = exported(&world, &[]);
    assert!(out.contains("[forgotten]"), "{out}");
    assert!(out.contains("info@bolt.co.kr"), "{out}");
    let others = out.replace("sales.info@acme.co.kr", "").to_lowercase();
    assert!(!others.contains(ADDRESS), "{out}");
    // Its REVIEW waits for nobody, and can only be rejected.
    let (_, queue) = world.place.json(["review"]);
    assert_eq!(queue["open"], 0, "{queue:#}");
    let shown = world.place.run(["review", "show", "4"]).ok();
    assert!(
        shown.contains("cannot be shown: it was removed when its address was forgotten"),
        "{shown}"
    );
    let ledger = world.place.ledger();
    assert_eq!(reviewed("accept"), 2);
    assert_eq!(world.place.ledger(), ledger);
    assert_eq!(reviewed("reject"), 0);
}

#[test]
fn an_export_counts_what_it_wrote() {
    let world = known();
    let accept = ["review", "accept", "4", "--note=x", "--operator-key=key"];
    world.place.run(accept).ok();
    for (args, expected) in [
        (
            &[][..],
            "2 PASS, 1 REVIEW (1 accepted), 0 DONE, 1 still TODO; of these 1 disputed",
        ),
        (
            &["--only=review"],
            "0 PASS, 1 REVIEW (1 accepted), 0 DONE, 0 still TODO\n",
        ),
    ] {
        let (said, _) = exported(&world, args);
        assert!(said.contains(expected), "{said}");
    }
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
        assert_eq!(rules(&answer)[0], "forgotten-address", "{answer:#}");
    }
    let elsewhere = world
        .acme()
        .email("sales@acme.co.kr")
        .source("https://www.acme.co.kr/?to=info%40acme.co.kr");
    world.expect(3, &elsewhere, "FAIL", &["forgotten-address"]);
    assert_eq!(world.net.web.connections(), asked, "nothing is looked up");
    let update = ["scan", "--update", "companies.csv", "--operator-key=key"];
    let said = world.place.run(update);
    said.says("must forget");
    said.exits(2);
    let before = world.place.ledger();
    for name in [ADDRESS, "INFO@acme.co.kr", "w:info@acme.co.kr"] {
        let worker = format!("--worker={name}");
        let run = world.place.run(["next", &worker]);
        assert_eq!(run.code, 1, "{run:?}");
        run.says("choose another name");
        let submit = ["submit", "--id=3", "--none=nothing", &worker];
        let run = world.place.run(submit);
        assert_eq!(run.code, 1, "{run:?}");
    }
    assert_eq!(world.place.ledger(), before);
    assert_eq!(left_in(&world.place.at(".comail")), Vec::<String>::new());
    assert_clean(&world, &[]);
}

#[test]
fn nor_does_a_reason_a_page_or_a_worker_of_a_like_name_bring_it_back() {
    let world = known();
    forget(&world).ok();
    let other = "--worker=sales.info@acme.co.kr";
    world.place.run(["next", other]).ok();
    let none = [
        "submit",
        "--id=3",
        "--none=only info@acme.co.kr is there",
        other,
    ];
    let (code, answer) = world.place.json(none);
    assert_eq!(code, 5, "{answer:#}");
    assert_eq!(rules(&answer)[0], "forgotten-address", "{answer:#}");
    let mut wrong = world.acme().email("made.up@acme.co.kr").args(3);
    wrong.push(other.to_owned());
    let (code, answer) = world.place.json(wrong);
    assert_eq!(code, 5, "{answer:#}");
    assert!(
        rules(&answer).contains(&"email-not-on-source".to_owned()),
        "{answer:#}"
    );
    assert!(answer.to_string().contains("[forgotten]"), "{answer:#}");
    assert_eq!(left_in(&world.place.at(".comail")), Vec::<String>::new());
    assert_clean(&world, &[]);
}

#[test]
fn what_scan_froze_is_not_changed_and_what_is_nowhere_is_refused() {
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
    let said = forget_other(&world.place, "nobody@acme.co.kr");
    said.says("is not in this session");
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
    let (_, out) = exported(&world, &[]);
    assert!(out.contains("write to [forgotten]"), "{out}");
    assert!(!out.to_lowercase().contains(ADDRESS), "{out}");
}

#[test]
fn a_file_that_holds_it_is_refused_and_not_kept() {
    let place = place(0);
    place.write("quest.toml", QUEST);
    place.write("key", [7; 32]);
    let flags = ["scan", "list.txt", "--quest=quest.toml", "--tree=tree"];
    let mut scan = place.command();
    scan.env("PATH", "/usr/bin:/bin")
        .env("TMPDIR", place.at("tmp"));
    Run::of(scan.args(flags).arg("--operator-key=key")).ok();
    let why = "--none=jo@acme.com is the only one";
    assert_eq!(place.run(["submit", "--id=1", why]).code, 5);
    forget_other(&place, "jo@acme.com").ok();
    for (id, text) in [
        ("--id=1", "exit 0 # jo@acme.com\n"),
        ("--id=2", "exit 0 # 𝐣𝐨 [at] acme (dot) com\n"),
    ] {
        place.write("tree/in/try.sh", text);
        let (code, answer) = place.json(["submit", id, "--file=in/try.sh"]);
        assert_eq!(code, 5, "{answer:#}");
        assert_eq!(rules(&answer), ["forgotten-address"]);
        let ledger = String::from_utf8(place.ledger()).expect("a text");
        assert!(!ledger.contains("jo@acme.com") && !ledger.contains("in/try.sh"));
    }
    let kept = walkdir::WalkDir::new(place.at(".comail/evidence")).into_iter();
    for entry in kept.map(|entry| entry.expect("an entry").into_path()) {
        let body = fs::read(&entry).ok();
        let body = body.and_then(|packed| comail::world::evidence::unpack(&packed, 1 << 20).ok());
        let text = body.map(|body| String::from_utf8_lossy(&body).into_owned());
        assert!(!text.is_some_and(|text| text.contains("acme")), "{entry:?}");
    }
    place.write("tree/in/try.sh", "exit 0 # ann.jo@acme.com\n");
    let (code, answer) = place.json(["submit", "--id=2", "--file=in/try.sh"]);
    assert_eq!(
        (code, &answer["verdict"]),
        (0, &"PASS".into()),
        "{answer:#}"
    );
    assert_audited(&place.at(".comail"));
}

#[test]
fn a_question_names_what_it_is_about_and_comes_after_the_checks() {
    let world = EmailNet::with(&["Acme Foods", "Bolt Toys"], &[]);
    world.expect(1, &world.acme(), "PASS", &[]);
    let dispute = |id, typed| at_terminal(&world.place, &["dispute", id, "--note=bounced"], typed);
    for id in ["2", "9"] {
        let run = dispute(id, "dispute");
        assert_eq!(run.code, 2, "{run:?}");
        assert!(!run.stdout.contains("to go on"), "{run:?}");
    }
    let run = dispute("1", "no");
    let question = "dispute quest 1, Acme Foods, info@acme.co.kr: bounced";
    assert!(run.stdout.contains(question), "{run:?}");
    assert!(!run.stdout.contains("is disputed"), "{run:?}");
    let run = dispute("1", "dispute");
    assert!(run.stdout.contains("quest 1 is disputed"), "{run:?}");
}
