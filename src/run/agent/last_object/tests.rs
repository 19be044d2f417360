//! What agents print around what they answer.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn found(text: &str) -> Value {
    match last_object(text) {
        LastObject::Object(value) => value,
        other => panic!("{other:?} in {text}"),
    }
}

#[test]
fn the_last_of_several_is_found_whatever_stands_around_it() {
    let one = json!({"a": 1});
    for text in [
        r#"{"a": 1}"#,
        "Here you are:\n```json\n{\"a\": 1}\n```\nAnything else?",
        r#"first {"a": 0}, no: {"a": 1}"#,
        r#"{"a":0}{"a":1}"#,
        r#"{ {"a": 1} }"#,
        r#"fn main() { let x = {"a": 1}; }"#,
        r#"{"no": json, either} but {"a": 1} is"#,
        r#"{"a" 2} {"a": 1} } ]"#,
        "{\"a\": \"no\nline\"} {\"a\": 1}",
        r#"{"a": 1} and then {"a": 2, "b": [{"c": 3}"#,
        r#"{"a": 1} {"a": "cut \"#,
        r#"{"a": 1} {"a": tru"#,
        r#"{"a": 1} {"#,
        r#"{"a": 1} {"a": {"b": 2}, 'c': 3}"#,
    ] {
        assert_eq!(found(text), one, "{text}");
    }
}

#[test]
fn braces_in_strings_are_no_braces() {
    let text =
        r#"{"a": "}{\"}", "b": ["{", {"c": "\\"}], "{": {}, "n": -1.5e3, "t": [true, null]}"#;
    let all: Value = serde_json::from_str(text).unwrap();
    assert_eq!(found(&format!("so: {text}.")), all);
}

#[test]
fn where_there_is_none_none_is_found() {
    for text in [
        "",
        "{",
        "}",
        "[1]",
        "{1: 2}",
        "{'a': 1}",
        "{\"a\": 1",
        "{\"a\"}",
        "{,}",
    ] {
        assert_eq!(last_object(text), LastObject::None, "{text}");
    }
    assert_eq!(found("{}"), json!({}));
}

#[test]
fn one_that_tells_two_readers_two_things_is_refused() {
    let twice = r#"{"a": 0} {"a": 1, "a": 2}"#;
    assert!(matches!(last_object(twice), LastObject::Bad(why) if why.contains("twice")));
    assert!(matches!(last_object(r#"{"a": 1e999}"#), LastObject::Bad(_)));
    let deep = format!("{}1{}", "{\"a\":".repeat(200), "}".repeat(200));
    assert!(matches!(last_object(&deep), LastObject::Bad(_)));
}

#[test]
fn a_million_braces_take_no_longer_than_a_million_letters() {
    let many = 300_000;
    for text in [
        "{".repeat(many),
        "{\"a\":".repeat(many),
        format!("{}!", "{\"a\":".repeat(many)),
        "{\"a\":[{},".repeat(many),
        "{\"".repeat(many),
    ] {
        assert_eq!(last_object(&format!("{text} ")), LastObject::None);
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".*".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            object(inner),
        ]
    })
}

fn object(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    prop::collection::btree_map(".*", value, 0..4)
        .prop_map(|members| Value::Object(members.into_iter().collect()))
}

proptest! {
    #[test]
    fn an_object_in_prose_is_found(
        before in "[^{}]*",
        answer in object(value()),
        after in "[^{}]*",
        pretty in any::<bool>(),
    ) {
        let text = if pretty {
            serde_json::to_string_pretty(&answer).unwrap()
        } else {
            answer.to_string()
        };
        prop_assert_eq!(last_object(&format!("{before}{text}{after}")), LastObject::Object(answer));
    }

    #[test]
    fn one_that_breaks_off_is_never_found(answer in object(value()), share in 0.0..1.0) {
        let text = answer.to_string();
        #[expect(
            clippy::cast_possible_truncation, clippy::cast_precision_loss, clippy::cast_sign_loss,
            reason = "a share of a short length"
        )]
        let mut cut = (text.len() as f64 * share) as usize;
        while !text.is_char_boundary(cut) {
            cut -= 1;
        }
        prop_assert_eq!(last_object(&text[..cut]), LastObject::None);
    }

    #[test]
    fn nothing_makes_it_panic(text in r#"([{}\[\]",:\\a1 \n]|\PC)*"#) {
        let _ = last_object(&text);
    }
}
