//! Places in a JSON value: RFC 6901, and `*` for every item of a list or member of an object.

use serde_json::Value;

use super::kind::Flaw;

/// A place, or several, in a JSON value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Pointer(Vec<String>);

/// What stands at a place that was looked for; none where there is nothing.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct At<'v> {
    /// The place, as RFC 6901 writes it.
    pub(super) place: String,
    /// What stands there.
    pub(super) value: Option<&'v Value>,
}

impl Pointer {
    /// The pointer that `text` writes.
    pub(super) fn parse(key: &'static str, text: &str) -> Result<Self, Flaw> {
        let Some(rest) = text.strip_prefix('/') else {
            return match text {
                "" => Ok(Self(Vec::new())),
                _ => Err(Flaw::new(
                    key,
                    format!("`{text}`: expected a JSON pointer such as `/items/0` or `/items/*`"),
                )),
            };
        };
        let unescaped = |name: &str| name.replace("~1", "/").replace("~0", "~");
        Ok(Self(rest.split('/').map(unescaped).collect()))
    }

    /// What stands there, in the order of the value.
    pub(super) fn find<'v>(&self, value: &'v Value) -> Vec<At<'v>> {
        let mut found = Vec::new();
        collect(value, &self.0, String::new(), &mut found);
        found
    }
}

fn collect<'v>(value: &'v Value, names: &[String], place: String, found: &mut Vec<At<'v>>) {
    let Some((name, rest)) = names.split_first() else {
        let value = Some(value);
        found.push(At { place, value });
        return;
    };
    let inside = |name: &str| format!("{place}/{}", escaped(name));
    match (value, name.as_str()) {
        (Value::Array(items), "*") => {
            for (index, item) in items.iter().enumerate() {
                collect(item, rest, inside(&index.to_string()), found);
            }
        }
        (Value::Object(members), "*") => {
            for (name, member) in members {
                collect(member, rest, inside(name), found);
            }
        }
        (value, name) => match child(value, name) {
            Some(child) => collect(child, rest, inside(name), found),
            None => found.push(At {
                place: inside(name),
                value: None,
            }),
        },
    }
}

fn child<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    match value {
        Value::Object(members) => members.get(name),
        Value::Array(items) => {
            let index: usize = name.parse().ok()?;
            // An index has one spelling.
            items.get(index).filter(|_| index.to_string() == name)
        }
        _ => None,
    }
}

fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn places(pointer: &str, value: &Value) -> Vec<(String, bool)> {
        let pointer = Pointer::parse("pointer", pointer).unwrap();
        let found = pointer.find(value).into_iter();
        found.map(|at| (at.place, at.value.is_some())).collect()
    }

    #[test]
    fn finds_one_place_or_all_of_a_list() {
        let value = json!({"a/b": [{"x": 1}, {"y": 2}], "m~n": {"x": 0}});
        assert_eq!(places("", &value), [(String::new(), true)]);
        assert_eq!(places("/a~1b/0/x", &value), [("/a~1b/0/x".into(), true)]);
        assert_eq!(
            places("/a~1b/*/x", &value),
            [("/a~1b/0/x".into(), true), ("/a~1b/1/x".into(), false)]
        );
        assert_eq!(places("/m~0n/*", &value), [("/m~0n/x".into(), true)]);
    }

    #[test]
    fn what_is_not_there_is_said_to_be_missing() {
        let value = json!({"items": []});
        assert_eq!(places("/items/0", &value), [("/items/0".into(), false)]);
        assert_eq!(places("/items/00", &value), [("/items/00".into(), false)]);
        assert_eq!(places("/no/where", &value), [("/no".into(), false)]);
        assert_eq!(places("/items/*", &value), []);
        assert!(Pointer::parse("pointer", "items").is_err());
    }
}
