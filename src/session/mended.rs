//! What a command found amiss in a session directory, and mended.

use std::fmt;
use std::path::PathBuf;

/// What was found amiss and mended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mended {
    /// A torn last line was cut off: power was lost, or a process died while writing it.
    Tail {
        /// The ledger.
        path: PathBuf,
        /// How many bytes were cut off; none of them had been acknowledged.
        bytes: u64,
    },
    /// The index did not fit, and was made anew from the ledger.
    Index {
        /// The index.
        path: PathBuf,
        /// What was wrong with it.
        why: String,
    },
    /// The index does not fit, and cannot be made anew here.
    Left {
        /// The index.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
}

impl fmt::Display for Mended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tail { path, bytes } => write!(
                f,
                "{}: the last line was torn ({bytes} bytes, never acknowledged) and has been cut \
                 off",
                path.display()
            ),
            Self::Index { path, why } => write!(
                f,
                "{}: {why}; it was made anew from the ledger",
                path.display()
            ),
            Self::Left { path, why } => write!(
                f,
                "{}: {why}; nothing can be written here, so it stays",
                path.display()
            ),
        }
    }
}
