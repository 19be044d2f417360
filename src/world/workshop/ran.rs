//! What came of a command.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What came of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// How it ended.
    pub end: End,
    /// What it printed, as far as it was kept.
    pub stdout: Vec<u8>,
    /// What it printed on its error stream, as far as it was kept.
    pub stderr: Vec<u8>,
    /// The files that it was to make; none for one that it did not.
    pub reports: BTreeMap<String, Option<Vec<u8>>>,
    /// What confined it.
    pub confinement: Confinement,
    /// How long it took, in milliseconds.
    pub millis: u64,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// With this code.
    Exited(i32),
    /// By this signal.
    Signalled(i32),
    /// It was ended when its time was up.
    TimedOut,
    /// It was ended when it had printed too much.
    TooMuchOutput,
    /// It could not be started, and why.
    NotStarted(String),
}

/// What confined a command.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Confinement {
    /// The version of Landlock that guarded files; none where the kernel has it not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub landlock: Option<u32>,
    /// Whether it had processes of its own alone.
    #[serde(default)]
    pub processes: bool,
    /// Whether it had a network of its own alone.
    #[serde(default)]
    pub network: bool,
}
