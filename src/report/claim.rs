//! Claims as people and programs are told of them.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::quest::{Key, QuestId};
use crate::session::{Claim, Worker};

/// A worker's hold on a quest, as it stands at some time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HeldClaim {
    /// The quest.
    pub quest: QuestId,
    /// Its key.
    pub key: String,
    /// Who holds it.
    pub worker: Worker,
    /// When it was taken or last renewed.
    pub at: Timestamp,
    /// How long it lasts from then.
    pub lease_seconds: u32,
    /// How long ago that was.
    pub age_seconds: i64,
    /// How long it lasts still; 0 once the lease has run out.
    pub left_seconds: i64,
}

impl HeldClaim {
    /// The claim as it stands at `now`; its quest has this key.
    #[must_use]
    pub fn of(claim: &Claim, key: Option<&Key>, now: Timestamp) -> Self {
        Self {
            quest: claim.quest,
            key: key.map_or_else(String::new, ToString::to_string),
            worker: claim.worker.clone(),
            at: claim.at,
            lease_seconds: claim.lease.seconds(),
            age_seconds: now.duration_since(claim.at).as_secs(),
            left_seconds: claim.left(now).as_secs(),
        }
    }
}
