//! What became of an order.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::confinement::Confinement;

/// What became of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// How it ended.
    pub end: End,
    /// What it wrote to stdout; both together hold at most what the order allows.
    pub stdout: Vec<u8>,
    /// What it wrote to stderr.
    pub stderr: Vec<u8>,
    /// What each report held; nothing where no regular file of at most 16 MiB was there.
    pub reports: BTreeMap<String, Option<Vec<u8>>>,
    /// What was in force.
    pub confinement: Confinement,
    /// How long it took, with its start and what had to be cleared away.
    pub millis: u64,
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// It exited by itself, with this code.
    Exited(i32),
    /// This signal ended it.
    Signalled(i32),
    /// It was killed because its time was over, whatever its exit code was then.
    TimedOut,
    /// It was killed because it wrote more than it may.
    TooMuchOutput,
    /// It never ran, for this reason.
    NotStarted(String),
    /// It ran, and what it said is kept from everybody, for this reason.
    Withheld(String),
}

impl End {
    /// Whether it exited by itself with code 0.
    #[must_use]
    pub fn is_success(&self) -> bool {
        *self == Self::Exited(0)
    }
}
