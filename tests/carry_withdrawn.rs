//! `scan --carry`: what the world contradicted, or a person had forgotten, does not go over.

use serde_json::Value;

use crate::harness::email_net::rules;
use crate::harness::forge::found;
use crate::harness::forgotten::{ADDRESS, forget, known, left_in};
use crate::harness::{EmailNet, Run};
use crate::quarters::counts;

/// Scans `list` into the session `to`, with what `from` has proven; the flags are those of its scan.
fn scan_on(world: &EmailNet, list: &str, to: &str, from: &str) -> Run {
    world.place.write("new.csv", list);
    let (to, from) = (format!("--session={to}"), format!("--carry={from}"));
    let mut line = ["scan", "new.csv", &to, &from].map(str::to_owned).to_vec();
    line.extend(world.flags_with(&["--col=company", "--show=note", "--json"]));
    world.place.run(line)
}

fn carried(run: Run) -> Value {
    let mut answer: Value = serde_json::from_str(&run.ok()).expect("JSON");
    answer["carried"].take()
}

const LIST: &str = "company,note\nAcme Foods,\nBolt Toys,\nDelta Works,\n";

#[test]
fn what_was_disputed_is_to_be_found_anew() {
    let world = known();
    let carried = carried(scan_on(&world, LIST, "q2", ".comail"));
    assert_eq!(carried, counts(1, &[("disputed", 1)]));
    let (_, status) = world.place.json(["status", "--session=q2"]);
    assert_eq!(status["tally"]["todo"], 2, "{status:#}");
}

#[test]
fn what_was_forgotten_is_neither_carried_nor_found_again_in_any_later_session() {
    let world = known();
    forget(&world).ok();
    // A list that brings it back is refused.
    let list = format!("company,note\nAcme Foods,{ADDRESS}\n");
    let run = scan_on(&world, &list, "q2", ".comail");
    assert_eq!(run.code, 2, "{run:?}");
    assert!(!world.place.at("q2").exists());
    let first = carried(scan_on(&world, LIST, "q2", ".comail"));
    assert_eq!(first, counts(1, &[("forgotten", 1)]));
    scan_on(&world, LIST, "q3", "q2").ok();
    for session in ["--session=q2", "--session=q3"] {
        let mut args = world.acme().args(1);
        args.push(session.to_owned());
        let (code, answer) = world.place.json(args);
        assert_eq!(code, 5, "{answer:#}");
        assert_eq!(rules(&answer), ["forgotten-address"]);
    }
    assert_eq!(left_in(&world.place.at("q2")), Vec::<String>::new());
    let (code, report) = world.place.json(["audit", "--session=q2"]);
    assert_eq!((code, found(&report)), (0, vec![]), "{report:#}");
}
