//! Counts what the ledger says, for people.

pub mod run;

mod insights;
mod progress;
mod tone;

pub use insights::{
    AgentInsights, DrivenWork, HalfLife, Insights, Recurring, RuleInsight, SessionInsight,
    SessionTally, Share, Who, Work, combine,
};
pub use progress::{BlockedQuest, Ended, Overview, RuleCount, overview};
pub use tone::Tone;
