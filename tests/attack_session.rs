//! What the session keeps and shows.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use flate2::read::GzDecoder;

use crate::harness::email_net::{ACME, page};
use crate::harness::{EmailNet, Place};

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
