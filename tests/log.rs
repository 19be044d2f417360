//! `comail log`, the ledger for people and programs, and `-v`, `-q` and `COMAIL_LOG`: what goes on,
//! on stderr, for who asks.

use std::fs::{self, OpenOptions};
use std::io::Write as _;

use serde_json::Value;

use crate::harness::email_net::ACME;
use crate::harness::follower::{Follower, taken_one};
use crate::harness::{EmailNet, Place, Run};

fn lines(ledger: &[u8]) -> Vec<String> {
    let text = String::from_utf8(ledger.to_vec()).expect("a ledger is UTF-8");
    text.lines().map(str::to_owned).collect()
}

/// Every kind of event but those that only a newer list, a recheck or an older session makes.
fn eventful() -> EmailNet {
    let world = EmailNet::unscanned();
    let key = world.place.write("key", "k".repeat(32));
    let rows = "company,site\nAcme Foods,acme.co.kr\nBolt Toys,\nCargo Ring,\nAcme Foods,\n";
    world.place.write("list.csv", rows);
    let mut scan = ["scan", "list.csv", "--col=company", "--site-col=site"]
        .map(str::to_owned)
        .to_vec();
    scan.push(format!("--operator-key={}", key.display()));
    scan.extend(world.flags_with(&["--set=scan.pause-after=1", "--max-tries", "2"]));
    world.place.run(scan).ok();
    world.place.run(["next", "--worker=w1"]).ok();
    let mut right = world.right("acme.co.kr").args(1);
    right.push("--worker=w1".to_owned());
    world.place.run(right).ok();
    world.place.run(["next", "--worker=w2", "--lease=90s"]).ok();
    let key = format!("--operator-key={}", key.display());
    world.place.run(["release", "--worker=w2", &key]).ok();
    world.place.run(["submit", "--id=2", "--none=x"]).exits(5);
    world.place.run(["submit", "--id=2", "--none=x"]).exits(6);
    world.place.run(["resume", &key]).ok();
    world
        .place
        .write("more.csv", "company,site\nDelta Works,\n");
    world.place.run(["scan", "--update", "more.csv", &key]).ok();
    world
}

#[test]
fn people_and_programs_read_what_happened() {
    let world = eventful();
    let text = world.place.run(["log"]).ok();
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", "[TIME]");
    settings.add_filter(r"from /.*/more\.csv", "from [DIR]/more.csv");
    settings.bind(|| insta::assert_snapshot!("log", text));
    // Programs read the ledger byte by byte.
    let ledger = world.place.ledger();
    let json = world.place.run(["log", "--json"]).ok();
    assert_eq!(json.as_bytes(), ledger);
    let all = lines(&ledger);
    let from = world.place.run(["log", "--json", "--from=3"]).ok();
    assert_eq!(lines(from.as_bytes()), all[3..]);
    let past = world.place.run(["log", "--json", "--from=99"]).ok();
    assert_eq!(past, "");
    let some = world
        .place
        .run(["log", "--json", "--type=attempt,claim", "--from=5"]);
    let types: Vec<Value> = lines(some.ok().as_bytes())
        .iter()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["type"].clone())
        .collect();
    assert_eq!(types, ["attempt", "claim", "attempt", "attempt"]);
    world.place.run(["log", "--type=attempts"]).exits(2);
    world.place.run(["log", "--session=none"]).exits(1);
    // Nothing else than the ledger is read, and nothing is written.
    let session = world.place.at(".comail");
    fs::remove_file(session.join("index.sqlite")).unwrap();
    let ledger = session.join("ledger.jsonl");
    let whole = world.place.ledger();
    fs::write(&ledger, [&whole[..], b"{\"seq\":"].concat()).unwrap();
    let before = crate::sheets::names(&session);
    let run = world.place.run(["log", "--json"]);
    assert_eq!(
        (run.stdout.as_bytes(), run.stderr.as_str()),
        (&whole[..], "")
    );
    assert!(world.place.ledger().ends_with(b"{\"seq\":"));
    assert_eq!(crate::sheets::names(&session), before);
}

#[test]
fn names_and_reasons_cannot_steer_a_terminal() {
    let evil = "Acme\u{1b}[2J\u{202e}\u{2028}Foods";
    let world = EmailNet::unscanned();
    world.place.write(
        "list.csv",
        format!("company,site\n{evil},{evil}\nBolt Toys,bolt.kr\n"),
    );
    world
        .place
        .run(["scan", "list.csv", "--col=company", "--site-col=site"])
        .ok();
    let text = world.place.run(["log"]).ok();
    assert!(
        text.contains("Acme\\u{1b}[2J\\u{202e}\\u{2028}Foods"),
        "{text}"
    );
    assert!(
        !text.contains(['\u{1b}', '\u{202e}', '\u{2028}']),
        "{text:?}"
    );
    assert_eq!(text.lines().count(), 3, "{text}");
}

