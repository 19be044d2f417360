//! Counts what the ledger says, for people.

mod progress;

pub use progress::{BlockedQuest, Ended, Overview, RuleCount, overview};
