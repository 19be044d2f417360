//! Claims: many workers on one session, each with a quest of its own.

use std::fs;
use std::process::Child;
use std::sync::{Arc, Barrier};

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::harness::email_net::{ACME, WWW, page};
use crate::harness::poll::until;
use crate::harness::{EmailNet, Run};
use crate::servers::http::Reply;

const NAMES: [&str; 3] = [ACME, "Bolt Toys", "Cargo Ring"];

fn next(world: &EmailNet, worker: &str, further: &[&str]) -> (i32, Value) {
    world
        .place
        .json([&["next", "--worker", worker], further].concat())
}

#[track_caller]
fn given(world: &EmailNet, worker: &str) -> u64 {
    let (code, answer) = next(world, worker, &[]);
    assert_eq!(code, 0, "{answer}");
    assert_eq!(answer["claim"]["worker"], worker, "{answer}");
    assert_eq!(answer["claim"]["quest"], answer["quest"]["id"], "{answer}");
    answer["quest"]["id"].as_u64().expect("a number")
}

fn give_up(world: &EmailNet, worker: &str, id: u32) -> (i32, Value) {
    let (worker, id) = (format!("--worker={worker}"), format!("--id={id}"));
    let why = "--none=looked everywhere";
    world.place.json(["submit", &worker, &id, why])
}

fn claims(world: &EmailNet) -> Vec<Value> {
    let (code, answer) = world.place.json(["claims"]);
    assert_eq!(code, 0, "{answer}");
    answer["claims"].as_array().expect("claims").clone()
}

/// Who holds which quest, in order of quests.
fn held(world: &EmailNet) -> Vec<(u64, String)> {
    let claims = claims(world);
    let pairs = claims.iter().map(|claim| {
        let worker = claim["worker"].as_str().expect("a name");
        (
            claim["quest"].as_u64().expect("a number"),
            worker.to_owned(),
        )
    });
    pairs.collect()
}

/// Waits until the lease on this quest has run out.
fn until_run_out(world: &EmailNet, quest: u64) {
    until("the lease has run out", || {
        let claims = claims(world);
        let claim = claims.iter().find(|claim| claim["quest"] == quest);
        claim.expect("a claim")["left_seconds"] == 0
            && claim.expect("a claim")["age_seconds"].as_i64() >= Some(1)
    });
}

#[test]
fn each_worker_has_a_quest_of_its_own_until_there_is_none() {
    let world = EmailNet::with(&NAMES, &[]);
    for (worker, quest) in [("a", 1), ("b", 2), ("c", 3), ("a", 1), ("b", 2)] {
        assert_eq!(given(&world, worker), quest);
    }
    let before = world.place.ledger();
    // One who names no worker gets what is free, and takes nothing.
    for (code, answer) in [next(&world, "d", &[]), world.place.json(["next"])] {
        assert_eq!(code, 4);
        assert_eq!(
            (&answer["status"], &answer["remaining"]),
            (&json!("claimed"), &json!(3))
        );
        let free_in = answer["free_in_seconds"].as_i64().unwrap();
        assert!((1..=15 * 60).contains(&free_in), "{answer}");
    }
    let text = world.place.run(["next", "--worker", "d"]).exits(4);
    assert!(text.contains("all 3 quests that are left"), "{text}");
    assert_eq!(world.place.ledger(), before);
}

#[test]
fn what_is_said_to_a_worker_names_it_and_its_lease() {
    let world = EmailNet::start();
    let text = world.place.run(["next", "--worker=w-1", "--lease=90s"]);
    let text = text.ok();
    assert!(text.contains("claimed by w-1 for 1m 30s"), "{text}");
    assert!(text.contains("comail submit --worker w-1 "), "{text}");
    let (_, answer) = next(&world, "w-1", &[]);
    let command = answer["submit"].as_str().expect("a command line");
    assert!(command.contains("--worker w-1"), "{command}");
    assert_eq!(answer["claim"]["lease"], 90);
    // Another lease is taken at the worker's word, for the same quest.
    let (_, answer) = next(&world, "w-1", &["--lease=2m"]);
    assert_eq!(
        (&answer["claim"]["lease"], &answer["quest"]["id"]),
        (&120.into(), &1.into())
    );
}

