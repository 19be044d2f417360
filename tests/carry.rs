//! `scan --carry`: what an earlier session has proven is not done twice, and a PASS is worth no more
//! than its evidence.

use std::process::{Command, Stdio};
use std::time::Instant;
use std::{fs, thread};

use comail::quest::QuestId;
use comail::session::{
    Attempt, Carried, CarriedPass, NewSession, Origin, Salt, Session, SessionError, Unwatched,
    create_carrying,
};
use comail::world::evidence::{Evidence, pack};
use serde_json::{Value, json};

use crate::harness::email_net::{page, rules};
use crate::harness::forge::found;
use crate::harness::forgotten::{ADDRESS, forget, known, left_in};
use crate::harness::replayed::assert_replays;
use crate::harness::terminal::at_terminal;
use crate::harness::{EmailNet, Run};
use crate::quarters::{
    attempts_of, carried_of, carry, counts, exported, quarter, scan, tally, tree,
};
use crate::servers::http::Reply;
use crate::sheets::{names, pass};

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
    assert!(
        status.contains("(1 without a known site, 2 from markup, 2 carried)"),
        "{status}"
    );
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
    assert!(new[3].starts_with("info@beta.co.kr,PASS,1,20"), "{new:?}");
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
    let rechecked = carry(&world, "old.csv", "q2", &["--set=scan.recheck=true"]);
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

#[test]
fn other_sites_and_namesakes_are_other_companies() {
    let world = quarter();
    let list = "company,site\nAcme Foods,acme.de\nBeta Steel,beta.co.kr\n";
    world.place.write("sites.csv", list);
    let why = [("other-anchor", 2)];
    assert_eq!(carry(&world, "sites.csv", "sites", &[]), counts(0, &why));
    world.place.write("bare.csv", "company,site\nAcme Foods,\n");
    let why = [("gone", 1), ("other-anchor", 1)];
    assert_eq!(carry(&world, "bare.csv", "bare", &[]), counts(0, &why));
    // A second company of the name has come to light since.
    let list = "company,site\nBeta Steel,beta.co.kr\nBeta Steel,beta.de\n";
    world.place.write("more.csv", list);
    let run = at_terminal(&world.place, &["scan", "--update", "more.csv"], "update");
    assert_eq!(run.code, 0, "{run:?}");
    let why = [("namesake", 1)];
    assert_eq!(carry(&world, "new.csv", "q2", &[]), counts(1, &why));
    assert_eq!(tally(&world, "q2"), [1, 0, 0, 4]);
    let text = scan(&world, "new.csv", &["--session=q3", "--carry=.comail"]).ok();
    assert!(
        text.contains("1 PASS carried from .comail, 1 not\n"),
        "{text}"
    );
    assert!(text.contains("1  several companies of that name"), "{text}");
}

#[test]
fn the_new_sessions_settings_decide() {
    let world = EmailNet::unscanned();
    world.place.write("old.csv", "company,site\nAcme Foods,\n");
    scan(&world, "old.csv", &[]).ok();
    let shown = page("Acme Foods", "Write to minsu.kim@acme.co.kr");
    world.net.web.page("www.acme.co.kr", "/contact", &shown);
    let person = world.acme().email("minsu.kim@acme.co.kr");
    world.expect(1, &person, "PASS", &[]);
    let why = [("not-passed", 1)];
    let strict = carry(&world, "old.csv", "strict", &["--set=gate.role-only=true"]);
    assert_eq!(strict, counts(0, &why));
    assert_eq!(tally(&world, "strict"), [0, 0, 0, 1]);
    assert_eq!(carry(&world, "old.csv", "same", &[]), counts(1, &[]));
}

