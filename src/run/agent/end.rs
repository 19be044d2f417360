//! How an agent ended, and how it is while it has not.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use crate::session::Spent;

#[derive(Debug, Clone, PartialEq)]
pub struct AgentEnd {
    pub exit: Option<i32>,
    // Neither `exit` nor `signal` is set when the agent's supervisor was killed.
    pub signal: Option<i32>,
    pub answer: Option<Value>,
    pub bad_answer: Option<String>,
    pub spent: Spent,
    pub tail: String,
    pub conversation: Option<String>,
    pub denied: bool,
    pub rate_limited: bool,
    pub no_login: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vital {
    pub cpu: CpuTime,
    pub written: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CpuTime {
    Used(Duration),
    Unknown,
}

#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    #[error("no log can be written to {}", path.display())]
    Log { path: PathBuf, source: io::Error },
    #[error("what supervises the agent could not be started")]
    Supervisor(#[source] io::Error),
    #[error("{program} could not be started: {why}")]
    NotStarted { program: String, why: String },
}
