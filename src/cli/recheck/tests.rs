//! A REVIEW of a recorded world, judged again before another.

use std::rc::Rc;

use clap::ColorChoice;
use serde_json::Value;

use crate::cli::command::rehearse;
use crate::cli::exit::Exit;
use crate::cli::output::Output;
use crate::world::evidence::recorded::RecordedWorld;

/// A world in which Acme's contact page is `page`.
fn world(page: &str) -> Rc<RecordedWorld> {
    let home = r#""https://acme.co.kr/": {"body": "<title>Acme Foods</title>"}"#;
    let dns = r#""acme.co.kr": {"MX": [[10, "mx.acme.co.kr"]]},
        "mx.acme.co.kr": {"A": ["93.184.215.14"]}"#;
    let pages = format!(r#"{home}, "https://acme.co.kr/contact": {page}"#);
    let text = format!(r#"{{"pages": {{{pages}}}, "dns": {{{dns}}}}}"#);
    Rc::new(RecordedWorld::from_json(&text).unwrap())
}

fn silent() -> Rc<RecordedWorld> {
    world(r#"{"silence": "timeout"}"#)
}

fn speaking(text: &str) -> Rc<RecordedWorld> {
    world(&format!(
        r#"{{"body": "<p>{text}</p><footer>Acme Foods</footer>"}}"#
    ))
}

/// Runs a command of the session in `here` and reads its document.
fn run(here: &tempfile::TempDir, line: &str, world: Rc<RecordedWorld>) -> Value {
    let session = here.path().join("session").display().to_string();
    let words = line.split(' ').chain(["--session", &session, "--json"]);
    let words: Vec<String> = ["comail"]
        .into_iter()
        .chain(words)
        .map(str::to_owned)
        .collect();
    let (output, kept) = Output::of_process(true, ColorChoice::Never, false).kept();
    assert_eq!(rehearse(&words, output, world).unwrap(), Exit::Done);
    serde_json::from_str(&kept.text()).unwrap()
}

/// A session whose one quest is a REVIEW of a page that did not answer.
fn reviewed() -> tempfile::TempDir {
    let here = tempfile::tempdir().unwrap();
    let list = here.path().join("list.txt");
    std::fs::write(&list, "Acme Foods\n").unwrap();
    run(&here, &format!("scan {}", list.display()), silent());
    let submit = "submit --id 1 --site https://acme.co.kr/ --email info@acme.co.kr \
                  --source https://acme.co.kr/contact";
    assert_eq!(run(&here, submit, silent())["verdict"], "REVIEW");
    here
}

#[test]
fn a_recorded_world_is_asked_in_place_of_the_live_one() {
    let here = reviewed();
    assert_eq!(run(&here, "recheck", silent())["unanswered"], 1);
    let report = run(&here, "recheck", speaking("info@acme.co.kr"));
    assert_eq!(
        (&report["status"], &report["confirmed"]),
        (&"done".into(), &1.into())
    );
    let resolutions = &run(&here, "status", silent())["resolutions"];
    assert_eq!(resolutions["confirmed"], 1);
}

#[test]
fn what_fails_now_is_shown_with_its_facts() {
    let here = reviewed();
    let report = run(&here, "recheck", speaking("sales@acme.co.kr"));
    let quest = &report["quests"][0];
    assert_eq!(
        (&quest["id"], &quest["became"]),
        (&1.into(), &"refuted".into())
    );
    assert_eq!(quest["facts"][0]["rule"], "email-not-on-source");
    assert_eq!(report["left"], 0);
}
