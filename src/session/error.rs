//! What can go wrong with a session directory.

use std::io;
use std::path::{Path, PathBuf};

use super::chain::LineError;
use super::state::IllegalEvent;

/// What can go wrong with a session directory. Nothing was changed where not said otherwise.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    #[error(
        "no session found at {dir}; create one with `{}`",
        that_makes(.dir)
    )]
    Missing { dir: PathBuf },
    #[error("{dir} is not a directory, as a session is; name another place with --session")]
    NotADirectory { dir: PathBuf },
    #[error(
        "there is no directory {parent} to make the session in; create it, or name another place \
         with --session"
    )]
    NoParent { parent: PathBuf },
    #[error(
        "{dir} already exists, and `scan` never replaces a session: to start over, move {dir} away \
         or name another directory with --session; to add new rows, use `comail scan --update`"
    )]
    Exists { dir: PathBuf },
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
        "{path} was changed after `scan`: its digest differs from the one in the ledger; \
         restore it from a copy"
    )]
    ManifestChanged { path: PathBuf },
    #[error("{path} was changed while it was read: run the command again")]
    SourceChanged { path: PathBuf },
    #[error("{path} was changed: it is not the list that was scanned; restore it from a copy")]
    CopyChanged { path: PathBuf },
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
    /// The files that quests are about are not what the session notes.
    #[error("{0}")]
    Stock(String),
    #[error("stopped before its end; nothing was changed")]
    Stopped,
    #[error("cannot write an event as JSON")]
    Json(#[from] serde_json::Error),
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

/// Why an index is of no use as it is; it is rebuilt.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    #[error("it is not there")]
    Missing,
    #[error("it is of another format")]
    Format,
    /// A journal is next to it, so a write goes on or was cut off; or the machine was started again
    /// since, and may have lost power.
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
    #[error("what the ledger says next does not follow from it: {0}")]
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
    // A name that no shell could be told is shown as it is.
    let quoted = shlex::try_quote(&dir).unwrap_or(dir.clone());
    let joint = if dir.starts_with('-') { "=" } else { " " };
    format!("{line} --session{joint}{quoted}")
}

impl SessionError {
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
    fn what_makes_a_session_makes_it_where_it_was_sought() {
        let missing = |dir: &str| SessionError::Missing { dir: dir.into() }.to_string();
        assert_eq!(
            missing(".comail"),
            "no session found at .comail; create one with `comail scan LIST --col COLUMN`"
        );
        assert!(missing("/x").ends_with("`comail scan LIST --col COLUMN --session /x`"));
        assert!(missing("my list").ends_with(" --session 'my list'`"));
        assert!(missing("-x").ends_with(" --session=-x`"));
    }
}
