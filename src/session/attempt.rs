//! `attempt`: a submission and its judgement, as the ledger records them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::claim::Worker;
use super::state::State;
use crate::base::Digest;
use crate::quest::{QuestId, Submission, Verdict};

/// The body of `attempt`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Attempt {
    /// The quest.
    pub quest: QuestId,
    /// Its number among the quest's attempts, from 1.
    pub number: u32,
    /// What was submitted.
    pub submission: Submission,
    /// The submission's digest, by which a repeat is known.
    pub submitted: Digest,
    /// What the gate said.
    pub verdict: Verdict,
    /// What it rests on.
    pub grounds: Grounds,
    /// Where the quest stands after it.
    pub state: State,
    /// How many of the quest's submissions have failed, this one included.
    pub tries: u32,
    /// The rules that fired, each once.
    pub rules: Vec<String>,
    /// Whether the operator knew something beforehand that the submission was held against.
    pub anchored: bool,
    /// What a PASS takes for its quest alone, such as an address; empty for other verdicts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holds: Vec<Mark>,
    /// Whether its REVIEW was sent back to the agent for a revision.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub revision: bool,
    /// The worker who submitted it, where one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<Worker>,
    /// The judgement, as the gate wrote it.
    pub judgement: Box<RawValue>,
    /// What the gate saw of the world.
    pub evidence: Box<RawValue>,
}

/// The name of something that one quest of a session can have, such as an address.
///
/// Whoever judges makes the names; the session compares them.
#[derive(
    Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Mark(pub String);

/// What a verdict rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Grounds {
    /// There was no answer to judge.
    NoResult,
    /// The submission equals an earlier one.
    Repeat,
    /// The submission alone; nothing was looked up.
    Submission,
    /// What the world answered.
    World,
    /// What the world answered, and it bears out what was submitted.
    Confirmed,
    /// A page that may not or cannot be read.
    Unread,
    /// A lookup that was not answered.
    Silence,
}

impl Grounds {
    /// Its name, as the ledger spells it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NoResult => "no-result",
            Self::Repeat => "repeat",
            Self::Submission => "submission",
            Self::World => "world",
            Self::Confirmed => "confirmed",
            Self::Unread => "unread",
            Self::Silence => "silence",
        }
    }
}
