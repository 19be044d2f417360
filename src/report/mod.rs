//! Reports on a session for people: its status, the report, the HTML page and the insights.

pub mod draw;
pub mod page;
pub mod picture;
pub mod run;
pub mod template;

mod insights;
mod status;

pub use insights::{
    AgentInsights, DrivenWork, HalfLife, Insights, Recurring, RuleInsight, SessionInsight,
    SessionTally, Share, Who, Work, combine,
};
pub use status::{
    BlockedQuest, Ended, HeldClaim, OpenRun, Overview, Pace, Resolutions, RuleCount, Standings,
    Status, forgotten, overview,
};
