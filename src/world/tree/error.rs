use std::io;

use super::listing::{Clash, Oddity};
use super::path::TreePath;
use crate::base::Digest;

/// What can go wrong while a tree is read, stored or written.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    #[error("{place}: cannot {doing}: {source}")]
    Io {
        place: String,
        doing: &'static str,
        source: io::Error,
    },
    #[error("{path} {why}: add it to `ignore` in the quest file, or repair it")]
    Odd { path: TreePath, why: Oddity },
    #[error("{path} has {bytes} bytes, and a file may have {limit}: add it to `ignore`")]
    TooLarge {
        path: TreePath,
        bytes: u64,
        limit: u64,
    },
    #[error(
        "with {place} the tree has more than {limit} {what}: add what the quests do not need to \
         `ignore`"
    )]
    TooMany {
        place: String,
        limit: u64,
        what: &'static str,
    },
    #[error("{path} cannot be stored: {source}")]
    Store { path: TreePath, source: io::Error },
    #[error("the contents of {path} ({sha256}) {why}")]
    Contents {
        path: TreePath,
        sha256: Digest,
        why: String,
    },
    #[error(transparent)]
    Clash(#[from] Clash),
}

impl TreeError {
    pub(crate) fn io(place: impl ToString, doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io {
            place: place.to_string(),
            doing,
            source,
        }
    }
}
