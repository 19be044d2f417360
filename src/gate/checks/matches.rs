//! `matches`: a text matches a pattern, or does not.

use regex::Regex;
use schemars::JsonSchema;
use serde::Deserialize;

use super::context::Context;
use super::fields::shown;
use super::probe::{Detail, Found, Probe};
use super::spec::{Flaw, Shows, Source, Spec};
use crate::gate::Cost;
use crate::quest::FieldName;

/// `kind = "matches"`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MatchesSpec {
    /// The field that is looked at.
    field: String,
    /// What is looked for, anywhere in it.
    pattern: String,
    /// Whether the pattern must not be there.
    #[serde(default)]
    never: bool,
}

#[derive(Debug)]
struct Matches {
    field: FieldName,
    pattern: Regex,
    never: bool,
}

impl Spec for MatchesSpec {
    const KIND: &'static str = "matches";
    const SHOWS: Shows = Shows::Form;

    fn build(self, source: &Source<'_>) -> Result<Box<dyn Probe>, Flaw> {
        Ok(Box::new(Matches {
            field: source.field("field", &self.field)?,
            pattern: source.pattern("pattern", &self.pattern)?,
            never: self.never,
        }))
    }
}

impl Probe for Matches {
    fn cost(&self) -> Cost {
        Cost::Local
    }

    fn look(&self, context: &Context<'_>) -> Vec<Found> {
        let Some(text) = context.field(&self.field) else {
            return Vec::new();
        };
        let found = self.pattern.find(text);
        let (expected, actual) = match (found, self.never) {
            (None, false) => (format!("a text that matches {}", self.pattern), shown(text)),
            (Some(found), true) => (
                format!("a text in which nothing matches {}", self.pattern),
                shown(found.as_str()),
            ),
            _ => return Vec::new(),
        };
        vec![Detail::new(expected, actual).on(&self.field).wrong()]
    }
}
