//! The loop that drives an agent until the work is done, and says why it stopped.
//!
//! What counts is the ledger: an agent that was stopped after its PASS succeeded, one that ended
//! without settling its quest did not, whatever it says.

pub mod agent;
mod answers;
mod claim;
pub mod detect;
mod driver;
pub mod lessons;
pub mod limits;
mod plan;
mod quest_run;
mod reap;
mod run_dir;
mod shared;
mod watch;
mod worker;

pub use answers::NONE;
pub use driver::{RunObserver, Sources, run};
pub use plan::RunError;
pub use plan::RunEvent;
pub use plan::{Answers, CrashBackoffRules, Pace, Plan};
pub use quest_run::{Past, PromptBuilder, PromptInput, Submitted};
pub use run_dir::runs_dir;
pub use run_dir::{Noted, note};
