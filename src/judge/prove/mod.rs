//! The gate's own test: every control gets the verdict that it must, and every rule can fire.

mod case;
mod control;
mod email;
mod final_control;
mod proof;
mod stand_in;
mod trial;

pub use control::{ProveError, Tree, prove};
pub use email::prove_email;
pub use proof::{Lacking, Outcome, Proof};
pub use trial::{TrialError, trial};
