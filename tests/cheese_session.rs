//! Cheating with the session: giving up, asking again, editing what was written down.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use flate2::read::GzDecoder;

use crate::harness::email_net::{ACME, CONTACT_LINK, page, rules};
use crate::harness::{EmailNet, Place};
use crate::servers::http::Reply;

#[test]
fn the_same_again_costs_a_try_and_is_not_looked_up() {
    let world = EmailNet::start();
    let lie = world.right("acme.co.kr").clone().email("ceo@acme.co.kr");
    world.expect(1, &lie, "FAIL", &["email-not-on-source"]);
    let asked = world.net.web.seen().len();
    // Meanwhile the agent has put the address up; the same again is the same all the same.
    let source = world.put("/contact", &page(ACME, "ceo@acme.co.kr"));
    assert_eq!(source, lie.source);
    world.expect(1, &lie, "FAIL", &["repeated-submission"]);
    let fields = format!(
        "{{\"source\":{:?},\"site\":{:?},\"email\":{:?}}}",
        lie.source, lie.site, lie.email
    );
    world.place.write("again.json", fields);
    let again = ["submit", "--company", ACME, "--in", "again.json"];
    let (code, answer) = world.place.json(again);
    assert_eq!(
        (code, &answer["facts"][0]["rule"]),
        (6, &"repeated-submission".into())
    );
    assert_eq!(world.net.web.seen().len(), asked);
}

#[test]
fn what_was_not_answered_may_be_asked_again_at_the_cost_of_a_try() {
    let world = EmailNet::start();
    let right = world.right("acme.co.kr");
    world
        .net
        .web
        .reply("www.acme.co.kr", "/contact", Reply::Reset);
    world.net.dns.null_mx("acme.co.kr");
    let rules = ["mx-null", "source-unanswered"];
    world.expect(1, &right, "FAIL", &rules);
    world.expect(1, &right, "FAIL", &rules);
    world.put("/contact", &page(ACME, "info@acme.co.kr"));
    world.expect(1, &right, "FAIL", &["mx-null"]);
    world.place.run(["next"]).exits(3);
}

#[test]
fn a_locked_quest_takes_nothing_and_looks_nothing_up() {
    for verdict in ["PASS", "REVIEW"] {
        let world = EmailNet::start();
        let right = world.right("acme.co.kr");
        if verdict == "REVIEW" {
            world
                .net
                .web
                .reply("www.acme.co.kr", "/contact", Reply::Reset);
        }
        let (code, answer) = world.submit(1, &right);
        assert_eq!((code, &answer["verdict"]), (0, &verdict.into()));
        let (asked, ledger) = (world.net.web.connections(), world.place.ledger());
        let other = right.clone().email("sales@acme.co.kr");
        assert_eq!(world.submit(1, &other).0, 7);
        assert_eq!(world.submit(1, &right).0, 7);
        assert_eq!(world.place.give_up(1), 7);
        assert_eq!(world.net.web.connections(), asked);
        assert_eq!(world.place.ledger(), ledger);
    }
}

#[test]
fn no_flag_names_two_quests_or_none_of_the_list() {
    let world = EmailNet::with(&[ACME, "Bolt Toys"], &[]);
    let before = world.place.ledger();
    for name in [
        &["--id=0"][..],
        &["--id=3"],
        &["--id=-1"],
        &["--id=1", "--id=2"],
        &["--id=1", "--company=Bolt Toys"],
        &["--company=Acme Foods", "--company=Bolt Toys"],
        &["--key=Acme Foods"],
        &["--company="],
        &["--company=acme foods"],
        &["--company=*"],
        &[],
    ] {
        let run = world.place.run([&["submit", "--none=x"], name].concat());
        assert!(!run.stderr.is_empty());
        run.exits(2);
    }
    assert_eq!(world.place.ledger(), before);
}

