//! A run's hold on a quest: one claim after the other, each by the name of one start.

use jiff::Timestamp;

use super::error::RunError;
use crate::quest::QuestId;
use crate::session::{
    Appended, Claimed, Event, Lease, Released, Salt, Session, SessionError, State, Store, Worker,
};

#[derive(Debug, Clone)]
pub struct Hold {
    pub quest: QuestId,
    pub worker: Worker,
    pub lease: Lease,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lost {
    Settled,
    Paused,
    Taken,
}

impl Hold {
    // The earlier start of the agent may still be alive; under the new name it cannot submit any
    // more.
    pub fn pass_on(
        &mut self,
        next: Worker,
        session: &mut Session,
        clock: &mut dyn FnMut() -> Timestamp,
        salts: &mut dyn FnMut() -> Salt,
    ) -> Result<Result<(), Lost>, RunError> {
        let mut events = vec![self.released()];
        events.push(Event::Claim(Claimed {
            quest: self.quest,
            worker: next.clone(),
            lease: self.lease,
        }));
        let held = self.append(events, session, clock, salts)?;
        if held.is_ok() {
            self.worker = next;
        }
        Ok(held)
    }

    pub fn renew(
        &self,
        session: &mut Session,
        clock: &mut dyn FnMut() -> Timestamp,
        salts: &mut dyn FnMut() -> Salt,
    ) -> Result<Result<(), Lost>, RunError> {
        let claimed = Event::Claim(Claimed {
            quest: self.quest,
            worker: self.worker.clone(),
            lease: self.lease,
        });
        self.append(vec![claimed], session, clock, salts)
    }

    pub fn released(&self) -> Event {
        Event::Released(Released {
            quest: self.quest,
            worker: self.worker.clone(),
        })
    }

    // An agent may call `next` again after its quest has settled; that second claim must not stay.
    pub fn besides(&self, store: &dyn Store) -> Result<Option<Event>, SessionError> {
        let claim = store.claim_of(&self.worker)?;
        let claim = claim.filter(|claim| claim.quest != self.quest);
        Ok(claim.map(|claim| {
            Event::Released(Released {
                quest: claim.quest,
                worker: claim.worker,
            })
        }))
    }

    pub fn is_held(&self, store: &dyn Store) -> Result<bool, SessionError> {
        let claim = store.claim_on(self.quest)?;
        Ok(claim.is_some_and(|claim| claim.worker == self.worker))
    }

    fn append(
        &self,
        events: Vec<Event>,
        session: &mut Session,
        clock: &mut dyn FnMut() -> Timestamp,
        salts: &mut dyn FnMut() -> Salt,
    ) -> Result<Result<(), Lost>, RunError> {
        let appended =
            session.append_at(clock, salts, |session, _| match self.lost(session)? {
                Some(lost) => Err(Declined::Lost(lost)),
                None => Ok(events),
            })?;
        match appended {
            Appended::Done => Ok(Ok(())),
            Appended::Refused(Declined::Lost(lost)) => Ok(Err(lost)),
            Appended::Refused(Declined::Error(error)) => Err(error.into()),
        }
    }

    fn lost(&self, store: &dyn Store) -> Result<Option<Lost>, SessionError> {
        let standing = store.standing(self.quest)?;
        let todo = standing.is_some_and(|it| it.progress.state == State::Todo);
        Ok(if !todo {
            Some(Lost::Settled)
        } else if store.paused() {
            Some(Lost::Paused)
        } else if !self.is_held(store)? {
            Some(Lost::Taken)
        } else {
            None
        })
    }
}

enum Declined {
    Lost(Lost),
    Error(SessionError),
}

impl From<SessionError> for Declined {
    fn from(error: SessionError) -> Self {
        Self::Error(error)
    }
}
