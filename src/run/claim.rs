//! The claims of a run: which quest comes next, and the claim that is held while agents work on it.

use std::collections::BTreeSet;

use super::plan::RunError;
use crate::base::clock::Clock;
use crate::quest::QuestId;
use crate::session::{
    Appended, Claim, Claimed, Event, Lease, QuestRecord, Reason, Released, Session, SessionError,
    State, Worker,
};

#[derive(Debug, Clone)]
pub struct ClaimGuard {
    pub quest: QuestId,
    pub worker: Worker,
    pub lease: Lease,
}

impl ClaimGuard {
    /// Claims the quest under another name; returns why it is lost, if it is. The earlier start of the agent may still be alive;
    /// under the old name it cannot submit any more.
    pub fn hand_over(
        &mut self,
        next: Worker,
        session: &mut Session,
        clock: &mut dyn Clock,
    ) -> Result<Option<Reason>, RunError> {
        let events = vec![self.released(), self.claimed(next.clone())];
        let lost = self.append(events, session, clock)?;
        if lost.is_none() {
            self.worker = next;
        }
        Ok(lost)
    }

    pub fn renew(
        &self,
        session: &mut Session,
        clock: &mut dyn Clock,
    ) -> Result<Option<Reason>, RunError> {
        let events = vec![self.claimed(self.worker.clone())];
        self.append(events, session, clock)
    }

    fn claimed(&self, worker: Worker) -> Event {
        Event::Claim(Claimed {
            quest: self.quest,
            worker,
            lease: self.lease,
        })
    }

    pub fn released(&self) -> Event {
        Event::Released(Released {
            quest: self.quest,
            worker: self.worker.clone(),
        })
    }

    /// Releases what an agent claimed by calling `next` again after its quest was settled.
    pub fn extra_claim(&self, store: &Session) -> Result<Option<Event>, SessionError> {
        let claim = store.claim_of(&self.worker)?;
        let claim = claim.filter(|claim| claim.quest != self.quest);
        Ok(claim.map(|claim| {
            Event::Released(Released {
                quest: claim.quest,
                worker: claim.worker,
            })
        }))
    }

    pub fn is_held(&self, store: &Session) -> Result<bool, SessionError> {
        let claim = store.claim_on(self.quest)?;
        Ok(claim.is_some_and(|claim| claim.worker == self.worker))
    }

    /// Appends the events unless the claim is lost.
    fn append(
        &self,
        events: Vec<Event>,
        session: &mut Session,
        clock: &mut dyn Clock,
    ) -> Result<Option<Reason>, RunError> {
        let mut lost = None;
        let appended = session.append_at(clock, |session, _| {
            lost = self.lost(session)?;
            let events = if lost.is_some() { Vec::new() } else { events };
            Ok::<_, SessionError>(events)
        })?;
        match appended {
            Appended::Done => Ok(lost),
            Appended::Refused(error) => Err(error.into()),
        }
    }

    /// Why the claim is not held any more, which ends the work on the quest.
    fn lost(&self, store: &Session) -> Result<Option<Reason>, SessionError> {
        let standing = store.standing(self.quest)?;
        let todo = standing.is_some_and(|it| it.progress.state == State::Todo);
        Ok(if !todo {
            Some(Reason::Settled)
        } else if store.paused() {
            Some(Reason::Paused)
        } else if !self.is_held(store)? {
            // Another worker has taken it.
            Some(Reason::AgentFailed)
        } else {
            None
        })
    }
}

/// What a worker does next.
#[derive(Debug)]
pub enum Choice {
    Quest(Box<QuestRecord>, Claim),
    Complete,
    Paused,
    /// Others hold all quests that are left.
    Held,
    Nothing,
}

/// Claims the next quest that this run has not given up.
pub fn choose(
    session: &mut Session,
    worker: &Worker,
    lease: Option<Lease>,
    given_up: &BTreeSet<QuestId>,
    clock: &mut dyn Clock,
) -> Result<Choice, RunError> {
    let lease = lease.unwrap_or(session.manifest().frozen.lease);
    let mut choice = Choice::Nothing;
    let appended = session.append_at(clock, |session, now| {
        if session.totals().tally.todo == 0 {
            choice = Choice::Complete;
        } else if session.paused() {
            choice = Choice::Paused;
        } else if let Some(standing) = session.first_free_but(now, given_up)? {
            let claimed = Claimed {
                quest: standing.id,
                worker: worker.clone(),
                lease,
            };
            choice = Choice::Quest(Box::new(standing), Claim::new(&claimed, now));
            return Ok(vec![Event::Claim(claimed)]);
        } else if session.claims()?.iter().any(|claim| claim.is_live(now)) {
            choice = Choice::Held;
        }
        Ok::<_, SessionError>(Vec::new())
    })?;
    match appended {
        Appended::Done => Ok(choice),
        Appended::Refused(error) => Err(error.into()),
    }
}
