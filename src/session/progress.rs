//! Who is told how far long work is, and may end it.

/// Who is told how far long work on a session is, and may end it.
pub trait Watch: Send + Sync {
    /// `done` of `total` bytes of the ledger are read.
    fn reading(&self, done: u64, total: u64);

    /// `done` of `total` quests of a new session are written.
    fn writing(&self, _done: u64, _total: u64) {}

    /// What was told of has come to its end.
    fn ended(&self) {}

    /// Whether it is to end early: then nothing of it is kept.
    fn stops(&self) -> bool {
        false
    }
}

/// Nobody.
#[derive(Debug, Clone, Copy)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn reading(&self, _done: u64, _total: u64) {}
}
