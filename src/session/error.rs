//! What can go wrong with a session directory.

use std::io;
use std::path::{Path, PathBuf};

use super::chain::LineError;
use super::database::{DatabaseError, DatabaseUrl};
use super::state::IllegalEvent;
use crate::base::files;

/// An error about a session directory. Unless it says otherwise, nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    #[error("no session found at {0}; create one with `{create}`", create = that_makes(.0))]
    Missing(PathBuf),
    #[error("{0} is not a directory, as a session is; name another place with --session")]
    NotADirectory(PathBuf),
    #[error(
        "there is no directory {0} to make the session in; create it, or name another place \
         with --session"
    )]
    NoParent(PathBuf),
    #[error(
        "{0} already exists, and `scan` never replaces a session: to start over, move {0} away \
         or name another directory with --session; to add new rows, use `comail scan --update`"
    )]
    Exists(PathBuf),
    #[error(
        "{path} is of format {format}, and this comail reads formats up to {newest}: use a newer version"
    )]
    Newer {
        path: PathBuf,
        format: u64,
        newest: u32,
    },
    #[error("{path} cannot be read: {why}; restore it from a copy")]
    Manifest { path: PathBuf, why: String },
    /// `session.json` is not the one that the ledger begins with.
    #[error(
        "{0} was changed after `scan`: its digest differs from the one in the ledger; \
         restore it from a copy"
    )]
    ManifestChanged(PathBuf),
    #[error("{0} was changed while it was read: run the command again")]
    SourceChanged(PathBuf),
    #[error("{0} was changed: it is not the list that was scanned; restore it from a copy")]
    CopyChanged(PathBuf),
    #[error("{path}, line {line}: {why}; nothing was written, restore the file from a copy")]
    Damaged {
        path: PathBuf,
        line: u64,
        why: Damage,
    },
    #[error("{path}: cannot {doing}")]
    Io {
        path: PathBuf,
        doing: &'static str,
        #[source]
        source: io::Error,
    },
    #[error("nothing was recorded: {0}")]
    Illegal(&'static str),
    #[error(
        "the session's index.sqlite cannot be used: {0}; it is only a cache, so remove it \
         and run the command again"
    )]
    Index(Box<IndexError>),
    /// The tree differs from what the session recorded.
    #[error("{0}")]
    Stock(String),
    #[error("stopped before its end; nothing was changed")]
    Stopped,
    #[error("cannot write an event as JSON")]
    Json(#[from] serde_json::Error),
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The database has the lines of an append, and the directory does not.
    #[error(
        "it is recorded in the database, but the mirror on this machine is behind; the next command \
         updates it"
    )]
    Mirror(#[source] Box<SessionError>),
    #[error(
        "{dir} is the mirror of a session in a database, and differs from it: {why}. Either the \
         mirror was changed, or the database was set back to an earlier state: keep a copy of the \
         mirror if it matters, remove it, and run the command again"
    )]
    MirrorDiffers { dir: PathBuf, why: String },
    #[error(
        "{dir} is the mirror of {url}: name another directory with `mirror=DIR` in the address, \
         because each address has a mirror of its own"
    )]
    MirrorOfAnother { dir: PathBuf, url: DatabaseUrl },
    #[error(
        "{0} is not empty, and not a mirror: name another directory with `mirror=DIR` in the address"
    )]
    NoMirror(PathBuf),
}

#[derive(Debug, thiserror::Error)]
pub enum Damage {
    #[error(transparent)]
    Line(#[from] LineError),
    #[error("it is not UTF-8")]
    Utf8,
    #[error("its body cannot be parsed: {0}")]
    Body(serde_json::Error),
    #[error("it records an impossible event: {0}")]
    IllegalEvent(&'static str),
    #[error("its body was redacted, and no valid redaction event allows that")]
    Unbacked,
    #[error("the ledger ends before this line, which was read earlier")]
    Cut,
    #[error("the line before it changed after it was read")]
    Rewritten,
}

/// Why an index must be rebuilt.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    #[error("it is not there")]
    Missing,
    #[error("it is of another format")]
    Format,
    /// It has a journal, so a write was cut off or is going on. Or the machine has restarted since,
    /// and may have lost power.
    #[error("its last write was cut off")]
    CutOff,
    #[error("{0} is not a regular file")]
    Special(String),
    #[error("it belongs to another session")]
    Foreign,
    #[error("its table {0} was changed")]
    Changed(&'static str),
    #[error("another program wrote to it")]
    WrittenByOthers,
    #[error("it does not match the ledger: some of the lines that it was made from have changed")]
    Misfit,
    #[error(
        "it covers {known} lines of the ledger, which now has fewer: acknowledged lines are \
         missing from {path}"
    )]
    Ahead { known: u64, path: String },
    #[error("the next event of the ledger is impossible: {0}")]
    IllegalEvent(IllegalEvent),
    #[error("{0}")]
    Engine(#[from] rusqlite::Error),
    #[error("{0}")]
    Value(#[from] serde_json::Error),
    #[error("{0}")]
    Io(#[from] io::Error),
}

impl From<IllegalEvent> for IndexError {
    fn from(why: IllegalEvent) -> Self {
        Self::IllegalEvent(why)
    }
}

impl From<IndexError> for SessionError {
    fn from(error: IndexError) -> Self {
        match error {
            IndexError::IllegalEvent(why) => Self::Illegal(why),
            other => Self::Index(Box::new(other)),
        }
    }
}

const USUAL: &str = ".comail";

pub fn that_makes(dir: &Path) -> String {
    let line = "comail scan LIST --col COLUMN";
    if dir == Path::new(USUAL) {
        return line.to_owned();
    }
    let dir = dir.to_string_lossy();
    // A name that cannot be quoted is shown unquoted.
    let quoted = shlex::try_quote(&dir).unwrap_or(dir.clone());
    let joint = if dir.starts_with('-') { "=" } else { " " };
    format!("{line} --session{joint}{quoted}")
}

impl SessionError {
    /// What is damaged in a mirror is not restored from a copy: the database has it.
    pub(super) fn of_mirror(self) -> Self {
        let (path, why) = match self {
            Self::Damaged { path, line, why } => (path, format!("line {line}: {why}")),
            Self::ManifestChanged(path) => (path, "session.json is another one".to_owned()),
            Self::Manifest { path, why } => (path, format!("session.json cannot be read: {why}")),
            other => return other,
        };
        Self::MirrorDiffers {
            dir: files::directory_of(&path).to_owned(),
            why,
        }
    }

    /// Whether the lines of an append may be recorded in the database, although the command failed.
    pub(super) fn may_be_recorded(&self) -> bool {
        matches!(
            self,
            Self::Mirror(_) | Self::Database(DatabaseError::Unknown(_))
        )
    }

    pub(super) fn io(
        path: impl AsRef<Path>,
        doing: &'static str,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.as_ref().to_owned();
        move |source| Self::Io {
            path,
            doing,
            source,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_a_command_that_creates_the_missing_session() {
        let missing = |dir: &str| SessionError::Missing(dir.into()).to_string();
        assert_eq!(
            missing(".comail"),
            "no session found at .comail; create one with `comail scan LIST --col COLUMN`"
        );
        assert!(missing("/x").ends_with("`comail scan LIST --col COLUMN --session /x`"));
        assert!(missing("my list").ends_with(" --session 'my list'`"));
        assert!(missing("-x").ends_with(" --session=-x`"));
    }
}
