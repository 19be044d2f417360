//! `comail insights`: what costs tries, over one or several sessions.

use comail::session::{Began, DrivenAttempt, Event, Reason, RunId, RunLine, RunStep, Spent};
use serde_json::{Value, json};

use crate::harness::email_net::ACME;
use crate::harness::forge::append;
use crate::harness::{EmailNet, Place};

/// A session in which one quest passed at once, one at its second try, and one was given up once.
fn worked() -> EmailNet {
    let world = EmailNet::with(&[ACME, "Bolt Toys", "Cargo Ring"], &[]);
    world.company("bolt.co.kr", "Bolt Toys");
    world.expect(1, &world.acme(), "PASS", &[]);
    let right = world.right("bolt.co.kr");
    let wrong = right.clone().email("sales@bolt.co.kr");
    world.expect(2, &wrong, "FAIL", &["email-not-on-source"]);
    world.expect(2, &right, "PASS", &[]);
    assert_eq!(world.place.give_up(3), 5);
    world
}

/// Adds what a run would have noted of one start of an agent for `quest`.
fn drove(world: &EmailNet, agent: &str, quest: u32, tokens: u64) {
    let run = RunId::new(7);
    let steps = [
        RunStep::Began(Began {
            agent: agent.to_owned(),
            model: Some("m-1".to_owned()),
            workers: 1,
            process: None,
        }),
        RunStep::Attempt(DrivenAttempt {
            quest: quest.to_string().parse().expect("a number"),
            start: 1,
            worker: "run-00000007.1".parse().expect("a name"),
            reason: Reason::Settled,
            milliseconds: 1_500,
            spent: Spent {
                tokens,
                cost: None,
                told: true,
            },
            exit: Some(0),
        }),
    ];
    for step in steps {
        let event = Event::Run(Box::new(RunLine { run, step }));
        append(&world.place.at(".comail"), &event);
    }
}

fn insights(place: &Place, args: &[&str]) -> Value {
    let (code, answer) = place.json([&["insights"], args].concat());
    assert_eq!(code, 0, "{answer}");
    answer
}

#[test]
fn people_read_what_costs_tries() {
    let world = worked();
    let before = world.place.ledger();
    let text = world.place.run(["insights"]).ok();
    assert_eq!(world.place.ledger(), before);
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z", "[TIME]");
    settings.add_filter(r":\d{4,5}/", ":[PORT]/");
    settings.bind(|| insta::assert_snapshot!("insights", text));
}

#[test]
fn programs_read_the_figures() {
    let world = worked();
    let answer = insights(&world.place, &[]);
    let all = &answer["all"];
    assert_eq!(
        (&all["quests"], &all["submissions"]),
        (&json!(3), &json!(4))
    );
    assert_eq!(all["passed"], 2);
    assert_eq!(all["tries_per_quest"], 1.333);
    let first = json!({"part": 1, "of": 3, "share": 0.333});
    assert_eq!(all["first_try"], first);
    // Nobody's time was taken: no run drove anything.
    assert_eq!(all["seconds_per_pass"], Value::Null);
    let rules = answer["rules"].as_array().expect("rules");
    let rules: Vec<_> = rules
        .iter()
        .map(|rule| (rule["rule"].as_str(), rule["tries"].as_u64()))
        .collect();
    let once = [Some("email-not-on-source"), Some("no-result")];
    assert_eq!(rules, once.map(|rule| (rule, Some(1))));
    assert_eq!(answer["facts"], json!([]), "none was found twice");
    for _ in 0..2 {
        world.place.give_up(3);
    }
    let answer = insights(&world.place, &[]);
    let [fact] = &answer["facts"].as_array().expect("facts")[..] else {
        panic!("{answer:#}");
    };
    let found = ["rule", "submissions", "quests"].map(|name| fact[name].clone());
    assert_eq!(json!(found), json!(["no-result", 3, 1]));
    assert_eq!(answer["rules"][0]["rule"], "no-result", "the dearest first");
}

#[test]
fn each_agent_is_counted_apart_with_its_time_and_tokens() {
    let world = worked();
    drove(&world, "claude", 3, 4_000);
    let hidden = insights(&world.place, &[]);
    // A PASS under a name that no run gave is not the run's.
    assert_eq!(hidden["all"]["tokens_per_pass"], Value::Null);
    // Nothing came of the start: what it took is told all the same.
    let driven = &hidden["all"]["driven"];
    assert_eq!(
        (&driven["quests"], &driven["unanswered"]),
        (&json!(1), &json!(1))
    );
    let text = world.place.run(["insights"]).ok();
    let told = "1 quest in runs, 0 passed, 1 without an answer (1 start without a submission, 2 s, \
                4000 tokens)\n";
    assert!(text.contains(told), "{text}");
    let worker = "--worker=run-00000007.1";
    world.company("cargo.co.kr", "Cargo Ring");
    let mut args = world.right("cargo.co.kr").args(3);
    args.push(worker.to_owned());
    world.place.run(args).ok();
    let answer = insights(&world.place, &[]);
    let agents = answer["agents"].as_array().expect("agents");
    let claude = agents.iter().find(|it| it["agent"] == "claude");
    let claude = claude.expect("the agent of the run");
    assert_eq!(
        (&claude["model"], &claude["passed"]),
        (&json!("m-1"), &json!(1))
    );
    assert_eq!(claude["tokens_per_pass"], 4_000.0);
    let driven = &claude["driven"];
    assert_eq!(
        (&driven["passed"], &driven["unanswered"]),
        (&json!(1), &json!(0))
    );
    assert_eq!(claude["seconds_per_pass"], 1.5);
    assert_eq!(claude["first_try"]["of"], 0, "another made the first try");
    let by_hand = agents.iter().find(|it| it["agent"].is_null());
    assert_eq!(by_hand.expect("the others")["passed"], 2);
    let text = world.place.run(["insights"]).ok();
    assert!(text.contains("agent claude, model m-1\n"), "{text}");
}

#[test]
fn several_sessions_are_counted_together() {
    let (one, two) = (worked(), EmailNet::start());
    two.expect(1, &two.acme(), "PASS", &[]);
    let other = two.place.at(".comail").display().to_string();
    let answer = insights(&one.place, &[".comail", &other]);
    assert_eq!(answer["sessions"].as_array().expect("sessions").len(), 2);
    assert_eq!(answer["all"]["passed"], 3);
    let alone = insights(&one.place, &[&other]);
    assert_eq!(alone["all"]["passed"], 1);
    assert_eq!(alone["rules"], json!([]));
}

#[test]
fn what_is_no_session_is_said_to_be_none() {
    let world = EmailNet::start();
    let run = world.place.run(["insights", ".comail", "nowhere"]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    run.says("nowhere");
    let bad = world.place.run(["insights", "--half-life=0"]);
    assert_eq!(bad.code, 2);
}
