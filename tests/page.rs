//! The page about a session, in a browser: it can be used, read by all, and asks for nothing.
//!
//! Pictures of it are left in `target/page` where `COMAIL_PICTURES` is set.

use std::fs;
use std::path::Path;
use std::process::Command;

use comail::report::page;
use serde_json::{Value, json};

use crate::harness::pictured::{self, NAMES};
use crate::harness::{Run, tools};

/// How many quests are on the page that is looked at closely.
const QUESTS: usize = 40;

/// What a browser saw of the pages: one start of it for all that is asked.
fn looks() -> Value {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let pages = root.join("target/page");
    fs::create_dir_all(&pages).expect("a directory for pages");
    for (name, picture) in [
        ("rich", pictured::picture(QUESTS, 0)),
        ("empty", pictured::empty()),
        ("large", pictured::picture(10_000, 90_000)),
    ] {
        let page = page::html(&picture).expect("a page");
        fs::write(pages.join(format!("{name}.html")), page).expect("a page on the disk");
    }
    let mut look = Command::new("node");
    look.arg(root.join("tests/browser/look.mjs"));
    let seen = Run::of(look.arg(tools::browser()).arg(&pages)).ok();
    serde_json::from_str(&seen).expect("what was seen, as JSON")
}

#[test]
fn a_page_in_a_browser() {
    let looks = looks();
    is_calm(&looks);
    is_accessible(&looks);
    can_be_sorted(&looks["sorted"]);
    can_be_filtered(&looks["filtered"]);
    opens_its_rows(&looks["opened"]);
    is_whole_without_a_script(&looks["scriptless"]);
    is_printed_whole(&looks["printed"]);
    holds_ten_thousand(&looks["many"]);
    the_checks_can_fail(&looks["control"]);
}

fn texts(value: &Value) -> Vec<&str> {
    let texts = value.as_array().expect("a list").iter();
    texts.map(|text| text.as_str().expect("a text")).collect()
}

fn numbers(value: &Value) -> Vec<u32> {
    let texts = texts(value).into_iter();
    texts
        .map(|text| text.replace(',', "").parse().expect("a number"))
        .collect()
}

/// It asks for nothing but itself, and the browser complains of nothing.
fn is_calm(looks: &Value) {
    let visits = [
        "sorted",
        "filtered",
        "opened",
        "scriptless",
        "printed",
        "empty",
        "many",
    ];
    let visits = visits.map(|name| &looks[name]);
    let audits = looks["audits"].as_object().expect("audits").values();
    for visit in visits.into_iter().chain(audits) {
        assert_eq!(visit["requests"], json!([]), "{visit}");
        assert_eq!(visit["errors"], json!([]), "{visit}");
    }
}

/// In light and dark, wide and narrow, an audit finds nothing, and the page fits its width.
fn is_accessible(looks: &Value) {
    let audits = looks["audits"].as_object().expect("audits");
    assert_eq!(audits.len(), 4);
    for audit in audits.values().chain([&looks["empty"]]) {
        assert_eq!(audit["findings"], json!([]), "{audit}");
        assert_eq!(audit["sideways"], 0, "{audit}");
        assert_eq!(audit["cut"], json!([]), "{audit}");
        assert_eq!(audit["broken"], json!([]), "{audit}");
        assert_eq!(audit["unseen"], 0, "{audit}");
    }
}

fn can_be_sorted(seen: &Value) {
    let ids = numbers(&seen["before"]);
    assert!(ids.is_sorted() && ids.len() == QUESTS);
    let names = texts(&seen["names"]["column"]);
    let mut back = texts(&seen["back"]["column"]);
    assert_eq!(back.len(), QUESTS);
    assert_eq!(seen["names"]["aria"][1], "ascending");
    assert_eq!(seen["back"]["aria"][1], "descending");
    assert_eq!(seen["back"]["aria"][0], Value::Null);
    back.reverse();
    assert_eq!(names, back);
    let place = |name: &str| names.iter().position(|it| *it == name);
    assert!(place("Company 12 Ltd") < place("Company 39 Ltd"));
    assert!(place("Acme Foods") < place("Zweite Wiese Genossenschaft"));
    let states = texts(&seen["states"]["column"]);
    assert!(states[0].starts_with("PASS") && states[QUESTS - 1].starts_with("TODO"));
    let answers = texts(&seen["answers"]["column"]);
    let record = answers.iter().take_while(|it| !it.is_empty()).count();
    assert_eq!(record, 31, "28 PASS and 3 of 4 REVIEW stand: {answers:?}");
    assert!(answers[record..].iter().all(|it| it.is_empty()));
    assert!(numbers(&seen["tries"]["column"]).is_sorted());
    let times = texts(&seen["times"]["column"]);
    let known = times.iter().take_while(|time| !time.is_empty()).count();
    assert_eq!(
        known,
        QUESTS - QUESTS / 10,
        "what is not known comes last: {times:?}"
    );
    assert!(
        times[0].ends_with(" ms") && times[known - 1].contains("min"),
        "{times:?}"
    );
    assert!(texts(&seen["last"]["column"])[..known].is_sorted());
    assert_eq!(numbers(&seen["again"]["column"]), ids);
}

