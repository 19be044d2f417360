//! `review --sample`: PASSes that are drawn at random, and what a person finds in them.

use std::collections::BTreeSet;

use comail::session::{Event, Sampled};
use serde_json::{Value, json};

use crate::harness::EmailNet;
use crate::harness::email_net::ACME;
use crate::harness::forge::{append, found};
use crate::harness::made::id;

const NAMES: [&str; 4] = [ACME, "Bolt Toys", "Cargo Ring", "Delta Mills"];
const KEY: &str = "--operator-key=operator.key";

/// A session with the operator's key, in which the first so many of four companies passed.
fn passed(count: u32) -> EmailNet {
    let world = EmailNet::unscanned();
    let key = world.place.write("operator.key", [7; 32]);
    let key = key.display().to_string();
    let flags = world.flags_with(&["--operator-key", &key]);
    world.place.scan(&NAMES, &flags);
    for id in 1..=count {
        pass(&world, id);
    }
    world
}

fn pass(world: &EmailNet, id: u32) {
    let domains = ["acme", "bolt", "cargo", "delta"];
    let at = id as usize - 1;
    let host = format!("{}.co.kr", domains[at]);
    world.company(&host, NAMES[at]);
    world.expect(id, &world.right(&host), "PASS", &[]);
}

/// Runs `review` with these arguments and the operator's key.
#[track_caller]
fn review(world: &EmailNet, args: &[&str]) -> (i32, Value) {
    let all = [&["review"], args, &[KEY, "--by=kim"]].concat();
    world.place.json(all)
}

#[track_caller]
fn drawn(world: &EmailNet, args: &[&str]) -> Vec<u64> {
    let (code, answer) = review(world, args);
    assert_eq!(code, 0, "{answer}");
    let drawn = answer["drawn"].as_array().expect("quests").iter();
    drawn.map(|id| id.as_u64().expect("a number")).collect()
}

#[track_caller]
fn sample(world: &EmailNet) -> Value {
    let (_, status) = world.place.json(["status"]);
    let (_, report) = world.place.json(["report"]);
    assert_eq!(status["sample"], report["sample"]);
    report["sample"].clone()
}

#[test]
fn a_draw_is_checked_by_hand_and_the_report_says_how_right_passes_are() {
    let world = passed(4);
    assert_eq!(sample(&world), Value::Null);
    let first = drawn(&world, &["--sample=2"]);
    assert_eq!(first.len(), 2);
    let (_, queue) = world.place.json(["review"]);
    assert_eq!((&queue["open"], &queue["sampled"]), (&json!(0), &json!(2)));
    let open = sample(&world);
    assert_eq!(
        (&open["open"], &open["rate_below"]),
        (&json!(2), &json!(1.0))
    );
    let [one, two] = [first[0].to_string(), first[1].to_string()];
    world.place.run(["show", &one]).ok();
    let (code, _) = review(&world, &["accept", &one, "--note=called them"]);
    assert_eq!(code, 0);
    let (code, _) = review(&world, &["reject", &two, "--note=of another firm"]);
    assert_eq!(code, 0);
    let text = "1 of 2 sampled PASSes was wrong: the rate is below 97.5 % with 95 % confidence";
    assert_eq!(sample(&world)["text"], text);
    let report = world.place.run(["report"]);
    assert!(report.stdout.contains(text), "{report:?}");
    assert!(world.place.run(["status"]).ok().contains(text));
    let report = world.place.run(["report", "--out=page.html"]);
    assert_eq!(report.stderr, "");
    let page = std::fs::read_to_string(world.place.at("page.html")).expect("a page");
    assert!(page.contains(text));
    let (_, status) = world.place.json(["status"]);
    assert_eq!(
        (&status["disputed"], &status["tally"]["pass"]),
        (&json!(1), &json!(4))
    );
    // Nobody decides about a PASS that was not drawn.
    let other = (1..=4)
        .find(|id| !first.contains(id))
        .expect("another")
        .to_string();
    let (code, _) = review(&world, &["accept", &other, "--note=called"]);
    assert_eq!(code, 2);

    let second = drawn(&world, &["--sample=60"]);
    let all: BTreeSet<u64> = first.iter().chain(&second).copied().collect();
    assert_eq!((second.len(), all.len()), (2, 4));
    let found = sample(&world);
    assert_eq!(
        ["passes", "draws", "drawn", "right", "wrong", "open"].map(|name| found[name].clone()),
        [4, 2, 4, 1, 1, 2].map(|count| json!(count))
    );
    let (code, answer) = review(&world, &["--sample=1"]);
    assert_eq!(code, 2, "{answer}");
    // A check that is withdrawn leaves the quest in the sample.
    let (code, _) = review(&world, &["reopen", &two, "--note=wrong number"]);
    assert_eq!(code, 0);
    let found = sample(&world);
    assert_eq!((&found["drawn"], &found["open"]), (&json!(4), &json!(3)));
    assert_eq!(world.place.json(["status"]).1["disputed"], 0);
}

#[test]
fn an_early_draw_is_confirmed_and_what_passes_later_is_not_covered() {
    let world = passed(2);
    let before = world.place.ledger();
    let (code, answer) = review(&world, &["--sample=1"]);
    assert_eq!((code, world.place.ledger()), (2, before), "{answer}");
    let first = drawn(&world, &["--sample=1", "--yes"]);
    pass(&world, 3);
    pass(&world, 4);
    // Only the other PASS from before the first draw is left.
    let second = drawn(&world, &["--sample=9"]);
    assert_eq!(
        BTreeSet::from([first[0], second[0]]),
        BTreeSet::from([1, 2])
    );
    assert_eq!(second.len(), 1);
    let found = sample(&world);
    assert_eq!((&found["passes"], &found["later"]), (&json!(2), &json!(2)));
}

#[test]
fn only_a_person_draws() {
    let world = passed(4);
    let before = world.place.ledger();
    for args in [
        &["review", "--sample=2"][..],
        &["review", "--sample=2", "--yes"],
        &["review", "--sample=0", KEY],
        &["review", "--sample=2", "--export=x.xlsx", KEY],
    ] {
        world.place.run(args).exits(2);
    }
    assert_eq!(world.place.ledger(), before);
    let keyless = EmailNet::start();
    keyless.expect(1, &keyless.acme(), "PASS", &[]);
    keyless.place.run(["review", "--sample=1"]).exits(2);
}

#[test]
fn a_draw_that_the_operator_did_not_sign_changes_nothing_and_an_audit_tells_of_it() {
    let world = passed(4);
    world.spoils();
    let forged = Sampled {
        quests: vec![id(0)],
        by: "kim".to_owned(),
        seal: None,
    };
    append(
        &world.place.at(".comail"),
        &Event::Sampled(Box::new(forged)),
    );
    let (_, status) = world.place.json(["status"]);
    assert_eq!(
        (&status["sample"], &status["unsealed"]),
        (&Value::Null, &json!(1))
    );
    let (code, audit) = world.place.json(["audit"]);
    assert_eq!(
        (code, found(&audit)),
        (8, vec!["seal 10 -".to_owned()]),
        "{audit}"
    );
}
