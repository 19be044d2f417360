//! What a run is to do, and how it goes about it.

use std::path::PathBuf;
use std::time::Duration;

use crate::run::agent::AgentCommand;
use crate::run::detect;
use crate::run::limits::Limits;
use crate::session::{Lease, RunId};

/// How the agent answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answers {
    /// It calls `comail submit` itself.
    Submit,
    /// The last JSON object that it prints is its submission.
    Stdout,
    /// By what it does in the world: there is nothing to submit.
    World,
}

/// What a run is to do.
#[derive(Debug)]
pub struct Plan {
    /// Its name.
    pub run: RunId,
    /// What is started.
    pub command: AgentCommand,
    /// The model that the agent is to use.
    pub model: Option<String>,
    /// How the agent answers.
    pub answers: Answers,
    /// Whether a further start for a quest goes on with the agent's own conversation.
    pub resume: bool,
    /// How many agents work at once.
    pub workers: u32,
    /// How much may be used up.
    pub limits: Limits,
    /// What the detectors go by.
    pub detectors: detect::Settings,
    /// How often is looked, and how long is waited.
    pub pace: Pace,
    /// What is done about agents that die at their start.
    pub dying: DyingRules,
    /// How long a claim lasts; where not said, as long as the session froze.
    pub lease: Option<Lease>,
    /// Where the agent works.
    pub dir: PathBuf,
    /// How much of an agent's output is kept in its log.
    pub most_log_bytes: u64,
}

/// How often is looked, and how long is waited.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// How often is looked where a quest stands.
    pub poll: Duration,
    /// How long an agent that was asked to end may take over it.
    pub grace: Duration,
    /// How long the last call for a quest may take.
    pub last_call: Duration,
}

/// What is done about agents that die at their start.
#[derive(Debug, Clone, Copy)]
pub struct DyingRules {
    /// An agent that fails sooner than this, and has done nothing, died at its start.
    pub within: Duration,
    /// The pause after the first; each further one in a row doubles it.
    pub first: Duration,
    /// The longest pause.
    pub longest: Duration,
    /// So many in a row end the run.
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
