//! Counts what the ledger says, for people.

mod progress;

pub use progress::{Counter, Overview, RuleCount, overview};