#[test]
fn without_its_evidence_nothing_is_proven() {
    let world = quarter();
    world.spoils();
    let bodies = |attempt: &Attempt| -> Vec<String> {
        let evidence: Evidence = serde_json::from_str(attempt.evidence.get()).unwrap();
        let names = evidence.bodies().map(|body| body.sha256.to_string());
        names.collect()
    };
    let attempts = attempts_of(&world, ".comail");
    let shared = bodies(&attempts[1]);
    let mut own = bodies(&attempts[0]);
    own.retain(|name| !shared.contains(name));
    let path = |name: &str| {
        let (folder, file) = name.split_at(2);
        world
            .place
            .at(&format!(".comail/evidence/{folder}/{file}.gz"))
    };
    let why = [("evidence", 1)];
    let (first, last) = (path(&own[0]), path(own.last().unwrap()));
    let good = fs::read(&first).unwrap();
    fs::write(&first, pack(b"another page")).unwrap();
    assert_eq!(carry(&world, "new.csv", "edited", &[]), counts(1, &why));
    fs::write(&first, &good[..good.len() / 2]).unwrap();
    assert_eq!(carry(&world, "new.csv", "cut", &[]), counts(1, &why));
    fs::write(&first, good).unwrap();
    fs::remove_file(&last).unwrap();
    assert_eq!(carry(&world, "new.csv", "removed", &[]), counts(1, &why));
    assert_eq!(tally(&world, "removed"), [1, 0, 0, 4]);
}

#[test]
fn a_damaged_session_is_a_finding_and_nothing_is_made() {
    let world = quarter();
    world.spoils();
    let ledger = world.place.at(".comail/ledger.jsonl");
    let whole = world.place.ledger();
    let manifest = fs::read(world.place.at(".comail/session.json")).unwrap();
    let args = ["--session=q2", "--carry=.comail"];
    for at in [10, whole.len() / 3, whole.len() / 2, whole.len() - 30] {
        let mut bad = whole.clone();
        bad[at] ^= 1;
        fs::write(&ledger, bad).unwrap();
        let run = scan(&world, "new.csv", &args);
        run.says("ledger.jsonl, line");
        run.exits(8);
    }
    fs::write(&ledger, &whole).unwrap();
    let other = [&manifest[..], b"\n"].concat();
    fs::write(world.place.at(".comail/session.json"), other).unwrap();
    let run = scan(&world, "new.csv", &args);
    run.says("session.json was changed");
    run.exits(8);
    let made = names(world.place.path());
    let made: Vec<_> = made.iter().filter(|name| !name.contains('.')).collect();
    assert!(made.is_empty(), "{made:?}");
    assert!(
        !names(world.place.path())
            .iter()
            .any(|name| name.starts_with(".comail-"))
    );
}

#[test]
fn of_two_that_hold_one_address_the_first_is_carried() {
    let world = EmailNet::unscanned();
    let list = "company,site\nAcme Foods,\nAcme Foods Inc.,\n";
    world.place.write("old.csv", list);
    scan(&world, "old.csv", &[]).ok();
    pass(&world, 1, "acme.co.kr", "Acme Foods");
    let old = Session::read_only(&world.place.at(".comail"), &Unwatched).unwrap();
    let attempt = attempts_of(&world, ".comail").remove(0);
    // No gate would let the second pass: this session was written by hand.
    let brought = [0, 1].map(|index| {
        let quest = QuestId::from_index(index).unwrap();
        let origin = Origin {
            session: String::new(),
            manifest: old.config().policy.session,
            head: old.head(),
            quest,
            at: old.manifest().created,
        };
        let attempt = Attempt {
            quest,
            ..attempt.clone()
        };
        let carried = Carried { origin, attempt };
        let bodies = Vec::new();
        Ok::<_, SessionError>(CarriedPass { carried, bodies })
    });
    let mut reader = old.reader().unwrap();
    let read = |at: Result<_, _>| reader.quest(&at.unwrap()).unwrap();
    let quests: Vec<_> = old.index().quests().map(read).collect();
    let new = NewSession {
        stock: &comail::session::nothing_to_stock,
        watch: &comail::session::Unwatched,
        manifest: old.manifest(),
        source: &world.place.at("old.csv"),
        quests: &quests,
        now: old.manifest().created,
    };
    let forged = world.place.at("forged");
    let mut clock = (|| new.now, || Salt([0; 16]));
    create_carrying(&forged, &new, brought.into_iter(), &mut clock).unwrap();
    fs::remove_dir(forged.join("evidence")).unwrap();
    fs::rename(world.place.at(".comail/evidence"), forged.join("evidence")).unwrap();
    fs::remove_dir_all(world.place.at(".comail")).unwrap();
    assert_eq!(tally(&world, "forged"), [2, 0, 0, 0]);
    let run = scan(
        &world,
        "old.csv",
        &["--session=q2", "--carry=forged", "--json"],
    );
    let answer: Value = serde_json::from_str(&run.ok()).unwrap();
    let expected = json!({"from": "forged", "carried": 1, "not_carried": {"taken": 1}});
    assert_eq!(answer["carried"], expected);
    let next = world.place.run(["next", "--session=q2"]).ok();
    assert!(next.contains("company: Acme Foods Inc."), "{next}");
}

