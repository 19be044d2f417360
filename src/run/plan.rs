//! What a run is to do, what it reports, and what can go wrong.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::Serialize;

use crate::judge::JudgeError;
use crate::quest::Key;
use crate::run::agent::{AgentCommand, AgentError, BadCommandLine};
use crate::run::detect;
use crate::run::limits::Limits;
use crate::session::{
    BadWorker, Began, DrivenAttempt, DrivenQuest, Lease, Reason, RunId, SessionError, State,
};

/// How an agent answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Answers {
    /// The agent calls `comail submit`
    Submit,
    /// The last JSON object that the agent prints is its submission
    Stdout,
    /// The agent's work is judged, for kinds without fields to submit; an agent that ends by itself
    /// is judged too, which may use a try
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
    pub crash_backoff: CrashBackoffRules,
    pub lease: Option<Lease>,
    pub dir: PathBuf,
    pub max_log_bytes: u64,
}

#[derive(Debug, Clone, Copy)]
pub struct Pace {
    pub poll: Duration,
    pub grace: Duration,
    pub last_call: Duration,
}

#[derive(Debug, Clone, Copy)]
pub struct CrashBackoffRules {
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

impl Default for CrashBackoffRules {
    fn default() -> Self {
        Self {
            first: Duration::from_secs(1),
            longest: Duration::from_secs(60),
            in_a_row: 5,
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Drive(#[from] JudgeError),
    #[error(transparent)]
    Agent(#[from] AgentError),
    #[error(transparent)]
    CommandLine(#[from] BadCommandLine),
    #[error("cannot write a prompt for the agent")]
    Prompt(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("cannot {what} {}", path.display())]
    Io {
        what: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("cannot name another start of the agent")]
    Worker(#[from] BadWorker),
    #[error("a worker thread of comail ended early")]
    Deserted,
}

impl From<SessionError> for RunError {
    fn from(error: SessionError) -> Self {
        Self::Drive(error.into())
    }
}

impl RunError {
    pub fn io(what: &'static str, path: &std::path::Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { what, path, source }
    }
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum RunEvent {
    Began {
        run: RunId,
        #[serde(flatten)]
        began: Began,
    },
    Attempt {
        key: Key,
        /// Whether it was the last call after a budget had ended.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        last_call: bool,
        #[serde(flatten)]
        attempt: DrivenAttempt,
    },
    Quest {
        key: Key,
        state: State,
        #[serde(flatten)]
        quest: DrivenQuest,
    },
    Ended {
        run: RunId,
        reason: Reason,
    },
    /// A note for people, on standard error.
    #[schemars(skip)]
    Note {
        text: String,
    },
}
