//! Counts what the ledger says, for people.

mod insights;
pub mod run;

mod progress;
mod tone;

pub use insights::{
    AgentInsights, HalfLife, Insights, Recurring, RuleInsight, SessionInsight, SessionTally, Share,
    Who, Work, combine,
};
pub use progress::{BlockedQuest, Ended, Overview, RuleCount, overview};
pub use tone::Tone;
