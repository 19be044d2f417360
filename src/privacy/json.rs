//! JSON with an address blotted out of its strings; every other byte stays.

use super::MASK;
use super::mention::{Wanted, without};

/// `json` without the address, or none where it does not hold it.
///
/// `worker` stands for it in the names of workers, which hold no brackets.
#[must_use]
pub fn masked_json(json: &str, wanted: &Wanted<'_>, worker: &str) -> Option<String> {
    let mut masked = String::with_capacity(json.len());
    let (mut rest, mut changed, mut of_worker) = (json, false, false);
    while let Some(open) = rest.find('"') {
        let Some(literal) = literal(&rest[open..]) else {
            break;
        };
        masked.push_str(&rest[..open]);
        let after = &rest[open + literal.len()..];
        let text: Option<String> = serde_json::from_str(literal).ok();
        let mask = if of_worker { worker } else { MASK };
        let other = text.as_deref().and_then(|text| without(text, wanted, mask));
        match other.and_then(|other| serde_json::to_string(&other).ok()) {
            Some(other) => {
                masked.push_str(&other);
                changed = true;
            }
            None => masked.push_str(literal),
        }
        of_worker = text.as_deref() == Some("worker") && after.trim_start().starts_with(':');
        rest = after;
    }
    masked.push_str(rest);
    changed.then_some(masked)
}

fn literal(text: &str) -> Option<&str> {
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let ends = *c == '"' && !escaped;
        escaped = *c == '\\' && !escaped;
        ends
    });
    end.map(|(at, _)| &text[..=at])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn masked(json: &str) -> Option<String> {
        masked_json(json, &|address| address == "jo@acme.com", "forgotten-1")
    }

    #[test]
    fn only_the_strings_that_hold_it_change() {
        let body = r#"{"b": 1.50,"a":["x\"y","Jo\u0040acme.com"],"jo@acme.com":{"holds":["mailbox jo@acme.com"]}}"#;
        let expected = r#"{"b": 1.50,"a":["x\"y","[forgotten]"],"[forgotten]":{"holds":["mailbox [forgotten]"]}}"#;
        assert_eq!(masked(body).as_deref(), Some(expected));
        assert_eq!(masked(r#"{"a":"b\\"}"#), None);
        assert_eq!(masked("\"jo@acme.com"), None, "no JSON");
    }

    #[test]
    fn a_worker_stays_one() {
        let body = r#"{"worker":"jo@acme.com","note":"jo@acme.com"}"#;
        let expected = r#"{"worker":"forgotten-1","note":"[forgotten]"}"#;
        assert_eq!(masked(body).as_deref(), Some(expected));
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let text = prop_oneof![
            Just("jo@acme.com".to_owned()),
            Just("mailto:JO%40acme.com".to_owned()),
            Just("{\"a\":\"jo\\u0040acme.com\"}".to_owned()),
            Just("\"jo&#64;acme.com\\".to_owned()),
            ".{0,12}",
        ];
        let leaf = prop_oneof![
            text.clone().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            Just(Value::Null),
        ];
        leaf.prop_recursive(3, 24, 4, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(text.clone(), inner, 0..4).prop_map(|map| json!(map)),
            ]
        })
    }

    proptest! {
        #[test]
        fn it_stays_json_without_the_address(value in any_json()) {
            let body = value.to_string();
            let other = masked(&body).unwrap_or_else(|| body.clone());
            prop_assert!(serde_json::from_str::<Value>(&other).is_ok(), "{other}");
            prop_assert_eq!(masked(&other), None);
            let lower = other.to_lowercase();
            for spelling in ["jo@acme.com", "jo%40acme.com", "jo&#64;acme.com", "jo\\u0040acme.com"] {
                prop_assert!(!lower.contains(spelling), "{other}");
            }
        }
    }
}
