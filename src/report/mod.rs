//! Reports on a session for people: its status, the report, the HTML page and the insights.

pub mod draw;
pub mod page;
pub mod picture;
pub mod run;
pub mod template;

mod insights;
mod sample;
mod status;

pub use insights::{
    AgentInsights, DrivenWork, HALF_LIFE_DAYS, Insights, Recurring, RuleInsight, SessionInsight,
    SessionTally, Share, Who, Work, combine, weight,
};
pub use sample::SampleEstimate;
pub use status::{
    BlockedQuest, Ended, HeldClaim, OpenRun, Overview, Pace, Rechecked, RuleCount, Standings,
    Status, forgotten, overview,
};
