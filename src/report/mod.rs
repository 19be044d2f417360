//! Counts what the ledger says, for people.

pub mod draw;
pub mod page;
pub mod picture;
pub mod run;
pub mod screen;

mod claim;
mod insights;
mod pace;
mod progress;
mod status;
mod tone;

pub use claim::HeldClaim;
pub use insights::{
    AgentInsights, DrivenWork, HalfLife, Insights, Recurring, RuleInsight, SessionInsight,
    SessionTally, Share, Who, Work, combine,
};
pub use pace::Pace;
pub use progress::{BlockedQuest, Ended, Overview, Resolutions, RuleCount, overview};
pub use status::{OpenRun, Standings, Status};
pub use tone::Tone;
