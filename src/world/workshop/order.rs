//! One command, with everything about it decided.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One command, with everything about it decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// The check that asks.
    pub name: String,
    /// The program, by its absolute path, and its arguments.
    pub argv: Vec<String>,
    /// Its whole environment.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Where it starts, relative to the scratch copy; blank for its root.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub dir: String,
    /// What it reads on its standard input.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stdin: String,
    /// How long it may take, in milliseconds.
    pub timeout_ms: u64,
    /// How much it may print on both streams together, in bytes.
    pub output_bytes: u64,
    /// What it may write beside the scratch copy, absolute.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writable: Vec<String>,
    /// What it may reach.
    pub network: Network,
    /// The files that it makes and that are read after its end, relative to the scratch copy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reports: Vec<String>,
    /// What is changed in the scratch copy before it starts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<Edit>,
    /// Which try it is, from 0.
    #[serde(default)]
    pub round: u32,
}

/// A file that is written into the scratch copy before a command starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// The file, relative to the scratch copy.
    pub path: String,
    /// Its whole text.
    pub text: String,
}

/// What a command may reach over the network.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Network {
    /// Nothing.
    #[default]
    None,
    /// These ports of this machine.
    Loopback {
        /// The ports.
        ports: Vec<u16>,
    },
    /// Everything.
    Any,
}
