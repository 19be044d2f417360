//! `[fixer]`: a command that mends what checks with `on_fail = "fix"` found wrong.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::Deserialize;

use super::reviewer::ReviewerNetwork;
use crate::quest::{ByteSize, Span};

/// `[fixer]`.
///
/// It is the operator's program, and runs in the working tree itself, where it may write. It is
/// started when a submission failed by checks with `on_fail = "fix"` alone, and reads
/// `{"quest": {"id", "key", "input"}, "facts": [{"rule", "expected", "actual", …}]}` on its standard
/// input. When it has ended well, and something in the zones has changed, the same submission is
/// judged again: an attempt like any other.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixerTable {
    /// The program and its arguments, the same for every quest.
    pub argv: Vec<String>,
    /// Further variables of its environment.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The names of variables that are passed on to it when it is run. Their values are never kept.
    #[serde(default)]
    pub pass: Vec<String>,
    /// What it may reach.
    pub network: Option<ReviewerNetwork>,
    /// What it may write beside the tree, absolute.
    #[serde(default)]
    pub writable: Vec<String>,
    /// How long it may take.
    #[serde(default = "ten_minutes")]
    pub timeout: Span,
    /// How much it may print.
    #[serde(default = "a_mebibyte")]
    pub output_cap: ByteSize,
    /// How often it is started for one submission.
    #[serde(default = "three_times")]
    pub max_fixes: NonZeroU32,
}

const fn ten_minutes() -> Span {
    Span::from_millis(600_000)
}

const fn a_mebibyte() -> ByteSize {
    ByteSize::mebibytes(1)
}

const fn three_times() -> NonZeroU32 {
    NonZeroU32::MIN.saturating_add(2)
}
