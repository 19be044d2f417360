//! The one place where outcomes and errors become exit codes.

use std::io;
use std::process::ExitCode;

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::files::AtomicError;
use crate::base::wrap::wrap;
use crate::hook::RulesError;
use crate::judge::JudgeError;
use crate::quest::ListingError;
use crate::quest::file::nearest;
use crate::session::{BadKey, DatabaseError, SessionError};
use crate::table::ReadError;
use crate::world::tree::BadPatch;

/// How a command ended; `help/exit-codes.md` says what each code means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::FromRepr)]
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

/// A text in lines of at most `width` columns. The first one begins with `mark`, and the others
/// are indented by its length.
pub(super) fn hanging(mark: &str, text: &str, width: usize) -> Vec<String> {
    let mut lines = wrap(text, width.saturating_sub(mark.len()));
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

/// A file or program that the command line names does not exist, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(super) struct NotFound {
    pub(super) message: String,
    pub(super) hint: String,
}

const NETWORK_HINT: &str = "allow this command to use the network, which an agent's sandbox often \
                            denies, and run it again; `comail doctor` checks the network";

const NOT_ASKED_HINT: &str =
    "end the process that holds the lock or stops comail, and run this command again";

const NO_BROWSER_HINT: &str =
    "install it again, or scan with --set network.browser=off to judge pages by their markup";

pub(super) fn hint_of(error: &anyhow::Error) -> Option<&str> {
    match ErrorKind::of(error) {
        ErrorKind::NoNetwork => return Some(NETWORK_HINT),
        ErrorKind::NotAsked => return Some(NOT_ASKED_HINT),
        ErrorKind::NoBrowser => return Some(NO_BROWSER_HINT),
        _ => {}
    }
    if matches!(error.downcast_ref(), Some(JudgeError::KeyUsed)) {
        return Some("choose a new key for each answer");
    }
    if let Some(hinted) = error.downcast_ref::<Hinted>() {
        return Some(&hinted.hint);
    }
    let mut chain = error.chain();
    if let Some(missing) = chain.find_map(|cause| cause.downcast_ref::<NotFound>()) {
        return Some(&missing.hint);
    }
    let mut chain = error.chain();
    chain.find_map(|cause| hint_of_system(cause.downcast_ref::<io::Error>()?.kind()))
}

/// A hint for an error of the system, whose message says only what happened.
fn hint_of_system(kind: io::ErrorKind) -> Option<&'static str> {
    Some(match kind {
        io::ErrorKind::NotFound => "check the path",
        io::ErrorKind::NotADirectory => "check the path: a part of it is not a directory",
        io::ErrorKind::IsADirectory => "name a file: this is a directory",
        io::ErrorKind::PermissionDenied => "check the permissions of the file and its directory",
        _ => return None,
    })
}

/// A finding that ends a command.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Found(pub SessionError);

/// Damage of a ledger that is folded as a whole is a finding, not an error.
pub fn found<T>(result: Result<T, SessionError>) -> anyhow::Result<T> {
    result.map_err(|error| match error {
        SessionError::Damaged { .. }
        | SessionError::ManifestChanged(_)
        | SessionError::MirrorDiffers { .. } => Found(error).into(),
        other => other.into(),
    })
}

/// What a command prints with `--json` if it ends with an error.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ErrorReply {
    error: ErrorDetails,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ErrorDetails {
    kind: ErrorKind,
    /// What happened, for people.
    message: String,
    /// What to do about it, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl ErrorReply {
    pub(super) fn of(error: &anyhow::Error) -> Self {
        Self::with_kind(error, ErrorKind::of(error))
    }

    /// The reply for an error that was caused by Ctrl-C.
    pub(super) fn interrupted(error: &anyhow::Error) -> Self {
        Self::with_kind(error, ErrorKind::Interrupted)
    }

    pub(super) fn kind(&self) -> ErrorKind {
        self.error.kind
    }

    fn with_kind(error: &anyhow::Error, kind: ErrorKind) -> Self {
        Self {
            error: ErrorDetails {
                kind,
                message: format!("{error:#}"),
                hint: hint_of(error).map(str::to_owned),
            },
        }
    }
}

