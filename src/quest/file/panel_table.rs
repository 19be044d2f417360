//! `[panel]`: how many reviewers must have answered, and when they doubt together.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[panel]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PanelTable {
    /// How many of those that answered must doubt.
    #[serde(default)]
    pub threshold: Threshold,
    /// The fewest reviewers that must have answered a question; at least 2.
    #[serde(default = "two")]
    pub quorum: u32,
    /// How often the agent is first sent the doubts as facts, each time for a try and never for
    /// the last one; at most 10, and fewer than `max_tries`. A doubt stands until what it quotes
    /// is gone from what that reviewer sees.
    #[serde(default)]
    pub revisions: u32,
}

/// How many of the reviewers that answered must doubt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Threshold {
    /// Half of them: a tie is a doubt. A question is cleared where it would be still if all who
    /// are silent had doubted, so of three one may be silent.
    #[default]
    Majority,
    /// One; so a question is cleared by all of them, and by no fewer.
    Any,
}

const fn two() -> u32 {
    2
}

impl Default for PanelTable {
    fn default() -> Self {
        Self {
            threshold: Threshold::default(),
            quorum: two(),
            revisions: 0,
        }
    }
}
