//! `scan --world`: a session that is judged by a recording asks no host, says so everywhere, and
//! proves nothing to a session on the network.

use std::fs;

use serde_json::{Value, json};

use crate::harness::{Place, Run};
use crate::sheets::{cells, text};

const SAYS_SO: &str = "Recorded world, not the network: ";

/// A folder with the invented world, in which a session was made with it.
fn practice() -> Place {
    let place = Place::new();
    place.run(["demo", "--world", "w"]).ok();
    scan(&place, &["--world=w"]).ok();
    place
}

fn scan(place: &Place, args: &[&str]) -> Run {
    let list = ["scan", "w/companies.csv", "--col=Company"];
    place.run([&list[..], &["--site-col=Website"], args].concat())
}

/// The right answer for quest 1.
const ANSWER: [&str; 5] = [
    "submit",
    "--id=1",
    "--site=https://www.hanbit-foods.co.kr",
    "--email=info@hanbit-foods.co.kr",
    "--source=https://www.hanbit-foods.co.kr/contact",
];

fn answer(place: &Place) -> Run {
    place.run(ANSWER)
}

#[test]
fn no_host_is_asked_and_the_files_are_needed_no_more() {
    let place = practice();
    fs::remove_dir_all(place.at("w")).expect("the folder of the world");
    let agent = format!("comail {}", ANSWER.join(" "));
    let run = format!("comail run --set max-attempts=1 -- sh -c '{agent}' 2> run.txt");
    Run::of(&mut place.shell(&run)).exits(8);
    assert_eq!(place.json(["status"]).1["tally"]["pass"], 1);
    place.run(["recheck"]).ok();
    let audited = place.run(["audit", "--live"]).ok();
    let asked = "the world was asked again about 1 of them: 0 drifted, 0 unanswered";
    assert!(
        audited.contains(asked) && audited.contains("\n0 findings: "),
        "{audited}"
    );
    let (_, doctor) = place.json(["doctor", "--url", "https://hanbit-foods.invalid/"]);
    let findings = doctor["findings"].as_array().expect("findings");
    let is_asked = |it: &&Value| {
        it["found"]
            .as_str()
            .is_some_and(|it| it.contains(".invalid"))
    };
    assert_eq!(findings.iter().find(is_asked), None);
    assert!(!place.at(".comail/hosts").exists(), "a host was asked");
}

#[test]
fn a_live_session_never_finds_the_recording() {
    let place = practice();
    // A resolver that nobody runs: without the recording there is no answer.
    let live = [
        "--session=live",
        "--set=network.dns-server=127.0.0.1:1",
        "--set=network.lookup-tries=1",
    ];
    scan(&place, &live).ok();
    let mut submit = place.command();
    submit.env("COMAIL_WORLD", "w");
    let run = Run::of(submit.args(ANSWER).arg("--session=live"));
    run.says("comail has no network here");
    run.exits(1);
    let (_, status) = place.json(["status", "--session=live"]);
    assert_eq!(status["world"], "live");
    place.run(["status", "--world=w"]).exits(2);
    place
        .run(["submit", "--world=w", "--id=1", "--none=x"])
        .exits(2);
}

#[test]
fn every_output_says_that_the_world_is_recorded() {
    let place = practice();
    answer(&place).ok();
    for (args, code) in [
        (&["status"][..], 0),
        (&["export", "--out=out.csv"], 0),
        (&["report", "--out=out.html"], 8),
    ] {
        let text = place.run(args).exits(code);
        assert!(text.contains(SAYS_SO), "{args:?}: {text}");
        let (_, told) = place.json([args, &["--force"][..usize::from(args.len() > 1)]].concat());
        assert_eq!(told["world"], "recorded", "{told}");
    }
    let report = place.run(["report"]).exits(8);
    assert!(report.contains(SAYS_SO), "{report}");
    assert_eq!(place.json(["report"]).1["world"], "recorded");
    let page = fs::read_to_string(place.at("out.html")).expect("a page");
    assert!(page.contains(SAYS_SO), "{page}");
    let table = fs::read_to_string(place.at("out.csv")).expect("a table");
    assert!(table.contains(",PASS (recorded world),"), "{table}");
    assert_eq!(table.matches("(recorded world)").count(), 3, "{table}");
    // Also where nothing but addresses is asked for.
    place
        .run(["export", "--out=out.xlsx", "--columns=email"])
        .ok();
    let title = text(&cells(&place.at("out.xlsx"), "comail"), 1, 1);
    assert!(title.starts_with(SAYS_SO), "{title}");
}

