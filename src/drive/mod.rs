//! Brings session, gate and world together: one turn of the loop.

mod accepted;
mod error;
mod grounds;
mod kind;
mod observe;
mod replay;
mod turn;

pub use accepted::SessionAccepted;
pub use error::DriveError;
pub use kind::{email_record, gate_of, kind_of, network_of, rules_of};
pub use observe::judge_from;
pub use replay::{ReplayError, replay};
pub use turn::{Judge, Judged, Outcome, Refusal, submit};
