//! Brings session, gate and world together: one turn of the loop, and what is judged again.

mod accepted;
mod anchored;
mod assign;
pub mod audit;
mod carry;
mod crowd;
mod error;
pub mod forget;
mod grounds;
mod kind;
mod leave;
mod observe;
mod panel;
pub mod prove;
pub mod quest_file;
mod recheck;
mod refusal;
mod replay;
mod revision;
mod ruling;
mod silence;
mod turn;

pub use accepted::{NothingAccepted, SessionAccepted};
pub use assign::{Assignment, Claimant, assign};
pub use carry::{Carrier, CarryCounts, NotCarried};
pub use crowd::{Crowd, Job, Lent, Looked, Next, SharedWorld, WithBench};
pub use error::DriveError;
pub use kind::{email_record, gate_of, kind_of, network_of, rules_of};
pub use observe::judge_from;
pub use panel::{FrozenPanel, Seating};
pub use recheck::{Rechecked, resolve, to_recheck};
pub use refusal::Refusal;
pub use replay::{Recorded, ReplayError, Replayer, replay};
pub use turn::{Answer, Judge, Judged, Outcome, submit};