#[test]
fn nobody_else_answers_a_claimed_quest_and_nothing_is_looked_up() {
    let world = EmailNet::with(&NAMES, &[]);
    assert_eq!(given(&world, "a"), 1);
    let before = world.place.ledger();
    let mut right = world.acme().args(1);
    let refused = json!({"status": "claimed", "worker": "a"});
    assert_eq!(world.place.json(&right), (7, refused.clone()));
    assert_eq!(give_up(&world, "b", 1), (7, refused.clone()));
    assert_eq!(world.place.give_up(1), 7);
    right.push("--worker=b".to_owned());
    assert_eq!(world.place.json(&right), (7, refused));
    let text = world.place.run(&right).exits(7);
    assert!(text.starts_with("claimed: a holds this quest"), "{text}");
    assert_eq!(world.net.web.connections(), 0);
    assert_eq!(world.net.dns.questions().len(), 0);
    assert_eq!(world.place.ledger(), before);
    *right.last_mut().expect("a flag") = "--worker=a".to_owned();
    assert_eq!(world.place.json(&right).0, 0);
}

#[test]
fn a_worker_may_answer_a_free_quest_beside_its_own() {
    let world = EmailNet::with(&NAMES, &[]);
    assert_eq!(given(&world, "a"), 1);
    assert_eq!(give_up(&world, "a", 2).0, 5);
    assert_eq!(held(&world), [(1, "a".to_owned())]);
    assert_eq!(given(&world, "b"), 2);
    let (code, answer) = give_up(&world, "a", 2);
    assert_eq!((code, &answer["worker"]), (7, &"b".into()));
    assert_eq!(world.place.attempts(), [(2, 1)]);
}

#[test]
fn a_lease_that_ran_out_with_nobody_there_is_no_loss() {
    let world = EmailNet::with(&NAMES, &[]);
    assert_eq!(next(&world, "a", &["--lease=1s"]).0, 0);
    until_run_out(&world, 1);
    let text = world.place.run(["claims"]).ok();
    assert!(text.contains("expired; any worker can get it"), "{text}");
    assert_eq!(give_up(&world, "a", 1).0, 5);
    // The answer has renewed it.
    assert_eq!(held(&world), [(1, "a".to_owned())]);
    // And one who names no worker may answer it, once it is free again.
    until_run_out(&world, 1);
    assert_eq!(world.place.give_up(1), 5);
    assert_eq!(given(&world, "a"), 1);
}

#[test]
fn a_late_answer_changes_nothing_once_the_quest_went_to_another() {
    let world = EmailNet::with(&NAMES, &[]);
    assert_eq!(next(&world, "a", &["--lease=1s"]).0, 0);
    until_run_out(&world, 1);
    // Free at once, and nobody had to sweep it.
    assert_eq!(given(&world, "b"), 1);
    let (before, asked) = (world.place.ledger(), world.net.web.connections());
    let late = [world.acme().args(1), vec!["--worker=a".to_owned()]].concat();
    let refused = json!({"status": "claimed", "worker": "b"});
    assert_eq!(world.place.json(&late), (7, refused.clone()));
    assert_eq!(give_up(&world, "a", 1), (7, refused));
    assert_eq!(world.place.ledger(), before);
    assert_eq!(world.net.web.connections(), asked);
    // The late one goes on with another quest.
    assert_eq!(given(&world, "a"), 2);
}

/// A worker with a short lease whose answer the gate judges until the barrier lets it.
fn slow() -> (EmailNet, Arc<Barrier>, Child) {
    let world = EmailNet::patient(&[ACME]);
    let barrier = Arc::new(Barrier::new(2));
    let slow = Reply::Meet(Arc::clone(&barrier), page(ACME, "info@acme.co.kr"));
    world.net.web.reply(WWW, "/slow", slow);
    assert_eq!(next(&world, "a", &["--lease=1s"]).0, 0);
    let mut args = world.acme().source(&world.url("/slow")).args(1);
    args.push("--worker=a".to_owned());
    let child = world.place.start(&args);
    until("the page is asked for", || {
        world.net.web.count(WWW, "/slow") > 0
    });
    (world, barrier, child)
}