/// What an error is about, for programs. The words are stable, and later versions may add some.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ErrorKind {
    /// The command line, or a file that it names as input, is wrong.
    Usage,
    /// No session was found, here or in a parent directory.
    NoSession,
    /// The file or session that the command would make already exists.
    Exists,
    /// A file, directory or program does not exist.
    NotFound,
    /// A file of the session is damaged or was changed.
    Damaged,
    /// comail has no network.
    NoNetwork,
    /// Another process held the lock of a host, or comail was stopped.
    NotAsked,
    /// The browser of the session cannot be used.
    NoBrowser,
    /// Commands could not be run confined.
    Sandbox,
    /// The database of the session is unavailable; try again.
    Database,
    /// The system could not read or write a file or start a program.
    Io,
    /// The files of an answer are changes to another tree than that of the session, or to files or
    /// lines that another accepted answer changed.
    OtherTree,
    /// Ctrl-C stopped the command.
    Interrupted,
    /// Anything else; the message says what.
    Other,
}

impl ErrorKind {
    fn of(error: &anyhow::Error) -> Self {
        if of_error(error) == Exit::Usage {
            return Self::Usage;
        }
        let found = error.downcast_ref::<Found>();
        let found = found.and_then(|Found(error)| Self::of_session(error));
        let cause = || error.chain().find_map(Self::of_cause);
        found.or_else(cause).unwrap_or(Self::Other)
    }