#[test]
fn a_session_is_carried_into_another_one() {
    let world = quarter();
    let before = tree(&world.place.at(".comail"));
    let code = |args: &[&str]| scan(&world, "new.csv", args).code;
    assert_eq!(code(&["--carry=.comail"]), 2);
    assert_eq!(code(&["--carry=./.comail/", "--session=.comail"]), 2);
    assert_eq!(
        code(&["--carry=.comail", "--session=.comail/evidence/q2"]),
        2
    );
    assert_eq!(code(&["--carry=none", "--session=q2"]), 1);
    assert_eq!(code(&["--set=scan.recheck=true", "--session=q2"]), 2);
    let update = ["scan", "--update", "new.csv", "--carry=q1"];
    assert_eq!(world.place.run(update).code, 2);
    fs::create_dir(world.place.at("there")).unwrap();
    fs::write(world.place.at("there/file"), "mine").unwrap();
    assert_eq!(code(&["--carry=.comail", "--session=there"]), 1);
    assert_eq!(tree(&world.place.at(".comail")), before);
    assert!(!world.place.at("q2").exists());
}

#[test]
fn what_another_world_answered_proves_nothing_here() {
    let world = quarter();
    let live = [
        "scan",
        "new.csv",
        "--col=company",
        "--session=live",
        "--carry=.comail",
    ];
    let refused = world.place.run(live).exits(2);
    assert_eq!(refused, "");
    let run = world.place.run(live);
    run.says("has other network settings");
    assert!(!world.place.at("live").exists());
}

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

const PASSES: u32 = 8;

/// Into how many parts a whole scan is cut by the moments at which one is killed.
const PARTS: u32 = 20;

fn carrying(world: &EmailNet) -> Command {
    let mut command = world.place.command();
    command
        .args(["scan", "companies.txt", "--session=q2", "--carry=.comail"])
        .args(world.flags())
        // A kill in the middle of adding to a shared file of counts would spoil it.
        .env("LLVM_PROFILE_FILE", "/dev/null")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

#[test]
fn a_killed_scan_leaves_a_whole_session_or_none() {
    let names: Vec<String> = (1..=PASSES).map(|n| format!("Company Number{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let world = EmailNet::with(&names, &[]);
    for (id, name) in (1..).zip(&names) {
        pass(&world, id, &format!("number{id}.co.kr"), name);
    }
    let before = world.place.ledger();
    let new = world.place.at("q2");
    let began = Instant::now();
    Run::of(&mut carrying(&world)).ok();
    let whole = began.elapsed();
    fs::remove_dir_all(&new).unwrap();
    let mut not_made = 0;
    for turn in 0.. {
        let mut child = carrying(&world).spawn().expect("the program starts");
        // The moment is the test's subject; there is nothing to wait for instead.
        thread::sleep(whole * turn / PARTS);
        let ended = child.try_wait().expect("a child");
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
        if new.exists() {
            let (code, status) = world.place.json(["status", "--session=q2"]);
            assert_eq!(code, 0, "{status}");
            assert_eq!(status["carried"], PASSES);
            assert_eq!(status["tally"]["pass"], PASSES);
            world.place.run(["next", "--session=q2"]).exits(3);
            fs::remove_dir_all(&new).expect("a session");
        } else {
            not_made += 1;
        }
        // From here on a scan is over before it is killed.
        if ended.is_some() {
            break;
        }
    }
    assert!(not_made > 0, "the first is killed before it can have begun");
    assert_eq!(world.place.ledger(), before);
}