#[test]
fn edited_settings_are_found() {
    let world = EmailNet::start();
    world.spoils();
    let path = world.place.at(".comail/session.json");
    let text = fs::read_to_string(&path).unwrap();
    for (from, to) in [
        ("\"max_tries\": 3", "\"max_tries\": 99"),
        ("\"pause_after\": 25", "\"pause_after\": 0"),
        ("\"127.0.0.1/32\"", "\"0.0.0.0/0\""),
        (
            "\"levels\": {}",
            "\"levels\": {\"email-not-on-source\": \"REVIEW\"}",
        ),
        ("\"operator_key\": null", "\"operator_key\":  null"),
    ] {
        let edited = text.replace(from, to);
        assert_ne!(edited, text, "{from}");
        fs::write(&path, &edited).unwrap();
        world.place.run(["export"]).exits(8);
        for command in ["next", "status", "resume"] {
            // With the index gone the whole ledger is read.
            fs::remove_file(world.place.at(".comail/index.sqlite")).ok();
            let run = world.place.run([command]);
            run.says("session.json was changed");
            run.exits(1);
        }
        world.place.run(["export"]).exits(8);
        assert_eq!(world.place.give_up(1), 1);
        assert_eq!(world.net.web.connections(), 0);
    }
}

#[test]
fn results_are_not_written_over_the_session_or_the_list() {
    let world = EmailNet::start();
    let names = [
        ".comail/ledger.jsonl",
        ".comail/session.json",
        ".comail/source.txt",
        "companies.txt",
        "link.csv",
        "hard.csv",
    ];
    std::os::unix::fs::symlink(world.place.at(names[0]), world.place.at("link.csv")).unwrap();
    fs::hard_link(world.place.at(names[1]), world.place.at("hard.csv")).unwrap();
    for name in names {
        let before = fs::read(world.place.at(name)).unwrap();
        for force in [&[][..], &["--force"]] {
            let run = world
                .place
                .run([&["export", "--format=csv", "--out", name], force].concat());
            assert!(matches!(run.code, 1 | 2), "{name}: {run:?}");
            assert_eq!(fs::read(world.place.at(name)).unwrap(), before, "{name}");
        }
    }
}

#[test]
fn a_planted_evidence_file_or_cache_changes_no_verdict() {
    let world = EmailNet::start();
    let right = world.right("acme.co.kr");
    for folder in ["evidence", "hosts"] {
        let folder = world.place.at(".comail").join(folder);
        fs::create_dir_all(&folder).unwrap();
        for name in ["index.sqlite", "aa", "x.gz"] {
            fs::write(folder.join(name), "PASS").unwrap();
        }
    }
    world.place.write(".comail/index.sqlite", "PASS");
    let lie = right.clone().email("ceo@acme.co.kr");
    world.expect(1, &lie, "FAIL", &["email-not-on-source"]);
    world.expect(1, &right, "PASS", &[]);
}

#[test]
fn evidence_that_was_deleted_takes_no_verdict_with_it() {
    let world = EmailNet::with(&[ACME, "Bolt Toys"], &[]);
    let right = world.right("acme.co.kr");
    world.expect(1, &right, "PASS", &[]);
    fs::remove_dir_all(world.place.at(".comail/evidence")).unwrap();
    assert_eq!(world.submit(1, &right).0, 7);
    let (_, answer) = world.submit(2, &right);
    assert_eq!(answer["verdict"], "REVIEW");
    assert!(
        rules(&answer).contains(&"email-reused".to_owned()),
        "{answer}"
    );
    assert!(world.place.at(".comail/evidence").is_dir());
}

/// The stored bodies of the session in `place`, by their paths in it.
fn evidence(place: &Place) -> Vec<PathBuf> {
    let root = place.at(".comail/evidence");
    let folders = fs::read_dir(&root).expect("an evidence directory");
    let files = folders.flat_map(|folder| {
        let folder = folder.expect("a folder").path();
        fs::read_dir(folder).expect("a folder of evidence")
    });
    files
        .map(|file| {
            let path = file.expect("a body").path();
            path.strip_prefix(place.path())
                .expect("a path in the place")
                .to_owned()
        })
        .collect()
}