fn can_be_filtered(seen: &Value) {
    assert_eq!(seen["done"]["states"], json!(["DONE"]));
    assert_eq!(seen["done"]["found"], "4 of 40 quests");
    assert_eq!(seen["rule"]["states"], json!(["DONE"]));
    assert_eq!(texts(&seen["rule"]["names"]).len(), 2);
    let earlier = &seen["earlier"];
    assert_eq!(earlier["found"], "36 of 40 quests", "by any submission");
    assert_eq!(earlier["states"], json!(["PASS", "REVIEW", "DONE"]));
    assert_eq!(seen["both"]["found"], "4 of 40 quests");
    assert_eq!(texts(&seen["made_up"]["names"]), [NAMES[8]]);
    assert_eq!(seen["cleared"]["found"], "40 quests");
    assert_eq!(texts(&seen["cleared"]["names"]).len(), QUESTS);
    assert_eq!(seen["markup"]["names"], json!([NAMES[2]]));
    assert_eq!(seen["korean"]["names"], json!([NAMES[1]]));
    assert_eq!(seen["evidence"]["found"], "36 of 40 quests");
    assert_eq!(seen["nothing"]["names"], json!([]));
    assert_eq!(seen["told"], true);
}

fn opens_its_rows(seen: &Value) {
    let open = ["before", "byKey", "byClick"].map(|name| &seen[name]);
    assert_eq!(open, [&json!(false), &json!(true), &json!(false)]);
    assert_eq!(
        seen["marked"],
        json!(["E-mail: info@company-0.example (weekdays)"])
    );
    assert_eq!(seen["numbered"], "112");
}

fn is_whole_without_a_script(seen: &Value) {
    let names = texts(&seen["names"]);
    assert_eq!(names.len(), QUESTS);
    assert_eq!(names[2], NAMES[2]);
    assert_eq!(names[5], "Evil\\u{202e}moc.elgoog\\u{200b}");
    assert_eq!(
        (&seen["controls"], &seen["buttons"]),
        (&json!(false), &json!(0))
    );
    assert_eq!((&seen["open"], &seen["charts"]), (&json!(true), &json!(4)));
}

fn is_printed_whole(seen: &Value) {
    assert_eq!(
        (&seen["controls"], &seen["rows"]),
        (&json!(false), &json!(QUESTS))
    );
}

fn holds_ten_thousand(seen: &Value) {
    assert_eq!(
        seen["laidOut"],
        json!([true, false]),
        "what is far is not laid out"
    );
    assert_eq!(seen["one"], json!(["Company 9876 Ltd"]));
    assert_eq!(seen["found"], "1 of 10,000 quests");
    let times = seen["times"].as_array().expect("times").iter();
    let times: Vec<_> = times.map(|time| time.as_u64().expect("a time")).collect();
    assert!(times.len() == 10_000 && times.is_sorted());
    let said = seen["said"].as_str().expect("what is left out");
    assert!(said.contains("10,000 of 100,000 quests"), "{said}");
}

/// On a page that does what ours must not, every check says so.
fn the_checks_can_fail(seen: &Value) {
    assert_eq!(seen["ran"], false);
    assert_eq!(
        seen["violated"],
        json!(["img-src", "script-src-elem", "style-src-attr"])
    );
    assert!(!texts(&seen["errors"]).is_empty());
    assert!(seen["sideways"].as_i64() > Some(0));
    assert!(!texts(&seen["broken"]).is_empty());
    let found = seen["findings"].as_array().expect("findings").iter();
    let found: Vec<_> = found.filter_map(|finding| finding["id"].as_str()).collect();
    assert!(
        found.contains(&"button-name") && found.contains(&"image-alt"),
        "{found:?}"
    );
}

/// The pictures are drawn by `.ci/pictures`.
#[test]
fn the_pictures_of_the_readme_are_small_and_show_nothing_of_the_machine() {
    let pictures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/pictures");
    let read = |name: &str| fs::read(pictures.join(name)).expect("a picture");
    let (page, terminal) = (read("page.png"), read("terminal.svg"));
    assert!(page.starts_with(b"\x89PNG\r\n\x1a\n") && page.len() < 200_000);
    let terminal = String::from_utf8(terminal).expect("text");
    assert!(terminal.len() < 50_000);
    let shown = scraper::Html::parse_document(&terminal);
    let shown: String = shown.root_element().text().collect();
    for word in [
        "comail submit",
        "2 of 3 tries left",
        "GmbH: locked",
        "comail status",
    ] {
        assert!(shown.contains(word), "{word} in {shown}");
    }
    let home = std::env::var("HOME").unwrap_or_default();
    for trace in ["/tmp/", "/home/", "/root/", "ledger head", "error", &home] {
        assert!(
            trace.len() < 2 || !shown.contains(trace),
            "{trace} in {shown}"
        );
    }
}
