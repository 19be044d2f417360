//! The pause after quests that ended with nothing proven, and who lifts it.

use crate::harness::EmailNet;
use crate::harness::case::{List, Worlds};
use crate::harness::email_net::{ACME, WWW, page, rules};
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
    EmailNet::with(&NAMES, &[&["--pause-after", "3"], flags].concat())
}

const KEY: &str = "0123456789abcdef0123456789abcdef";

/// A session that pauses, under the operator's key in the file `key`; `other` holds another.
fn keyed() -> EmailNet {
    let world = EmailNet::unscanned();
    world.place.write("key", KEY);
    world.place.write("other", KEY.replace("ef", "eF"));
    let flags = world.flags_with(&["--pause-after=3", "--operator-key=key"]);
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
        let world = worlds.next(List::Names(&NAMES), &["--pause-after", "3"]);
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
    let world = EmailNet::with(&NAMES, &["--pause-after", "0"]);
    for id in 1..=4 {
        end_by_giving_up(&world, id);
    }
    world.place.run(["next"]).ok();
    let world = EmailNet::with(&NAMES[..3], &["--pause-after", "3"]);
    for id in 1..=3 {
        end_by_giving_up(&world, id);
    }
    let done = world.place.run(["next"]).exits(3);
    assert!(done.contains("complete"), "{done}");
    assert_eq!(world.place.give_up(1), 7);
}

#[test]
fn a_pause_is_lifted_once_by_the_operators_key_and_by_nobody_without() {
    let keyless: [(&[&str], i32); 3] = [(&[], 2), (&["--json"], 2), (&["--operator-key=key"], 2)];
    let keys: [(&[&str], i32); 4] = [
        (&["--operator-key=other"], 2),
        (&["--operator-key=short"], 1),
        (&["--operator-key=none"], 1),
        (&["--operator-key=/dev/null"], 1),
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
        world.place.write("newer.txt", "Ferro Tiles\n");
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
