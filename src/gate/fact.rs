//! What a check found, in a form that an agent can act on.

use std::borrow::Borrow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Cause, Level, RuleId};
use crate::quest::FieldName;

/// What was found: never an opinion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fact {
    /// The rule that fired.
    pub rule: RuleId,
    /// The level in force when it fired.
    pub level: Level,
    /// Why the rule fires.
    #[serde(default, skip_serializing_if = "Cause::is_wrong")]
    pub cause: Cause,
    /// The field that it is about, where it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<FieldName>,
    /// Where it was found: a URL, a DNS name, a place in a page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// What would have let the check pass.
    pub expected: String,
    /// What was found instead.
    pub actual: String,
    /// How many of its kind there are; the fact shows the first.
    pub count: u32,
}

impl Fact {
    /// A fact of this rule. The gate looks up the rule's level and cause.
    #[must_use]
    pub fn new(rule: &'static str, expected: impl Into<String>, actual: impl Into<String>) -> Self {
        Self {
            rule: RuleId::known(rule),
            ..Self::wrong(expected, actual)
        }
    }

    /// A fact that contradicts the submission. The check that found it fills in its own rule.
    #[must_use]
    pub fn wrong(expected: impl Into<String>, actual: impl Into<String>) -> Self {
        Self {
            rule: RuleId::known(""),
            // A fact that nothing fills in must not let a submission through.
            level: Level::Fail,
            cause: Cause::Wrong,
            field: None,
            location: None,
            expected: expected.into(),
            actual: actual.into(),
            count: 1,
        }
    }

    /// The same fact, when the world could not say whether the submission is wrong.
    #[must_use]
    pub fn unconfirmed(mut self) -> Self {
        self.cause = Cause::Unanswered;
        self
    }

    #[must_use]
    pub fn on(mut self, field: impl Borrow<FieldName>) -> Self {
        self.field = Some(field.borrow().clone());
        self
    }

    #[must_use]
    pub fn at(mut self, location: impl Into<String>) -> Self {
        self.location = Some(location.into());
        self
    }

    #[must_use]
    pub fn times(mut self, count: u32) -> Self {
        self.count = count;
        self
    }
}