#[test]
fn a_lease_that_runs_out_while_the_gate_looks_fences_the_verdict() {
    let (world, barrier, child) = slow();
    until("b has the quest", || next(&world, "b", &[]).0 == 0);
    let before = world.place.ledger();
    barrier.wait();
    let refused = json!({"status": "claimed", "worker": "b"});
    assert_eq!(Run::of_child(child).json(), (7, refused));
    assert_eq!(world.place.ledger(), before);
    assert_eq!(
        fs::read_dir(world.place.at(".comail/evidence"))
            .expect("evidence")
            .count(),
        0
    );
    assert_eq!(give_up(&world, "b", 1).0, 5);
}

#[test]
fn an_answer_while_nobody_took_the_quest_counts_however_late() {
    let (world, barrier, child) = slow();
    until_run_out(&world, 1);
    barrier.wait();
    let (code, answer) = Run::of_child(child).json();
    assert_eq!((code, &answer["verdict"]), (0, &"PASS".into()), "{answer}");
    assert!(held(&world).is_empty());
}

#[test]
fn a_fail_renews_and_a_settled_quest_frees_its_worker() {
    let world = EmailNet::with(&NAMES, &[]);
    assert_eq!(given(&world, "a"), 1);
    let at = || -> Timestamp {
        let claims = claims(&world);
        let at = claims[0]["at"].as_str().expect("a time");
        at.parse().expect("a time")
    };
    let taken = at();
    assert_eq!(give_up(&world, "a", 1).0, 5);
    assert!(at() > taken, "{taken}");
    assert_eq!(
        world
            .place
            .json([world.acme().args(1), vec!["--worker=a".into()]].concat())
            .0,
        0
    );
    assert!(claims(&world).is_empty());
    let text = world.place.run(["claims"]).ok();
    assert_eq!(text, "no quest is claimed\n");
    assert_eq!(given(&world, "a"), 2);
    for code in [5, 5, 6] {
        assert_eq!(give_up(&world, "a", 2).0, code);
    }
    assert_eq!(given(&world, "a"), 3);
    assert_eq!(given(&world, "a"), 3);
    for code in [5, 5, 6] {
        assert_eq!(give_up(&world, "a", 3).0, code);
    }
    assert_eq!(next(&world, "a", &[]).0, 3);
}

#[test]
fn claims_are_listed_with_their_age_and_survive_a_lost_index() {
    let world = EmailNet::with(&NAMES, &[]);
    given(&world, "a");
    assert_eq!(next(&world, "b", &["--lease=24h"]).0, 0);
    let listed = claims(&world);
    let first = &listed[0];
    assert_eq!(
        (&first["key"], &first["lease_seconds"]),
        (&ACME.into(), &900.into())
    );
    let age = first["age_seconds"].as_i64().expect("an age");
    let left = first["left_seconds"].as_i64().expect("what is left");
    assert!(
        (0..600).contains(&age) && (899..=900).contains(&(age + left)),
        "{first}"
    );
    assert_eq!(listed[1]["lease_seconds"], 86400);
    let text = world.place.run(["claims"]).ok();
    assert!(
        text.starts_with("2 quests claimed\n  quest 1, Acme Foods: a since "),
        "{text}"
    );
    let before = held(&world);
    fs::remove_file(world.place.at(".comail/index.sqlite")).expect("an index");
    assert_eq!(held(&world), before);
    assert_eq!(give_up(&world, "c", 1).0, 7);
    assert_eq!(given(&world, "c"), 3);
}

