//! Many workers on one session.

use std::process::{Child, Stdio};
use std::sync::{Arc, Barrier};

use comail::judge::{Assignment, Claimant, assign};
use comail::session::Session;

use crate::harness::email_net::{EmailNet, page};
use crate::harness::made::{Made, at, salt};
use crate::harness::{Place, Run};
use crate::servers::http::Reply;

const WORKERS: u32 = 16;

fn start(place: &Place, args: &[String]) -> Child {
    let mut command = place.command();
    let piped = command.args(args).arg("--json").stdout(Stdio::piped());
    piped.stderr(Stdio::piped()).spawn().expect("it starts")
}

fn end(child: Child) -> (i32, serde_json::Value) {
    let run = Run::from(child.wait_with_output().expect("it ends"));
    // Others at work are no reason to say that anything was amiss.
    assert_eq!(run.stderr, "", "{run:?}");
    let answer = serde_json::from_str(&run.stdout);
    let answer = answer.unwrap_or_else(|error| panic!("{error}: {run:?}"));
    (run.code, answer)
}

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
    let asked: Vec<_> = (1..=WORKERS)
        .map(|n| start(&world.place, &next(n)))
        .collect();
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
            start(&world.place, &args)
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
    assert_eq!(session.mended(), []);
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
            Assignment::Quest(standing, _) => standing.id.index(),
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
    assert_eq!(session.mended(), []);
}
