//! Quests that wait for others: `next` gives them in order, and every command reports those that
//! are blocked.

use comail::session::Event;
use serde_json::{Value, json};

use crate::harness::forge::rewrite;
use crate::harness::{EmailNet, made::id};

const NAMES: [&str; 4] = ["Acme Foods", "Bolt Toys", "Cargo Ring", "Delta Mills"];

/// A session of these names in which the second and third come after the first, and the fourth
/// after the third.
fn world() -> EmailNet {
    let world = EmailNet::with(&NAMES, &["--max-tries=1", "--set=scan.pause-after=0"]);
    rewrite(&world.place.at(".comail"), |_, event| {
        if let Event::Quest(quest) = event {
            quest.after = match quest.id.index() {
                0 => Vec::new(),
                1 | 2 => vec![id(0)],
                _ => vec![id(2)],
            };
        }
        true
    });
    world
}

fn status(world: &EmailNet) -> Value {
    let (code, answer) = world.place.json(["status"]);
    assert_eq!(code, 0, "{answer}");
    answer
}

#[test]
fn an_answer_to_a_waiting_quest_is_refused_and_changes_nothing() {
    let world = world();
    let before = world.place.ledger();
    let early = ["submit", "--id=4", "--none=nothing"];
    let (code, answer) = world.place.json(early);
    let expected = json!({"status": "waits", "quest": 3, "key": "Cargo Ring"});
    assert_eq!((code, answer), (7, expected));
    let text = world.place.run(early).exits(7);
    assert!(text.starts_with("waits for quest 3 (Cargo Ring)"), "{text}");
    assert_eq!(world.place.ledger(), before);
}

#[test]
fn next_says_what_the_other_quests_wait_for() {
    let world = world();
    assert_eq!(world.place.run(["next", "--worker=a"]).code, 0);
    let (code, answer) = world.place.json(["next", "--worker=b"]);
    assert_eq!(code, 4, "{answer}");
    let front = json!([{"id": 1, "key": "Acme Foods", "state": "TODO"}]);
    assert_eq!(answer["for"], front);
    let counts = ["remaining", "waiting", "blocked", "claimed"].map(|name| answer[name].clone());
    assert_eq!(
        (&answer["status"], counts),
        (&json!("waiting"), [4, 3, 0, 1].map(Value::from))
    );
    let text = world.place.run(["next"]).exits(4);
    assert!(
        text.contains("of the 4 left, 3 wait for other quests, and other workers hold 1"),
        "{text}"
    );
    assert!(
        text.contains("for quest 1 (Acme Foods), which is TODO"),
        "{text}"
    );
    assert_eq!(status(&world)["blocked"], 0);
    assert!(!world.place.run(["status"]).ok().contains("blocked"));
}

#[test]
fn quests_after_a_passed_one_are_available() {
    let world = world();
    assert_eq!(world.place.run(world.acme().args(1)).code, 0);
    for (worker, quest) in [("a", 2), ("b", 3)] {
        let (code, answer) = world.place.json(["next", "--worker", worker]);
        assert_eq!((code, &answer["quest"]["id"]), (0, &json!(quest)));
    }
    let (code, answer) = world.place.json(["next", "--worker=c"]);
    assert_eq!((code, &answer["waiting"]), (4, &json!(1)));
    world.place.run(["audit"]).ok();
}

#[test]
fn quests_after_a_failed_one_are_blocked_and_reported() {
    let world = world();
    assert_eq!(world.place.give_up(1), 6);
    let (code, answer) = world.place.json(["next"]);
    assert_eq!((code, &answer["blocked"]), (4, &json!(3)), "{answer}");
    let text = world.place.run(["next"]).exits(4);
    assert!(
        text.contains("for quest 1 (Acme Foods), which is DONE"),
        "{text}"
    );
    assert!(text.contains("blocked: 3 quests"), "{text}");
    let answer = status(&world);
    assert_eq!(answer["blocked"], 3);
    let by = json!({"id": 1, "key": "Acme Foods", "state": "DONE"});
    assert_eq!(
        answer["first_blocked"][2],
        json!({"id": 4, "key": "Delta Mills", "by": by})
    );
    let text = world.place.run(["status"]).ok();
    assert!(text.contains("blocked 3"), "{text}");
    let line = "quest 4 (Delta Mills) waits for quest 1 (Acme Foods), which is DONE";
    assert!(text.contains(line), "{text}");
    let export = ["export", "--out=out.csv", "--columns=status"];
    world.place.run(export).ok();
    let out = std::fs::read_to_string(world.place.at("out.csv")).expect("an export");
    let column = out.lines().filter_map(|line| line.rsplit(',').next());
    let column: Vec<_> = column.collect();
    let blocked = "TODO (blocked)";
    let expected = ["DONE", blocked, blocked, blocked];
    assert_eq!(column[column.len() - 4..], expected);
    world.place.run(["audit"]).ok();
}
