//! The one place where outcomes and errors become exit codes.

use std::process::ExitCode;

use crate::base::text::wrap;
use crate::judge::JudgeError;
use crate::quest::file::nearest;
use crate::session::SessionError;

/// How a command ended; `help/exit-codes.md` says what each code means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    Done = 0,
    Error = 1,
    Usage = 2,
    Complete = 3,
    NoneFree = 4,
    Failed = 5,
    FailedAndDone = 6,
    Locked = 7,
    Finding = 8,
    Paused = 9,
    Interrupted = 130,
}

impl Exit {
    pub fn code(self) -> u8 {
        self as u8
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// A text in lines of at most `width` characters. The first one begins with `mark`, and the others
/// are indented by its length.
pub(super) fn hanging(mark: &str, text: &str, width: usize) -> Vec<String> {
    let mut lines = wrap(text, width - mark.len());
    let indent = mark.len();
    for (at, line) in lines.iter_mut().enumerate() {
        let mark = if at == 0 { mark } else { "" };
        *line = format!("{mark:indent$}{line}");
    }
    lines
}

const TOPIC: &str = include_str!("help/exit-codes.md");

pub(super) fn table() -> &'static str {
    let mut blocks = TOPIC.split("\n\n");
    blocks.find(|block| block.starts_with("  0 ")).unwrap_or("")
}

pub(super) fn after_help() -> String {
    let table = table().replace('`', "");
    format!(
        "Exit codes:\n{table}\n\nAn agent's loop: while comail next; do …; comail submit …; done"
    )
}

/// A mistake in how the program was called.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);

impl UsageError {
    pub fn hint(self, hint: impl Into<String>) -> Hinted {
        Hinted {
            message: self.0,
            hint: hint.into(),
        }
    }
}

pub(super) fn refuse<T>(why: impl Into<String>) -> anyhow::Result<T> {
    Err(UsageError(why.into()).into())
}

/// A usage error about a name that does not exist. The hint names the nearest one that does.
pub(super) fn unknown_name(
    message: String,
    name: &str,
    known: &[impl AsRef<str>],
    otherwise: &str,
) -> Hinted {
    let near = nearest(name, known.iter().map(AsRef::as_ref));
    let near = near.map(|near| format!("did you mean `{near}`?"));
    UsageError(message).hint(near.unwrap_or_else(|| otherwise.to_owned()))
}

/// A usage error, and what to do about it. The hint is printed on a line of its own.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Hinted {
    pub message: String,
    pub hint: String,
}

const NETWORK_HINT: &str = "allow this command to use the network, which an agent's sandbox often \
                            denies, and run it again; `comail doctor` checks the network";

pub(super) fn hint_of(error: &anyhow::Error) -> Option<&str> {
    if lacks_network(error) {
        return Some(NETWORK_HINT);
    }
    let hinted = error.downcast_ref::<Hinted>()?;
    Some(&hinted.hint)
}

pub(super) fn lacks_network(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(JudgeError::NoNetwork(_)))
}

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

pub fn of_finding(is_well: bool) -> Exit {
    if is_well { Exit::Done } else { Exit::Finding }
}

pub fn of_error(error: &anyhow::Error) -> Exit {
    if error.is::<UsageError>() || error.is::<Hinted>() {
        Exit::Usage
    } else if error.is::<Found>() {
        Exit::Finding
    } else {
        Exit::Error
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Each code with its meaning on one line.
    pub(in crate::cli) fn meanings() -> Vec<(u8, String)> {
        let mut meanings: Vec<(u8, String)> = Vec::new();
        for line in table().lines() {
            let (code, text) = line.split_at("  130  ".len());
            match (code.trim().parse(), meanings.last_mut()) {
                (Ok(code), _) => meanings.push((code, text.to_owned())),
                (Err(_), Some((_, meaning))) => meaning.extend([" ", text]),
                (Err(_), None) => panic!("{line}"),
            }
        }
        meanings
    }

    #[test]
    fn every_exit_is_in_the_table() {
        let codes: Vec<u8> = meanings().iter().map(|it| it.0).collect();
        assert_eq!(codes, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 130]);
        assert!(table().lines().all(|line| line.chars().count() <= 80));
    }
}
