//! `[[plant]]`: a defect that is known, by which reviewers are judged themselves.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[[plant]]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlantTable {
    /// Its name, in kebab-case.
    pub name: String,
    /// The inputs that it takes the place of; the others are those of the case in hand.
    pub sees: BTreeMap<String, String>,
    /// The questions that must be doubted. None: nothing is wrong with it, and it measures how
    /// often a reviewer doubts for nothing.
    #[serde(default)]
    pub doubts: Vec<String>,
}
