//! What can go wrong in a run.

use std::io;
use std::path::PathBuf;

use crate::judge::DriveError;
use crate::run::agent::{AgentError, BadCommandLine};
use crate::session::{BadWorker, SessionError};

/// What can go wrong in a run; what was recorded before stays.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The session, or the gate.
    #[error(transparent)]
    Drive(#[from] DriveError),
    /// The agent cannot be started.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// There is no command line for the agent.
    #[error(transparent)]
    CommandLine(#[from] BadCommandLine),
    /// The prompt cannot be made.
    #[error("no prompt can be made for the agent")]
    Prompt(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A file of the run's own.
    #[error("cannot {what} {}", path.display())]
    Io {
        /// What was to be done with it.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The starts have been counted too far.
    #[error("the starts of the agent cannot be named")]
    Worker(#[from] BadWorker),
    /// A thread of it ended early.
    #[error("a worker of this program ended early")]
    Deserted,
}

impl From<SessionError> for RunError {
    fn from(error: SessionError) -> Self {
        Self::Drive(error.into())
    }
}

impl RunError {
    /// What the system said of a file.
    pub fn io(what: &'static str, path: &std::path::Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { what, path, source }
    }
}
