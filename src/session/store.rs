//! What commands ask of a session, wherever it is kept.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::claim::{Claim, Worker};
use super::decision::{Dispute, Settlement};
use super::error::SessionError;
use super::event::{Attempt, Dated, Event, Mark, Resolution};
use super::open::Session;
use super::quest_record::{DependencyState, QuestRecord, Waiting};
use super::redaction::Forgetting;
use super::totals::Totals;
use crate::base::Digest;
use crate::quest::{FoldedKey, Key, Quest, QuestId};

/// What commands ask of a session. No answer reads the whole ledger.
impl Session {
    #[must_use]
    pub fn totals(&self) -> Totals {
        self.checkpoint().totals.clone()
    }

    /// The hash of the ledger's last line: noted elsewhere, it shows any later edit.
    #[must_use]
    pub fn head(&self) -> Digest {
        self.checkpoint().head
    }

    pub fn standing(&self, id: QuestId) -> Result<Option<QuestRecord>, SessionError> {
        self.ask(|index| index.standing(id))
    }

    pub fn named(&self, key: &FoldedKey) -> Result<Vec<QuestRecord>, SessionError> {
        self.ask(|index| index.named(key))
    }

    pub fn each_key(&self, take: &mut dyn FnMut(&Key)) -> Result<(), SessionError> {
        self.ask(|index| index.each_key(take))
    }

    /// The first quest in TODO that no worker holds at `now`, and that waits for no other.
    pub fn first_free(&self, now: Timestamp) -> Result<Option<QuestRecord>, SessionError> {
        self.first_free_but(now, &BTreeSet::new())
    }

    pub fn first_free_but(
        &self,
        now: Timestamp,
        except: &BTreeSet<QuestId>,
    ) -> Result<Option<QuestRecord>, SessionError> {
        self.ask(|index| index.first_free_but(now, except))
    }

    pub fn waiting(&self) -> Result<Waiting, SessionError> {
        self.ask(super::index::Index::waiting)
    }

    /// The number of the earlier attempt that sent the same, if the world was heard on it.
    pub fn repeats(&self, quest: QuestId, submitted: Digest) -> Result<Option<u32>, SessionError> {
        self.ask(|index| index.repeats(quest, submitted))
    }

    pub fn holder(&self, mark: &Mark) -> Result<Option<QuestRecord>, SessionError> {
        self.ask(|index| index.holder(mark))
    }

    pub fn claim_on(&self, quest: QuestId) -> Result<Option<Claim>, SessionError> {
        self.ask(|index| index.claim_on(quest))
    }

    pub fn claim_of(&self, worker: &Worker) -> Result<Option<Claim>, SessionError> {
        self.ask(|index| index.claim_of(worker))
    }

    /// Every claim, also those whose lease has run out, in order of quests.
    pub fn claims(&self) -> Result<Vec<Claim>, SessionError> {
        self.ask(super::index::Index::claims)
    }

    /// The REVIEWs that rest on an unanswered lookup and were not looked at again.
    pub fn unanswered(&self) -> Result<Vec<QuestRecord>, SessionError> {
        self.ask(super::index::Index::unanswered)
    }

    pub fn reviews(&self) -> Result<Vec<QuestRecord>, SessionError> {
        self.ask(super::index::Index::reviews)
    }

    /// The decision on the quest's REVIEW, with the time of its line.
    pub fn settlement(
        &self,
        standing: &QuestRecord,
    ) -> Result<Option<Dated<Box<Settlement>>>, SessionError> {
        self.reader()?.settlement(standing)
    }

    /// What somebody said who disputed the quest, with the time of its line.
    pub fn dispute(
        &self,
        standing: &QuestRecord,
    ) -> Result<Option<Dated<Box<Dispute>>>, SessionError> {
        self.reader()?.dispute(standing)
    }

    /// What the last agent that was driven at the quest said of where it stands, with the time of
    /// its line.
    pub fn handover(
        &self,
        standing: &QuestRecord,
    ) -> Result<Option<Dated<Box<str>>>, SessionError> {
        self.reader()?.handover(standing)
    }

    pub fn quest(&self, standing: &QuestRecord) -> Result<Quest, SessionError> {
        self.reader()?.quest(standing)
    }

    /// The quest's last attempt with the time of its line, or the one that was carried into the
    /// session with the time at which it passed first.
    pub fn last_attempt(
        &self,
        standing: &QuestRecord,
    ) -> Result<Option<Dated<Box<Attempt>>>, SessionError> {
        self.reader()?.last_attempt(standing)
    }

    /// The quest's attempts that were sent back for a revision, the earliest first.
    ///
    /// Of a quest with more than one attempt the ledger is read up to its end: only who asks
    /// reviewers again asks.
    pub fn revised(&self, standing: &QuestRecord) -> Result<Vec<Attempt>, SessionError> {
        let mut revised = Vec::new();
        // How many were sent back is not gone by: the index that says so can be forged.
        let Some(last) = self
            .last_attempt(standing)?
            .filter(|_| standing.attempts > 0)
        else {
            return Ok(revised);
        };
        if standing.attempts == 1 && last.value.number == 1 {
            revised.extend(Some(*last.value).filter(|attempt| attempt.revision));
            return Ok(revised);
        }
        self.log().read_on(&mut |entry| {
            if let Event::Attempt(attempt) = entry.event
                && attempt.quest == standing.id
                && attempt.revision
            {
                revised.push(*attempt);
            }
        })?;
        Ok(revised)
    }

    /// What became of the quest's REVIEW, with the time of its line.
    pub fn resolution(
        &self,
        standing: &QuestRecord,
    ) -> Result<Option<Dated<Box<Resolution>>>, SessionError> {
        self.reader()?.resolution(standing)
    }

    #[must_use]
    pub fn forgetting(&self) -> Forgetting {
        let earlier = &self.manifest().forgotten;
        self.totals().forgetting.beside(earlier)
    }

    pub fn awaited(&self, standing: &QuestRecord) -> Result<Option<QuestRecord>, SessionError> {
        for id in &standing.after {
            let before = self.standing(*id)?;
            if let Some(before) = before.filter(|before| before.way() != DependencyState::Passed) {
                return Ok(Some(before));
            }
        }
        Ok(None)
    }

    #[must_use]
    pub fn paused(&self) -> bool {
        self.totals()
            .streak
            .pauses(self.manifest().frozen.pause_after)
    }
}
