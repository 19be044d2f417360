//! One REVIEW for a person to look at: all that the gate had before it.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::excerpt::{Excerpt, excerpt};
use super::history::{Again, Disputing, Earlier, History, Settling, histories};
use super::seen::{SeenPage, pages, sources};
use crate::gate::{CheckReport, Fact, Judgement};
use crate::judge::forgotten::is_evidence_blotted;
use crate::judge::{JudgeError, ReplayError, Replayer};
use crate::quest::{Anchor, Key, QuestId, Shown, Submission, listed};
use crate::session::{Effective, Forgetting, LineReader, Session, Standing, Store as _};
use crate::world::evidence::{Evidence, Recording};

/// One REVIEW for a person to look at.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Item {
    /// The quest.
    pub id: QuestId,
    /// Its key.
    pub key: Key,
    /// The rows of the list that it stands for.
    pub rows: Vec<u32>,
    /// What the operator knows about it beforehand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anchor: Option<Anchor>,
    /// What the list says beside the key.
    pub shown: Vec<Shown>,
    /// Further columns that checks go by.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<Shown>,
    /// What it comes to.
    pub effective: Effective,
    /// The attempt that is to be settled.
    pub attempt: u32,
    /// When it was judged last.
    pub since: Timestamp,
    /// What was submitted.
    pub submission: Submission,
    /// What fired, with where it shows.
    pub facts: Vec<SeenFact>,
    /// The pages that were asked for.
    pub pages: Vec<SeenPage>,
    /// What became of each check.
    pub checks: Vec<CheckReport>,
    /// What reviewers said, as the judgement holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub panel: Option<Value>,
    /// What the gate said when it looked again; the facts are those.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub again: Vec<Again>,
    /// The attempts before.
    pub earlier: Vec<Earlier>,
    /// What was decided so far.
    pub settlements: Vec<Settling>,
    /// What contradicted it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disputes: Vec<Disputing>,
    /// Why nothing is shown of what the gate saw, where the evidence is not whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damage: Option<String>,
}

impl Item {
    /// All that the list says of it beside its key.
    #[must_use]
    pub fn listed(&self) -> Vec<Shown> {
        listed(self.anchor.as_ref(), &self.shown, &self.known)
    }
}

/// A fact, and the lines that it is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SeenFact {
    /// The fact.
    #[serde(flatten)]
    pub fact: Fact,
    /// The lines around what it is about, where anything shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<Excerpt>,
}

/// Makes items of one session.
pub struct Viewer {
    reader: LineReader,
    replayer: Replayer,
    histories: BTreeMap<QuestId, History>,
    forgetting: Forgetting,
}

/// Why nothing is shown that an address was blotted out of.
pub(super) const REMOVED: &str = "it was removed when its address was forgotten";

impl Viewer {
    /// A viewer of these quests, whose histories are read in one way through the ledger.
    pub fn new(session: &Session, quests: &BTreeSet<QuestId>) -> Result<Self, JudgeError> {
        Ok(Self {
            reader: session.reader()?,
            replayer: Replayer::new(session.manifest(), session.evidence())?,
            histories: histories(session, quests)?,
            forgetting: session.forgetting(),
        })
    }

    /// The item of a quest that was judged; none of one that was not.
    pub fn item(&mut self, standing: &Standing) -> Result<Option<Item>, JudgeError> {
        let Some(last) = self.reader.last_attempt(standing)? else {
            return Ok(None);
        };
        let quest = self.reader.quest(standing)?;
        let again = self.reader.resolution(standing)?;
        let (since, judgement, evidence) = match &again {
            Some(again) => (again.at, &again.value.judgement, &again.value.evidence),
            None => (last.at, &last.value.judgement, &last.value.evidence),
        };
        let judged = Judged::read(judgement)?;
        let blotted = is_evidence_blotted(&self.forgetting, &mut self.reader, standing, evidence)?;
        let (recording, damage) = self.recording(evidence);
        let damage = damage.map(|damage| if blotted { REMOVED.to_owned() } else { damage });
        let submission = last.value.submission;
        let history = self
            .histories
            .get(&standing.id)
            .cloned()
            .unwrap_or_default();
        let before = |earlier: &Earlier| earlier.number < standing.attempts;
        Ok(Some(Item {
            id: standing.id,
            key: standing.key.clone(),
            rows: quest.rows,
            anchor: quest.anchor,
            shown: quest.shown,
            known: quest.known,
            effective: Effective::of(standing),
            attempt: standing.attempts,
            since,
            facts: seen_facts(judged.facts, &submission, &standing.key, &recording),
            submission,
            pages: pages(&recording.evidence),
            checks: judged.checks,
            panel: judged.panel,
            again: history.again,
            earlier: history.attempts.into_iter().filter(before).collect(),
            settlements: history.settlements,
            disputes: history.disputes,
            damage,
        }))
    }

    /// What the gate saw; without bodies, and why, where they are not whole.
    fn recording(&self, evidence: &RawValue) -> (Recording, Option<String>) {
        match self.replayer.recording(evidence) {
            Ok(recording) => (recording, None),
            Err(error) => (bare(evidence), Some(told(&error))),
        }
    }
}

/// What is read of a judgement.
pub(super) struct Judged {
    pub(super) facts: Vec<Fact>,
    checks: Vec<CheckReport>,
    panel: Option<Value>,
}

impl Judged {
    pub(super) fn read(raw: &RawValue) -> Result<Self, serde_json::Error> {
        #[derive(serde::Deserialize)]
        struct Beside {
            panel: Option<Value>,
        }

        let judgement: Judgement = serde_json::from_str(raw.get())?;
        let beside: Beside = serde_json::from_str(raw.get())?;
        Ok(Self {
            facts: judgement.facts,
            checks: judgement.checks,
            panel: beside.panel,
        })
    }
}

fn seen_facts(
    facts: Vec<Fact>,
    submission: &Submission,
    key: &Key,
    recording: &Recording,
) -> Vec<SeenFact> {
    let sources = sources(recording);
    let seen = facts.into_iter().map(|fact| SeenFact {
        excerpt: excerpt(&fact, submission, key.as_str(), &sources),
        fact,
    });
    seen.collect()
}

fn bare(evidence: &RawValue) -> Recording {
    let evidence = serde_json::from_str::<Evidence>(evidence.get());
    Recording {
        evidence: evidence.unwrap_or_default(),
        bodies: BTreeMap::new(),
    }
}

fn told(error: &ReplayError) -> String {
    error.to_string()
}
