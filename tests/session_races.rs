//! Two who submit at once, and many workers on one session.

use std::process::Child;
use std::sync::{Arc, Barrier};

use comail::judge::{Assignment, Claimant, assign};
use comail::session::Session;

use crate::harness::email_net::{ACME, Submission, page};
use crate::harness::made::{Made, at, salt};
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

fn end(child: Child) -> (i32, serde_json::Value) {
    let run = Run::of_child(child);
    // Others at work are no reason to say that anything was amiss.
    assert_eq!(run.stderr, "", "{run:?}");
    run.json()
}

/// Submits this for the quests `ids` at once, each with the page of another host.
fn both(world: &EmailNet, ids: [u32; 2], what: &Submission) -> Vec<(i32, serde_json::Value)> {
    let children: Vec<_> = HOSTS
        .into_iter()
        .zip(ids)
        .map(|(host, id)| {
            let source = world.net.web.url(host, "/slow");
            world.place.start(&what.clone().source(&source).args(id))
        })
        .collect();
    let mut ends: Vec<_> = children.into_iter().map(end).collect();
    ends.sort_by_key(|(code, answer)| (*code, answer["verdict"].to_string()));
    ends
}

#[test]
fn of_two_submits_of_one_quest_one_is_recorded() {
    let world = slow(&[ACME]);
    let ends = both(&world, [1, 1], &world.acme());
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
    let lie = world.acme().email("ceo@acme.co.kr");
    let ends = both(&world, [1, 1], &lie);
    assert_eq!((ends[0].0, ends[1].0), (5, 7), "{ends:?}");
    assert_eq!(ends[1].1, serde_json::json!({"status": "overtaken"}));
    assert_eq!(world.place.attempts(), [(1, 1)]);
}

#[test]
fn of_two_quests_that_claim_one_address_at_once_the_second_is_for_a_person() {
    let world = slow(&[ACME, "Bolt Toys"]);
    let ends = both(&world, [1, 2], &world.acme());
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
            let args = ["submit", "--id=1", &format!("--none={number}")].map(str::to_owned);
            world.place.start(&args)
        })
        .collect();
    let codes: Vec<_> = children.into_iter().map(|child| end(child).0).collect();
    let of = |code: i32| codes.iter().filter(|found| **found == code).count();
    assert_eq!(of(5) + of(6) + of(7), 12, "{codes:?}");
    let recorded = of(5) + of(6);
    assert!((1..=3).contains(&recorded) && of(6) <= 1, "{codes:?}");
    assert_eq!(world.place.attempts().len(), recorded);
}

const WORKERS: u32 = 16;

/// The page of each company answers once all sixteen gates look at theirs: none of them keeps
/// another out while it looks.
#[test]
fn sixteen_workers_look_at_once_and_each_is_heard() {
    let names: Vec<String> = (1..=WORKERS)
        .map(|n| format!("Company {n:02} Foods"))
        .collect();
    let keys: Vec<&str> = names.iter().map(String::as_str).collect();
    let world = EmailNet::patient(&keys);
    let barrier = Arc::new(Barrier::new(WORKERS as usize));
    for (n, name) in (1..=WORKERS).zip(&names) {
        let domain = format!("company{n:02}foods.kr");
        world.company(&domain, name);
        let html = page(name, &format!("info@{domain}"));
        let slow = Reply::Meet(Arc::clone(&barrier), html);
        world
            .net
            .web
            .reply(&format!("www.{domain}"), "/contact", slow);
    }
    let next = |n| ["next".to_owned(), format!("--worker=w{n}")];
    let asked: Vec<_> = (1..=WORKERS).map(|n| world.place.start(&next(n))).collect();
    let mut quests: Vec<u32> = Vec::new();
    for child in asked {
        let (code, answer) = end(child);
        assert_eq!(code, 0, "{answer}");
        let id = answer["quest"]["id"].as_u64().expect("a number");
        quests.push(u32::try_from(id).expect("a short list"));
    }
    let mut each = quests.clone();
    each.sort_unstable();
    assert!(each.into_iter().eq(1..=WORKERS), "{quests:?}");

    let answering: Vec<_> = (1..=WORKERS)
        .zip(&quests)
        .map(|(worker, quest)| {
            let right = world.right(&format!("company{quest:02}foods.kr"));
            let mut args = right.args(*quest);
            args.push(format!("--worker=w{worker}"));
            world.place.start(&args)
        })
        .collect();
    for child in answering {
        let (code, answer) = end(child);
        assert_eq!((code, &answer["verdict"]), (0, &"PASS".into()), "{answer}");
    }
    let mut attempts = world.place.attempts();
    attempts.sort_unstable();
    assert!(
        attempts
            .into_iter()
            .eq((1..=u64::from(WORKERS)).map(|quest| (quest, 1)))
    );
    let mut session = Session::open(&world.place.at(".comail")).expect("a session");
    assert_eq!(session.fold().expect("a sound ledger").remaining(), 0);
    assert_eq!(session.repairs(), []);
    world.place.run(["next", "--worker=w1"]).exits(3);
}

#[test]
fn a_thousand_workers_have_a_quest_each() {
    const MANY: usize = 1_000;
    let names: Vec<String> = (0..=MANY).map(|n| format!("company {n}")).collect();
    let keys: Vec<&str> = names.iter().map(String::as_str).collect();
    let made = Made::new(&keys, 0);
    let mut session = made.open();
    let claimant = |n: usize| Claimant {
        worker: format!("w{n}").parse().expect("a name"),
        lease: None,
    };
    let mut give = |n: usize| {
        let assignment = assign(&mut session, Some(&claimant(n)), &mut (at, salt));
        match assignment.expect("a quest") {
            Assignment::Quest(record, _) => record.id.index(),
            other => panic!("{other:?}"),
        }
    };
    for n in 0..MANY {
        assert_eq!(give(n), n);
    }
    for n in [0, 1, MANY / 2, MANY - 1] {
        assert_eq!(give(n), n);
    }
    std::fs::remove_file(made.at("index.sqlite")).expect("an index");
    let session = made.open();
    let claims = session.claims().expect("claims");
    assert!(
        claims
            .iter()
            .enumerate()
            .all(|(n, claim)| claim.quest.index() == n)
    );
    assert_eq!(claims.len(), MANY);
    let free = session.first_free(at()).expect("an answer");
    assert_eq!(free.expect("one is free").id.index(), MANY);
    let mut session = session;
    session.fold().expect("a sound ledger");
    assert_eq!(session.repairs(), []);
}