    fn of_cause(cause: &(dyn std::error::Error + 'static)) -> Option<Self> {
        let judging = cause.downcast_ref().map(Self::of_judge);
        let on_session = || cause.downcast_ref().map(Self::of_session);
        if let Some(kind) = judging.or_else(on_session) {
            kind
        } else if let Some(error) = cause.downcast_ref() {
            Some(Self::of_writing(error))
        } else if let Some(error) = cause.downcast_ref::<io::Error>() {
            Some(match error.kind() {
                io::ErrorKind::NotFound => Self::NotFound,
                _ => Self::Io,
            })
        } else if cause.is::<AlreadyExists>() {
            Some(Self::Exists)
        } else {
            let list = cause.downcast_ref::<ReadError>();
            let missing = cause.is::<NotFound>() || list.is_some_and(ReadError::is_missing_file);
            missing.then_some(Self::NotFound)
        }
    }

    fn of_writing(error: &AtomicError) -> Self {
        match error {
            AtomicError::Exists(_)
            | AtomicError::Source(_)
            | AtomicError::NotAFile(_)
            | AtomicError::Link(_) => Self::Exists,
            AtomicError::NoDirectory(_) => Self::NotFound,
            AtomicError::Io { .. } | AtomicError::Unflushed { .. } => Self::Io,
        }
    }

    // The chain skips a transparent error, so its cause is looked up here.
    fn of_judge(error: &JudgeError) -> Option<Self> {
        match error {
            JudgeError::Session(error) => Self::of_session(error),
            JudgeError::OfQuest { source, .. } => Self::of_judge(source),
            JudgeError::NoNetwork(_) => Some(Self::NoNetwork),
            JudgeError::NotAsked(_) => Some(Self::NotAsked),
            JudgeError::NoBrowser(_) => Some(Self::NoBrowser),
            JudgeError::Sandbox(_) | JudgeError::Launcher(_) => Some(Self::Sandbox),
            JudgeError::Patch(BadPatch::OtherBase { .. } | BadPatch::Taken(_)) => {
                Some(Self::OtherTree)
            }
            JudgeError::Conflicts(_) | JudgeError::TreeMoved => Some(Self::OtherTree),
            JudgeError::Accepted(_) => Some(Self::Damaged),
            JudgeError::NotWritten(_) => Some(Self::Io),
            _ => None,
        }
    }

    fn of_session(error: &SessionError) -> Option<Self> {
        match error {
            SessionError::Missing(_) | SessionError::NotADirectory(_) => Some(Self::NoSession),
            SessionError::NoParent(_) => Some(Self::NotFound),
            SessionError::Exists(_)
            | SessionError::MirrorOfAnother { .. }
            | SessionError::NoMirror(_) => Some(Self::Exists),
            SessionError::Manifest { .. }
            | SessionError::ManifestChanged(_)
            | SessionError::CopyChanged(_)
            | SessionError::Damaged { .. }
            | SessionError::MirrorDiffers { .. }
            | SessionError::Index(_) => Some(Self::Damaged),
            SessionError::Database(error) if is_of_address(error) => Some(Self::Usage),
            SessionError::Database(error) if error.is_transient() => Some(Self::Database),
            SessionError::Mirror(_) => Some(Self::Database),
            SessionError::Io { .. } | SessionError::Database(_) => Some(Self::Io),
            _ => None,
        }
    }
}

/// The file that a command would make already exists.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct AlreadyExists(pub(super) String);

pub fn of_finding(is_well: bool) -> Exit {
    if is_well { Exit::Done } else { Exit::Finding }
}

/// Whether the command line or the content of an input file is wrong, so that the same call fails
/// again.
fn is_of_input(error: &anyhow::Error) -> bool {
    let is_input = |cause: &(dyn std::error::Error + 'static)| {
        let judge = cause.downcast_ref();
        if let Some(JudgeError::Patch(patch)) = judge {
            return !matches!(patch, BadPatch::OtherBase { .. } | BadPatch::Taken(_));
        }
        let list = cause.downcast_ref::<ReadError>();
        list.is_some_and(ReadError::is_of_content)
            || matches!(
                judge,
                Some(JudgeError::ForgottenWorker | JudgeError::KeyUsed)
            )
            || matches!(cause.downcast_ref(), Some(ListingError::Dependency(_)))
            || matches!(
                cause.downcast_ref(),
                Some(SessionError::Database(error)) if is_of_address(error)
            )
            || cause.is::<BadKey>()
            || cause.is::<RulesError>()
    };
    error.is::<UsageError>() || error.is::<Hinted>() || error.chain().any(is_input)
}

/// Whether the address of a session in a database is wrong.
fn is_of_address(error: &DatabaseError) -> bool {
    matches!(error, DatabaseError::Url(_) | DatabaseError::Password)
}

pub fn of_error(error: &anyhow::Error) -> Exit {
    if is_of_input(error) {
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
    fn an_error_keeps_its_kind_under_added_context() {
        let kind = |error: anyhow::Error| {
            let kind = ErrorKind::of(&error);
            assert_eq!(ErrorKind::of(&error.context("stopped early")), kind);
            kind
        };
        let missing = || SessionError::Missing("x".into());
        let changed = || SessionError::ManifestChanged("x".into());
        let denied = || io::Error::from(io::ErrorKind::PermissionDenied);
        assert_eq!(kind(missing().into()), ErrorKind::NoSession);
        assert_eq!(
            kind(JudgeError::from(missing()).into()),
            ErrorKind::NoSession
        );
        assert_eq!(kind(changed().into()), ErrorKind::Damaged);
        assert_eq!(
            kind(found::<()>(Err(changed())).unwrap_err()),
            ErrorKind::Damaged
        );
        assert_eq!(
            kind(AtomicError::Exists("x".into()).into()),
            ErrorKind::Exists
        );
        assert_eq!(kind(denied().into()), ErrorKind::Io);
        let missing = || io::Error::from(io::ErrorKind::NotFound);
        assert_eq!(kind(missing().into()), ErrorKind::NotFound);
        assert_eq!(kind(UsageError("no".to_owned()).into()), ErrorKind::Usage);
        assert_eq!(kind(anyhow::anyhow!("no")), ErrorKind::Other);
        let sandbox = JudgeError::Sandbox("no".to_owned());
        let of_quest = JudgeError::OfQuest {
            quest: crate::quest::QuestId::FIRST,
            key: crate::quest::Key::new("Acme").unwrap(),
            source: Box::new(sandbox),
        };
        assert_eq!(kind(of_quest.into()), ErrorKind::Sandbox);
    }

    #[test]
    fn every_exit_is_in_the_table() {
        let codes: Vec<u8> = meanings().iter().map(|it| it.0).collect();
        assert_eq!(codes, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 130]);
        assert!(table().lines().all(|line| line.chars().count() <= 80));
    }
}
