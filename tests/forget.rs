//! `comail forget`: an address leaves the session, and does not come back. A line that somebody else
//! redacts is damage.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;
use std::{fs, thread};

use comail::base::Digest;
use comail::session::{
    Event, Forgotten, Line, Projection, RedactedLine, Session, SessionError, Suppressed,
};
use comail::world::email_text::mentions;
use serde_json::{Value, json};

use crate::harness::email_net::{ACME, rules};
use crate::harness::forge::{append, blot_in_place, found, line_with};
use crate::harness::forgotten::{ADDRESS, forget, known, left_in};
use crate::harness::replayed::assert_audited;
use crate::harness::reviewed::{QUEST, place};
use crate::harness::terminal::at_terminal;
use crate::harness::{EmailNet, Place, Run, case, scale};

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
        .run([&["export", "--out=out.csv", "--force"], args].concat());
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
        Ok::<_, SessionError>((Vec::new(), ()))
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
        log.contains("forgotten   an address was removed from 6 lines by kim: [forgotten] asked"),
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
        said.contains("2 PASS, 1 REVIEW, 0 DONE, 1 TODO (1 disputed, 2 forgotten)"),
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
    let shown = world.place.run(["show", "4"]).ok();
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
            "2 PASS, 1 REVIEW (1 accepted), 0 DONE, 1 TODO (1 disputed)",
        ),
        (
            &["--state=review"],
            "0 PASS, 1 REVIEW (1 accepted), 0 DONE, 0 TODO\n",
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
        assert_eq!(run.code, 2, "{run:?}");
        run.says("choose another name");
        let submit = ["submit", "--id=3", "--none=nothing", &worker];
        let run = world.place.run(submit);
        assert_eq!(run.code, 2, "{run:?}");
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
        .run(["--session=first", "export", "--out=list.xlsx"])
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
    let question = "dispute quest 1, Acme Foods, info@acme.co.kr; note: bounced";
    assert!(run.stdout.contains(question), "{run:?}");
    assert!(!run.stdout.contains("is disputed"), "{run:?}");
    let run = dispute("1", "dispute");
    assert!(run.stdout.contains("quest 1 is disputed"), "{run:?}");
}

fn ledger(world: &EmailNet) -> PathBuf {
    world.place.at(".comail/ledger.jsonl")
}

/// Writes the ledger anew with this line, by number from 0, blotted out as `blot` says; gives
/// what the line is now.
fn blot(world: &EmailNet, number: usize, blot: impl Fn(&str) -> String) -> RedactedLine {
    let text = fs::read_to_string(ledger(world)).expect("a ledger");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let line = Line::parse_unchained(&lines[number]).expect("a line");
    let blotted = line.with_body(&blot(line.body()));
    let named = RedactedLine {
        line: blotted.seq(),
        digest: blotted.redacted().expect("a mark"),
    };
    let other = blotted.text().to_owned();
    lines[number] = other;
    fs::write(ledger(world), lines.join("\n") + "\n").expect("a ledger");
    fs::remove_file(world.place.at(".comail/index.sqlite")).ok();
    named
}

fn forgotten(lines: Vec<RedactedLine>, address: &str) -> Event {
    Event::Forgotten(Box::new(Forgotten {
        address: Suppressed::new(Digest::of(b"salt"), address),
        lines,
        evidence: Vec::new(),
        copies: Vec::new(),
        by: "mallory".to_owned(),
        note: String::new(),
        seal: None,
    }))
}

/// The number of the line that records the attempt of quest 1.
fn passed(world: &EmailNet) -> usize {
    let session = world.place.at(".comail");
    line_with(&session, &["\"type\":\"attempt\"", "\"quest\":1,"])
}

#[track_caller]
fn assert_damaged(world: &EmailNet, line: usize) {
    let (code, report) = world.place.json(["audit"]);
    assert_eq!(code, 8, "{report:#}");
    assert_eq!(
        found(&report)[0].split(' ').nth(1),
        Some(&*(line + 1).to_string())
    );
    let what = report["findings"][0]["what"].as_str().expect("words");
    assert!(what.contains("redacted"), "{what}");
    world.place.run(["status"]).exits(1);
    world.place.run(["next"]).exits(1);
    let opened = Session::open(&world.place.at(".comail"));
    assert!(
        matches!(opened, Err(SessionError::Damaged { .. })),
        "{opened:?}"
    );
}

