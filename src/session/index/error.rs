//! Why an index is of no use.

use crate::session::standing::Story;

/// Why an index is of no use as it is; it is rebuilt.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// There is none.
    #[error("it is not there")]
    Missing,
    /// It is in a format other than this program's.
    #[error("it is of another format")]
    Format,
    /// A journal lies beside it: a write is under way, or died.
    #[error("its last write was cut off")]
    CutOff,
    /// Something else lies where it or its journal does.
    #[error("{0} is no regular file")]
    Special(String),
    /// It says that it belongs to another session.
    #[error("it belongs to another session")]
    Foreign,
    /// A row is not what was written.
    #[error("its table {table} was changed")]
    Changed {
        /// The table.
        table: &'static str,
    },
    /// It ends elsewhere than the ledger.
    #[error("it does not fit the ledger, which has other lines than those that it was made from")]
    Misfit,
    /// It knows more lines than the ledger has.
    #[error(
        "it knows {known} lines of the ledger, which has fewer now: lines that were acknowledged \
         are missing from {path}"
    )]
    Ahead {
        /// How many lines it knows.
        known: u64,
        /// The ledger.
        path: String,
    },
    /// What the ledger tells next does not follow from it.
    #[error("what the ledger tells next does not follow from it: {0}")]
    Story(Story),
    /// The database engine says no.
    #[error("{0}")]
    Engine(#[from] rusqlite::Error),
    /// A value in it does not read.
    #[error("{0}")]
    Value(#[from] serde_json::Error),
}

impl From<Story> for IndexError {
    fn from(story: Story) -> Self {
        Self::Story(story)
    }
}
