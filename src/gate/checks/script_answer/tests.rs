//! A script passes by saying so and nothing else.

use super::*;
use crate::gate::checks::workbench::ran;
use crate::quest::FieldName;
use crate::quest::field::Shape;

fn fields() -> Vec<Field> {
    vec![Field {
        name: FieldName::known("test"),
        help: "".into(),
        example: "".into(),
        required: true,
        shape: Shape::default(),
        unchecked: false,
    }]
}

fn of(code: i32, stdout: &str) -> Vec<Fact> {
    judged(&ran(End::Exited(code), stdout), &fields(), None)
}

/// `P`, or a letter for each of what stands in the way.
fn letters(code: i32, stdout: &str) -> String {
    let found = of(code, stdout);
    let letter = |fact: &Fact| if fact.cause.is_wrong() { 'W' } else { 'U' };
    if found.is_empty() {
        return String::from("P");
    }
    found.iter().map(letter).collect()
}

const FACT: &str = r#"{"expected":"a","actual":"b"}"#;

fn says(verdict: &str, facts: &[&str]) -> String {
    format!(
        r#" {{"verdict":"{verdict}","facts":[{}]}} "#,
        facts.join(",")
    )
}

#[test]
fn an_answer_that_says_two_things_is_none() {
    let twice = r#"{"verdict":"FAIL","verdict":"PASS"}"#;
    assert_eq!(letters(0, twice), "U");
    let facts = format!(r#"{{"verdict":"FAIL","facts":[{FACT}],"facts":[]}}"#);
    assert_eq!(letters(1, &facts), "U");
    let inside = r#"{"expected":"a","expected":"b","actual":"b"}"#;
    assert_eq!(letters(1, &says("FAIL", &[inside])), "U");
    let loose = r#"{"verdict":"PASS","evidence":{"seen":1,"seen":2}}"#;
    assert_eq!(letters(0, loose), "U");
    assert_eq!(letters(0, &loose.replacen("seen", "saw", 1)), "P");
}

#[test]
fn words_and_code_agree() {
    for (verdict, facts, codes) in [
        ("PASS", &[][..], ["P", "U", "U"]),
        ("FAIL", &[][..], ["W", "W", "U"]),
        ("REVIEW", &[][..], ["U", "U", "U"]),
        ("PASS", &[FACT][..], ["U", "U", "U"]),
        ("FAIL", &[FACT, FACT][..], ["WW", "WW", "U"]),
        ("REVIEW", &[FACT, FACT][..], ["UU", "U", "UU"]),
        ("pass", &[][..], ["U", "U", "U"]),
    ] {
        for (code, expected) in (0..).zip(codes) {
            let found = letters(code, &says(verdict, facts));
            assert_eq!(found, expected, "{verdict} {code}");
        }
    }
}

#[test]
fn without_words_the_code_counts() {
    for (code, expected) in [(0, "P"), (1, "W"), (2, "U"), (3, "U"), (-1, "U")] {
        for stdout in ["", " \n"] {
            assert_eq!(letters(code, stdout), expected, "{code}");
        }
    }
}

#[test]
fn words_before_an_answer_do_not_make_the_code_count() {
    let fail = format!("hello\n{}", says("FAIL", &[FACT]));
    for stdout in ["all is well\n", "\u{feff}{}", &fail] {
        for (code, expected) in [(0, "U"), (1, "W"), (2, "U"), (3, "U")] {
            assert_eq!(letters(code, stdout), expected, "{code} {stdout}");
        }
    }
}

#[test]
fn what_cannot_be_read_confirms_nothing() {
    let pass = says("PASS", &[]);
    for stdout in [
        "{".to_owned(),
        "{}".to_owned(),
        format!("{pass}{pass}"),
        format!("{pass}\nTraceback"),
        r#"{"verdict":"FAIL","verdict":"PASS"}"#.to_owned(),
        r#"{"verdict":"PASS","fact":[]}"#.to_owned(),
        r#"{"verdict":"PASS","facts":[{}]}"#.to_owned(),
        r#"{"verdict":"PASS"}"#.replace('P', "\u{0}"),
    ] {
        assert_eq!(letters(0, &stdout), "U", "{stdout}");
    }
    let with = r#"{"verdict":"PASS","evidence":{"anything":[1,null]}}"#;
    assert_eq!(letters(0, with), "P");
}

#[test]
fn what_is_no_text_is_read_with_a_sign_in_its_place() {
    let fact = r#"{"expected":"x","actual":"a\ud800b\udc00\ud83d\ude00"}"#;
    let found = of(1, &says("FAIL", &[fact]));
    let [detail] = found.as_slice() else {
        panic!("not wrong");
    };
    assert_eq!(detail.actual, "a\u{fffd}b\u{fffd}\u{1f600}");
    let seen = r#"{"verdict":"PASS","evidence":"\udfff"}"#;
    assert_eq!(letters(0, seen), "P");
    for broken in [r#"{"verdict":"PASS\ud800"}"#, r#"{"verdict":"PASS"}\ud800"#] {
        assert_eq!(letters(0, broken), "U", "{broken}");
    }
}

#[test]
fn facts_name_fields_and_places() {
    let fact = r#"{"field":"test","location":"a:1","expected":"x","actual":"y"}"#;
    let found = of(1, &says("FAIL", &[fact]));
    let [detail] = found.as_slice() else {
        panic!("not wrong");
    };
    assert_eq!(detail.field, Some(FieldName::known("test")));
    assert_eq!(detail.location.as_deref(), Some("a:1"));
    assert_eq!(
        (detail.expected.as_str(), detail.actual.as_str()),
        ("x", "y")
    );
    let unknown = r#"{"field":"tset","expected":"x","actual":"y"}"#;
    assert_eq!(letters(1, &says("FAIL", &[unknown])), "U");
    let many = [FACT; 30];
    let found = of(1, &says("FAIL", &many));
    let [.., last] = found.as_slice() else {
        panic!("not wrong");
    };
    assert_eq!((found.len(), last.count), (20, 11));
    let long = format!(r#"{{"expected":"x","actual":"{}"}}"#, "y".repeat(9_000));
    assert_eq!(
        of(1, &says("FAIL", &[&long]))[0].actual.chars().count(),
        2_001
    );
}
