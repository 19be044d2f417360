//! What a ledger records: one event a line.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::manifest::SourceRecord;
use super::state::State;
use crate::quest::{Digest, Quest, QuestId, Submission, Verdict};

/// One event. `type` and body of a ledger line.
#[derive(Debug, Clone)]
pub enum Event {
    /// `session`: the first line; binds `session.json` to the chain.
    Session(Started),
    /// `quest`: a quest of the list.
    Quest(Quest),
    /// `attempt`: a submission and its judgement.
    Attempt(Box<Attempt>),
    /// `extended`: `scan --update` read a newer list; its new quests follow.
    Extended(Extended),
    /// `resumed`: a person lifted a pause.
    Resumed(Resumed),
}

/// The body of `session`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Started {
    /// The digest of the bytes of `session.json`.
    pub manifest: Digest,
}

/// The body of `extended`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extended {
    /// The newer list.
    pub source: SourceRecord,
    /// How many quests it adds.
    pub added: u32,
}

/// The body of `resumed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resumed {
    /// How long the streak was, in quests.
    pub streak: u32,
}

/// The body of `attempt`.
#[derive(Debug, Clone, Serialize, Deserialize)]
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
    /// The judgement, as the gate wrote it.
    pub judgement: Box<RawValue>,
    /// What the gate saw of the world.
    pub evidence: Box<RawValue>,
}

/// The name of something that one quest of a session can have, such as an address.
///
/// Whoever judges makes the names; the session compares them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Mark(pub String);

/// What a verdict rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
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

/// The types of event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventType {
    /// See [`Event::Session`].
    Session,
    /// See [`Event::Quest`].
    Quest,
    /// See [`Event::Attempt`].
    Attempt,
    /// See [`Event::Extended`].
    Extended,
    /// See [`Event::Resumed`].
    Resumed,
}

impl EventType {
    /// Every type.
    pub const ALL: [Self; 5] = [
        Self::Session,
        Self::Quest,
        Self::Attempt,
        Self::Extended,
        Self::Resumed,
    ];

    /// Its name, as the ledger spells it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Quest => "quest",
            Self::Attempt => "attempt",
            Self::Extended => "extended",
            Self::Resumed => "resumed",
        }
    }

    /// The type of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl Event {
    /// Its type.
    #[must_use]
    pub fn kind(&self) -> EventType {
        match self {
            Self::Session(_) => EventType::Session,
            Self::Quest(_) => EventType::Quest,
            Self::Attempt(_) => EventType::Attempt,
            Self::Extended(_) => EventType::Extended,
            Self::Resumed(_) => EventType::Resumed,
        }
    }

    /// Its body as JSON.
    pub fn body(&self) -> Result<String, serde_json::Error> {
        match self {
            Self::Session(body) => serde_json::to_string(body),
            Self::Quest(body) => serde_json::to_string(body),
            Self::Attempt(body) => serde_json::to_string(body),
            Self::Extended(body) => serde_json::to_string(body),
            Self::Resumed(body) => serde_json::to_string(body),
        }
    }

    /// The event of this type with this body.
    pub fn parse(kind: EventType, body: &str) -> Result<Self, serde_json::Error> {
        Ok(match kind {
            EventType::Session => Self::Session(serde_json::from_str(body)?),
            EventType::Quest => Self::Quest(serde_json::from_str(body)?),
            EventType::Attempt => Self::Attempt(serde_json::from_str(body)?),
            EventType::Extended => Self::Extended(serde_json::from_str(body)?),
            EventType::Resumed => Self::Resumed(serde_json::from_str(body)?),
        })
    }
}

/// An attempt with the time of its line.
#[derive(Debug, Clone)]
pub struct Dated<T> {
    /// When its line was written.
    pub at: Timestamp,
    /// What was written.
    pub value: T,
}
