//! `citation` of lines.

use super::Cited;
use crate::gate::checks::tests::CheckCase;

const CHECK: &str = "kind = \"citation\"\nfield = \"value\"\n";
const SOURCE: &str = "fn main() {\n    let  x = 1;\n}\n\nfn other() {}\n";

fn bench(more: &str, value: &str) -> CheckCase {
    CheckCase::of(&format!("{CHECK}{more}"))
        .submit("value", value)
        .pinned("src/a.rs", SOURCE)
}

#[test]
fn what_stands_there_is_cited() {
    for value in [
        "src/a.rs:1: \"fn main\"",
        "src/a.rs:2:\"let x = 1;\"",
        "src/a.rs:1-2: \"main() { let x\"",
        " src/a.rs:5: \"fn other\"\n\nsrc/a.rs:1: \"main\" ",
    ] {
        bench("", value).passes();
    }
}

#[test]
fn what_does_not_is_told_with_its_place() {
    for (value, place) in [
        ("src/a.rs:2: \"fn main\"", "src/a.rs:2"),
        ("src/a.rs:6: \"fn main\"", "src/a.rs:6"),
        ("src/a.rs:1-3: \"fn main\"", "src/a.rs:1"),
        ("src/b.rs:1: \"fn main\"", "src/b.rs"),
        ("src/a.rs:1: \"f\"", "src/a.rs:1"),
    ] {
        let fact = bench("", value).only_fact();
        assert_eq!(fact.location.as_deref(), Some(place), "{value}");
    }
}

#[test]
fn what_the_agent_wrote_itself_is_no_source() {
    let made_up = bench("", "out/x.txt:1: \"made up\"").file("out/x.txt", "made up");
    made_up.fails();
}

#[test]
fn what_is_no_citation_is_refused() {
    for value in [
        "src/a.rs:1",
        "src/a.rs:0: \"fn main\"",
        "src/a.rs:2-1: \"fn main\"",
        "src/a.rs:+1: \"fn main\"",
        "src/a.rs:1: fn main",
        "../a.rs:1: \"fn main\"",
        "tests/t.py::test_adds",
        "see the source",
        "src/a.rs:99999999999999999999: \"fn main\"",
    ] {
        bench("", value).fails();
    }
    assert!(Cited::parse("\"\"").is_none());
}

#[test]
fn there_must_be_enough_and_of_bounded_length() {
    bench("min = 2", "src/a.rs:1: \"fn main\"").fails();
    let long = bench("max_lines = 1", "src/a.rs:1-2: \"main() { let x\"");
    long.fails();
}

#[test]
fn one_that_is_repeated_counts_once() {
    let twice = "src/a.rs:1: \"fn main\"\n src/a.rs:1-1: \"fn  ma\u{200b}in\"";
    bench("", twice).passes();
    let fact = bench("min = 2", twice).only_fact();
    assert_eq!(&*fact.actual, "1");
    let two = "src/a.rs:1: \"fn main\"\nsrc/a.rs:5: \"fn other\"";
    bench("min = 2", two).passes();
}

#[test]
fn what_is_not_seen_makes_no_quotation_longer() {
    let padded = "src/a.rs:3: \"}\u{200b}\u{200b}\u{200b}\"";
    bench("", padded).fails();
    bench("min_chars = 1", padded).passes();
}

#[test]
fn they_may_stand_in_json() {
    let check = "kind = \"citation\"\npath = \"out/c.json\"\npointer = \"/claims/*/source\"";
    let claims = r#"{"claims": [{"source": "src/a.rs:1: \"fn main\""}, {}, {"source": 3}]}"#;
    let facts = CheckCase::of(check)
        .file("out/c.json", claims)
        .pinned("src/a.rs", SOURCE)
        .facts();
    let places: Vec<_> = facts
        .iter()
        .filter_map(|it| it.location.as_deref())
        .collect();
    assert_eq!(
        places,
        ["out/c.json:/claims/1/source", "out/c.json:/claims/2/source"]
    );
    let empty = CheckCase::of(check).file("out/c.json", r#"{"claims": []}"#);
    empty.fails();
}
