//! Chooses the quest that a worker gets next, and records its claim.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::base::clock::Clock;
use crate::judge::error::JudgeError;
use crate::judge::forgotten::is_named;
use crate::judge::live_runs::{live_runs, start_of};
use crate::session::{
    Claim, Claimed, Event, Lease, QuestRecord, RunId, Session, SessionError, State, Waiting, Worker,
};

#[derive(Debug, Clone)]
pub struct Claimant {
    pub worker: Worker,
    /// The lease of its claim. Default: that of its current claim, or else the session's.
    pub lease: Option<Lease>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Assignment {
    Quest(Box<QuestRecord>, Option<Claim>),
    /// Nothing is free: other workers hold all quests in TODO.
    AllClaimed,
    /// Nothing is free: some quests in TODO wait for others, and workers hold the rest.
    Waiting(Waiting),
    /// A run drives the session, and hands out its quests itself.
    Driven,
    Complete,
    Paused {
        streak: u32,
    },
}

/// Hands out the first free quest, or the quest that the worker already has.
///
/// Without a worker nothing is recorded, and the same quest is handed out until it is settled. A
/// worker's claim is on disk when this returns.
pub fn assign(
    session: &mut Session,
    claimant: Option<&Claimant>,
    clock: &mut dyn Clock,
) -> Result<Assignment, JudgeError> {
    let mut assignment = take(session, claimant, clock)?;
    let believed = match assignment {
        Assignment::Complete => session.fold()?.remaining() == 0,
        Assignment::AllClaimed if !none_is_free(session, clock.now())? => {
            session.fold()?;
            false
        }
        _ => true,
    };
    if !believed {
        // If the index was wrong, it has been rebuilt by now.
        assignment = take(session, claimant, clock)?;
    }
    if assignment == Assignment::AllClaimed {
        let waiting = session.waiting()?;
        if !waiting.quests.is_empty() {
            assignment = Assignment::Waiting(waiting);
        }
    }
    Ok(assignment)
}

fn none_is_free(store: &Session, now: Timestamp) -> Result<bool, SessionError> {
    let claims = store.claims()?;
    let live = claims.iter().filter(|claim| claim.is_live(now)).count();
    let waiting = store.waiting()?.quests.len();
    Ok(live + waiting >= store.totals().tally.todo as usize)
}

fn take(
    session: &mut Session,
    claimant: Option<&Claimant>,
    clock: &mut dyn Clock,
) -> Result<Assignment, JudgeError> {
    let live = live_runs(session.dir(), &session.totals().runs);
    let (assignment, lease) = offer(session, claimant, &live, clock.now())?;
    let (Some(claimant), Some(_)) = (claimant, lease) else {
        return Ok(assignment);
    };
    session.append(clock, |session, now| {
        let (record, lease) = match offer(session, Some(claimant), &live, now)? {
            (Assignment::Quest(record, _), Some(lease)) => (record, lease),
            (assignment, _) => return Ok((Vec::new(), assignment)),
        };
        let claimed = Claimed {
            quest: record.id,
            worker: claimant.worker.clone(),
            lease,
        };
        let claim = Claim::new(&claimed, now);
        let taken = Assignment::Quest(record, Some(claim));
        Ok((vec![Event::Claim(claimed)], taken))
    })
}

/// The assignment, and the lease of the claim that must be recorded first.
fn offer(
    store: &Session,
    claimant: Option<&Claimant>,
    live: &BTreeSet<RunId>,
    now: Timestamp,
) -> Result<(Assignment, Option<Lease>), JudgeError> {
    let nothing = |assignment| Ok((assignment, None));
    let mut is_driver = false;
    if let Some(Claimant { worker, .. }) = claimant {
        if is_named(&store.forgetting(), worker) {
            return Err(JudgeError::ForgottenWorker);
        }
        if let Some((run, _)) = start_of(worker) {
            if !live.contains(&run) {
                return Err(JudgeError::NoSuchRun(worker.as_str().into()));
            }
            is_driver = true;
        }
    }
    let totals = store.totals();
    if totals.tally.todo == 0 {
        return nothing(Assignment::Complete);
    }
    if store.paused() {
        let streak = totals.streak;
        return nothing(Assignment::Paused { streak });
    }
    if !is_driver && !live.is_empty() {
        return nothing(Assignment::Driven);
    }
    let Some(claimant) = claimant else {
        return nothing(match store.first_free(now)? {
            Some(record) => Assignment::Quest(Box::new(record), None),
            None => Assignment::AllClaimed,
        });
    };
    if let Some((record, claim)) = own(store, &claimant.worker)? {
        let record = Box::new(record);
        let lease = claimant.lease.unwrap_or(claim.lease);
        let renewed = lease != claim.lease || claim.is_worn(now);
        let claim = Some(claim).filter(|_| !renewed);
        return Ok((Assignment::Quest(record, claim), renewed.then_some(lease)));
    }
    if is_driver {
        // A run claims quests for its agents. An agent without a claim must not take another quest.
        return nothing(Assignment::Driven);
    }
    Ok(match store.first_free(now)? {
        Some(record) => {
            let lease = claimant.lease.unwrap_or(store.manifest().frozen.lease);
            (Assignment::Quest(Box::new(record), None), Some(lease))
        }
        None => (Assignment::AllClaimed, None),
    })
}

/// The worker's quest and claim, if the quest is still in TODO.
fn own(store: &Session, worker: &Worker) -> Result<Option<(QuestRecord, Claim)>, SessionError> {
    let Some(claim) = store.claim_of(worker)? else {
        return Ok(None);
    };
    let record = store.quest_record(claim.quest)?;
    let record = record.filter(|record| record.progress.state == State::Todo);
    Ok(record.map(|record| (record, claim)))
}
