//! The pause after quests that ended with nothing proven, exit codes, and many workers on one
//! session.

use std::process::{Child, Stdio};
use std::sync::{Arc, Barrier};

use comail::judge::{Assignment, Claimant, assign};
use comail::session::Session;

use crate::harness::case::{List, Worlds};
use crate::harness::email_net::{ACME, Submission, WWW, of_all, page, rules};
use crate::harness::made::{Made, at, salt};
use crate::harness::{EmailNet, Run};
use crate::servers::closed_port;
use crate::servers::http::Reply;

const NAMES: [&str; 5] = [
    ACME,
    "Bolt Toys",
    "Cargo Ring",
    "Delta Works",
    "Ember Glass",
];

fn pausing(flags: &[&str]) -> EmailNet {
    EmailNet::with(&NAMES, &[&["--set=scan.pause-after=3"], flags].concat())
}

const KEY: &str = "0123456789abcdef0123456789abcdef";

/// A session that pauses, under the operator's key in the file `key`; `other` holds another.
fn keyed() -> EmailNet {
    let world = EmailNet::unscanned();
    world.place.write("key", KEY);
    world.place.write("other", KEY.replace("ef", "eF"));
    let flags = world.flags_with(&["--set=scan.pause-after=3", "--operator-key=key"]);
    world.place.scan(&NAMES, &flags);
    world
}

fn end_by_giving_up(world: &EmailNet, id: u32) {
    for code in [5, 5, 6] {
        assert_eq!(world.place.give_up(id), code);
    }
}

/// Expects that nothing goes on, and that the reason is said.
#[track_caller]
fn assert_paused(world: &EmailNet) {
    let before = world.place.ledger();
    let run = world.place.run(["next"]);
    assert!(run.stdout.contains("paused: 3 quests in a row"), "{run:?}");
    assert!(run.stdout.contains("comail resume"), "{run:?}");
    run.exits(9);
    let asked = world.net.web.connections();
    let (code, answer) = world.submit(5, &world.acme());
    assert_eq!(code, 9);
    assert_eq!(answer, serde_json::json!({"status": "paused", "streak": 3}));
    assert_eq!(world.place.give_up(5), 9);
    assert_eq!(world.net.web.connections(), asked);
    assert_eq!(world.place.ledger(), before);
    let status = world.place.run(["status"]).ok();
    assert!(status.contains("paused"), "{status}");
}

/// Submits these addresses for a quest, each of which is wrong, and expects the last to end it.
fn wrong(world: &EmailNet, id: u32, emails: [&str; 3]) {
    for (email, code) in emails.into_iter().zip([5, 5, 6]) {
        assert_eq!(world.submit(id, &world.acme().email(email)).0, code);
    }
}

/// Ways to be rid of a quest without an answer.
type Dump = fn(&EmailNet, u32);

const DUMPS: [(&str, Dump); 7] = [
    ("giving up", end_by_giving_up),
    ("a dead port", |world, id| {
        let dead = format!("http://www.acme.co.kr:{}/", closed_port().port());
        let rules = ["company-not-on-site", "source-unanswered"];
        let fired = &rules[usize::from(id == 1)..];
        world.expect(id, &world.acme().source(&dead), "REVIEW", fired);
    }),
    ("pages that may not or cannot be read", |world, id| {
        let robots = Reply::html("User-agent: *\nDisallow: /private\n");
        world.net.web.reply(WWW, "/robots.txt", robots);
        let file = Reply::html("PK\u{3}\u{4}").with("Content-Type", "application/zip");
        world.net.web.reply(WWW, "/file", file);
        let script = "<title>x</title><div id=root></div><script src=app.js></script>";
        world.put("/app", script);
        let path = ["/private", "/file", "/app"][id as usize - 1];
        let (_, answer) = world.submit(id, &world.acme().source(&world.url(path)));
        assert_eq!(answer["verdict"], "REVIEW", "{answer}");
    }),
    ("rubbish that never reaches the world", |world, id| {
        wrong(world, id, ["x", "y", "z"]);
    }),
    ("the same silence thrice", |world, id| {
        world.net.web.reply(WWW, "/contact", Reply::Reset);
        world.net.dns.null_mx("acme.co.kr");
        wrong(world, id, ["info@acme.co.kr"; 3]);
    }),
    ("giving up, with one lookup in between", |world, id| {
        assert_eq!(world.place.give_up(id), 5);
        let lie = world.acme().email("ceo@acme.co.kr");
        assert_eq!(world.submit(id, &lie).0, 5);
        assert_eq!(world.place.give_up(id), 6);
    }),
    (
        "made-up addresses, each of which is looked up",
        |world, id| {
            let lies = ["ceo@acme.co.kr", "cto@acme.co.kr", "cfo@acme.co.kr"];
            wrong(world, id, lies);
        },
    ),
];

#[test]
#[expect(clippy::print_stdout, reason = "a failure names its row")]
fn dumping_three_quests_in_a_row_pauses() {
    let mut worlds = Worlds::new();
    for (what, dump) in DUMPS {
        println!("{what}");
        let world = worlds.next(List::Names(&NAMES), &["--set=scan.pause-after=3"]);
        for id in 1..=3 {
            world.place.run(["next"]).ok();
            dump(world, id);
        }
        assert_paused(world);
    }
}

