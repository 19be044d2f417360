//! Which quest a run takes up next.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::error::RunError;
use crate::quest::QuestId;
use crate::session::{
    Appended, Claim, Claimed, Event, Lease, Salt, Session, SessionError, Standing, Store, Worker,
};

#[derive(Debug)]
pub enum Choice {
    Quest(Box<Standing>, Claim),
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
    clock: &mut dyn FnMut() -> Timestamp,
    salts: &mut dyn FnMut() -> Salt,
) -> Result<Choice, RunError> {
    let lease = lease.unwrap_or(session.manifest().frozen.lease);
    let mut choice = Choice::Nothing;
    let appended = session.append_at(clock, salts, |session, now| {
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
    store: &dyn Store,
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
