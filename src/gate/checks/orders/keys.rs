//! The keys that the tables of commands and of scripts have in common.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::quest::{ByteSize, Span};

/// What a command may reach, as a quest file spells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NetworkName {
    /// Nothing.
    None,
    /// The services that it names.
    Loopback,
    /// Everything.
    Any,
}

/// What it means that a command was still running when its time was up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnTimeout {
    /// The submission is wrong.
    #[default]
    Fail,
    /// A person must look.
    Review,
}

/// The keys that say how a command is run, whatever it is.
#[derive(Debug, Clone)]
pub struct RunKeys {
    /// Further variables.
    pub env: BTreeMap<String, String>,
    /// Variables of `scan`'s own environment.
    pub pass_env: Vec<String>,
    /// How long it may take.
    pub timeout: Span,
    /// How much it may print.
    pub output_cap: ByteSize,
    /// What it may reach.
    pub network: Option<NetworkName>,
    /// What it may write beside its copy of the tree.
    pub writable: Vec<String>,
    /// The services that must be up.
    pub services: Vec<String>,
}

/// How long a command may take where its table does not say.
#[must_use]
pub const fn a_minute() -> Span {
    Span::from_millis(60_000)
}

/// How much it may print where its table does not say.
#[must_use]
pub const fn ten_mebibytes() -> ByteSize {
    ByteSize::mebibytes(10)
}