#[test]
fn one_honest_pass_in_between_clears_the_streak() {
    let world = pausing(&[]);
    end_by_giving_up(&world, 2);
    end_by_giving_up(&world, 3);
    world.expect(1, &world.acme(), "PASS", &[]);
    end_by_giving_up(&world, 4);
    world.place.run(["next"]).ok();
    let (_, status) = world.place.json(["status"]);
    assert_eq!(status["streak"], 1, "{status}");
}

/// The nearest neighbours: what a person must settle, once shown by each company's own site and
/// once by its site with somebody else's name on it.
#[test]
fn a_review_of_what_the_companys_own_site_shows_clears_the_streak() {
    let world = pausing(&[]);
    world.net.host("gmail.com");
    world.net.dns.mx("gmail.com", 10, "gmail.com");
    let shown = |id: u32, named: &str| {
        let domain = format!("company{id}.kr");
        let email = format!("company{id}.office@gmail.com");
        world.company(&domain, named);
        let www = format!("www.{domain}");
        world
            .net
            .web
            .page(&www, "/contact", &page(named, &format!("Write to {email}")));
        let (_, answer) = world.submit(id, &world.right(&domain).email(&email));
        assert_eq!(answer["verdict"], "REVIEW", "{answer}");
        let (_, status) = world.place.json(["status"]);
        (rules(&answer), status["streak"].clone())
    };
    end_by_giving_up(&world, 1);
    let (fired, streak) = shown(2, NAMES[1]);
    assert_eq!((fired, streak), (vec!["freemail".to_owned()], 0.into()));
    let (fired, streak) = shown(3, "Somebody Else");
    assert!(fired.len() > 1, "{fired:?}");
    assert_eq!(streak, 1);
}

#[test]
fn a_session_pauses_neither_where_scan_said_so_nor_when_it_is_complete() {
    let world = EmailNet::with(&NAMES, &["--set=scan.pause-after=0"]);
    for id in 1..=4 {
        end_by_giving_up(&world, id);
    }
    world.place.run(["next"]).ok();
    let world = EmailNet::with(&NAMES[..3], &["--set=scan.pause-after=3"]);
    for id in 1..=3 {
        end_by_giving_up(&world, id);
    }
    let done = world.place.run(["next"]).exits(3);
    assert!(
        done.starts_with("settled: all 3 quests are settled"),
        "{done}"
    );
    assert_eq!(world.place.give_up(1), 7);
}

#[test]
fn a_pause_is_lifted_once_by_the_operators_key_and_by_nobody_without() {
    let keyless: [(&[&str], i32); 3] = [(&[], 2), (&["--json"], 2), (&["--operator-key=key"], 2)];
    let keys: [(&[&str], i32); 4] = [
        (&["--operator-key=other"], 2),
        (&["--operator-key=short"], 2),
        (&["--operator-key=none"], 1),
        (&["--operator-key=/dev/null"], 2),
    ];
    for (world, words, refused) in [
        (pausing(&[]), "operator-key", &keyless[..]),
        (keyed(), "", &keys),
    ] {
        world.place.write("key", KEY);
        world.place.write("short", "0123456789abcdef");
        for id in 1..=3 {
            end_by_giving_up(&world, id);
        }
        assert_paused(&world);
        for (flags, code) in refused {
            let run = world.place.run([&["resume"], *flags].concat());
            run.says(words);
            run.exits(*code);
        }
        assert_paused(&world);
    }
    let world = keyed();
    for id in 1..=3 {
        end_by_giving_up(&world, id);
    }
    let resume = || world.place.json(["resume", "--operator-key", "key"]);
    let resumed = serde_json::json!({"status": "resumed", "streak": 3});
    assert_eq!(resume(), (0, resumed));
    world.place.run(["next"]).ok();
    let not = serde_json::json!({"status": "not-paused", "streak": 0});
    assert_eq!(resume(), (0, not));
    end_by_giving_up(&world, 4);
    world.place.run(["next"]).ok();
}

#[test]
fn a_newer_list_asks_for_the_operators_key_where_one_was_frozen_and_only_there() {
    let update = ["scan", "newer.txt", "--update"];
    for (world, right, wrong) in [
        (
            keyed(),
            &["--operator-key=key"][..],
            [&[][..], &["--operator-key=other"]],
        ),
        (
            pausing(&[]),
            &[],
            [&["--operator-key=key"], &["--operator-key=other"]],
        ),
    ] {
        world.place.write("key", KEY);
        world.place.write("other", KEY.replace("ef", "eF"));
        world
            .place
            .write("newer.txt", NAMES.join("\n") + "\nFerro Tiles\n");
        let before = world.place.ledger();
        for key in wrong {
            let run = world.place.run([&update, key].concat());
            run.says("key");
            run.exits(2);
        }
        assert_eq!(world.place.ledger(), before);
        world.place.run([&update, right].concat()).ok();
        assert_ne!(world.place.ledger(), before);
    }
}

