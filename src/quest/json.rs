//! I-JSON (RFC 7493): JSON without duplicate names in an object.
//!
//! Of duplicate members, some readers use the first and others the last, so that they would read
//! different values from the same text.

use std::borrow::Cow;
use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

const LONGEST_NAME: usize = 60;

/// Parses `text`. Fails if it is not JSON, nests deeper than 128 levels, or has an object with
/// duplicate names.
pub fn value(text: &str) -> serde_json::Result<Value> {
    slice(text.as_bytes())
}

/// Parses bytes like [`value`].
pub fn slice(bytes: &[u8]) -> serde_json::Result<Value> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = Once.deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

/// Deserializes a value whose objects have no duplicate names.
struct Once;

impl<'de> DeserializeSeed<'de> for Once {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Once {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, truth: bool) -> Result<Value, E> {
        Ok(Value::Bool(truth))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Number(number.into()))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Number(number.into()))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Value, E> {
        let number = Number::from_f64(number);
        number
            .map(Value::Number)
            .ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Once)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            if object.contains_key(&name) {
                let name: String = name.chars().take(LONGEST_NAME).collect();
                return Err(A::Error::custom(format!(
                    "one object has {name:?} twice, and programs differ in which they use"
                )));
            }
            object.insert(name, members.next_value_seed(Once)?);
        }
        Ok(Value::Object(object))
    }
}

const LONG: usize = 6;

const REPLACED: &str = r"\ufffd";

/// The bytes of a JSON document as text, with U+FFFD for every invalid byte and for every escape of
/// half a surrogate pair.
pub fn whole_text(json: &[u8]) -> Cow<'_, str> {
    match String::from_utf8_lossy(json) {
        Cow::Borrowed(text) => paired(text),
        Cow::Owned(text) => Cow::Owned(paired(&text).into_owned()),
    }
}

/// Replaces escapes of half a surrogate pair with escapes of U+FFFD.
fn paired(json: &str) -> Cow<'_, str> {
    let (mut whole, mut kept, mut at) = (String::new(), 0, 0);
    while let Some(before) = json[at..].find('\\') {
        at += before;
        at += match (half(&json[at..]), json.get(at + LONG..).and_then(half)) {
            (Some(Half::First), Some(Half::Second)) => 2 * LONG,
            (Some(_), _) => {
                whole.push_str(&json[kept..at]);
                whole.push_str(REPLACED);
                kept = at + LONG;
                LONG
            }
            // Skip the escaped character: if it is a backslash, it does not begin an escape.
            (None, _) => 1 + json[at + 1..].chars().next().map_or(0, char::len_utf8),
        };
    }
    if kept == 0 {
        return Cow::Borrowed(json);
    }
    whole.push_str(&json[kept..]);
    Cow::Owned(whole)
}

enum Half {
    First,
    Second,
}

fn half(text: &str) -> Option<Half> {
    let digits = text.strip_prefix(r"\u")?.get(..LONG - 2)?;
    // `from_str_radix` would also accept a sign.
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    match u16::from_str_radix(digits, 16).ok()? {
        0xd800..=0xdbff => Some(Half::First),
        0xdc00..=0xdfff => Some(Half::Second),
        _ => None,
    }
}

/// Whether `value` matches `schema`.
#[cfg(test)]
pub(crate) fn is_valid(schema: &Value, value: &Value) -> bool {
    let mut compiler = boon::Compiler::new();
    compiler
        .add_resource("comail:///schema.json", schema.clone())
        .unwrap();
    let mut schemas = boon::Schemas::new();
    let index = compiler
        .compile("comail:///schema.json", &mut schemas)
        .unwrap();
    schemas.validate(value, index).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_values_like_serde_json() {
        for text in [
            r#"{"a": [1, -2, 2.5e3, "\u0041", true, null], "b": {"a": {}}}"#,
            "18446744073709551615",
            " [] ",
            r#"[{"a": 1}, {"a": 2}]"#,
            r#"{"a": 1, "A": 2, "": 3}"#,
        ] {
            let plain: Value = serde_json::from_str(text).unwrap();
            assert_eq!(value(text).unwrap(), plain, "{text}");
        }
        for text in ["", "{", "{} {}", "[1,]", "1e999", r#"{"a" 1}"#, "{1: 2}"] {
            assert!(value(text).is_err(), "{text}");
        }
        assert!(slice(b"\"\xff\"").is_err());
    }

    #[test]
    fn rejects_a_duplicate_name_with_its_place() {
        for text in [
            r#"{"a": 1, "a": 1}"#,
            r#"[{"b": {"a": 1, "c": [], "a": 2}}]"#,
            r#"{"a": 1, "\u0061": 2}"#,
        ] {
            let wrong = value(text).unwrap_err().to_string();
            assert!(wrong.contains("one object has \"a\" twice"), "{wrong}");
        }
        let wrong = value("{\n \"a\": 1,\n \"a\": 2}").unwrap_err();
        assert_eq!((wrong.line(), wrong.column()), (3, 4));
        let long = format!("\"{}\": 1", "x".repeat(9_000));
        let wrong = value(&format!("{{{long}, {long}}}")).unwrap_err();
        assert!(wrong.to_string().len() < 300);
    }

    #[test]
    fn rejects_deep_nesting_without_overflow() {
        assert!(value(&"[".repeat(1_000_000)).is_err());
        assert!(value(&"{\"a\":".repeat(1_000_000)).is_err());
    }

    #[test]
    fn replaces_only_unpaired_surrogates() {
        for (json, whole) in [
            (r#""\ud800""#, r#""\ufffd""#),
            (r#""\uDBFF\uDFFF""#, r#""\uDBFF\uDFFF""#),
            (r#""\udc00\ud800""#, r#""\ufffd\ufffd""#),
            (r#""\ud800\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\ud83d\ude00\ude00x""#, r#""\ud83d\ude00\ufffdx""#),
            (r#""\ud83dx\ude00""#, r#""\ufffdx\ufffd""#),
            (r#""\\ud800""#, r#""\\ud800""#),
            (r#""\\\ud800""#, r#""\\\ufffd""#),
            (r#""\ud83d\\ude00""#, r#""\ufffd\\ude00""#),
            (r#""\u00e9\n\ud7ff\ue000""#, r#""\u00e9\n\ud7ff\ue000""#),
        ] {
            assert_eq!(whole_text(json.as_bytes()), whole, "{json}");
        }
        assert_eq!(whole_text(b"\"\xff\\udfff\""), "\"\u{fffd}\\ufffd\"");
    }

    #[test]
    fn keeps_truncated_escapes() {
        for json in [
            r"",
            r"\",
            r"\u",
            r"\ud80",
            r"\ud80é",
            r"\u+d80",
            r"\é\",
            "\\u\u{10ffff}",
        ] {
            assert_eq!(whole_text(json.as_bytes()), json, "{json}");
        }
    }

    proptest::proptest! {
        #[test]
        fn keeps_readable_documents(text: String, other: String) {
            let json = serde_json::json!({text: other}).to_string();
            proptest::prop_assert_eq!(whole_text(json.as_bytes()), json.as_str());
        }

        #[test]
        fn makes_every_string_of_escapes_readable(codes: Vec<u16>) {
            let escape = |code: &u16| format!("\\u{code:04x}");
            let json = format!("\"{}\"", codes.iter().map(escape).collect::<String>());
            let read: String = serde_json::from_str(&whole_text(json.as_bytes())).unwrap();
            proptest::prop_assert_eq!(read, String::from_utf16_lossy(&codes));
        }
    }
}
