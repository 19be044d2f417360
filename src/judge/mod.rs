//! Connects session, gate and world: hands out quests, judges answers, and judges them again.

pub mod audit;
mod carry;
pub mod completeness;
mod context;
mod error;
pub mod excerpts;
pub mod forgotten;
mod host_queue;
mod kind;
pub mod live_runs;
mod network;
mod next;
pub mod panel;
mod poll;
pub mod prove;
pub mod quest_file;
mod recheck;
mod recorded;
mod regression;
mod replay;
mod submit;

pub use carry::{Carrier, CarryCounts, NotCarried};
pub use context::{FinalResult, FinalWord, JudgeContext, JudgementOrigin, SubmitResult};
pub use error::{JudgeError, Refusal};
pub use host_queue::{HostQueue, Job, JudgedJob, Next};
pub use kind::{JudgeWorld, Received, SessionKind, kind_of, network_of, patch_base};
pub use next::{Assignment, Claimant, assign};
pub use poll::{Pace, Poll, needs_no_fields};
pub use quest_file::{FreezingPanel, email_record};
pub use recheck::{Rechecked, resolve, to_recheck};
pub use recorded::{NothingAccepted, judge_from, record};
pub use regression::{lost_passes, record_lost};
pub use replay::{ReplayError, Replayer, resolved};
pub use submit::{Answer, CallKey, Judged, submit};
