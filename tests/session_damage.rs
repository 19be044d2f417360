//! Ledgers, settings and copies that were torn, edited or lost.

use std::fs;
use std::path::PathBuf;

use crate::harness::EmailNet;
use crate::harness::email_net::ACME;

/// A session with one failed attempt, and its ledger.
fn tried() -> (EmailNet, PathBuf, Vec<u8>) {
    let world = EmailNet::with(&[ACME, "Bolt Toys"], &[]);
    assert_eq!(world.place.give_up(1), 5);
    let path = world.place.at(".comail/ledger.jsonl");
    let bytes = fs::read(&path).expect("a ledger");
    (world, path, bytes)
}

#[test]
fn a_torn_last_line_is_cut_off_with_a_note() {
    let (world, path, whole) = tried();
    let last = whole.iter().rposition(|byte| *byte == b'{').unwrap();
    for (torn, command) in [
        (whole[..whole.len() - 1].to_vec(), "next"),
        (whole[..last].to_vec(), "status"),
        ([&whole[..], b"{\"seq\":4,\"at\":"].concat(), "export"),
        ([&whole[..], &[0; 4096]].concat(), "status"),
    ] {
        fs::write(&path, &torn).unwrap();
        let run = world.place.run([command]);
        run.says("incomplete last line");
        let note = format!("note: {}", ".comail/ledger.jsonl");
        run.says(&note);
        assert!(!run.stdout.contains("torn"), "{run:?}");
        run.exits(0);
        let healed = fs::read(&path).unwrap();
        assert!(healed.ends_with(b"\n") && whole.starts_with(&healed));
        let again = world.place.run([command, "--json"]);
        assert!(!again.stderr.contains("torn"), "{again:?}");
        fs::remove_file(world.place.at("companies.comail.csv")).ok();
    }
}

#[test]
fn a_submit_goes_on_behind_a_torn_line() {
    let (world, path, whole) = tried();
    fs::write(&path, [&whole[..], b"{\"seq\":4"].concat()).unwrap();
    let run = world.place.run(["submit", "--id=1", "--none=again"]);
    assert_eq!(
        run.stderr.matches("incomplete last line").count(),
        1,
        "{run:?}"
    );
    run.exits(5);
    assert_eq!(world.place.attempts(), [(1, 1), (1, 2)]);
    assert!(world.place.ledger().starts_with(&whole));
}

#[test]
fn damage_elsewhere_is_refused_by_every_command_and_nothing_is_written() {
    let (world, path, whole) = tried();
    world.spoils();
    assert_eq!(world.place.give_up(1), 5);
    let good = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = good.lines().collect();
    let join = |lines: &[&str]| (lines.join("\n") + "\n").into_bytes();
    let mut swapped = lines.clone();
    swapped.swap(3, 4);
    let mut early = lines.clone();
    let half = &lines[2][..lines[2].len() / 2];
    early[2] = half;
    let mut latin1 = good.clone().into_bytes();
    latin1[whole.len() + 5] = 0xff;
    let edited = |from: &str, to: &str| {
        let edited = good.replacen(from, to, 1);
        assert_ne!(edited, good, "{from}");
        edited.into_bytes()
    };
    let damage = [
        (Vec::new(), 1),
        (join(&lines[1..]), 1),
        (join(&[&lines[..2], &lines[3..]].concat()), 3),
        (join(&swapped), 4),
        (join(&early), 3),
        (join(&[&lines[..], &[lines[4]]].concat()), 6),
        (good.replace("looked", "locked").into_bytes(), 4),
        (latin1, 5),
        ([good.as_bytes(), b"\n"].concat(), 6),
    ];
    let edits = [
        (edited("\"verdict\":\"FAIL\"", "\"verdict\":\"PASS\""), 4),
        (edited("\"state\":\"TODO\"", "\"state\":\"PASS\""), 4),
        (edited("\"tries\":1", "\"tries\":0"), 4),
        (edited(ACME, "Evil Foods"), 2),
    ];
    // With the index gone the whole ledger is read, and with it what lies before the last line.
    let lost = damage.iter().chain(&edits).map(|bad| (bad, true));
    for ((bad, line), lost) in damage.iter().map(|bad| (bad, false)).chain(lost) {
        fs::write(&path, bad).unwrap();
        if lost {
            fs::remove_file(world.place.at(".comail/index.sqlite")).ok();
        }
        for (args, code) in [
            (&["next"][..], 1),
            (&["submit", "--id=1", "--none=x"], 1),
            (&["status"], 1),
            (&["resume"], 1),
            (&["export"], 8),
            (&["scan", "companies.txt", "--update"], 1),
        ] {
            let run = world.place.run(args);
            let place = format!("ledger.jsonl, line {line}: ");
            assert!(run.stderr.contains(&place), "{args:?} {place}: {run:?}");
            assert_eq!((run.code, run.stdout.as_str()), (code, ""), "{args:?}");
            assert_eq!(fs::read(&path).unwrap(), *bad, "{args:?}");
        }
    }
    assert!(!world.place.at("companies.comail.csv").exists());
}

#[test]
fn a_lost_ledger_is_not_begun_anew() {
    let (world, path, _) = tried();
    world.spoils();
    fs::remove_file(&path).unwrap();
    for command in ["next", "status", "export"] {
        let run = world.place.run([command]);
        run.says("ledger.jsonl");
        run.exits(1);
    }
    assert_eq!(world.place.give_up(1), 1);
    assert!(!path.exists());
}

#[test]
fn a_copy_of_the_list_that_was_edited_is_not_exported() {
    let (world, _, _) = tried();
    let copy = world.place.at(".comail/source.txt");
    let good = fs::read(&copy).unwrap();
    fs::write(&copy, "Evil Foods\nBolt Toys\n").unwrap();
    let run = world.place.run(["export"]);
    run.says("source.txt was changed");
    run.exits(8);
    assert!(!world.place.at("companies.comail.csv").exists());
    fs::remove_file(&copy).unwrap();
    let run = world.place.run(["export"]);
    run.says("source.txt");
    run.exits(1);
    fs::write(&copy, good).unwrap();
    world.place.write("companies.txt", "Evil Foods\n");
    let run = world.place.run(["export"]);
    run.says("has changed since it was scanned");
    run.ok();
    let out = fs::read_to_string(world.place.at("companies.comail.csv")).unwrap();
    assert!(out.contains(ACME) && !out.contains("Evil"), "{out}");
}

#[test]
fn settings_that_do_not_read_are_refused_with_their_name() {
    let (world, _, _) = tried();
    world.spoils();
    let path = world.place.at(".comail/session.json");
    let good = fs::read_to_string(&path).unwrap();
    for bad in [
        String::new(),
        "{}".to_owned(),
        "[".repeat(100_000),
        "\u{0}".to_owned(),
        good.replace("\"format\": 1", "\"format\": 2"),
        good.replace("\"format\": 1", "\"format\": -1"),
        good.replace("\"created\"", "\"created\": 1, \"created\""),
    ] {
        fs::write(&path, &bad).unwrap();
        for command in ["next", "status", "export"] {
            let run = world.place.run([command]);
            run.says("session.json");
            run.exits(1);
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), bad);
    }
    let newer = good.replace("\"format\": 1", "\"format\": 2");
    fs::write(&path, newer).unwrap();
    let run = world.place.run(["next"]);
    run.says("is of format 2");
}