#[test]
fn damage_is_told_with_its_line_after_what_stands_before_it() {
    let world = eventful();
    world.spoils();
    let whole = world.place.ledger();
    let at = whole.len() - 40;
    let mut bad = whole.clone();
    bad[at] ^= 1;
    fs::write(world.place.at(".comail/ledger.jsonl"), &bad).unwrap();
    let all = lines(&whole);
    let run = world.place.run(["log", "--json"]);
    let printed = lines(run.stdout.as_bytes());
    let (error, sound) = printed.split_last().expect("an error");
    assert_eq!(sound, &all[..all.len() - 1]);
    let error: Value = serde_json::from_str(error).expect("JSON");
    assert_eq!(error["error"]["kind"], "damaged");
    let line = format!("ledger.jsonl, line {}:", all.len());
    run.says(&line);
    run.exits(1);
}

#[test]
fn a_follower_sees_what_others_add() {
    let world = EmailNet::with(&[ACME, "Bolt Toys"], &[]);
    let json = Follower::start(&world.place, &["log", "--follow", "--json"]);
    let text = Follower::start(
        &world.place,
        &["log", "--follow", "--type=attempt", "--from=2"],
    );
    for line in lines(&world.place.ledger()) {
        assert_eq!(json.next(), line);
    }
    for tries in 1..=2 {
        assert_eq!(world.place.give_up(2), 5);
        assert_eq!(json.next(), *lines(&world.place.ledger()).last().unwrap());
        let told = text.next();
        let expected = format!("{tries} of 3 tries used");
        assert!(told.contains("quest 2, Bolt Toys: FAIL"), "{told}");
        assert!(told.ends_with(&expected), "{told}");
    }
}

#[test]
fn a_line_is_printed_once_it_is_whole_and_a_torn_one_never() {
    let world = EmailNet::with(&[ACME], &[]);
    let before = world.place.ledger();
    assert_eq!(world.place.give_up(1), 5);
    let whole = world.place.ledger();
    let path = world.place.at(".comail/ledger.jsonl");
    let added = &whole[before.len()..];
    fs::write(&path, &whole[..before.len() + 9]).unwrap();
    let follower = Follower::start(&world.place, &["log", "--follow", "--json"]);
    for line in lines(&before) {
        assert_eq!(follower.next(), line);
    }
    let mut ledger = OpenOptions::new().append(true).open(&path).unwrap();
    for part in [&added[9..50], &added[50..added.len() - 1], b"\n"] {
        ledger.write_all(part).unwrap();
    }
    assert_eq!(follower.next(), lines(added)[0]);
    // The next command cuts off what a killed one left.
    let torn = [&b"{\"seq\":3,\"at\":\""[..], &[b'x'; 5000]].concat();
    ledger.write_all(&torn).unwrap();
    assert_eq!(world.place.give_up(1), 5);
    let healed = world.place.ledger();
    assert!(healed.starts_with(&whole));
    assert_eq!(follower.next(), lines(&healed[whole.len()..])[0]);
}

#[test]
fn a_ledger_that_is_cut_or_rewritten_under_a_follower_ends_it() {
    let world = eventful();
    world.spoils();
    let path = world.place.at(".comail/ledger.jsonl");
    let whole = world.place.ledger();
    let all = lines(&whole);
    let cut = all[..all.len() - 2].join("\n") + "\n";
    let other = String::from_utf8(whole.clone()).unwrap();
    let other = other.replacen("Delta Works", "Delta Wurst", 1);
    for (bad, why) in [
        (cut, "ledger ends before"),
        (other, "changed after it was read"),
    ] {
        fs::write(&path, &whole).unwrap();
        let follower = Follower::start(&world.place, &["log", "--follow", "--json"]);
        for line in &all {
            assert_eq!(follower.next(), *line);
        }
        fs::write(&path, bad).unwrap();
        assert_eq!(follower.document()["error"]["kind"], "damaged");
        let run = follower.end();
        run.says(why);
        run.says("ledger.jsonl, line");
        run.exits(1);
    }
}