fn unpacked(path: &Path) -> String {
    let mut body = Vec::new();
    let file = fs::File::open(path).expect("a stored body");
    GzDecoder::new(file)
        .read_to_end(&mut body)
        .expect("whole gzip");
    String::from_utf8_lossy(&body).into_owned()
}

#[test]
fn evidence_that_was_planted_beforehand_is_replaced() {
    let world = EmailNet::start();
    let right = world.right("acme.co.kr");
    assert_eq!(world.judge(&right).0, "PASS");
    let other = Place::new();
    other.scan(&[ACME], &world.flags());
    for path in evidence(&world.place) {
        let planted = other.at(&path.display().to_string());
        fs::create_dir_all(planted.parent().expect("a folder")).expect("a folder");
        fs::write(&planted, "junk").expect("a planted body");
    }
    let (code, answer) = other.json(right.args(1));
    assert_eq!((code, &answer["verdict"]), (0, &"PASS".into()), "{answer}");
    for path in evidence(&world.place) {
        let kept = fs::read(other.at(&path.display().to_string())).expect("a body");
        let true_one = fs::read(world.place.at(&path.display().to_string())).expect("a body");
        assert!(kept == true_one, "{} is not what was seen", path.display());
    }
}

#[test]
fn other_peoples_addresses_are_pruned_however_the_page_writes_them() {
    const KEY: u8 = 0x2a;
    let bytes = "kim.minsu@acme.co.kr".bytes().map(|byte| byte ^ KEY);
    let protected = hex::encode(std::iter::once(KEY).chain(bytes).collect::<Vec<_>>());
    let entities: Vec<_> = "lee.jiwoo@acme.co.kr"
        .bytes()
        .map(|byte| format!("&#{byte};"))
        .collect();
    let entities = entities.concat();
    let spelled = "park.hana [at] acme.co.kr";
    let world = EmailNet::start();
    let text = format!(
        "info@acme.co.kr <a href=\"/cdn-cgi/l/email-protection\" data-cfemail=\"{protected}\">\
         [email protected]</a> {entities} {spelled}"
    );
    world
        .net
        .web
        .page("www.acme.co.kr", "/contact", &page(ACME, &text));
    world.put("/", &page(ACME, &format!("info@acme.co.kr {CONTACT_LINK}")));
    assert_eq!(world.judge(&world.right("acme.co.kr")).0, "PASS");
    for path in evidence(&world.place) {
        let body = unpacked(&world.place.at(&path.display().to_string()));
        for address in [&protected, &entities, "park.hana"] {
            assert!(!body.contains(address), "{address} is kept");
        }
    }
}

#[test]
fn an_answer_that_was_never_recorded_leaves_nothing_behind() {
    // Whoever holds the lock and kills the submit, over and over, pays no try and fills the disk.
    let world = EmailNet::start();
    let lock = fs::File::create(world.place.at(".comail/lock")).expect("the lock");
    lock.lock().expect("the lock is free");
    let mut wrong = world.right("acme.co.kr");
    wrong.email = "made.up@acme.co.kr".to_owned();
    for round in 0..5 {
        let text = format!("round {round}");
        world
            .net
            .web
            .page("www.acme.co.kr", "/contact", &page(ACME, &text));
        let before = world.net.web.count("www.acme.co.kr", "/contact");
        let mut submit = world
            .place
            .command()
            .args(wrong.args(1))
            .spawn()
            .expect("the program starts");
        let asked = || world.net.web.count("www.acme.co.kr", "/contact") > before;
        let waited = (0..500).any(|_| {
            thread::sleep(Duration::from_millis(10));
            asked()
        });
        assert!(waited, "the page was never asked for");
        thread::sleep(Duration::from_millis(500));
        submit.kill().expect("it waits for the lock");
        submit.wait().expect("it was killed");
    }
    drop(lock);
    let (code, answer) = world.submit(1, &wrong);
    assert_eq!(code, 5, "{answer}");
    let kept = evidence(&world.place).len();
    let ledger = String::from_utf8(world.place.ledger()).expect("UTF-8");
    let named = ledger.matches("\"sha256\":").count();
    assert!(kept <= named, "{kept} bodies, {named} named by the ledger");
}
