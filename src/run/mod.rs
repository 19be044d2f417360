//! The loop that drives an agent until the work is done, and says why it stopped.
//!
//! What counts is the ledger: an agent that was stopped after its PASS succeeded, one that ended
//! without settling its quest did not, whatever it says.

pub mod agent;
mod ahead;
mod calls;
mod choose;
mod course;
mod deeds;
mod desk;
pub mod detect;
mod dying;
mod error;
mod floor;
mod hold;
mod last_call;
pub mod lessons;
pub mod limits;
mod lock_file;
mod name;
mod news;
mod plan;
mod printed;
mod start;
mod sweep;
mod watch;
mod whole;
mod worker;
mod workplace;

pub use calls::{Noted, note};
pub use desk::{Desk, Past, Situation, Submitted};
pub use error::RunError;
pub use lock_file::runs_dir;
pub use news::News;
pub use plan::{Answers, DyingRules, Pace, Plan};
pub use printed::NONE;
pub use whole::{Audience, Sources, drive_all};
