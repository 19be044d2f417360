//! I-JSON (RFC 7493): JSON in which no object says one name twice.
//!
//! Of two members of one name some readers take the first and some the last, so that such a text
//! tells two readers two things.

use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// The longest name that an error repeats, in characters.
const LONGEST_NAME: usize = 60;

/// The value that `text` writes.
///
/// # Errors
///
/// The text is no JSON, nests deeper than 128 lists and objects, or has an object with two members
/// of one name; with the line and column of it.
pub fn value(text: &str) -> serde_json::Result<Value> {
    slice(text.as_bytes())
}

/// The value that the bytes write, as [`value`] reads it.
///
/// # Errors
///
/// Those of [`value`]; and the bytes are no UTF-8.
pub fn slice(bytes: &[u8]) -> serde_json::Result<Value> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = Once.deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

/// Reads a value whose objects say each name once.
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
                    "one object says {name:?} twice, and readers differ in which they take"
                )));
            }
            object.insert(name, members.next_value_seed(Once)?);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_as_any_reader_reads_it() {
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
    fn a_name_that_stands_twice_is_refused_where_it_stands() {
        for text in [
            r#"{"a": 1, "a": 1}"#,
            r#"[{"b": {"a": 1, "c": [], "a": 2}}]"#,
            r#"{"a": 1, "\u0061": 2}"#,
        ] {
            let wrong = value(text).unwrap_err().to_string();
            assert!(wrong.contains("one object says \"a\" twice"), "{wrong}");
        }
        let wrong = value("{\n \"a\": 1,\n \"a\": 2}").unwrap_err();
        assert_eq!((wrong.line(), wrong.column()), (3, 4));
        let long = format!("\"{}\": 1", "x".repeat(9_000));
        let wrong = value(&format!("{{{long}, {long}}}")).unwrap_err();
        assert!(wrong.to_string().len() < 300);
    }

    #[test]
    fn depth_overflows_nothing() {
        assert!(value(&"[".repeat(1_000_000)).is_err());
        assert!(value(&"{\"a\":".repeat(1_000_000)).is_err());
    }
}
