//! What a service must answer.

use std::collections::BTreeMap;

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::fields::shown;
use super::super::json_schema::JsonRules;
use super::super::pointer::Pointer;
use super::super::probe::Detail;
use super::super::spec::{Flaw, Source};
use super::super::subject::brief;
use crate::world::workshop::CallAnswer;

/// The keys of the table that say what must be answered.
#[derive(Debug, Clone)]
pub(super) struct AnswerSpec {
    pub(super) status: Vec<u16>,
    pub(super) headers: BTreeMap<String, String>,
    pub(super) json: Vec<JsonAtSpec>,
    pub(super) schema: Option<String>,
}

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

/// What a service must answer.
#[derive(Debug)]
pub(super) struct AnswerRules {
    status: Vec<u16>,
    headers: Vec<(String, Regex)>,
    json: Vec<JsonAt>,
    schema: Option<JsonRules>,
}

#[derive(Debug)]
struct JsonAt {
    pointer: Pointer,
    equals: Option<Value>,
    matches: Option<Regex>,
    kind: Option<JsonKind>,
}

impl AnswerSpec {
    /// Refuses keys that mean nothing without a service.
    pub(super) fn is_for_service(&self) -> Result<(), Flaw> {
        let keys = [
            ("headers", !self.headers.is_empty()),
            ("json", !self.json.is_empty()),
            ("schema", self.schema.is_some()),
        ];
        match keys.into_iter().find(|(_, said)| *said) {
            Some((key, _)) => Err(Flaw::new(key, "it is for a `service` alone")),
            None => Ok(()),
        }
    }

    /// The rules that it stands for.
    pub(super) fn read(self, source: &Source<'_>) -> Result<AnswerRules, Flaw> {
        let header = |(name, pattern): (String, String)| {
            let pattern = source.whole_pattern("headers", &pattern)?;
            Ok((name.to_ascii_lowercase(), pattern))
        };
        let place = |spec: JsonAtSpec| {
            let matches = spec.matches.as_deref();
            Ok(JsonAt {
                pointer: Pointer::parse("json", &spec.pointer)?,
                matches: matches
                    .map(|text| source.whole_pattern("json", text))
                    .transpose()?,
                equals: spec.equals,
                kind: spec.kind,
            })
        };
        let schema = self.schema.as_deref();
        Ok(AnswerRules {
            status: self.status,
            headers: self
                .headers
                .into_iter()
                .map(header)
                .collect::<Result<_, Flaw>>()?,
            json: self
                .json
                .into_iter()
                .map(place)
                .collect::<Result<_, Flaw>>()?,
            schema: schema
                .map(|name| JsonRules::beside(source, "schema", name))
                .transpose()?,
        })
    }
}

impl AnswerRules {
    /// What of the answer is not as it must be.
    pub(super) fn misfits(&self, answer: &CallAnswer) -> Vec<Detail> {
        let may = if self.status.is_empty() {
            (200..300).contains(&answer.status)
        } else {
            self.status.contains(&answer.status)
        };
        if !may {
            let list: Vec<String> = self.status.iter().map(u16::to_string).collect();
            let list = if list.is_empty() {
                "2xx".to_owned()
            } else {
                list.join(", ")
            };
            let actual = format!("status {}", answer.status);
            return vec![Detail::new(format!("a status of {list}"), actual)];
        }
        let mut details: Vec<Detail> = self
            .headers
            .iter()
            .filter_map(|(name, pattern)| header_misfit(answer, name, pattern))
            .collect();
        if !self.json.is_empty() || self.schema.is_some() {
            details.extend(self.body_misfits(&answer.body));
        }
        details
    }

    fn body_misfits(&self, body: &[u8]) -> Vec<Detail> {
        let value: Value = match serde_json::from_slice(body) {
            Ok(value) => value,
            Err(error) => {
                let actual = shown(&error.to_string());
                return vec![Detail::new("a body of JSON", actual)];
            }
        };
        let places = self.json.iter().flat_map(|at| at.misfits(&value));
        let schema = self.schema.iter().flat_map(|schema| schema.misfits(&value));
        let schema = schema.map(|(place, detail)| detail.at(rooted(&place)));
        places.chain(schema).collect()
    }
}

fn header_misfit(answer: &CallAnswer, name: &str, pattern: &Regex) -> Option<Detail> {
    let mut values = answer.headers.iter().filter(|(it, _)| it == name);
    let values: Vec<&str> = values.by_ref().map(|(_, value)| value.as_str()).collect();
    if values.iter().any(|value| pattern.is_match(value)) {
        return None;
    }
    let actual = if values.is_empty() {
        "none".to_owned()
    } else {
        shown(&values.join(", "))
    };
    let expected = format!("a header {name} that matches {pattern}");
    Some(Detail::new(expected, actual))
}

impl JsonAt {
    fn misfits(&self, value: &Value) -> Vec<Detail> {
        let found = self.pointer.find(value);
        if found.is_empty() {
            return vec![Detail::new("a value at the pointer", "an empty list").at("/")];
        }
        let misfits = found.into_iter().filter_map(|at| {
            let detail = match at.value {
                None => Some(Detail::new("a value", "nothing")),
                Some(value) => self.misfit(value),
            };
            detail.map(|detail| detail.at(rooted(&at.place)))
        });
        misfits.collect()
    }

    fn misfit(&self, value: &Value) -> Option<Detail> {
        let expected = if self.kind.is_some_and(|kind| kind != JsonKind::of(value)) {
            format!("a value of kind {:?}", self.kind?).to_lowercase()
        } else if self.equals.as_ref().is_some_and(|it| !same(it, value)) {
            brief(self.equals.as_ref()?)
        } else if let Some(pattern) = self.matches.as_ref().filter(|it| !text_fits(it, value)) {
            format!("a text that matches {pattern}")
        } else {
            return None;
        };
        Some(Detail::new(expected, brief(value)))
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
fn rooted(place: &str) -> &str {
    if place.is_empty() { "/" } else { place }
}
