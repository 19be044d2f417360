//! Bringing the PASSes of an earlier session into a new one.
//!
//! An old PASS is worth what its evidence is: it is judged again, by the new session's settings
//! and for the new session's quest, and what does not pass so is a quest to be worked on.

mod held;
mod pairs;

use std::collections::{BTreeMap, HashMap};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::to_raw_value;

use super::accepted::marks;
use super::anchored::anchored;
use super::crowd::{Job, Looked};
use super::error::DriveError;
use super::kind::kind_of;
use super::replay::{ReplayError, Replayer};
use super::ruling::Ruling;
use super::silence::is_unanswered;
use crate::gate::Case;
use crate::quest::{Quest, QuestId, Verdict, map_schema};
use crate::session::{
    Archive, Attempt, Brought, Carried, Dated, LineReader, Manifest, Origin, SessionError,
    Standing, State,
};
use crate::world::evidence::pack;
use held::Held;
use pairs::{Pair, Pairs};

/// Why an old PASS is not carried.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum NotCarried {
    /// The new list has no quest of its key.
    Gone,
    /// The new list names another site for it, or none, or one for the first time.
    OtherAnchor,
    /// Several quests have its name, and nothing tells them apart.
    Namesake,
    /// The world contradicted it since, as somebody said.
    Disputed,
    /// Something was blotted out of it, or of its quest.
    Forgotten,
    /// Its evidence is missing or changed, or does not answer all that the gate asks.
    Evidence,
    /// The gate does not pass it: by its evidence and the new settings, or by the world now.
    NotPassed,
    /// Some lookup was not answered when it was judged by the world now.
    Unanswered,
    /// Another carried PASS has the address, or one of its domain.
    Taken,
}

/// What became of the PASSes of an earlier session.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct CarryCounts {
    /// How many are carried.
    pub carried: u32,
    /// How many are not, by reason.
    #[schemars(schema_with = "map_schema::<NotCarried, u32>")]
    pub not_carried: BTreeMap<NotCarried, u32>,
}

impl CarryCounts {
    fn leave(&mut self, why: NotCarried) {
        *self.not_carried.entry(why).or_default() += 1;
    }
}

/// Brings the PASSes of an earlier session, one after the other.
pub struct Carrier<'a> {
    old: &'a Archive,
    origin: String,
    reader: LineReader,
    replayer: Replayer,
    quests: &'a [Quest],
    pairs: std::vec::IntoIter<Pair>,
    looked: Option<HashMap<QuestId, Looked>>,
    held: Held,
    counts: CarryCounts,
}

impl<'a> Carrier<'a> {
    pub fn new(
        old: &'a Archive,
        quests: &'a [Quest],
        manifest: &Manifest,
    ) -> Result<Self, DriveError> {
        kind_of(old.manifest())?;
        let mut reader = old.reader()?;
        let mut pairs = Pairs::of(quests);
        let mut counts = CarryCounts::default();
        for standing in old.board().quests() {
            let mut passed = standing.progress.state == State::Pass;
            if passed && let Some(why) = withdrawn(&mut reader, standing)? {
                counts.leave(why);
                passed = false;
            }
            pairs.add(&reader.quest(standing)?, passed);
        }
        let (pairs, left) = pairs.finish();
        for why in left {
            counts.leave(why);
        }
        let origin = std::path::absolute(old.dir());
        let origin = origin.unwrap_or_else(|_| old.dir().to_owned());
        Ok(Self {
            old,
            origin: origin.to_string_lossy().into_owned(),
            reader,
            replayer: Replayer::new(manifest, old.evidence())?,
            quests,
            pairs: pairs.into_iter(),
            looked: None,
            held: Held::default(),
            counts,
        })
    }

    /// What the world has to be asked about, for [`Carrier::by_world`].
    pub fn jobs(&mut self) -> Result<Vec<Job>, DriveError> {
        let pairs = self.pairs.as_slice().to_vec();
        let mut jobs = Vec::with_capacity(pairs.len());
        for pair in pairs {
            jobs.push(Job {
                submission: self.passed(pair)?.value.submission,
                quest: self.quest(pair)?.clone(),
            });
        }
        Ok(jobs)
    }

    /// Goes by what the gate said of all [`Carrier::jobs`] by the world as it is now, in place of
    /// the old evidence.
    pub fn by_world(&mut self, looked: impl IntoIterator<Item = Looked>) {
        let by_id = |looked: Looked| (looked.job.quest.id, looked);
        self.looked = Some(looked.into_iter().map(by_id).collect());
    }

