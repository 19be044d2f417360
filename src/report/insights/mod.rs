//! What costs tries: counts over the ledgers of one or several sessions.

mod combine;
mod facts;
mod figures;
mod recency;
mod tally;
mod who;

pub use combine::combine;
pub use facts::Recurring;
pub use figures::{AgentInsights, DrivenWork, Insights, RuleInsight, SessionInsight, Share, Work};
pub use recency::HalfLife;
pub use tally::SessionTally;
pub use who::Who;
