//! What a ledger records: one event a line.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::asked::Asked;
use super::attempt::Attempt;
use super::claim::{Claimed, Released};
use super::forgotten::Forgotten;
use super::manifest::SourceRecord;
use super::resolution::{Carried, Resolution};
use super::run_line::RunLine;
use super::settlement::{Dispute, Settlement};
use crate::base::Digest;
use crate::quest::Quest;

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

/// The types of event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventType {
    /// See [`Event::Session`].
    Session,
    /// See [`Event::Quest`].
    Quest,
    /// See [`Event::Asked`].
    Asked,
    /// See [`Event::Attempt`].
    Attempt,
    /// See [`Event::Claim`].
    Claim,
    /// See [`Event::Released`].
    Released,
    /// See [`Event::Resolution`].
    Resolution,
    /// See [`Event::Carried`].
    Carried,
    /// See [`Event::Extended`].
    Extended,
    /// See [`Event::Resumed`].
    Resumed,
    /// See [`Event::Settled`].
    Settled,
    /// See [`Event::Disputed`].
    Disputed,
    /// See [`Event::Forgotten`].
    Forgotten,
    /// See [`Event::Run`].
    Run,
}

impl EventType {
    /// Every type.
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

    /// Its name, as the ledger spells it.
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

    /// Its body as JSON.
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

    /// The event of this type with this body.
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

/// An attempt with the time of its line.
#[derive(Debug, Clone)]
pub struct Dated<T> {
    /// When its line was written.
    pub at: Timestamp,
    /// What was written.
    pub value: T,
}
