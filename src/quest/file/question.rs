//! `[[question]]`: what every reviewer is asked, to be answered by yes or no.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[[question]]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuestionTable {
    /// Its name, in kebab-case.
    pub id: String,
    /// The question; yes is a doubt.
    pub ask: String,
    /// What an answer of no must name, such as the sentences that were compared.
    pub checked: Option<String>,
}
