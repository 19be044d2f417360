//! What a ledger records: one event a line.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::claim::{Claimed, Released, Worker};
use super::decision::{Dispute, Settlement};
use super::manifest::SourceRecord;
use super::redaction::Forgotten;
use super::run_event::RunLine;
use super::state::State;
use crate::base::Digest;
use crate::quest::{Quest, QuestId, Submission, Verdict};

/// One event. `type` and body of a ledger line.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(tag = "type", content = "body", rename_all = "kebab-case")]
pub enum Event {
    /// `session`: the first line; binds `session.json` to the chain.
    Session(Started),
    /// `quest`: a quest of the list.
    Quest(Quest),
    /// `asked`: reviewers are asked about a submission.
    Asked(Asked),
    /// `attempt`: a submission and its judgement.
    Attempt(Box<Attempt>),
    /// `claim`: a worker takes a quest.
    Claim(Claimed),
    /// `released`: a person freed a claimed quest.
    Released(Released),
    /// `resolution`: a REVIEW was looked at again.
    Resolution(Box<Resolution>),
    /// `carried`: an earlier session's PASS.
    Carried(Box<Carried>),
    /// `extended`: `scan --update` read a newer list; its new quests follow.
    Extended(Extended),
    /// `resumed`: a person lifted a pause.
    Resumed(Resumed),
    /// `settled`: a person decided REVIEWs.
    Settled(Box<Settlement>),
    /// `disputed`: the world contradicted what counts as right.
    Disputed(Box<Dispute>),
    /// `forgotten`: an address was blotted out.
    Forgotten(Box<Forgotten>),
    /// `run`: what a run of an agent came to.
    Run(Box<RunLine>),
}

/// The body of `session`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Started {
    /// The digest of the bytes of `session.json`.
    pub manifest: Digest,
}

/// The body of `extended`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Extended {
    /// The newer list.
    pub source: SourceRecord,
    /// How many quests it adds.
    pub added: u32,
}

/// The body of `resumed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Resumed {
    /// How long the streak was, in quests.
    pub streak: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventType {
    Session,
    Quest,
    Asked,
    Attempt,
    Claim,
    Released,
    Resolution,
    Carried,
    Extended,
    Resumed,
    Settled,
    Disputed,
    Forgotten,
    Run,
}

impl EventType {
    pub const ALL: [Self; 14] = [
        Self::Session,
        Self::Quest,
        Self::Asked,
        Self::Attempt,
        Self::Claim,
        Self::Released,
        Self::Resolution,
        Self::Carried,
        Self::Extended,
        Self::Resumed,
        Self::Settled,
        Self::Disputed,
        Self::Forgotten,
        Self::Run,
    ];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Quest => "quest",
            Self::Asked => "asked",
            Self::Attempt => "attempt",
            Self::Claim => "claim",
            Self::Released => "released",
            Self::Resolution => "resolution",
            Self::Carried => "carried",
            Self::Extended => "extended",
            Self::Resumed => "resumed",
            Self::Settled => "settled",
            Self::Disputed => "disputed",
            Self::Forgotten => "forgotten",
            Self::Run => "run",
        }
    }

    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl Event {
    #[must_use]
    pub fn kind(&self) -> EventType {
        match self {
            Self::Session(_) => EventType::Session,
            Self::Quest(_) => EventType::Quest,
            Self::Asked(_) => EventType::Asked,
            Self::Attempt(_) => EventType::Attempt,
            Self::Claim(_) => EventType::Claim,
            Self::Released(_) => EventType::Released,
            Self::Resolution(_) => EventType::Resolution,
            Self::Carried(_) => EventType::Carried,
            Self::Extended(_) => EventType::Extended,
            Self::Resumed(_) => EventType::Resumed,
            Self::Settled(_) => EventType::Settled,
            Self::Disputed(_) => EventType::Disputed,
            Self::Forgotten(_) => EventType::Forgotten,
            Self::Run(_) => EventType::Run,
        }
    }

    pub fn body(&self) -> Result<String, serde_json::Error> {
        match self {
            Self::Session(body) => serde_json::to_string(body),
            Self::Quest(body) => serde_json::to_string(body),
            Self::Asked(body) => serde_json::to_string(body),
            Self::Attempt(body) => serde_json::to_string(body),
            Self::Claim(body) => serde_json::to_string(body),
            Self::Released(body) => serde_json::to_string(body),
            Self::Resolution(body) => serde_json::to_string(body),
            Self::Carried(body) => serde_json::to_string(body),
            Self::Extended(body) => serde_json::to_string(body),
            Self::Resumed(body) => serde_json::to_string(body),
            Self::Settled(body) => serde_json::to_string(body),
            Self::Disputed(body) => serde_json::to_string(body),
            Self::Forgotten(body) => serde_json::to_string(body),
            Self::Run(body) => serde_json::to_string(body),
        }
    }

    pub fn parse(kind: EventType, body: &str) -> Result<Self, serde_json::Error> {
        Ok(match kind {
            EventType::Session => Self::Session(serde_json::from_str(body)?),
            EventType::Quest => Self::Quest(serde_json::from_str(body)?),
            EventType::Asked => Self::Asked(serde_json::from_str(body)?),
            EventType::Attempt => Self::Attempt(serde_json::from_str(body)?),
            EventType::Claim => Self::Claim(serde_json::from_str(body)?),
            EventType::Released => Self::Released(serde_json::from_str(body)?),
            EventType::Resolution => Self::Resolution(serde_json::from_str(body)?),
            EventType::Carried => Self::Carried(serde_json::from_str(body)?),
            EventType::Extended => Self::Extended(serde_json::from_str(body)?),
            EventType::Resumed => Self::Resumed(serde_json::from_str(body)?),
            EventType::Settled => Self::Settled(serde_json::from_str(body)?),
            EventType::Disputed => Self::Disputed(serde_json::from_str(body)?),
            EventType::Forgotten => Self::Forgotten(serde_json::from_str(body)?),
            EventType::Run => Self::Run(serde_json::from_str(body)?),
        })
    }
}

#[derive(Debug, Clone)]
pub struct Dated<T> {
    pub at: Timestamp,
    pub value: T,
}

/// The body of `asked`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// The quest.
    pub quest: QuestId,
    /// The number that the attempt is to have.
    pub number: u32,
    /// The digest of what was submitted.
    pub submitted: Digest,
    /// Whether it is taken back: something of ours failed, and nobody has said anything but that
    /// all is well.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub withdrawn: bool,
}

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
    pub grounds: VerdictBasis,
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
pub enum VerdictBasis {
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
    Unanswered,
}

impl VerdictBasis {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NoResult => "no-result",
            Self::Repeat => "repeat",
            Self::Submission => "submission",
            Self::World => "world",
            Self::Confirmed => "confirmed",
            Self::Unread => "unread",
            Self::Unanswered => "unanswered",
        }
    }
}

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
    pub const ALL: [Self; 3] = [Self::Confirmed, Self::Refuted, Self::Open];

    #[must_use]
    pub fn of(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Pass => Self::Confirmed,
            Verdict::Fail => Self::Refuted,
            Verdict::Review => Self::Open,
        }
    }

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
    pub grounds: VerdictBasis,
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
