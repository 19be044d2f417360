//! `comail demo`.

use std::fs;

use crate::harness::{Place, Run};

#[test]
fn demo_shows_a_whole_session() {
    let place = Place::new();
    let run = place.run(["demo"]);
    assert_eq!(run.stderr, "");
    let text = run.ok();
    let mut settings = insta::Settings::clone_current();
    settings.add_filter("read from .*comail-demo", "read from [DIR]/comail-demo");
    settings.add_filter("ledger head [0-9a-f]{64}", "ledger head [HASH]");
    settings.bind(|| insta::assert_snapshot!("demo", text));
}

#[test]
fn demo_leaves_a_workbook_and_a_session_for_the_other_commands() {
    let place = Place::new();
    let (code, played) = place.json(["demo", "--dir", "here"]);
    assert_eq!(code, 0);
    let results = fs::read(place.at(played["results"].as_str().unwrap())).unwrap();
    assert!(results.starts_with(b"PK"), "a workbook is a zip archive");
    let (code, status) = place.json(["status", "--session", "here/session"]);
    assert_eq!((code, &status["tally"]["pass"]), (0, &3.into()));
    let again = place.run(["demo", "--dir", "here"]);
    again.says("--dir");
    assert!(!again.stderr.contains("os error"), "{}", again.stderr);
    assert_eq!(again.code, 1);
    assert_eq!(
        fs::read(place.at("here/results.xlsx")).unwrap(),
        results,
        "nothing is replaced"
    );
}

#[test]
fn demo_ignores_the_session_flag_and_variable() {
    let place = Place::new();
    let mut demo = place.command();
    demo.args(["demo", "--session", "elsewhere"]);
    Run::of(demo.env("COMAIL_SESSION", "elsewhere")).ok();
    assert!(!place.at("elsewhere").exists());
    assert!(place.at("comail-demo/session/ledger.jsonl").exists());
    let run = place.run(["demo", "--dir", "no/such/demo"]);
    run.says("no/such/demo");
    run.exits(1);
}

#[test]
fn demo_asks_no_host() {
    let place = Place::new();
    let _text = place.run(["demo", "--dir=-odd name"]).ok();
    assert!(place.at("-odd name/results.xlsx").exists());
    assert!(
        !place.at("-odd name/session/hosts").exists(),
        "a host's turn is noted when it is asked"
    );
}
