//! Who may free a quest, and what is no worker's name and no lease.

use serde_json::json;

use super::{NAMES, give_up, given, next};
use crate::harness::EmailNet;

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
        &["release", "--id=1"][..],
        &["release", "--worker=a"],
        &["release", "--operator-key=key"],
        &["release", "--id=1", "--worker=a", "--operator-key=key"],
        &["release", "--id=0", "--operator-key=key"],
    ] {
        world.place.run(args).exits(2);
    }
    assert_eq!(world.place.ledger(), before);
    let key = "--operator-key=key";
    let released = |quest, worker| json!({"status": "released", "quest": quest, "worker": worker});
    assert_eq!(
        world.place.json(["release", "--id=1", key]),
        (0, released(1, "a"))
    );
    assert_eq!(
        world.place.json(["release", "--worker=b", key]),
        (0, released(2, "b"))
    );
    let before = world.place.ledger();
    let nobody = json!({"status": "not-claimed"});
    for which in ["--id=1", "--id=99", "--worker=b", "--worker=nobody"] {
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
}

#[test]
fn at_no_terminal_nobody_frees_a_quest_where_no_key_was_frozen() {
    let world = EmailNet::with(&NAMES, &[]);
    given(&world, "a");
    let before = world.place.ledger();
    let run = world.place.run(["release", "--id=1"]);
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
        "1d",
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
