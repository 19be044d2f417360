//! `scan --carry`: what an earlier session has proven is not done twice.

use std::fs;

use serde_json::Value;

use crate::harness::EmailNet;
use crate::harness::email_net::{page, rules};
use crate::harness::replayed::assert_replays;
use crate::quarters::{
    attempts_of, carried_of, carry, counts, exported, quarter, scan, tally, tree,
};
use crate::servers::http::Reply;
use crate::sheets::pass;

#[test]
fn what_is_proven_is_not_done_twice_and_the_rest_is_tried_again() {
    let world = quarter();
    let before = tree(&world.place.at(".comail"));
    let asked = world.net.web.connections();
    assert_eq!(carry(&world, "new.csv", "q2", &[]), counts(2, &[]));
    assert_eq!(world.net.web.connections(), asked);
    assert_eq!(tree(&world.place.at(".comail")), before);

    assert_eq!(tally(&world, "q2"), [2, 0, 0, 3]);
    let status = world.place.run(["status", "--session=q2"]).ok();
    assert!(status.contains("(1 unanchored, 2 carried)"), "{status}");
    for locked in [4, 5] {
        let mut args = world.right("acme.co.kr").args(locked);
        args.push("--session=q2".to_owned());
        world.place.run(args).exits(7);
    }
    let next = world.place.run(["next", "--session=q2"]).ok();
    assert!(next.contains("quest 1 of 5, 3 left, try 1 of 3"), "{next}");
    for code in [5, 5, 6] {
        let none = ["submit", "--id=2", "--none=again", "--session=q2"];
        // The same words as in the last quarter are no repeat in this one.
        let run = world.place.run(none);
        assert_eq!(run.code, code, "{run:?}");
    }
    assert_eq!(tally(&world, "q2"), [2, 0, 1, 2]);
}

#[test]
fn a_carried_pass_is_whole_in_its_new_session() {
    let world = quarter();
    carry(&world, "new.csv", "q2", &[]);
    let old = exported(&world, ".comail");
    let new = exported(&world, "q2");
    assert_eq!((&new[3], &new[4]), (&old[1], &old[0]));
    assert!(new[3].starts_with("info@beta.co.kr,PASS,0,20"), "{new:?}");
    let was = attempts_of(&world, ".comail");
    fs::remove_dir_all(world.place.at(".comail")).unwrap();
    assert_eq!(assert_replays(&world.place.at("q2")), 2);
    for (now, was) in attempts_of(&world, "q2").iter().zip([&was[1], &was[0]]) {
        assert_eq!(now.judgement.get(), was.judgement.get());
        assert_eq!(now.evidence.get(), was.evidence.get());
    }
    let log = world
        .place
        .run(["log", "--session=q2", "--type=carried"])
        .ok();
    assert!(log.contains("quest 5, Acme Foods: PASS of 20"), "{log}");
    assert!(log.contains("from quest 1 of /"), "{log}");
}

#[test]
fn an_address_that_was_carried_is_nobody_elses() {
    let world = quarter();
    carry(&world, "new.csv", "q2", &[]);
    world.company("acme.co.kr", "Kestrel Lamps");
    let mut args = world.right("acme.co.kr").args(1);
    args.push("--session=q2".to_owned());
    let (code, answer) = world.place.json(args);
    assert_eq!(
        (code, &answer["verdict"]),
        (0, &"REVIEW".into()),
        "{answer}"
    );
    assert_eq!(rules(&answer), ["email-reused"]);
}

#[test]
fn a_session_that_cannot_be_written_to_is_left_as_it_is() {
    let world = quarter();
    let old = world.place.at(".comail");
    for disposable in ["index.sqlite", "lock"] {
        fs::remove_file(old.join(disposable)).unwrap();
    }
    let torn = [&world.place.ledger()[..], b"{\"seq\":"].concat();
    fs::write(old.join("ledger.jsonl"), torn).unwrap();
    let before = tree(&old);
    assert_eq!(carry(&world, "new.csv", "q2", &[]), counts(2, &[]));
    assert_eq!(tree(&old), before);
}

#[test]
fn a_pass_is_carried_on_with_the_time_at_which_it_passed_first() {
    let world = quarter();
    carry(&world, "new.csv", "q2", &[]);
    let run = scan(&world, "old.csv", &["--session=q3", "--carry=q2", "--json"]);
    let answer: Value = serde_json::from_str(&run.ok()).unwrap();
    assert_eq!(answer["carried"]["carried"], 2);
    let (second, third) = (carried_of(&world, "q2"), carried_of(&world, "q3"));
    for (second, third) in second.iter().rev().zip(&third) {
        assert_eq!(third.origin.at, second.origin.at);
        assert!(third.origin.session.ends_with("/q2"), "{third:?}");
        assert_eq!(third.origin.quest, second.attempt.quest);
        assert_eq!(
            third.attempt.judgement.get(),
            second.attempt.judgement.get()
        );
    }
    assert_eq!(
        exported(&world, "q3")[..2],
        exported(&world, ".comail")[..2]
    );
    assert_eq!(assert_replays(&world.place.at("q3")), 2);
}

#[test]
fn a_recheck_asks_the_world_as_it_is_now() {
    let world = EmailNet::unscanned();
    let list = "company,site\nAcme Foods,\nBeta Steel,\nGamma Optics,\n";
    world.place.write("old.csv", list);
    scan(&world, "old.csv", &[]).ok();
    pass(&world, 1, "acme.co.kr", "Acme Foods");
    pass(&world, 2, "beta.co.kr", "Beta Steel");
    pass(&world, 3, "gamma.co.kr", "Gamma Optics");
    let moved = page("Acme Foods", "Write to info@acme.co.kr, or call");
    world.net.web.page("www.acme.co.kr", "/contact", &moved);
    let gone = page("Beta Steel", "Write to sales@beta.co.kr");
    world.net.web.page("www.beta.co.kr", "/contact", &gone);
    world
        .net
        .web
        .reply("www.gamma.co.kr", "/contact", Reply::Reset);
    let before = tree(&world.place.at(".comail"));
    let why = [("not-passed", 1), ("unanswered", 1)];
    let rechecked = carry(&world, "old.csv", "q2", &["--recheck"]);
    assert_eq!(rechecked, counts(1, &why));
    assert_eq!(tree(&world.place.at(".comail")), before);
    assert_eq!(tally(&world, "q2"), [1, 0, 0, 2]);
    assert_eq!(assert_replays(&world.place.at("q2")), 1);
    let (was, now) = (attempts_of(&world, ".comail"), attempts_of(&world, "q2"));
    assert_ne!(now[0].evidence.get(), was[0].evidence.get());
    assert_eq!(exported(&world, "q2")[0], exported(&world, ".comail")[0]);
    // The evidence alone still says what it said.
    assert_eq!(carry(&world, "old.csv", "q3", &[]), counts(3, &[]));
}
