//! What a run is to do, and how it goes about it.

use std::path::PathBuf;
use std::time::Duration;

use crate::run::agent::AgentCommand;
use crate::run::detect;
use crate::run::limits::Limits;
use crate::session::{Lease, RunId};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answers {
    Submit,
    Stdout,
    World,
}

#[derive(Debug)]
pub struct Plan {
    pub run: RunId,
    pub command: AgentCommand,
    pub model: Option<String>,
    pub answers: Answers,
    pub resume: bool,
    pub workers: u32,
    pub limits: Limits,
    pub detectors: detect::Settings,
    pub pace: Pace,
    pub dying: DyingRules,
    pub lease: Option<Lease>,
    pub dir: PathBuf,
    pub most_log_bytes: u64,
}

#[derive(Debug, Clone, Copy)]
pub struct Pace {
    pub poll: Duration,
    pub grace: Duration,
    pub last_call: Duration,
}

#[derive(Debug, Clone, Copy)]
pub struct DyingRules {
    pub within: Duration,
    pub first: Duration,
    pub longest: Duration,
    pub in_a_row: u32,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            poll: Duration::from_millis(100),
            grace: Duration::from_secs(5),
            last_call: Duration::from_secs(60),
        }
    }
}

impl Default for DyingRules {
    fn default() -> Self {
        Self {
            within: Duration::from_secs(2),
            first: Duration::from_secs(1),
            longest: Duration::from_secs(60),
            in_a_row: 5,
        }
    }
}
