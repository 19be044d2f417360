//! What a service must answer.

use crate::gate::Fact;
use std::collections::BTreeMap;

use regex::Regex;
use serde_json::Value;

use super::super::context::Context;
use super::super::fields::shown;
use super::super::json_schema::{JsonRules, json_beside};
use super::super::kind::{Flaw, Source};
use super::super::made_up::{by_values, rendered};
use super::json_at::{JsonAt, JsonAtSpec, rooted};
use crate::quest::json;
use crate::quest::template::Template;
use crate::world::sandbox::CallAnswer;

/// The keys of the table that say what must be answered.
#[derive(Debug, Clone)]
pub(super) struct AnswerSpec {
    pub(super) status: Vec<u16>,
    pub(super) status_of: Option<String>,
    pub(super) headers: BTreeMap<String, String>,
    pub(super) json: Vec<JsonAtSpec>,
    pub(super) schema: Option<String>,
    pub(super) schema_at: Option<String>,
}

/// What a service must answer.
#[derive(Debug)]
pub(super) struct AnswerRules {
    status: Statuses,
    headers: Vec<(String, Regex)>,
    json: Vec<JsonAt>,
    schema: Option<SchemaOf>,
}

/// The statuses that may be answered.
#[derive(Debug)]
enum Statuses {
    Listed(Vec<u16>),
    Of(Template),
}

/// The schema of the body.
#[derive(Debug)]
enum SchemaOf {
    Whole(JsonRules),
    Part { document: Value, at: Template },
}

impl AnswerSpec {
    /// Refuses keys that mean nothing without a service.
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

    /// The rules that it stands for.
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