/// Runs a command whose stdout nobody reads, and returns its exit code.
fn unread(world: &EmailNet, args: &[String]) -> i32 {
    let mut command = world.place.command();
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let command = command.args(args).stdout(writer).stderr(Stdio::null());
    let status = command.status().expect("the program starts");
    status.code().unwrap_or(-1)
}

fn none() -> Vec<String> {
    ["submit", "--id=1", "--none=x"].map(str::to_owned).to_vec()
}

#[test]
fn every_ending_has_its_code() {
    let world = EmailNet::with(&[ACME, "Bolt Toys"], &["--set=scan.pause-after=1"]);
    let right = world.right("acme.co.kr");
    let code = |args: &[&str]| world.place.run(args).code;
    assert_eq!(code(&["next"]), 0);
    assert_eq!(code(&["--help"]), 0);
    assert_eq!(code(&["--version"]), 0);
    assert_eq!(code(&["submit", "--help"]), 0);
    assert_eq!(code(&["status", "--session", "none"]), 1);
    assert_eq!(code(&["scan", "none.txt"]), 1);
    assert_eq!(code(&[]), 0);
    assert_eq!(code(&["nonsense"]), 2);
    assert_eq!(code(&["submit", "--id", "one"]), 2);
    assert_eq!(code(&["submit", "--id=1", "--site=x"]), 2);
    assert_eq!(world.submit(1, &right.clone().email("ceo@acme.co.kr")).0, 5);
    assert_eq!(world.submit(1, &right).0, 0);
    assert_eq!(world.submit(1, &right).0, 7);
    for code in [5, 5, 6] {
        assert_eq!(world.place.give_up(2), code);
    }
    assert_eq!(code(&["next"]), 3);
    assert_eq!(code(&["next", "--json"]), 3);
    assert_eq!(code(&["audit"]), 0);
    world.place.write(".comail/source.txt", "x");
    for finding in ["audit", "export"] {
        assert_eq!(code(&[finding]), 8);
    }
    let list = std::fs::read(world.place.at("companies.txt")).expect("the list");
    world.place.write(".comail/source.txt", list);
    let world = EmailNet::with(&[ACME, "Bolt Toys"], &["--set=scan.pause-after=1"]);
    for code in [5, 5, 6, 7] {
        assert_eq!(world.place.give_up(1), code);
    }
    assert_eq!(world.place.attempts().len(), 3);
    // Giving up needs no answer of the world.
    assert_eq!(world.net.web.connections(), 0);
    assert_eq!(world.place.run(["next"]).code, 9);
    assert_eq!(world.place.give_up(2), 9);
}

#[test]
fn a_reader_who_has_gone_does_not_change_the_verdicts_code() {
    let world = EmailNet::with(
        &["Bolt Toys", "Cargo Ring", ACME],
        &["--set=scan.pause-after=1"],
    );
    for json in [false, true] {
        let mut right = world.right("acme.co.kr").args(3);
        right.extend(json.then(|| "--json".to_owned()));
        assert_eq!(unread(&world, &right), if json { 7 } else { 0 });
    }
    for code in [5, 5, 6, 7] {
        assert_eq!(unread(&world, &none()), code);
    }
    let other = ["submit", "--id=2", "--none=x"].map(str::to_owned);
    assert_eq!(unread(&world, &other), 9);
    assert_eq!(unread(&world, &["next".to_owned()]), 9);
    assert_eq!(world.place.attempts(), [(3, 1), (1, 1), (1, 2), (1, 3)]);
    let world = EmailNet::start();
    assert_eq!(unread(&world, &["next".to_owned()]), 0);
    world.expect(1, &world.right("acme.co.kr"), "PASS", &[]);
    assert_eq!(
        unread(&world, &["next".to_owned()]),
        3,
        "complete is no error"
    );
}

#[test]
fn a_full_stdout_does_not_change_the_verdicts_code() {
    let world = EmailNet::start();
    for code in [5, 5, 6] {
        let full = std::fs::File::options().write(true).open("/dev/full");
        let mut command = world.place.command();
        let status = command.args(none()).stdout(full.unwrap()).status().unwrap();
        assert_eq!(status.code(), Some(code));
    }
    assert_eq!(world.place.attempts().len(), 3);
}

/// Hosts of one site: requests to one host never overlap, those to two may.
const HOSTS: [&str; 2] = ["www.acme.co.kr", "acme.co.kr"];

/// A session of which two can be in the middle of judging at once: `/slow` answers on each of
/// the hosts once both have been asked.
fn slow(names: &[&str]) -> EmailNet {
    let world = EmailNet::patient(names);
    let barrier = Arc::new(Barrier::new(HOSTS.len()));
    let (html, notice) = of_all(names, "info@acme.co.kr");
    for host in HOSTS {
        world.net.web.page(host, "/legal", &notice);
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
            world.place.start(what.clone().source(&source).args(id))
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
    let asked: Vec<_> = (1..=WORKERS).map(|n| world.place.start(next(n))).collect();
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
