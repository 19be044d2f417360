//! `scan --carry`: what the world contradicted, or a person had forgotten, does not go over.

use serde_json::Value;

use crate::harness::email_net::rules;
use crate::harness::forge::found;
use crate::harness::forgotten::{ADDRESS, forget, known, left_in};
use crate::harness::{EmailNet, Run};
use crate::quarters::counts;

/// Scans `list` into `q2`, with what `.comail` has proven; the flags are those of its scan.
fn scan_on(world: &EmailNet, list: &str) -> Run {
    world.place.write("new.csv", list);
    let mut line = ["scan", "new.csv", "--session=q2", "--carry=.comail"]
        .map(str::to_owned)
        .to_vec();
    line.extend(world.flags_with(&["--col=company", "--show=note"]));
    line.push("--json".to_owned());
    world.place.run(line)
}

const LIST: &str = "company,note\nAcme Foods,\nBolt Toys,\nDelta Works,\n";

#[test]
fn what_was_disputed_is_to_be_found_anew() {
    let world = known();
    let answer: Value = serde_json::from_str(&scan_on(&world, LIST).ok()).expect("JSON");
    assert_eq!(answer["carried"], counts(1, &[("disputed", 1)]));
    let (_, status) = world.place.json(["status", "--session=q2"]);
    assert_eq!(status["tally"]["todo"], 2, "{status:#}");
}

#[test]
fn what_was_forgotten_is_neither_carried_nor_found_again() {
    let world = known();
    forget(&world).ok();
    let answer: Value = serde_json::from_str(&scan_on(&world, LIST).ok()).expect("JSON");
    assert_eq!(answer["carried"], counts(1, &[("forgotten", 1)]));
    let mut args = world.acme().args(1);
    args.push("--session=q2".to_owned());
    let (code, answer) = world.place.json(args);
    assert_eq!(code, 5, "{answer:#}");
    assert_eq!(rules(&answer), ["forgotten-address"]);
    assert_eq!(left_in(&world.place.at("q2")), Vec::<String>::new());
    let (code, report) = world.place.json(["audit", "--session=q2"]);
    assert_eq!((code, found(&report)), (0, vec![]), "{report:#}");
}

#[test]
fn nor_does_the_session_after_the_next_bring_it_back() {
    let world = known();
    forget(&world).ok();
    scan_on(&world, LIST).ok();
    let mut line = ["scan", "new.csv", "--session=q3", "--carry=q2"]
        .map(str::to_owned)
        .to_vec();
    line.extend(world.flags_with(&["--col=company", "--show=note"]));
    world.place.run(line).ok();
    let mut args = world.acme().args(1);
    args.push("--session=q3".to_owned());
    let (_, answer) = world.place.json(args);
    assert_eq!(rules(&answer), ["forgotten-address"]);
}

#[test]
fn a_list_that_brings_it_back_is_refused() {
    let world = known();
    forget(&world).ok();
    let run = scan_on(&world, &format!("company,note\nAcme Foods,{ADDRESS}\n"));
    assert_eq!(run.code, 2, "{run:?}");
    assert!(!world.place.at("q2").exists());
}
