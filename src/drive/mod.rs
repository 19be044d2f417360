//! Brings session, gate and world together: one turn of the loop.

mod accepted;
mod assign;
pub mod audit;
mod error;
mod grounds;
mod kind;
mod observe;
mod refusal;
mod replay;
mod ruling;
mod turn;

pub use accepted::{NothingAccepted, SessionAccepted};
pub use assign::{Assignment, Claimant, assign};
pub use error::DriveError;
pub use kind::{email_record, gate_of, kind_of, network_of, rules_of};
pub use observe::judge_from;
pub use refusal::Refusal;
pub use replay::{Recorded, ReplayError, Replayer, replay};
pub use turn::{Answer, Judge, Judged, Outcome, submit};