#[test]
fn a_changed_recording_is_an_error_that_names_the_file() {
    let place = practice();
    let before = place.ledger();
    let path = place.at(".comail/session.json");
    let frozen = fs::read_to_string(&path).expect("what was frozen");
    let forged = frozen.replace("info@hanbit-foods.co.kr", "me@hanbit-foods.co.kr");
    assert_ne!(forged, frozen);
    let mut live: Value = serde_json::from_str(&frozen).expect("JSON");
    assert!(live["frozen"]["world"].take().is_object());
    for changed in [forged, live.to_string()] {
        fs::write(&path, changed).expect("a file");
        for command in [
            &["status"][..],
            &["recheck"],
            &["report"],
            &["audit", "--live"],
        ] {
            let run = place.run(command);
            assert!([1, 8].contains(&run.code), "{run:?}");
            assert!(
                format!("{run:?}").contains("session.json was changed"),
                "{run:?}"
            );
        }
        let run = answer(&place);
        run.says("session.json was changed");
        run.exits(1);
        assert_eq!(place.ledger(), before);
    }
    fs::remove_file(&path).expect("a file");
    answer(&place).exits(1);
    assert!(!place.at(".comail/hosts").exists(), "a host was asked");
}

#[test]
fn results_stay_in_the_world_that_they_come_from() {
    let place = practice();
    answer(&place).ok();
    scan(&place, &["--session=live"]).ok();
    for recheck in [&[][..], &["--set=scan.recheck=true"]] {
        let to_live = [&["--carry=.comail", "--session=new"], recheck].concat();
        let run = scan(&place, &to_live);
        run.says("was judged by a recorded world");
        run.exits(2);
        let from_live = [&["--carry=live", "--session=new", "--world=w"], recheck].concat();
        let run = scan(&place, &from_live);
        run.says("was judged by the network");
        run.exits(2);
        assert!(!place.at("new").exists());
    }
    // The negative control: the same recording.
    let same = ["--carry=.comail", "--session=new", "--world=w", "--json"];
    let (_, scanned) = scan(&place, &same).json();
    assert_eq!(scanned["carried"]["carried"], 1, "{scanned}");
    let mut other: Value =
        serde_json::from_slice(&fs::read(place.at("w/world.json")).expect("it")).expect("a world");
    other["dns"]["more.example"] = json!({});
    place.write("w/world.json", other.to_string());
    scan(&place, &["--carry=.comail", "--session=third", "--world=w"]).exits(2);
}

#[test]
fn an_update_cannot_change_the_world() {
    let place = practice();
    scan(&place, &["--session=live"]).ok();
    for session in [".comail", "live"] {
        let session = format!("--session={session}");
        scan(&place, &["--update", "--world=w", &session]).exits(2);
        scan(&place, &["--update", &session]).ok();
    }
    assert_eq!(place.json(["status"]).1["world"], "recorded");
    assert_eq!(place.json(["status", "--session=live"]).1["world"], "live");
}

#[test]
fn what_is_no_recorded_world_makes_no_session() {
    let place = Place::new();
    place.run(["demo", "--world", "w"]).ok();
    for (text, code) in [
        (None, 1),
        (Some("{"), 2),
        (Some("{}"), 2),
        (Some(r#"{"pages": {"no address": {}}}"#), 2),
    ] {
        match text {
            None => fs::remove_file(place.at("w/world.json")).expect("a file"),
            Some(text) => drop(place.write("w/world.json", text)),
        }
        let run = scan(&place, &["--world=w"]);
        run.says("w/world.json");
        run.exits(code);
        assert!(!place.at(".comail").exists());
    }
}
