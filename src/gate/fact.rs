//! What a check found, in a form that an agent can act on.

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
    /// What is so instead.
    pub actual: String,
    /// How many of its kind there are; the fact shows the first.
    pub count: u32,
}
