//! What stands at a place of a JSON body.

use crate::gate::Fact;
use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::kind::{Flaw, Source};
use super::super::pointer::Pointer;
use super::super::subject::brief;

/// What stands at a place of a JSON body.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct JsonAtSpec {
    /// The place, by RFC 6901; `*` stands for every item or member, of which there must be one.
    pointer: String,
    /// The value that stands there.
    equals: Option<Value>,
    /// A pattern that the whole text there matches.
    matches: Option<String>,
    /// What stands there.
    kind: Option<JsonKind>,
}

/// The kinds of JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum JsonKind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool,
    /// A number.
    Number,
    /// A text.
    String,
    /// A list.
    Array,
    /// An object.
    Object,
}

/// What must stand at a place.
#[derive(Debug)]
pub(super) struct JsonAt {
    pointer: Pointer,
    equals: Option<Value>,
    matches: Option<Regex>,
    kind: Option<JsonKind>,
}

impl JsonAtSpec {
    /// What must stand there.
    pub(super) fn read(self, source: &Source<'_>) -> Result<JsonAt, Flaw> {
        let matches = self.matches.as_deref();
        Ok(JsonAt {
            pointer: Pointer::parse("json", &self.pointer)?,
            matches: matches
                .map(|text| source.whole_pattern("json", text))
                .transpose()?,
            equals: self.equals,
            kind: self.kind,
        })
    }
}

impl JsonAt {
    /// What of `value` is not as it must be.
    pub(super) fn misfits(&self, value: &Value) -> Vec<Fact> {
        let found = self.pointer.find(value);
        if found.is_empty() {
            return vec![Fact::wrong("a value at the pointer", "an empty list").at("/")];
        }
        let misfits = found.into_iter().filter_map(|at| {
            let detail = match at.value {
                None => Some(Fact::wrong("a value", "nothing")),
                Some(value) => self.misfit(value),
            };
            detail.map(|detail| detail.at(rooted(&at.place)))
        });
        misfits.collect()
    }

    fn misfit(&self, value: &Value) -> Option<Fact> {
        let expected = if self.kind.is_some_and(|kind| kind != JsonKind::of(value)) {
            format!("a value of kind {:?}", self.kind?).to_lowercase()
        } else if self.equals.as_ref().is_some_and(|it| !same(it, value)) {
            brief(self.equals.as_ref()?)
        } else if let Some(pattern) = self.matches.as_ref().filter(|it| !text_fits(it, value)) {
            format!("a text that matches {pattern}")
        } else {
            return None;
        };
        Some(Fact::wrong(expected, brief(value)))
    }
}

impl JsonKind {
    fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Bool,
            Value::Number(_) => Self::Number,
            Value::String(_) => Self::String,
            Value::Array(_) => Self::Array,
            Value::Object(_) => Self::Object,
        }
    }
}

fn text_fits(pattern: &Regex, value: &Value) -> bool {
    value.as_str().is_some_and(|text| pattern.is_match(text))
}

/// Whether the values are equal, numbers by what they are.
fn same(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => one.total_cmp(&other).is_eq(),
        _ => one == other,
    }
}

/// A place as facts name it: the whole value is `/`.
pub(super) fn rooted(place: &str) -> &str {
    if place.is_empty() { "/" } else { place }
}
