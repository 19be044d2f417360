//! `[[service]]`: a server that runs for the time of one judgement.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quest::Span;

/// `[[service]]`.
///
/// It listens on 127.0.0.1 at `{{ service.NAME.port }}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServiceTable {
    /// Its name.
    pub name: String,
    /// The program and its arguments, each a template.
    pub argv: Vec<String>,
    /// Further variables of its environment.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Variables of `scan`'s own environment that are frozen for it.
    #[serde(default)]
    pub pass_env: Vec<String>,
    /// How it is known that it is ready.
    #[serde(default)]
    pub ready: ReadyTable,
    /// How long it may take to be ready.
    #[serde(default = "ten_seconds")]
    pub start_within: Span,
}

/// How it is known that a service is ready: one of these, else that its port is open.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadyTable {
    /// A path that answers a GET with a status of 2xx.
    pub path: Option<String>,
    /// A pattern that a line of its output matches.
    pub line: Option<String>,
}

fn ten_seconds() -> Span {
    Span::from_millis(10_000)
}
