//! What happened to quests, read out of the ledger in one way through it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::gate::{Fact, Judgement};
use crate::quest::{QuestId, Submission, Verdict};
use crate::session::{
    Attempt, Court, Decided, Decision, Entry, Event, Outcome, Resolution, Session, SessionError,
    Settlement, Unwatched,
};

/// What happened to one quest.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct History {
    /// Its attempts, in order.
    pub attempts: Vec<Earlier>,
    /// What became of its REVIEW when the gate looked again.
    pub again: Vec<Again>,
    /// What was decided of it, in order; and what somebody wrote there who could not decide.
    pub settlements: Vec<Settling>,
    /// What contradicted it, in order.
    pub disputes: Vec<Disputing>,
}

/// An attempt, as far as people want to know it later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Earlier {
    /// Its number.
    pub number: u32,
    /// When it was judged.
    pub at: Timestamp,
    /// What the gate said.
    pub verdict: Verdict,
    /// What was submitted.
    pub submission: Submission,
    /// What fired.
    pub facts: Vec<Fact>,
}

/// A REVIEW that the gate judged again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Again {
    /// When.
    pub at: Timestamp,
    /// What became of it.
    pub outcome: Outcome,
    /// What fired then.
    pub facts: Vec<Fact>,
}

/// A decision on a REVIEW.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Settling {
    /// When it was recorded.
    pub at: Timestamp,
    /// What was decided.
    pub decision: Decision,
    /// Who says that they decided.
    pub by: String,
    /// Why.
    pub note: String,
    /// Whether it counts: where the session froze a key, only what that key sealed does.
    pub counts: bool,
}

/// A contradiction by the world.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Disputing {
    /// When it was recorded.
    pub at: Timestamp,
    /// Who says so.
    pub by: String,
    /// What happened.
    pub note: String,
    /// Whether it counts.
    pub counts: bool,
}

/// What happened to each of `quests`.
pub fn histories(
    session: &Session,
    quests: &BTreeSet<QuestId>,
) -> Result<BTreeMap<QuestId, History>, SessionError> {
    let mut reading = Reading {
        court: session.terms().court,
        histories: quests.iter().map(|id| (*id, History::default())).collect(),
    };
    session.read_sound(&Unwatched, &mut |entry| {
        reading.take(entry);
        ControlFlow::Continue(())
    })?;
    Ok(reading.histories)
}

struct Reading {
    court: Court,
    histories: BTreeMap<QuestId, History>,
}

impl Reading {
    fn take(&mut self, entry: &Entry<'_>) {
        let at = entry.line.at();
        match &entry.event {
            Event::Attempt(attempt) => self.attempt(attempt, at),
            Event::Resolution(resolution) => self.again(resolution, at),
            Event::Settled(settlement) => {
                let counts = self.counts(settlement.as_ref(), entry);
                self.settled(settlement, at, counts);
            }
            Event::Disputed(dispute) => {
                let counts = self.counts(dispute.as_ref(), entry);
                if let Some(history) = self.histories.get_mut(&dispute.quest) {
                    history.disputes.push(Disputing {
                        at,
                        by: dispute.by.clone(),
                        note: dispute.note.clone(),
                        counts,
                    });
                }
            }
            _ => {}
        }
    }

    fn counts<T: Decided>(&self, decided: &T, entry: &Entry<'_>) -> bool {
        self.court.admits(decided, entry.line.prev())
    }

    fn attempt(&mut self, attempt: &Attempt, at: Timestamp) {
        if let Some(history) = self.histories.get_mut(&attempt.quest) {
            history.attempts.push(Earlier {
                number: attempt.number,
                at,
                verdict: attempt.verdict,
                submission: attempt.submission.clone(),
                facts: facts(attempt.judgement.get()),
            });
        }
    }

    fn again(&mut self, resolution: &Resolution, at: Timestamp) {
        if let Some(history) = self.histories.get_mut(&resolution.quest) {
            history.again.push(Again {
                at,
                outcome: resolution.outcome,
                facts: facts(resolution.judgement.get()),
            });
        }
    }

    fn settled(&mut self, settlement: &Settlement, at: Timestamp, counts: bool) {
        for settled in &settlement.quests {
            if let Some(history) = self.histories.get_mut(&settled.quest) {
                history.settlements.push(Settling {
                    at,
                    decision: settlement.decision,
                    by: settlement.by.clone(),
                    note: settlement.note.clone(),
                    counts,
                });
            }
        }
    }
}

/// The facts of a judgement; none of one that does not read, which `audit` tells of.
fn facts(judgement: &str) -> Vec<Fact> {
    serde_json::from_str::<Judgement>(judgement).map_or(Vec::new(), |judgement| judgement.facts)
}
