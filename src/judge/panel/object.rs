//! A JSON object, where a derived reader would take an array of its values as well.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

#[derive(Debug)]
pub(super) struct Object<T>(pub(super) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Keys(PhantomData)).map(Self)
    }
}

/// Takes keys with their values, and nothing else.
struct Keys<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Keys<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Pair {
        one: u32,
        two: Option<u32>,
    }

    #[test]
    fn keys_are_named_and_each_once() {
        let read = |text: &str| serde_json::from_str::<Object<Pair>>(text);
        let Object(pair) = read(r#"{"one":1}"#).unwrap();
        assert_eq!((pair.one, pair.two), (1, None));
        assert!(
            serde_json::from_str::<Pair>("[1,2]").is_ok(),
            "what it is for"
        );
        for bad in [
            "[1,2]",
            r#"{"one":1,"one":1}"#,
            r#"{"one":1,"three":1}"#,
            "1",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
