//! `[[control]]`: a known submission with the verdict that it must get.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quest::Verdict;

/// `[[control]]`.
///
/// Paths in it are relative to the quest file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ControlTable {
    /// Its name.
    pub name: String,
    /// The key of its quest.
    pub key: String,
    /// The cells of its quest's row that checks and the prompt go by.
    #[serde(default)]
    pub input: BTreeMap<String, String>,
    /// The site that the list names for its quest.
    pub anchor_site: Option<String>,
    /// Whether it is judged as with `scan --role-only`.
    #[serde(default)]
    pub role_only: bool,
    /// The fields that are submitted.
    #[serde(default)]
    pub submit: BTreeMap<String, String>,
    /// The verdict that it must get.
    #[schemars(with = "String", extend("enum" = ["PASS", "REVIEW", "FAIL"]))]
    pub verdict: Verdict,
    /// The rules that must fire, and no others. Where it is not said any may.
    pub fires: Option<Vec<String>>,
    /// A directory that stands in for the tree as `scan` finds it.
    pub tree: Option<String>,
    /// A directory whose files stand in for what the agent wrote into the tree.
    pub writes: Option<String>,
    /// A recorded world, as JSON, that stands in for pages and DNS.
    pub world: Option<String>,
    /// Values that count as taken by quests which passed before, by the field's name; an address
    /// takes its domain as well.
    #[serde(default)]
    pub taken: BTreeMap<String, String>,
    /// What each reviewer answers, by its name: nobody is asked. Where it is not said no reviewer
    /// is heard.
    pub reviewed: Option<BTreeMap<String, String>>,
}