#[test]
fn a_line_that_was_blotted_out_by_hand_never_comes_under_the_operators_seal() {
    let world = known();
    let session = world.place.at(".comail");
    let line = line_with(&session, &["\"type\":\"attempt\"", "\"quest\":4,"]);
    let whole = world.place.ledger();
    blot_in_place(&session, line, |body| {
        body["verdict"] = "PASS".into();
        body["state"] = "PASS".into();
        body["rules"] = json!([]);
        body["judgement"] = json!({"verdict": "PASS", "facts": [], "checks": []});
        body["evidence"] = json!({"exchanges": []});
    });
    let forged = world.place.ledger();
    let run = forget(&world);
    assert_eq!(run.code, 1, "{run:?}");
    run.says("redacted");
    assert_eq!(world.place.ledger(), forged);
    fs::write(ledger(&world), whole).expect("a ledger");
    forget(&world).ok();
    world.place.run(["audit"]).ok();
    let (_, status) = world.place.json(["status"]);
    assert_eq!(status["effective"]["open"], 1, "{status:#}");
}

#[test]
fn a_line_that_is_blotted_out_by_hand_is_damage_also_with_a_decision_without_the_key() {
    let keyless = EmailNet::with(&[ACME], &[]);
    keyless.expect(1, &keyless.acme(), "PASS", &[]);
    keyless.spoils();
    for (world, has_key) in [(known(), true), (keyless, false)] {
        let line = passed(&world);
        let mut named = blot(&world, line, |body| body.replace(ADDRESS, "[forgotten]"));
        assert_damaged(&world, line);
        if !has_key {
            // Without a key, a decision counts only for the body that it names.
            named.digest = Digest::of(b"another body");
        }
        append(&world.place.at(".comail"), &forgotten(vec![named], ADDRESS));
        assert_damaged(&world, line);
    }
}

#[test]
fn nor_does_it_suppress_anything() {
    let world = known();
    append(
        &world.place.at(".comail"),
        &forgotten(Vec::new(), "sales@acme.co.kr"),
    );
    let (_, answer) = world.submit(3, &world.acme().email("sales@acme.co.kr"));
    assert_ne!(
        answer["facts"][0]["rule"], "forgotten-address",
        "{answer:#}"
    );
    let projection: Projection = {
        let session = Session::open(&world.place.at(".comail")).expect("a session");
        session.projection().expect("a projection")
    };
    assert_eq!(projection.totals().counts.unsealed, 1);
    let (code, report) = world.place.json(["audit"]);
    assert_eq!((code, &report["findings"][0]["kind"]), (8, &"seal".into()));
    assert!(projection.totals().forgetting.is_empty());
}

#[test]
fn without_the_key_and_at_no_terminal_it_is_refused() {
    let (keyed, open) = (known(), EmailNet::start());
    fs::write(keyed.place.at("other"), [8; 32]).expect("a key");
    for (world, key) in [
        (&keyed, None),
        (&keyed, Some("--operator-key=other")),
        (&open, None),
    ] {
        let before = world.place.ledger();
        let forget = ["forget", ADDRESS, "--note=x"].into_iter().chain(key);
        world.place.run(forget).exits(2);
        assert_eq!(world.place.ledger(), before);
    }
}

#[test]
fn what_was_forgotten_cannot_be_put_back() {
    let world = known();
    let line = passed(&world);
    let whole = fs::read_to_string(ledger(&world)).expect("a ledger");
    forget(&world).ok();
    let blotted = fs::read_to_string(ledger(&world)).expect("a ledger");
    let mut lines: Vec<&str> = blotted.lines().collect();
    lines[line] = whole.lines().nth(line).expect("a line");
    fs::write(ledger(&world), lines.join("\n") + "\n").expect("a ledger");
    fs::remove_file(world.place.at(".comail/index.sqlite")).ok();
    let (code, report) = world.place.json(["audit"]);
    assert_eq!(code, 8, "{report:#}");
    let what = report["findings"][0]["what"].as_str().expect("words");
    assert!(what.contains("still has its body"), "{what}");
}

#[test]
fn the_body_of_a_forgotten_line_cannot_be_changed() {
    let world = known();
    let line = passed(&world);
    forget(&world).ok();
    blot(&world, line, |body| {
        body.replace("[forgotten]", "other@acme.co.kr")
    });
    assert_damaged(&world, line);
}

