//! What can go wrong with a tree.

use std::io;

use super::listing::Clash;
use super::listing::Oddity;
use super::path::TreePath;
use crate::base::Digest;

/// What can go wrong with a tree.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    /// The system did not do what it was asked.
    #[error("{place}: cannot {doing}: {source}")]
    Io {
        /// The file or folder.
        place: String,
        /// What was tried.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// A file that a baseline cannot have.
    #[error("{path} {why}: name it in the quest file's `ignore`, or mend it")]
    Odd {
        /// The file.
        path: TreePath,
        /// What is odd about it.
        why: Oddity,
    },
    /// One file is too large.
    #[error("{path} has {bytes} bytes, and a file may have {limit}: name it in `ignore`")]
    TooLarge {
        /// The file.
        path: TreePath,
        /// Its length.
        bytes: u64,
        /// The bound.
        limit: u64,
    },
    /// All files together are too large.
    #[error(
        "with {path} the tree has more than {limit} bytes: name in `ignore` what quests are not \
         about"
    )]
    TooMuch {
        /// The first file that is too much.
        path: TreePath,
        /// The bound.
        limit: u64,
    },
    /// There are too many files.
    #[error(
        "with {path} the tree has more than {limit} files: name in `ignore` what quests are not \
         about"
    )]
    TooMany {
        /// The first file that is too much.
        path: TreePath,
        /// The bound.
        limit: usize,
    },
    /// There are too many names to look at.
    #[error("{place}: the tree has more than {limit} names: remove what is not needed")]
    Names {
        /// The folder in which they ran out.
        place: String,
        /// The bound.
        limit: usize,
    },
    /// What was read could not be handed on.
    #[error("{path} cannot be stored: {source}")]
    Store {
        /// The file.
        path: TreePath,
        /// What the store said.
        source: io::Error,
    },
    /// A file's contents cannot be had.
    #[error("the contents of {path} ({sha256}) cannot be had: {source}")]
    Load {
        /// The file.
        path: TreePath,
        /// Its contents' digest.
        sha256: Digest,
        /// What the store said.
        source: io::Error,
    },
    /// A file's contents are not in the store.
    #[error("the contents of {path} ({sha256}) are not in the store")]
    Missing {
        /// The file.
        path: TreePath,
        /// Its contents' digest.
        sha256: Digest,
    },
    /// A file's contents were changed in the store.
    #[error("the contents of {path} in the store are not those that {sha256} digests")]
    Altered {
        /// The file.
        path: TreePath,
        /// The digest that was asked for.
        sha256: Digest,
    },
    /// No tree can be so.
    #[error(transparent)]
    Clash(#[from] Clash),
}

impl TreeError {
    /// What went wrong at `place`, when it was tried to do `doing`.
    pub(crate) fn io(place: impl ToString, doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io {
            place: place.to_string(),
            doing,
            source,
        }
    }
}
