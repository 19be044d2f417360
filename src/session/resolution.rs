//! What became of a quest otherwise than by a submission: a REVIEW that was looked at again, and
//! a PASS that an earlier session had brought.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::attempt::{Attempt, Grounds, Mark};
use crate::base::Digest;
use crate::quest::{QuestId, Verdict};

/// What became of a REVIEW. The state stays REVIEW.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The gate looked again, and passes it now.
    Confirmed,
    /// The gate looked again, and fails it now; a person settles it.
    Refuted,
    /// The gate looked again and was answered, and still cannot decide; a person settles it.
    Open,
}

impl Outcome {
    /// Every outcome.
    pub const ALL: [Self; 3] = [Self::Confirmed, Self::Refuted, Self::Open];

    /// What a new verdict makes of a REVIEW.
    #[must_use]
    pub fn of(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Pass => Self::Confirmed,
            Verdict::Fail => Self::Refuted,
            Verdict::Review => Self::Open,
        }
    }

    /// Its name, as the ledger spells it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::Refuted => "refuted",
            Self::Open => "open",
        }
    }
}

/// The body of `resolution`: the gate judged a REVIEW again, by what the world says now.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Resolution {
    /// The quest.
    pub quest: QuestId,
    /// The attempt that was judged again.
    pub attempt: u32,
    /// What became of it.
    pub outcome: Outcome,
    /// What the gate says now.
    pub verdict: Verdict,
    /// What that rests on.
    pub grounds: Grounds,
    /// The rules that fired, each once.
    pub rules: Vec<String>,
    /// What a confirmation takes for its quest alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holds: Vec<Mark>,
    /// The judgement, as the gate wrote it.
    pub judgement: Box<RawValue>,
    /// What the gate saw of the world.
    pub evidence: Box<RawValue>,
}

/// The body of `carried`: a PASS that an earlier session brought for the same quest.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Carried {
    /// Where it comes from.
    pub origin: Origin,
    /// The attempt that passed, with the number of the quest in this session.
    pub attempt: Attempt,
}

/// Where a carried PASS comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// The session's directory, absolute, as it was when carried.
    pub session: String,
    /// The digest of its `session.json`.
    pub manifest: Digest,
    /// Its ledger's head when carried.
    pub head: Digest,
    /// The number of the quest there.
    pub quest: QuestId,
    /// When it passed there; for one that was carried before, when it passed first.
    pub at: Timestamp,
}