#[test]
fn the_settings_cannot_be_changed_by_blotting_out_the_first_line() {
    let world = known();
    let path = world.place.at(".comail/session.json");
    let settings = fs::read_to_string(&path).expect("settings");
    let other = settings.replace("\"pause_after\": 25", "\"pause_after\": 26");
    assert_ne!(other, settings);
    fs::write(&path, &other).expect("settings");
    let digest = Digest::of(other.as_bytes());
    blot(&world, 0, |_| format!("{{\"manifest\":\"{digest}\"}}"));
    world.place.run(["audit"]).exits(8);
    assert!(Session::open(&world.place.at(".comail")).is_err());
}

fn copy(world: &EmailNet, to: &str) {
    case::copy(&world.place.at(".comail"), &world.place.at(to));
}

fn forgetting(session: &str) -> Vec<String> {
    let session = format!("--session={session}");
    let args = [
        &session,
        "forget",
        ADDRESS,
        "--note=x",
        "--operator-key=key",
    ];
    args.map(str::to_owned).to_vec()
}

fn holds_it(text: &str) -> bool {
    !mentions(text, &|address| address == ADDRESS).is_empty()
}

#[test]
fn killed_at_any_moment_it_is_done_or_not_begun() {
    let world = known();
    copy(&world, "whole");
    let began = Instant::now();
    world.place.run(forgetting("whole")).ok();
    let whole = began.elapsed();
    let kills = u32::try_from(scale::kills(12)).expect("a small number");
    for turn in 0..kills {
        let name = format!("killed{turn}");
        copy(&world, &name);
        let mut command = world.place.command();
        // A kill in the middle of adding to a shared file of counts would spoil it.
        let command = command
            .args(forgetting(&name))
            .env("LLVM_PROFILE_FILE", "/dev/null");
        let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = quiet.spawn().expect("the program starts");
        // The moment is the test's subject; there is nothing to wait for instead.
        thread::sleep(whole * turn / kills);
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
        let dir = world.place.at(&name);
        let text = fs::read_to_string(dir.join("ledger.jsonl")).expect("a ledger");
        let (recorded, kept) = (text.contains("\"type\":\"forgotten\""), holds_it(&text));
        assert_ne!(recorded, kept, "turn {turn}");
        let session = format!("--session={name}");
        let (_, report) = world.place.json([&session, "audit"]);
        let cut_off = |kind: &String| recorded && kind.starts_with("source ");
        assert!(
            found(&report).iter().all(cut_off),
            "turn {turn}: {report:#}"
        );
        world.place.run(forgetting(&name)).ok();
        assert_eq!(left_in(&dir), Vec::<String>::new(), "turn {turn}");
        let (code, report) = world.place.json([&session, "audit"]);
        assert_eq!(
            (code, found(&report)),
            (0, vec![]),
            "turn {turn}: {report:#}"
        );
        fs::remove_dir_all(dir).expect("it can be removed");
    }
}

#[test]
fn what_was_left_over_is_told_and_removed() {
    let world = known();
    copy(&world, "before");
    forget(&world).ok();
    let dir = world.place.at(".comail");
    let ledger = world.place.ledger();
    // As if it had died right after the ledger took its new form.
    let before = world.place.at("before");
    for held in left_in(&before) {
        let held = Path::new(&held).strip_prefix(&before).expect("inside");
        if held.starts_with("evidence") || held.starts_with("source.csv") {
            fs::copy(before.join(held), dir.join(held)).expect("a copy");
        }
    }
    assert_eq!(left_in(&dir).len(), 2);
    let (code, report) = world.place.json(["audit"]);
    assert_eq!(
        (code, found(&report)),
        (8, vec!["source 1 -".to_owned()]),
        "{report:#}"
    );
    let text = report.to_string();
    assert!(
        text.contains("still contains an address that was forgotten"),
        "{text}"
    );
    assert!(text.contains("in evidence/ contain an address"), "{text}");
    world.place.run(["export", "--out=out.csv"]).exits(8);
    forget(&world).ok();
    assert_eq!(world.place.ledger(), ledger, "nothing more is recorded");
    assert_eq!(left_in(&dir), Vec::<String>::new());
    let (code, report) = world.place.json(["audit"]);
    assert_eq!((code, found(&report)), (0, vec![]), "{report:#}");
}