#[test]
fn a_reader_who_goes_away_ends_it_quietly() {
    let names: Vec<String> = (0..5_000).map(|n| format!("Company {n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let place = Place::new();
    place.scan(&names, &[]);
    for args in [&["log"][..], &["log", "--follow"]] {
        let (line, run) = taken_one(&place, args);
        assert!(line.contains("the session begins"), "{line}");
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{args:?}");
    }
}

#[test]
fn ctrl_c_ends_a_follower_cleanly() {
    let world = EmailNet::with(&[ACME], &[]);
    let follower = Follower::start(&world.place, &["log", "--follow"]);
    for _ in 0..2 {
        follower.next();
    }
    follower.interrupt();
    let run = follower.end();
    assert_eq!((run.code, run.stderr.as_str()), (130, ""));
}

#[test]
fn who_asks_is_told_what_was_opened_fetched_asked_checked_and_written() {
    let world = EmailNet::start();
    let judged = world
        .place
        .run([&["-v".to_owned()][..], &world.acme().args(1)].concat());
    for told in [
        "info: asked DNS lookup=\"dns\" outcome=\"answered\" name=\"acme.co.kr\"",
        "info: fetched lookup=\"page\" outcome=\"answered\" url=\"http://www.acme.co.kr:",
        "status=200",
        "info: checked check=",
    ] {
        judged.says(told);
    }
    assert!(!judged.stderr.contains("debug"), "{judged:?}");
    let checks = |begin: &str| {
        let lines = judged.stderr.lines();
        lines.filter(|line| line.starts_with(begin)).count()
    };
    // Nothing was taken out of the pages, so they were judged once.
    assert_eq!(checks("info: judged from the evidence"), 0, "{judged:?}");
    assert!(checks("info: checked") > 0, "{judged:?}");
    let once = |run: &Run, told: &str| {
        assert_eq!(run.stderr.matches(told).count(), 1, "{told}: {run:?}");
    };
    once(&judged, "info: appended to the ledger from=");
    assert!(judged.ok().starts_with("PASS"));
    for args in [&["-v", "status"][..], &["-v", "next"], &["-v", "claims"]] {
        let run = world.place.run(args);
        once(&run, "info: opened the session dir=.comail quests=1 lines=");
        run.says(" head=");
    }
    let export = world.place.run(["-v", "export", "--out=results.csv"]);
    once(&export, "info: wrote the export path=results.csv rows=1");
    export.ok();
}

#[test]
fn more_is_told_to_who_asks_for_more() {
    let world = EmailNet::start();
    let run = world
        .place
        .run(["-vv", "submit", "--id=1", "--none=nowhere"]);
    for told in [
        "info: appended to the ledger",
        "debug: held the session's lock waited_ms=",
    ] {
        assert!(run.stderr.contains(told), "{told}: {run:?}");
    }
    assert!(
        run.stderr
            .lines()
            .all(|line| line.starts_with("info: ") || line.starts_with("debug: ")),
        "{run:?}"
    );
    run.exits(5);
    std::fs::remove_file(world.place.at(".comail/index.sqlite")).unwrap();
    let status = world.place.run(["status", "-v"]);
    status.says("info: rebuilt the index");
    let doctor = world.place.run(["doctor", "--offline", "-v"]);
    doctor.says("info: ran a command");
}

#[test]
fn a_variable_of_the_agents_changes_no_decision() {
    let judged = |log: Option<&str>| {
        let world = EmailNet::with(&[ACME, "Bolt Toys"], &[]);
        let mut runs = Vec::new();
        let lie = world.acme().email("ceo@acme.co.kr");
        for args in [lie.args(1), world.acme().args(1), vec!["next".to_owned()]] {
            let mut command = world.place.command();
            let run = Run::of(command.args(args).envs(log.map(|log| ("COMAIL_LOG", log))));
            let port = world.net.web.address().port().to_string();
            runs.push((run.code, run.stdout.replace(&port, "PORT"), run.stderr));
        }
        runs
    };
    let plain = judged(None);
    assert!(
        plain.iter().all(|(_, _, stderr)| stderr.is_empty()),
        "{plain:?}"
    );
    assert_eq!(plain.iter().map(|run| run.0).collect::<Vec<_>>(), [5, 0, 0]);
    for (log, tells) in [
        ("trace", true),
        ("comail::world=info,off", true),
        ("off", false),
        ("", false),
        ("comail=nonsense=worse", true),
    ] {
        let told = judged(Some(log));
        let answers = |runs: &[(i32, String, String)]| -> Vec<(i32, String)> {
            runs.iter().map(|run| (run.0, run.1.clone())).collect()
        };
        assert_eq!(answers(&told), answers(&plain), "{log}");
        let spoke = told.iter().any(|(_, _, stderr)| !stderr.is_empty());
        assert_eq!(spoke, tells, "{log}: {told:?}");
        let kinds = ["note: ", "error: ", "info: ", "debug: ", "trace: "];
        let ours = |line: &str| kinds.iter().any(|kind| line.starts_with(kind));
        assert!(
            told.iter().all(|run| run.2.lines().all(ours)),
            "{log}: {told:?}"
        );
    }
}

#[test]
fn who_wants_no_notes_still_hears_of_errors() {
    let world = EmailNet::start();
    let torn = [&world.place.ledger()[..], b"{\"seq\""].concat();
    for (args, noted) in [(&["status"][..], true), (&["-q", "status"], false)] {
        world.place.write(".comail/ledger.jsonl", &torn);
        let run = world.place.run(args);
        assert_eq!(
            run.stderr.contains("incomplete last line"),
            noted,
            "{run:?}"
        );
        run.ok();
    }
    let run = world.place.run(["status", "-q", "--session", "none"]);
    run.says("error: no session found");
    run.exits(1);
    world.place.run(["status", "-q", "-v"]).exits(2);
}
