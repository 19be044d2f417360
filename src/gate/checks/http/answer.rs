//! What a service must answer.

use std::collections::BTreeMap;

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::context::Context;
use super::super::fields::shown;
use super::super::json::{JsonRules, Pointer, json_beside};
use super::super::kind::{Flaw, Source};
use super::super::subject::{brief, by_values, rendered};
use crate::gate::Fact;
use crate::quest::json;
use crate::quest::template::Template;
use crate::world::sandbox::CallAnswer;

#[derive(Debug, Clone)]
pub(super) struct AnswerSpec {
    pub(super) status: Vec<u16>,
    pub(super) status_of: Option<String>,
    pub(super) headers: BTreeMap<String, String>,
    pub(super) json: Vec<JsonAtSpec>,
    pub(super) schema: Option<String>,
    pub(super) schema_at: Option<String>,
}

#[derive(Debug)]
pub(super) struct AnswerRules {
    status: Statuses,
    headers: Vec<(String, Regex)>,
    json: Vec<JsonAt>,
    schema: Option<SchemaOf>,
}

#[derive(Debug)]
enum Statuses {
    Listed(Vec<u16>),
    Of(Template),
}

#[derive(Debug)]
enum SchemaOf {
    Whole(JsonRules),
    Part { document: Value, at: Template },
}

impl AnswerSpec {
    pub(super) fn is_for_service(&self) -> Result<(), Flaw> {
        let keys = [
            ("headers", !self.headers.is_empty()),
            ("json", !self.json.is_empty()),
            ("schema", self.schema.is_some()),
            ("schema_at", self.schema_at.is_some()),
            ("status_of", self.status_of.is_some()),
        ];
        match keys.into_iter().find(|(_, said)| *said) {
            Some((key, _)) => Err(Flaw::new(key, "it is for a `service` alone")),
            None => Ok(()),
        }
    }

    pub(super) fn read(self, source: &Source<'_>) -> Result<AnswerRules, Flaw> {
        let header = |(name, pattern): (String, String)| {
            let pattern = source.whole_pattern("headers", &pattern)?;
            Ok((name.to_ascii_lowercase(), pattern))
        };
        let schema = match (self.schema.as_deref(), &self.schema_at) {
            (None, None) => None,
            (Some(name), None) => {
                let rules = JsonRules::beside(source, "schema", name)?;
                Some(SchemaOf::Whole(rules))
            }
            (Some(name), Some(at)) => Some(SchemaOf::Part {
                document: json_beside(source, "schema", name)?,
                at: source.template("schema_at", at)?,
            }),
            (None, Some(_)) => {
                let what = "it is a place in a file: say `schema`";
                return Err(Flaw::new("schema_at", what));
            }
        };
        let status = match &self.status_of {
            None => Statuses::Listed(self.status),
            Some(text) if self.status.is_empty() => {
                Statuses::Of(source.template("status_of", text)?)
            }
            Some(_) => {
                let what = "say either `status` or `status_of`";
                return Err(Flaw::new("status_of", what));
            }
        };
        Ok(AnswerRules {
            status,
            headers: self
                .headers
                .into_iter()
                .map(header)
                .collect::<Result<_, Flaw>>()?,
            json: self
                .json
                .into_iter()
                .map(|spec| spec.read(source))
                .collect::<Result<_, Flaw>>()?,
            schema,
        })
    }
}

impl Statuses {
    /// Those that may be answered; of a cell that names none the quest's own list is to blame.
    fn listed(&self, context: &Context<'_>) -> Result<Vec<u16>, Fact> {
        let template = match self {
            Self::Listed(list) => return Ok(list.clone()),
            Self::Of(template) => template,
        };
        let text = rendered(context, template)?;
        let listed: Result<Vec<u16>, _> = text.split(',').map(|it| it.trim().parse()).collect();
        listed.map_err(|_| {
            let expected = "a status such as 200, or several parted by commas";
            by_values(template, Fact::wrong(expected, shown(&text)))
        })
    }
}

impl SchemaOf {
    fn misfits(&self, context: &Context<'_>, value: &Value) -> Result<Vec<(String, Fact)>, Fact> {
        let (document, at) = match self {
            Self::Whole(rules) => return Ok(rules.misfits(value)),
            Self::Part { document, at } => (document, at),
        };
        let pointer = rendered(context, at)?;
        let rules = JsonRules::at("schema_at", document, &pointer);
        let rules = rules.map_err(|flaw| {
            let expected = "a schema of what is answered";
            by_values(at, Fact::wrong(expected, flaw.what))
        })?;
        Ok(rules.misfits(value))
    }
}

impl AnswerRules {
    /// What of the answer is not as it must be.
    pub(super) fn misfits(
        &self,
        context: &Context<'_>,
        answer: &CallAnswer,
    ) -> Result<Vec<Fact>, Fact> {
        let status = self.status.listed(context)?;
        let may = if status.is_empty() {
            (200..300).contains(&answer.status)
        } else {
            status.contains(&answer.status)
        };
        if !may {
            let list: Vec<String> = status.iter().map(u16::to_string).collect();
            let list = if list.is_empty() {
                "2xx".to_owned()
            } else {
                list.join(", ")
            };
            let actual = format!("status {}", answer.status);
            return Ok(vec![Fact::wrong(format!("a status of {list}"), actual)]);
        }
        let mut details: Vec<Fact> = self
            .headers
            .iter()
            .filter_map(|(name, pattern)| header_misfit(answer, name, pattern))
            .collect();
        if !self.json.is_empty() || self.schema.is_some() {
            details.extend(self.body_misfits(context, &answer.body)?);
        }
        Ok(details)
    }

    fn body_misfits(&self, context: &Context<'_>, body: &[u8]) -> Result<Vec<Fact>, Fact> {
        let value = match json::slice(body) {
            Ok(value) => value,
            Err(error) => {
                let actual = shown(&error.to_string());
                return Ok(vec![Fact::wrong("a body of JSON", actual)]);
            }
        };
        let places = self.json.iter().flat_map(|at| at.misfits(&value));
        let schema = match &self.schema {
            Some(schema) => schema.misfits(context, &value)?,
            None => Vec::new(),
        };
        let schema = schema.into_iter();
        let schema = schema.map(|(place, detail)| detail.at(rooted(&place)));
        Ok(places.chain(schema).collect())
    }
}

fn header_misfit(answer: &CallAnswer, name: &str, pattern: &Regex) -> Option<Fact> {
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
    Some(Fact::wrong(expected, actual))
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

#[derive(Debug)]
pub(super) struct JsonAt {
    pointer: Pointer,
    equals: Option<Value>,
    matches: Option<Regex>,
    kind: Option<JsonKind>,
}

impl JsonAtSpec {
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
