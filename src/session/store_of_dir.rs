//! A session directory as the store that commands ask.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::attempt::{Attempt, Mark};
use super::claim::{Claim, Worker};
use super::error::SessionError;
use super::event::{Dated, Event};
use super::manifest::Manifest;
use super::open::Session;
use super::resolution::Resolution;
use super::settlement::{Dispute, Settlement};
use super::standing::Standing;
use super::store::Store;
use super::totals::Totals;
use super::waiting::Waiting;
use crate::base::Digest;
use crate::quest::{FoldedKey, Key, Quest, QuestId};

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
