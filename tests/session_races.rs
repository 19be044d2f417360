//! Two who submit at once.

use std::process::{Child, Stdio};
use std::sync::{Arc, Barrier};

use crate::harness::email_net::{ACME, Submission, page};
use crate::harness::{EmailNet, Run};
use crate::servers::http::Reply;

/// Hosts of one site: requests to one host never overlap, those to two may.
const HOSTS: [&str; 2] = ["www.acme.co.kr", "acme.co.kr"];

/// A session of which two can be in the middle of judging at once: `/slow` answers on each of
/// the hosts once both have been asked.
fn slow(names: &[&str]) -> EmailNet {
    let world = EmailNet::patient(names);
    let barrier = Arc::new(Barrier::new(HOSTS.len()));
    let html = page(&names.join(" | "), "info@acme.co.kr");
    for host in HOSTS {
        let reply = Reply::Meet(Arc::clone(&barrier), html.clone());
        world.net.web.reply(host, "/slow", reply);
        world.net.web.page(host, "/", &html);
    }
    world
}

fn start(world: &EmailNet, id: u32, submission: &Submission) -> Child {
    let mut command = world.place.command();
    command.args(submission.args(id)).arg("--json");
    let piped = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    piped.spawn().expect("the program starts")
}

fn end(child: Child) -> (i32, serde_json::Value) {
    let run = Run::from(child.wait_with_output().expect("the program ends"));
    let answer = serde_json::from_str(&run.stdout);
    (
        run.code,
        answer.unwrap_or_else(|error| panic!("{error}: {run:?}")),
    )
}

/// Submits what both hosts show for the quests `ids` at once.
fn both(world: &EmailNet, ids: [u32; 2]) -> Vec<(i32, serde_json::Value)> {
    let right = world.right("acme.co.kr");
    let children: Vec<_> = HOSTS
        .into_iter()
        .zip(ids)
        .map(|(host, id)| {
            let source = world.net.web.url(host, "/slow");
            start(world, id, &right.clone().source(&source))
        })
        .collect();
    let mut ends: Vec<_> = children.into_iter().map(end).collect();
    ends.sort_by_key(|(code, answer)| (*code, answer["verdict"].to_string()));
    ends
}

#[test]
fn of_two_submits_of_one_quest_one_is_recorded() {
    let world = slow(&[ACME]);
    let ends = both(&world, [1, 1]);
    let (won, lost) = (&ends[0], &ends[1]);
    assert_eq!((won.0, &won.1["verdict"]), (0, &"PASS".into()), "{ends:?}");
    assert_eq!(
        (lost.0, &lost.1["status"]),
        (7, &"locked".into()),
        "{ends:?}"
    );
    assert_eq!(world.place.attempts(), [(1, 1)]);
    // Both had judged: both had asked, and the one that lost says nothing of its verdict.
    for host in HOSTS {
        assert_eq!(world.net.web.count(host, "/slow"), 1);
    }
    assert!(lost.1.get("facts").is_none(), "{ends:?}");
}

#[test]
fn a_fail_that_was_overtaken_costs_no_try_and_tells_nothing() {
    let world = slow(&[ACME]);
    let right = world.right("acme.co.kr");
    let children: Vec<_> = HOSTS
        .into_iter()
        .map(|host| {
            let lie = right.clone().email(&format!("ceo@{}", "acme.co.kr"));
            start(
                &world,
                1,
                &lie.clone().source(&world.net.web.url(host, "/slow")),
            )
        })
        .collect();
    let mut ends: Vec<_> = children.into_iter().map(end).collect();
    ends.sort_by_key(|(code, _)| *code);
    assert_eq!((ends[0].0, ends[1].0), (5, 7), "{ends:?}");
    assert_eq!(ends[1].1, serde_json::json!({"status": "overtaken"}));
    assert_eq!(world.place.attempts(), [(1, 1)]);
}

#[test]
fn of_two_quests_that_claim_one_address_at_once_the_second_is_for_a_person() {
    let world = slow(&[ACME, "Bolt Toys"]);
    let ends = both(&world, [1, 2]);
    assert_eq!((ends[0].0, ends[1].0), (0, 0), "{ends:?}");
    let verdicts = [&ends[0].1["verdict"], &ends[1].1["verdict"]];
    assert_eq!(verdicts, [&"PASS", &"REVIEW"], "{ends:?}");
    assert_eq!(ends[1].1["facts"][0]["rule"], "email-reused", "{ends:?}");
    let (_, status) = world.place.json(["status"]);
    assert_eq!(
        (&status["tally"]["pass"], &status["tally"]["review"]),
        (&1.into(), &1.into())
    );
}

#[test]
fn many_at_once_use_up_no_more_than_the_tries_there_are() {
    let world = EmailNet::start();
    let children: Vec<_> = (0..12)
        .map(|number| {
            let why = format!("--none={number}");
            let mut command = world.place.command();
            let command = command.args(["submit", "--id=1", &why, "--json"]);
            let piped = command.stdout(Stdio::piped()).stderr(Stdio::piped());
            piped.spawn().expect("the program starts")
        })
        .collect();
    let codes: Vec<_> = children.into_iter().map(|child| end(child).0).collect();
    let of = |code: i32| codes.iter().filter(|found| **found == code).count();
    assert_eq!(of(5) + of(6) + of(7), 12, "{codes:?}");
    let recorded = of(5) + of(6);
    assert!((1..=3).contains(&recorded) && of(6) <= 1, "{codes:?}");
    assert_eq!(world.place.attempts().len(), recorded);
}
