//! One line of JSON Lines: its members, as they are spelled.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members of an object, in the order in which their names come first; of a name that comes
/// again, the last value.
///
/// Values are not looked into, so however deep they nest is nothing to it.
#[derive(Debug)]
pub(super) struct Members<'a>(pub(super) Vec<(String, &'a RawValue)>);

/// Why a line is none of JSON Lines.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NotAnObject {
    /// The character at which that shows, counted from 1.
    pub(super) column: usize,
    /// What is wrong.
    pub(super) what: String,
}

impl<'a> Members<'a> {
    /// The members of the object that `line` spells.
    pub(super) fn of(line: &'a str) -> Result<Self, NotAnObject> {
        serde_json::from_str(line).map_err(|error| not_an_object(line, 0, &error))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Object)
    }
}

struct Object;

impl<'de> Visitor<'de> for Object {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members: Vec<(String, &RawValue)> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        while let Some((name, value)) = map.next_entry::<String, &RawValue>()? {
            if let Some(place) = places.get(&name) {
                members[*place].1 = value;
            } else {
                places.insert(name.clone(), members.len());
                members.push((name, value));
            }
        }
        Ok(Members(members))
    }
}

/// The text of a value in `line`: a string's own, none of null, and of others their JSON without
/// white space.
pub(super) fn text<'a>(line: &str, value: &'a RawValue) -> Result<Cow<'a, str>, NotAnObject> {
    let json = value.get();
    match json.as_bytes().first() {
        Some(b'"') => serde_json::from_str::<String>(json)
            .map(Cow::Owned)
            .map_err(|error| {
                // The value is a part of the line.
                let before = json.as_ptr().addr().saturating_sub(line.as_ptr().addr());
                not_an_object(line, before, &error)
            }),
        Some(b'n') => Ok(Cow::Borrowed("")),
        Some(b'{' | b'[') => Ok(Cow::Owned(compact(json))),
        _ => Ok(Cow::Borrowed(json)),
    }
}

/// The same JSON without white space between its parts.
fn compact(json: &str) -> String {
    let (mut quoted, mut escaped) = (false, false);
    let mut kept = String::with_capacity(json.len());
    for character in json.chars() {
        if quoted {
            quoted = escaped || character != '"';
            escaped = !escaped && character == '\\';
        } else if character.is_ascii_whitespace() {
            continue;
        } else {
            quoted = character == '"';
        }
        kept.push(character);
    }
    kept
}

/// What `error` says of the part of `line` that begins after so many bytes.
fn not_an_object(line: &str, before: usize, error: &serde_json::Error) -> NotAnObject {
    let bytes = line.bytes().take(before + error.column());
    // Bytes that go on with a character are none of their own.
    let characters = bytes.filter(|byte| byte & 0xc0 != 0x80).count();
    let said = error.to_string();
    let what = said
        .rsplit_once(" at line ")
        .map_or(said.as_str(), |(what, _)| what);
    NotAnObject {
        column: characters.max(1),
        what: what.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(line: &str) -> Vec<(String, String)> {
        let members = Members::of(line).unwrap();
        let pairs = members.0.into_iter();
        pairs
            .map(|(name, value)| (name, text(line, value).unwrap().into_owned()))
            .collect()
    }

    fn text_of(value: &str) -> String {
        texts(&format!("{{\"a\": {value} }}"))[0].1.clone()
    }

    #[test]
    fn values_have_the_text_that_people_expect() {
        for (value, expected) in [
            (r#""a\n\u00e9 \"b\"""#, "a\né \"b\""),
            ("null", ""),
            ("true", "true"),
            ("-1.50e+400", "-1.50e+400"),
            (
                "123456789012345678901234567890",
                "123456789012345678901234567890",
            ),
            (
                r#"[ 1, "a b" , {"x" : "\" ," } ]"#,
                r#"[1,"a b",{"x":"\" ,"}]"#,
            ),
            (r#"{ "c:\\" : [ ] }"#, r#"{"c:\\":[]}"#),
        ] {
            assert_eq!(text_of(value), expected);
        }
    }

    #[test]
    fn of_a_name_that_comes_again_the_last_value_counts_in_the_first_place() {
        let pairs = texts(r#"{"a":1,"b":2,"\u0061":null}"#);
        assert_eq!(
            pairs,
            [("a".into(), String::new()), ("b".into(), "2".into())]
        );
    }

    #[test]
    fn what_is_no_object_is_told_with_its_place() {
        for (line, column, what) in [
            ("[1]", 1, "invalid type: sequence, expected an object"),
            ("\"é\"", 3, "invalid type: string \"é\", expected an object"),
            ("{\"é\": tru}", 10, "expected ident"),
            ("{\"a\":1} x", 9, "trailing characters"),
            ("{\"a\":1", 6, "EOF while parsing an object"),
            ("{'a':1}", 2, "key must be a string"),
        ] {
            let refused = Members::of(line).unwrap_err();
            assert_eq!(
                (refused.column, refused.what.as_str()),
                (column, what),
                "{line}"
            );
        }
        let line = r#"{"é": "\ud800"}"#;
        let members = Members::of(line).unwrap();
        let refused = text(line, members.0[0].1).unwrap_err();
        assert_eq!(refused.column, 14, "{refused:?}");
    }

    #[test]
    fn nesting_may_be_as_deep_as_it_likes() {
        let deep = format!("{}{}", "[ ".repeat(300_000), "]".repeat(300_000));
        assert_eq!(text_of(&deep).len(), 600_000);
        assert!(Members::of(&deep).is_err());
        assert!(Members::of(&format!("{{\"a\":{}", "{\"a\":".repeat(300_000))).is_err());
    }
}