#[test]
fn a_pause_is_for_workers_too_and_keeps_their_claims() {
    let world = EmailNet::with(&NAMES, &["--set=scan.pause-after=1"]);
    assert_eq!(given(&world, "a"), 1);
    assert_eq!(given(&world, "b"), 2);
    for code in [5, 5, 6] {
        assert_eq!(give_up(&world, "a", 1).0, code);
    }
    let before = world.place.ledger();
    let paused = json!({"status": "paused", "streak": 1});
    for worker in ["a", "b", "c"] {
        assert_eq!(next(&world, worker, &[]), (9, paused.clone()));
    }
    assert_eq!(give_up(&world, "b", 2), (9, paused));
    assert_eq!(world.place.ledger(), before);
    assert_eq!(held(&world), [(2, "b".to_owned())]);
}

#[test]
fn a_person_frees_a_quest_with_the_operators_key_and_nobody_without() {
    let world = EmailNet::unscanned();
    world.place.write("key", "0123456789abcdef0123456789abcdef");
    let mut flags = world.flags();
    flags.push("--operator-key=key".to_owned());
    world.place.scan(&NAMES, &flags);
    given(&world, "a");
    given(&world, "b");
    let before = world.place.ledger();
    for args in [
        &["release", "1"][..],
        &["release", "--worker=a"],
        &["release", "--operator-key=key"],
        &["release", "1", "--worker=a", "--operator-key=key"],
        &["release", "0", "--operator-key=key"],
        &["release", "99", "--operator-key=key"],
        &["release", "Nobody", "--operator-key=key"],
    ] {
        world.place.run(args).exits(2);
    }
    assert_eq!(world.place.ledger(), before);
    let key = "--operator-key=key";
    let released = |quest, worker| json!({"status": "released", "quest": quest, "worker": worker});
    assert_eq!(
        world.place.json(["release", "1", key]),
        (0, released(1, "a"))
    );
    assert_eq!(
        world.place.json(["release", "--worker=b", key]),
        (0, released(2, "b"))
    );
    let before = world.place.ledger();
    let nobody = json!({"status": "not-claimed"});
    for which in ["1", NAMES[1], "--worker=b", "--worker=nobody"] {
        assert_eq!(
            world.place.json(["release", which, key]),
            (0, nobody.clone())
        );
    }
    assert_eq!(world.place.ledger(), before);
    // Whoever lost it answers as anybody may, until another takes it.
    assert_eq!(give_up(&world, "a", 1).0, 5);
    assert_eq!(given(&world, "c"), 1);
    assert_eq!(give_up(&world, "a", 1).0, 7);
    // Where no key was frozen, only somebody at a terminal frees a quest.
    let world = EmailNet::with(&NAMES, &[]);
    given(&world, "a");
    let before = world.place.ledger();
    let run = world.place.run(["release", "1"]);
    run.says("only a person can decide");
    run.exits(2);
    assert_eq!(world.place.ledger(), before);
}

#[test]
fn names_and_leases_that_are_none_are_refused_and_not_echoed_raw() {
    let world = EmailNet::with(&NAMES, &[]);
    given(&world, "a");
    let before = world.place.ledger();
    let long = "x".repeat(65);
    let names = [
        "",
        " ",
        "a b",
        "a\nb",
        "\u{1b}[31mred",
        "a\u{7}",
        "a\u{202e}b",
        "\u{9b}1m",
        &long,
    ];
    for name in names {
        for args in [
            &["next", "--worker", name][..],
            &["submit", "--id=2", "--none=x", "--worker", name],
            &["release", "--worker", name],
        ] {
            let run = world.place.run(args);
            let hostile = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
            assert!(!run.stderr.contains(hostile), "{name:?}: {:?}", run.stderr);
            assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{args:?}");
        }
    }
    for lease in [
        "0s",
        "24h1s",
        "25h",
        "-1m",
        "1500ms",
        "15",
        "",
        "soon",
        "2d",
        "9999999999999h",
    ] {
        let lease = format!("--lease={lease}");
        world.place.run(["next", "--worker=b", &lease]).exits(2);
    }
    world.place.run(["next", "--lease=15m"]).exits(2);
    assert_eq!(world.place.ledger(), before);
    for lease in ["--lease=1s", "--lease=24h"] {
        assert_eq!(next(&world, "b", &[lease]).0, 0);
    }
}
