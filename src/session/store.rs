//! What commands ask of a session, wherever it is kept.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::claim::{Claim, Worker};
use super::decision::{Dispute, Settlement};
use super::error::SessionError;
use super::event::{Attempt, Dated, Event, Mark, Resolution};
use super::manifest::Manifest;
use super::open::Session;
use super::quest_record::{DependencyState, Standing, Waiting};
use super::redaction::Forgetting;
use super::totals::Totals;
use crate::base::Digest;
use crate::quest::{FoldedKey, Key, Quest, QuestId};

/// What commands ask of a session. No answer reads the whole ledger.
pub trait Store {
    fn manifest(&self) -> &Manifest;
    fn totals(&self) -> Totals;
    /// The hash of the ledger's last line: noted elsewhere, it shows any later edit.
    fn head(&self) -> Digest;
    fn standing(&self, id: QuestId) -> Result<Option<Standing>, SessionError>;
    fn named(&self, key: &FoldedKey) -> Result<Vec<Standing>, SessionError>;
    fn each_key(&self, take: &mut dyn FnMut(&Key)) -> Result<(), SessionError>;
    /// The first quest in TODO that no worker holds at `now`, and that waits for no other.
    fn first_free(&self, now: Timestamp) -> Result<Option<Standing>, SessionError> {
        self.first_free_but(now, &BTreeSet::new())
    }
    fn first_free_but(
        &self,
        now: Timestamp,
        except: &BTreeSet<QuestId>,
    ) -> Result<Option<Standing>, SessionError>;
    fn waiting(&self) -> Result<Waiting, SessionError>;
    /// The number of the earlier attempt that sent the same, if the world was heard on it.
    fn repeats(&self, quest: QuestId, submitted: Digest) -> Result<Option<u32>, SessionError>;
    fn holder(&self, mark: &Mark) -> Result<Option<Standing>, SessionError>;
    fn claim_on(&self, quest: QuestId) -> Result<Option<Claim>, SessionError>;
    fn claim_of(&self, worker: &Worker) -> Result<Option<Claim>, SessionError>;
    /// Every claim, also those whose lease has run out, in order of quests.
    fn claims(&self) -> Result<Vec<Claim>, SessionError>;
    /// The REVIEWs that rest on an unanswered lookup and were not looked at again.
    fn unanswered(&self) -> Result<Vec<Standing>, SessionError>;
    fn reviews(&self) -> Result<Vec<Standing>, SessionError>;
    /// The decision on the quest's REVIEW, with the time of its line.
    fn settlement(
        &self,
        standing: &Standing,
    ) -> Result<Option<Dated<Box<Settlement>>>, SessionError>;
    /// What somebody said who disputed the quest, with the time of its line.
    fn dispute(&self, standing: &Standing) -> Result<Option<Dated<Box<Dispute>>>, SessionError>;
    /// What the last agent that was driven at the quest said of where it stands, with the time of
    /// its line.
    fn handover(&self, standing: &Standing) -> Result<Option<Dated<Box<str>>>, SessionError>;
    fn quest(&self, standing: &Standing) -> Result<Quest, SessionError>;
    /// The quest's last attempt with the time of its line, or the one that was carried into the
    /// session with the time at which it passed first.
    fn last_attempt(
        &self,
        standing: &Standing,
    ) -> Result<Option<Dated<Box<Attempt>>>, SessionError>;
    /// The quest's attempts that were sent back for a revision, the earliest first.
    ///
    /// Of a quest with more than one attempt the ledger is read up to its end: only who asks
    /// reviewers again asks.
    fn revised(&self, standing: &Standing) -> Result<Vec<Attempt>, SessionError>;
    /// What became of the quest's REVIEW, with the time of its line.
    fn resolution(
        &self,
        standing: &Standing,
    ) -> Result<Option<Dated<Box<Resolution>>>, SessionError>;

    fn forgetting(&self) -> Forgetting {
        let earlier = &self.manifest().forgotten;
        self.totals().forgetting.beside(earlier)
    }

    fn awaited(&self, standing: &Standing) -> Result<Option<Standing>, SessionError> {
        for id in &standing.after {
            let before = self.standing(*id)?;
            if let Some(before) = before.filter(|before| before.way() != DependencyState::Passed) {
                return Ok(Some(before));
            }
        }
        Ok(None)
    }

    fn paused(&self) -> bool {
        self.totals()
            .streak
            .pauses(self.manifest().frozen.pause_after)
    }
}

impl Store for Session {
    fn manifest(&self) -> &Manifest {
        self.manifest()
    }

    fn totals(&self) -> Totals {
        self.checkpoint().totals.clone()
    }

    fn head(&self) -> Digest {
        self.checkpoint().head
    }

    fn standing(&self, id: QuestId) -> Result<Option<Standing>, SessionError> {
        self.ask(|index| index.standing(id))
    }

    fn named(&self, key: &FoldedKey) -> Result<Vec<Standing>, SessionError> {
        self.ask(|index| index.named(key))
    }

    fn each_key(&self, take: &mut dyn FnMut(&Key)) -> Result<(), SessionError> {
        self.ask(|index| index.each_key(take))
    }

    fn first_free_but(
        &self,
        now: Timestamp,
        except: &BTreeSet<QuestId>,
    ) -> Result<Option<Standing>, SessionError> {
        self.ask(|index| index.first_free_but(now, except))
    }

    fn waiting(&self) -> Result<Waiting, SessionError> {
        self.ask(super::index::Index::waiting)
    }

    fn repeats(&self, quest: QuestId, submitted: Digest) -> Result<Option<u32>, SessionError> {
        self.ask(|index| index.repeats(quest, submitted))
    }

    fn holder(&self, mark: &Mark) -> Result<Option<Standing>, SessionError> {
        self.ask(|index| index.holder(mark))
    }

    fn claim_on(&self, quest: QuestId) -> Result<Option<Claim>, SessionError> {
        self.ask(|index| index.claim_on(quest))
    }

    fn claim_of(&self, worker: &Worker) -> Result<Option<Claim>, SessionError> {
        self.ask(|index| index.claim_of(worker))
    }

    fn claims(&self) -> Result<Vec<Claim>, SessionError> {
        self.ask(super::index::Index::claims)
    }

    fn unanswered(&self) -> Result<Vec<Standing>, SessionError> {
        self.ask(super::index::Index::unanswered)
    }

    fn reviews(&self) -> Result<Vec<Standing>, SessionError> {
        self.ask(super::index::Index::reviews)
    }

    fn settlement(
        &self,
        standing: &Standing,
    ) -> Result<Option<Dated<Box<Settlement>>>, SessionError> {
        self.reader()?.settlement(standing)
    }

    fn dispute(&self, standing: &Standing) -> Result<Option<Dated<Box<Dispute>>>, SessionError> {
        self.reader()?.dispute(standing)
    }

    fn handover(&self, standing: &Standing) -> Result<Option<Dated<Box<str>>>, SessionError> {
        self.reader()?.handover(standing)
    }

    fn quest(&self, standing: &Standing) -> Result<Quest, SessionError> {
        self.reader()?.quest(standing)
    }

    fn last_attempt(
        &self,
        standing: &Standing,
    ) -> Result<Option<Dated<Box<Attempt>>>, SessionError> {
        self.reader()?.last_attempt(standing)
    }

    fn revised(&self, standing: &Standing) -> Result<Vec<Attempt>, SessionError> {
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

    fn resolution(
        &self,
        standing: &Standing,
    ) -> Result<Option<Dated<Box<Resolution>>>, SessionError> {
        self.reader()?.resolution(standing)
    }
}
