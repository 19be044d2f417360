//! Drives agents over the quests of a session, and says why a run stopped.
//!
//! The ledger decides, never the agent: an agent that is stopped after its PASS has succeeded, and
//! one that ends without settling its quest has failed, whatever it says.

mod access;
pub mod agent;
mod agents;
pub mod detect;
mod driver;
pub mod lessons;
pub mod limits;
mod plan;
mod quest_run;
mod run_dir;
mod worker;

pub use access::{Admission, Judge};
pub use agents::{Agents, Answers, Confinement, PlannedAgent, model};
pub use driver::{RunEnd, RunObserver, run};
pub use plan::{FruitlessRules, Live, Pace, Plan, RunError, RunEvent};
pub use quest_run::{NONE, Past, PromptBuilder, PromptInput, Submitted};
pub use run_dir::runs_dir;
