//! The one place where outcomes and errors become exit codes.

use std::process::ExitCode;

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::text::wrap;
use crate::quest::file::nearest;
use crate::session::SessionError;

/// How a command ended; [`TABLE`] says what each means.
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

/// Every exit and its meaning, as help, `comail prompt` and README.md show it.
const TABLE: [(Exit, &str); 11] = [
    (
        Exit::Done,
        "done; `next` printed a quest; `submit` recorded PASS or REVIEW",
    ),
    (Exit::Error, "error; nothing changed"),
    (Exit::Usage, "invalid usage; nothing changed"),
    (Exit::Complete, "`next`: complete; no quest is TODO"),
    (
        Exit::NoneFree,
        "`next`: no quest is available now; try again later",
    ),
    (
        Exit::Failed,
        "`submit`: FAIL, or sent back with doubts; the quest is still TODO",
    ),
    (
        Exit::FailedAndDone,
        "`submit`: FAIL on the last try; the quest is DONE",
    ),
    (
        Exit::Locked,
        "`submit`: the quest is locked, waits for another quest, is claimed by another worker, \
         or got another answer first (`overtaken`); nothing changed",
    ),
    (
        Exit::Finding,
        "`run`, `report`: not complete; `audit`, `doctor`, `export`, `prove`, `quest check`, \
         `scan --carry`: a finding, such as a changed ledger or a failed control; \
         `review --import`: rejected rows",
    ),
    (
        Exit::Paused,
        "`next`, `submit`: the session is paused until a person runs `comail resume`",
    ),
    (
        Exit::Interrupted,
        "interrupted by Ctrl-C: `audit`, `log --follow`, `recheck`, `report`, `review`, `run`, \
         `status --watch` keep finished work; `export` and `scan` change nothing",
    ),
];

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

/// An exit code as JSON says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Meaning {
    pub(super) code: u8,
    pub(super) meaning: &'static str,
}

pub(super) fn meanings() -> impl Iterator<Item = Meaning> {
    TABLE.into_iter().map(|(exit, meaning)| Meaning {
        code: exit.code(),
        meaning,
    })
}

/// The table in lines of at most 80 characters.
pub(super) fn table() -> Vec<String> {
    let rows = meanings().flat_map(|Meaning { code, meaning }| {
        let mark = format!("  {code:<5}");
        hanging(&mark, meaning, 80)
    });
    rows.collect()
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

/// The end of `comail --help`.
pub(super) fn after_help() -> String {
    let table = table().join("\n").replace('`', "");
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
pub fn of_completeness(complete: bool) -> Exit {
    if complete { Exit::Done } else { Exit::Finding }
}

/// The exit of a command that ended in `error`.
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
mod tests {
    use super::*;

    const README: &str = include_str!("../../README.md");

    #[test]
    fn every_exit_is_in_the_table_in_the_order_of_the_codes() {
        let codes: Vec<u8> = meanings().map(|it| it.code).collect();
        assert_eq!(codes, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 130]);
        assert!(table().iter().all(|line| line.chars().count() <= 80));
    }

    #[test]
    fn the_readme_has_the_same_table() {
        for Meaning { code, meaning } in meanings() {
            let row = format!("| {code} | {meaning} |");
            assert!(README.contains(&row), "README.md lacks the row\n{row}");
        }
    }

    #[test]
    fn only_what_is_complete_is_done() {
        assert_eq!(of_completeness(true).code(), 0);
        assert_eq!(of_completeness(false).code(), 8);
    }

    #[test]
    fn errors_map_by_their_type() {
        let usage = anyhow::Error::new(UsageError("--id or --company".into()));
        assert_eq!(of_error(&usage).code(), 2);
        let hinted = UsageError("x".into()).hint("y");
        assert_eq!(of_error(&hinted.into()).code(), 2);
        let damaged = SessionError::Missing { dir: "x".into() };
        assert_eq!(of_error(&anyhow::Error::new(damaged)).code(), 1);
        let found = Found(SessionError::Missing { dir: "x".into() });
        assert_eq!(of_error(&anyhow::Error::new(found)).code(), 8);
    }
}
