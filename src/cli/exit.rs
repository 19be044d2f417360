//! The one place where outcomes and errors become exit codes.

use std::process::ExitCode;

use crate::session::SessionError;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done; `next` gave a quest; `submit` locked PASS or REVIEW.
    Done,
    /// An error; nothing changed.
    Error,
    /// Bad usage; nothing changed.
    Usage,
    /// `next`: nothing is TODO.
    Complete,
    /// `next`: nothing is free, the rest is claimed by other workers or waits for other quests.
    NoneFree,
    /// `submit`: FAIL, the quest is still TODO.
    Failed,
    /// `submit`: FAIL, and now DONE.
    FailedAndDone,
    /// `submit`: the quest is locked, waits for another, or another worker holds it; nothing
    /// changed.
    Locked,
    /// A finding, such as a ledger whose chain does not hold, or a session that is not complete.
    Finding,
    /// The session is paused; nothing changed.
    Paused,
    /// Ended by Ctrl-C; what was done is kept.
    Interrupted,
}

impl Exit {
    /// The number.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Error => 1,
            Self::Usage => 2,
            Self::Complete => 3,
            Self::NoneFree => 4,
            Self::Failed => 5,
            Self::FailedAndDone => 6,
            Self::Locked => 7,
            Self::Finding => 8,
            Self::Paused => 9,
            Self::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// An error in how the program was called.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);

/// A finding that ends a command.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Found(pub SessionError);

/// What is wrong with a ledger that is folded whole is a finding, not an error.
pub fn found<T>(result: Result<T, SessionError>) -> anyhow::Result<T> {
    result.map_err(|error| match error {
        SessionError::Damaged { .. } | SessionError::ManifestChanged { .. } => Found(error).into(),
        other => other.into(),
    })
}

/// The exit of a command that tells whether a session is complete.
#[must_use]
pub fn of_completeness(complete: bool) -> Exit {
    if complete { Exit::Done } else { Exit::Finding }
}

/// The exit of a command that ended in `error`.
#[must_use]
pub fn of_error(error: &anyhow::Error) -> Exit {
    if error.is::<UsageError>() {
        Exit::Usage
    } else if error.is::<Found>() {
        Exit::Finding
    } else {
        Exit::Error
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_complete_is_done() {
        assert_eq!(of_completeness(true).code(), 0);
        assert_eq!(of_completeness(false).code(), 8);
    }

    #[test]
    fn errors_map_by_their_type() {
        let usage = anyhow::Error::new(UsageError("--id or --company".into()));
        assert_eq!(of_error(&usage).code(), 2);
        let damaged = SessionError::Missing { dir: "x".into() };
        assert_eq!(of_error(&anyhow::Error::new(damaged)).code(), 1);
        let found = Found(SessionError::Missing { dir: "x".into() });
        assert_eq!(of_error(&anyhow::Error::new(found)).code(), 8);
    }
}
