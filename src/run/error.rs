//! What can go wrong in a run.

use std::io;
use std::path::PathBuf;

use crate::judge::DriveError;
use crate::run::agent::{AgentError, BadCommandLine};
use crate::session::{BadWorker, SessionError};

#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Drive(#[from] DriveError),
    #[error(transparent)]
    Agent(#[from] AgentError),
    #[error(transparent)]
    CommandLine(#[from] BadCommandLine),
    #[error("no prompt can be made for the agent")]
    Prompt(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("cannot {what} {}", path.display())]
    Io {
        what: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("the starts of the agent cannot be named")]
    Worker(#[from] BadWorker),
    #[error("a worker of this program ended early")]
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
