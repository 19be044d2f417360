//! Who is told how far a long reading is.

/// Who is told how far a long reading of the ledger is.
pub trait Watch: Send + Sync {
    /// `done` of `total` bytes are read.
    fn reading(&self, done: u64, total: u64);
}

/// Nobody.
#[derive(Debug, Clone, Copy)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn reading(&self, _done: u64, _total: u64) {}
}
