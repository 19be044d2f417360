//! How an agent ended, and how it is while it has not.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use crate::session::Spent;

/// How one start of an agent ended.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentEnd {
    /// Its exit code, where it ended by itself.
    pub exit: Option<i32>,
    /// The signal that ended it; where there is neither, what supervised it was killed.
    pub signal: Option<i32>,
    /// The last JSON object that it printed.
    pub answer: Option<Value>,
    /// Why the last JSON object that it printed is none that can be taken, if so.
    pub bad_answer: Option<String>,
    /// What it used up: told, or a quarter of the bytes that it read and wrote.
    pub spent: Spent,
    /// The end of what it said.
    pub tail: String,
    /// The name of its conversation, if it told one.
    pub conversation: Option<String>,
    /// Whether it was not allowed something that it wanted.
    pub denied: bool,
    /// Whether it died because its backend takes no more for now.
    pub rate_limited: bool,
    /// Whether it died because its backend does not know who it is.
    pub no_login: bool,
}

/// Signs of life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vital {
    /// The processor time of the agent and of all that it started.
    pub cpu: CpuTime,
    /// How much it has written to both its streams.
    pub written: u64,
}

/// The processor time of a tree of processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CpuTime {
    /// This much so far, also of those in it that have ended.
    Used(Duration),
    /// The system does not tell.
    Unknown,
}

/// Why an agent was not started.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// Its log could not be made.
    #[error("no log can be written to {}", path.display())]
    Log {
        /// The log.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// What was to supervise it did not start.
    #[error("what supervises the agent could not be started")]
    Supervisor(#[source] io::Error),
    /// Its program did not start.
    #[error("{program} could not be started: {why}")]
    NotStarted {
        /// The program.
        program: String,
        /// What the system said.
        why: String,
    },
}
