//! `[tree]`: the files that quests are about.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[tree]`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TreeTable {
    /// Its directory, relative to the quest file; `scan --tree` says otherwise, and where neither
    /// does it is the directory in which `scan` runs.
    pub root: Option<String>,
    /// The zones in which an agent may change files, as globs. What it changes elsewhere reaches
    /// no check.
    #[serde(default)]
    pub write: Vec<String>,
    /// What does not belong to the tree, as globs.
    #[serde(default)]
    pub ignore: Vec<String>,
}
