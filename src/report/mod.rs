//! Counts what the ledger says, for people.

pub mod run;

mod progress;
mod tone;

pub use progress::{BlockedQuest, Ended, Overview, RuleCount, overview};
pub use tone::Tone;
