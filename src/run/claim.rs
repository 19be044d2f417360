//! The claims of a run: which quest comes next, and the claim that is held while agents work on it.

use crate::base::clock::Clock;
use std::collections::BTreeSet;

use jiff::Timestamp;

use super::plan::RunError;
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lost {
    Settled,
    Paused,
    Taken,
}

impl Lost {
    /// Why the work on a quest ends whose claim was lost.
    pub fn reason(self) -> Reason {
        match self {
            Self::Settled => Reason::Settled,
            Self::Paused => Reason::Paused,
            Self::Taken => Reason::AgentFailed,
        }
    }
}

impl ClaimGuard {
    // The earlier start of the agent may still be alive; under the new name it cannot submit any
    // more.
    pub fn hand_over(
        &mut self,
        next: Worker,
        session: &mut Session,
        clock: &mut dyn Clock,
    ) -> Result<Result<(), Lost>, RunError> {
        let mut events = vec![self.released()];
        events.push(Event::Claim(Claimed {
            quest: self.quest,
            worker: next.clone(),
            lease: self.lease,
        }));
        let held = self.append(events, session, clock)?;
        if held.is_ok() {
            self.worker = next;
        }
        Ok(held)
    }

    pub fn renew(
        &self,
        session: &mut Session,
        clock: &mut dyn Clock,
    ) -> Result<Result<(), Lost>, RunError> {
        let claimed = Event::Claim(Claimed {
            quest: self.quest,
            worker: self.worker.clone(),
            lease: self.lease,
        });
        self.append(vec![claimed], session, clock)
    }

    pub fn released(&self) -> Event {
        Event::Released(Released {
            quest: self.quest,
            worker: self.worker.clone(),
        })
    }

    // An agent may call `next` again after its quest has settled; that second claim must not stay.
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

    fn append(
        &self,
        events: Vec<Event>,
        session: &mut Session,
        clock: &mut dyn Clock,
    ) -> Result<Result<(), Lost>, RunError> {
        let appended = session.append_at(clock, |session, _| match self.lost(session)? {
            Some(lost) => Err(Declined::Lost(lost)),
            None => Ok(events),
        })?;
        match appended {
            Appended::Done => Ok(Ok(())),
            Appended::Refused(Declined::Lost(lost)) => Ok(Err(lost)),
            Appended::Refused(Declined::Error(error)) => Err(error.into()),
        }
    }

    fn lost(&self, store: &Session) -> Result<Option<Lost>, SessionError> {
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

#[derive(Debug)]
pub enum Choice {
    Quest(Box<QuestRecord>, Claim),
    Complete,
    Paused,
    Held,
    Nothing,
}

pub fn choose(
    session: &mut Session,
    worker: &Worker,
    lease: Option<Lease>,
    driven: &BTreeSet<QuestId>,
    clock: &mut dyn Clock,
) -> Result<Choice, RunError> {
    let lease = lease.unwrap_or(session.manifest().frozen.lease);
    let mut choice = Choice::Nothing;
    let appended = session.append_at(clock, |session, now| {
        let (chosen, events) = decide(session, worker, lease, driven, now)?;
        choice = chosen;
        Ok::<_, SessionError>(events)
    })?;
    match appended {
        Appended::Done => Ok(choice),
        Appended::Refused(error) => Err(error.into()),
    }
}

pub(super) fn decide(
    store: &Session,
    worker: &Worker,
    lease: Lease,
    driven: &BTreeSet<QuestId>,
    now: Timestamp,
) -> Result<(Choice, Vec<Event>), SessionError> {
    if store.totals().tally.todo == 0 {
        return Ok((Choice::Complete, Vec::new()));
    }
    if store.paused() {
        return Ok((Choice::Paused, Vec::new()));
    }
    if let Some(standing) = store.first_free_but(now, driven)? {
        let claimed = Claimed {
            quest: standing.id,
            worker: worker.clone(),
            lease,
        };
        let claim = Claim::new(&claimed, now);
        let choice = Choice::Quest(Box::new(standing), claim);
        return Ok((choice, vec![Event::Claim(claimed)]));
    }
    let claims = store.claims()?;
    let held = claims.iter().any(|claim| claim.is_live(now));
    let choice = if held { Choice::Held } else { Choice::Nothing };
    Ok((choice, Vec::new()))
}
