//! What a ledger records: one event a line.

use std::path::Path;
use std::str::FromStr;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use strum::{EnumString, IntoStaticStr, VariantArray};

use super::amendment::Amended;
use super::claim::{Claimed, Released, Worker};
use super::decision::{Decided, Dispute, Settlement};
use super::redaction::Forgotten;
use super::reopening::{Regressed, Reopened};
use super::run_event::RunLine;
use super::sample::Sampled;
use super::state::{State, VerdictBasis};
use crate::base::Digest;
use crate::base::text::Escaped;
use crate::quest::{Quest, QuestId, Seen, Submission, Verdict};

/// Defines events and their types from one list, so that each event has a name, a writer and a reader.
macro_rules! events {
    ($($(#[doc = $doc:literal])+ $variant:ident($body:ty),)+) => {
        /// One event. `type` and body of a ledger line.
        #[derive(Debug, Clone, JsonSchema, strum::EnumTryAs)]
        #[schemars(tag = "type", content = "body", rename_all = "kebab-case")]
        pub enum Event {
            $($(#[doc = $doc])+ $variant($body),)+
        }

        #[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
        #[strum(serialize_all = "kebab-case")]
        pub enum EventType {
            $($variant,)+
        }

        impl Event {
            pub fn kind(&self) -> EventType {
                match self {
                    $(Self::$variant(_) => EventType::$variant,)+
                }
            }

            pub fn body(&self) -> Result<String, serde_json::Error> {
                match self {
                    $(Self::$variant(body) => serde_json::to_string(body),)+
                }
            }

            pub fn parse(kind: EventType, body: &str) -> Result<Self, serde_json::Error> {
                match kind {
                    $(EventType::$variant => serde_json::from_str(body).map(Self::$variant),)+
                }
            }
        }
    };
}

events! {
    /// `session`: the first line; binds `session.json` to the chain.
    Session(Started),
    /// `quest`: a quest of the list.
    Quest(Quest),
    /// `asked`: reviewers are asked about a submission.
    Asked(Asked),
    /// `attempt`: a submission and its judgement.
    Attempt(Box<Attempt>),
    /// `fixed`: the fixer ran after a FAIL.
    Fixed(Fixed),
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
    /// `amended`: a person added settings before anything was judged.
    Amended(Box<Amended>),
    /// `resumed`: a person lifted a pause.
    Resumed(Resumed),
    /// `settled`: a person decided REVIEWs.
    Settled(Box<Settlement>),
    /// `regressed`: a PASS no longer holds, and its quest is TODO again.
    Regressed(Box<Regressed>),
    /// `reopened`: a person made locked quests TODO again.
    Reopened(Box<Reopened>),
    /// `sampled`: PASSes were drawn for a person to check by hand.
    Sampled(Box<Sampled>),
    /// `disputed`: the world contradicted what counts as right.
    Disputed(Box<Dispute>),
    /// `forgotten`: an address was removed.
    Forgotten(Box<Forgotten>),
    /// `run`: what a run of an agent came to.
    Run(Box<RunLine>),
}

impl EventType {
    pub const ALL: &[Self] = Self::VARIANTS;

    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl Event {
    /// The person's decision that it records.
    pub fn decision(&self) -> Option<&dyn Decided> {
        match self {
            Self::Amended(body) => Some(body.as_ref()),
            Self::Settled(body) => Some(body.as_ref()),
            Self::Reopened(body) => Some(body.as_ref()),
            Self::Sampled(body) => Some(body.as_ref()),
            Self::Disputed(body) => Some(body.as_ref()),
            Self::Forgotten(body) => Some(body.as_ref()),
            _ => None,
        }
    }

    pub fn decision_mut(&mut self) -> Option<&mut dyn Decided> {
        match self {
            Self::Amended(body) => Some(body.as_mut()),
            Self::Settled(body) => Some(body.as_mut()),
            Self::Reopened(body) => Some(body.as_mut()),
            Self::Sampled(body) => Some(body.as_mut()),
            Self::Disputed(body) => Some(body.as_mut()),
            Self::Forgotten(body) => Some(body.as_mut()),
            _ => None,
        }
    }
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

/// A list that was scanned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SourceRecord {
    /// The path, absolute, as it was when scanned.
    pub path: String,
    /// The digest of its bytes.
    pub sha256: Digest,
    /// The name of the copy in the session directory.
    #[serde(deserialize_with = "bare_name")]
    pub copy: String,
    /// How it was read: sheet, columns, header row, encoding.
    pub list: Value,
}

/// Accepts only a file name that stays in its directory.
fn bare_name<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let name = String::deserialize(from)?;
    let path = Path::new(&name);
    if path.file_name() == Some(path.as_os_str()) && !name.contains(['\\', '\0']) {
        Ok(name)
    } else {
        let said = Escaped(&name);
        Err(D::Error::custom(format!(
            "the copy `{said}` is not the name of a file in the session"
        )))
    }
}

/// The body of `resumed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Resumed {
    /// How long the streak was, in quests.
    pub streak: u32,
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
    /// The state of the quest after it.
    pub state: State,
    /// How many of the quest's submissions have failed, this one included.
    pub tries: u32,
    /// The rules that fired, each once.
    pub rules: Vec<String>,
    /// Whether the list named something, such as a site, that the submission had to match.
    pub anchored: bool,
    /// What decided what a reader of its pages sees, where it names pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<Seen>,
    /// What a PASS takes for its quest alone, such as an address; empty for other verdicts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holds: Vec<Mark>,
    /// Whether its REVIEW was sent back to the agent for a revision.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub revision: bool,
    /// What it adds to the accepted tree, in a session with worktrees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<Accepted>,
    /// The worker who submitted it, where one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<Worker>,
    /// The digest of the call's idempotency key, where it had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<IdempotencyKey>,
    /// The judgement, as the gate wrote it.
    pub judgement: Box<RawValue>,
    /// What the gate saw of the world.
    pub evidence: Box<RawValue>,
}

/// A step of the accepted tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Accepted {
    /// The digest of the change, which is in `evidence/`.
    pub change: Digest,
    /// The digest of the tree's listing after it.
    pub tree: Digest,
    /// The change before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Digest>,
}

/// The digest of the text that a caller chose for one submission, so that the same call again
/// returns the judgement of the first.
// Text that an agent chooses could name an address, which `forget` could not remove from a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct IdempotencyKey(Digest);

#[derive(Debug, thiserror::Error)]
#[error("an idempotency key has 1 to {MAX_KEY_CHARS} ASCII characters and no spaces")]
pub struct BadIdempotencyKey;

const MAX_KEY_CHARS: usize = 255;

impl IdempotencyKey {
    /// The mark that its quest takes, so that no other quest can use the key.
    pub(super) fn mark(self) -> Mark {
        Mark(format!("key {}", self.0))
    }
}

impl FromStr for IdempotencyKey {
    type Err = BadIdempotencyKey;

    fn from_str(text: &str) -> Result<Self, BadIdempotencyKey> {
        let is_short = (1..=MAX_KEY_CHARS).contains(&text.len());
        if is_short && text.bytes().all(|byte| byte.is_ascii_graphic()) {
            Ok(Self(Digest::of(text.as_bytes())))
        } else {
            Err(BadIdempotencyKey)
        }
    }
}

/// The body of `fixed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fixed {
    /// The quest.
    pub quest: QuestId,
    /// The attempt that failed.
    pub attempt: u32,
    /// How the fixer ended.
    #[serde(flatten)]
    pub fix: Fix,
}

/// How a run of the fixer ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "fixer", rename_all = "kebab-case")]
pub enum Fix {
    /// It changed something, and the submission was judged again.
    Changed,
    /// It changed nothing, so the submission is not judged again.
    ChangedNothing,
    /// It failed, so the submission is not judged again.
    Failed {
        /// Why.
        why: String,
    },
}

/// The name of something that one quest of a session can have, such as an address.
///
/// Whoever judges makes the names; the session compares them.
#[derive(
    Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Mark(pub String);

/// What became of a REVIEW. The state stays REVIEW.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
#[derive(IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
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

    pub fn of(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Pass => Self::Confirmed,
            Verdict::Fail => Self::Refuted,
            Verdict::Review => Self::Open,
        }
    }

    pub fn name(self) -> &'static str {
        self.into()
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
