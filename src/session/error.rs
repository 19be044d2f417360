//! What can go wrong with a session directory.

use std::io;
use std::path::{Path, PathBuf};

use super::chain::LineError;
use super::index::IndexError;

/// What can go wrong with a session directory. Nothing was changed where not said otherwise.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// There is none.
    #[error(
        "there is no session at {dir}: make one with `{}`",
        that_makes(.dir)
    )]
    Missing {
        /// The session directory.
        dir: PathBuf,
    },
    /// There is one already.
    #[error(
        "{dir} is there already, and a session is never replaced: name another with --session, \
         or add new keys with `comail scan --update`"
    )]
    Exists {
        /// The session directory.
        dir: PathBuf,
    },
    /// It was made by a newer program.
    #[error("{path} is of format {format}, and this comail reads up to {newest}: use a newer one")]
    Newer {
        /// The file that says so.
        path: PathBuf,
        /// Its format.
        format: u64,
        /// The newest that can be read.
        newest: u32,
    },
    /// `session.json` does not say what it should.
    #[error("{path} cannot be read: {why}; restore it from a copy")]
    Manifest {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// `session.json` is not the one that the ledger begins with.
    #[error(
        "{path} was changed after `scan`: the ledger's first line digests another one; \
         restore it from a copy"
    )]
    ManifestChanged {
        /// The file.
        path: PathBuf,
    },
    /// The list was changed while it was read.
    #[error("{path} was changed while it was read: run the command again")]
    SourceChanged {
        /// The list.
        path: PathBuf,
    },
    /// The copy of the list is not the one that was scanned.
    #[error("{path} was changed: it is not the list that was scanned; restore it from a copy")]
    CopyChanged {
        /// The copy.
        path: PathBuf,
    },
    /// The ledger is damaged.
    #[error("{path}, line {line}: {why}; nothing was written, restore the file from a copy")]
    Damaged {
        /// The ledger.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        why: Damage,
    },
    /// The operating system refused.
    #[error("{path}: cannot {doing}")]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// What the operating system said.
        #[source]
        source: io::Error,
    },
    /// An event that cannot follow what has happened.
    #[error("not recorded, for {0}; nothing was written")]
    Illegal(&'static str),
    /// The index cannot be used.
    #[error(
        "{path} cannot be used: {source}; it is disposable, remove it and run the command again"
    )]
    Index {
        /// The index, or the ledger that it was made from.
        path: PathBuf,
        /// Why.
        source: Box<IndexError>,
    },
    /// The files that quests are about are not what the session notes.
    #[error("{0}")]
    Stock(String),
    /// Whoever watched wanted it to end.
    #[error("stopped before its end; nothing was changed")]
    Stopped,
    /// A value cannot be written as JSON.
    #[error("cannot write an event as JSON")]
    Json(#[from] serde_json::Error),
}

/// What is wrong with a ledger line.
#[derive(Debug, thiserror::Error)]
pub enum Damage {
    /// Its form, number, chain or digest.
    #[error(transparent)]
    Line(#[from] LineError),
    /// It is not UTF-8.
    #[error("it is not UTF-8")]
    Utf8,
    /// Its body is not one of its type.
    #[error("its body does not read: {0}")]
    Body(serde_json::Error),
    /// It tells what cannot have happened.
    #[error("it tells what cannot have happened: {0}")]
    Story(&'static str),
    /// It was blotted out, and nobody who may decided so.
    #[error("it was blotted out, and no line that counts says that it was to be")]
    Unbacked,
    /// The ledger has become shorter.
    #[error("the ledger was cut behind the line before")]
    Cut,
    /// A line that was read before has become another.
    #[error("the line before is no longer the one that was read there")]
    Rewritten,
}

/// Where a session lies that nothing names.
const USUAL: &str = ".comail";

/// The command line that makes a session at `dir`.
#[must_use]
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
    /// Wraps what is wrong with the index at `path`.
    pub(super) fn index(path: &Path, source: IndexError) -> Self {
        Self::Index {
            path: path.to_owned(),
            source: Box::new(source),
        }
    }

    /// Wraps what the operating system said of `path`.
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
            "there is no session at .comail: make one with `comail scan LIST --col COLUMN`"
        );
        assert!(missing("/x").ends_with("`comail scan LIST --col COLUMN --session /x`"));
        assert!(missing("my list").ends_with(" --session 'my list'`"));
        assert!(missing("-x").ends_with(" --session=-x`"));
    }
}