    /// How many are still to be judged.
    #[must_use]
    pub fn left(&self) -> usize {
        self.pairs.len()
    }

    #[must_use]
    pub fn counts(&self) -> &CarryCounts {
        &self.counts
    }

    fn quest(&self, pair: Pair) -> Result<&'a Quest, DriveError> {
        let quest = self.quests.get(pair.new.index());
        Ok(quest.ok_or(SessionError::Illegal("there is no such quest"))?)
    }

    fn passed(&mut self, pair: Pair) -> Result<Dated<Box<Attempt>>, DriveError> {
        let standing: Option<&Standing> = self.old.board().get(pair.old);
        let standing = standing.ok_or(SessionError::Illegal("there is no such quest"))?;
        let passed = self.reader.last_attempt(standing)?;
        Ok(passed.ok_or(SessionError::Illegal("a PASS has an attempt"))?)
    }

    fn judge(
        &mut self,
        quest: &Quest,
        passed: &Attempt,
    ) -> Result<Result<Ruling, NotCarried>, DriveError> {
        let (judgement, recording) = match &mut self.looked {
            Some(looked) => match looked.remove(&quest.id) {
                Some(looked) => (looked.judgement, looked.recording),
                None => return Ok(Err(NotCarried::Unanswered)),
            },
            None => match self.replayer.look(quest, passed.into()) {
                Ok(seen) => seen,
                Err(ReplayError::Drive(error)) => return Err(error),
                Err(_) => return Ok(Err(self.without_evidence(passed))),
            },
        };
        Ok(if judgement.verdict == Verdict::Pass {
            let gate = self.replayer.gate();
            Ok(Ruling::seen(gate, judgement, recording))
        } else if self.looked.is_some() && is_unanswered(&judgement, &recording.evidence) {
            Err(NotCarried::Unanswered)
        } else {
            Err(NotCarried::NotPassed)
        })
    }

    /// Why an old PASS is not judged again by its evidence.
    fn without_evidence(&self, passed: &Attempt) -> NotCarried {
        if self.old.forgetting().empties(passed.evidence.get()) {
            NotCarried::Forgotten
        } else {
            NotCarried::Evidence
        }
    }

    fn bring(&mut self, pair: Pair) -> Result<Result<Brought, NotCarried>, DriveError> {
        let quest = self.quest(pair)?;
        let passed = self.passed(pair)?;
        let ruling = match self.judge(quest, &passed.value)? {
            Ok(ruling) => ruling,
            Err(why) => return Ok(Err(why)),
        };
        let case = Case {
            quest,
            submission: &passed.value.submission,
        };
        let holds = marks(self.replayer.gate(), case);
        let evidence = &ruling.recording.evidence;
        // It was judged as if nobody had anything, and must not be worth more than that.
        if self.held.has_any(&holds) || evidence.session_differs(&self.held) {
            return Ok(Err(NotCarried::Taken));
        }
        self.held.take(&holds, &quest.key);
        let bodies = ruling.recording.bodies.iter();
        Ok(Ok(Brought {
            bodies: bodies.map(|(name, body)| (*name, pack(body))).collect(),
            carried: Carried {
                origin: Origin {
                    session: self.origin.clone(),
                    manifest: self.old.digest(),
                    head: self.old.head(),
                    quest: pair.old,
                    at: passed.at,
                },
                attempt: Attempt {
                    quest: quest.id,
                    submitted: passed.value.submission.digest(),
                    verdict: ruling.judgement.verdict,
                    grounds: ruling.grounds,
                    state: State::Pass,
                    rules: ruling.fired(),
                    anchored: anchored(quest),
                    holds,
                    judgement: to_raw_value(&ruling.judgement)?,
                    evidence: to_raw_value(evidence)?,
                    ..*passed.value
                },
            },
        }))
    }
}

/// Why a PASS counts no longer, where a person said so since.
fn withdrawn(
    reader: &mut LineReader,
    standing: &Standing,
) -> Result<Option<NotCarried>, SessionError> {
    let lines = [
        Some(standing.quest_line),
        standing.last.map(|last| last.line),
    ];
    for line in lines.into_iter().flatten() {
        if reader.is_redacted(line)? {
            return Ok(Some(NotCarried::Forgotten));
        }
    }
    Ok(standing.dispute.map(|_| NotCarried::Disputed))
}

impl Iterator for Carrier<'_> {
    type Item = Result<Brought, DriveError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let pair = self.pairs.next()?;
            match self.bring(pair) {
                Ok(Ok(brought)) => {
                    self.counts.carried += 1;
                    return Some(Ok(brought));
                }
                Ok(Err(why)) => self.counts.leave(why),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}
