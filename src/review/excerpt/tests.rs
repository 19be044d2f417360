//! What is shown around a fact.

use super::*;
use crate::gate::{Level, RuleId};
use crate::quest::{FieldName, Fields};

fn fact(actual: &str, location: Option<&str>) -> Fact {
    Fact {
        cause: crate::gate::Cause::Wrong,
        rule: RuleId::known("some-rule"),
        level: Level::Review,
        field: Some(FieldName::known("email")),
        location: location.map(str::to_owned),
        expected: "this".to_owned(),
        actual: actual.to_owned(),
        count: 1,
    }
}

fn acme() -> Submission {
    let field = |name, text: &str| (FieldName::known(name), text.to_owned());
    Submission::Fields(Fields::from([
        field("email", "info@acme.co.kr"),
        field("site", "https://acme.co.kr/"),
    ]))
}

/// The excerpt's place, first line and lines, with `>` before those that hold it.
fn shown(fact: &Fact, sources: &[Source]) -> Option<(String, usize, Vec<String>)> {
    let excerpt = excerpt(fact, &acme(), "Acme Foods", sources)?;
    let line = |line: ExcerptLine| format!("{}{}", if line.found { ">" } else { " " }, line.text);
    let lines = excerpt.lines.into_iter().map(line).collect();
    Some((excerpt.of, excerpt.first, lines))
}

const PAGE: &str = "<p>one<p>two<p>three<p>Write to info [at] acme [dot] co [dot] kr<p>five\
                    <p>Acme Foods<p>seven";

#[test]
fn an_address_is_found_however_the_page_spells_it() {
    let page = Source::html("https://acme.co.kr/contact", PAGE);
    let (of, first, lines) = shown(&fact("spelled out", None), &[page]).unwrap();
    assert_eq!((of.as_str(), first), ("https://acme.co.kr/contact", 2));
    let expected = [
        " two",
        " three",
        ">Write to info [at] acme [dot] co [dot] kr",
        " five",
        " Acme Foods",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn what_the_fact_quotes_goes_before_what_was_submitted() {
    let page = || Source::html("https://acme.co.kr/", PAGE);
    let (_, _, lines) = shown(&fact(r#"names "SEVEN""#, None), &[page()]).unwrap();
    assert_eq!(lines, [" five", " Acme Foods", ">seven"]);
    // What is not there is looked for in vain, and the next is shown.
    let (_, first, _) = shown(&fact(r#"names "nobody""#, None), &[page()]).unwrap();
    assert_eq!(first, 2);
}

#[test]
fn the_place_that_the_fact_names_goes_before_all_others() {
    let pages = [
        Source::html("https://acme.co.kr/", PAGE),
        Source::html("https://acme.co.kr/other", "<p>Acme Foods"),
    ];
    let fact = fact("something", Some("https://acme.co.kr/other#end"));
    let (of, _, lines) = shown(&fact, &pages).unwrap();
    assert_eq!(of, "https://acme.co.kr/other");
    assert_eq!(lines, [">Acme Foods"]);
}

#[test]
fn a_line_of_a_file_is_shown_by_its_number() {
    let file = Source::text("tests/test_a.py", "a\nb\nc\nd\ne\nf");
    let fact = fact("assert", Some("tests/test_a.py:5"));
    let (of, first, lines) = shown(&fact, &[file]).unwrap();
    assert_eq!((of.as_str(), first), ("tests/test_a.py", 3));
    assert_eq!(lines, [" c", " d", ">e", " f"]);
}

#[test]
fn what_no_source_shows_has_no_excerpt() {
    let page = Source::html("https://bolt.kr/", "<p>Bolt Toys");
    assert_eq!(shown(&fact("nothing", None), &[page]), None);
    assert_eq!(shown(&fact("nothing", None), &[]), None);
    // Empty quotes stand everywhere, and are no finding.
    let page = Source::html("https://bolt.kr/", "<p>Bolt Toys");
    assert_eq!(shown(&fact(r#"found "" there"#, None), &[page]), None);
}

#[test]
fn a_long_line_is_cut_around_what_was_found() {
    let long = format!("{}Acme Foods{}", "가".repeat(500), "나".repeat(500));
    let page = Source::text("a", &long);
    let (_, _, lines) = shown(&fact("x", None), &[page]).unwrap();
    assert!(lines[0].starts_with(">…가"), "{lines:?}");
    assert!(lines[0].contains("Acme Foods나"), "{lines:?}");
    assert!(lines[0].ends_with('…'), "{lines:?}");
    assert_eq!(lines[0].chars().count(), LONGEST + 3);
}
