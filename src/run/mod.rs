//! Drives agents over the quests of a session, and says why a run stopped.
//!
//! The ledger decides, never the agent: an agent that is stopped after its PASS has succeeded, and
//! one that ends without settling its quest has failed, whatever it says.

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
pub use plan::{Answers, CrashBackoffRules, Pace, Plan, RunError, RunEvent};
pub use quest_run::{Past, PromptBuilder, PromptInput, Submitted};
pub use run_dir::{note, runs_dir};
