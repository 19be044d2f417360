//! Counts what the ledger says, for people.

mod progress;

pub use progress::{Overview, RuleCount, overview};
