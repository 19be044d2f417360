//! Why an answer is not judged.

use jiff::Timestamp;

use super::error::DriveError;
use crate::privacy::is_named;
use crate::quest::{Key, QuestId};
use crate::session::{SessionError, Standing, State, Store, Worker};

/// Why an answer was not judged; nothing changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The quest takes no submission.
    Locked(State),
    /// The quest comes after one that has not passed.
    Waits {
        quest: QuestId,
        key: Key,
    },
    Claimed(Worker),
    Overtaken,
    Paused {
        streak: u32,
    },
}

/// Why `store` takes no answer of `worker` for this quest at `now`.
pub(super) fn refusal(
    store: &dyn Store,
    standing: &Standing,
    worker: Option<&Worker>,
    now: Timestamp,
) -> Result<Option<Refusal>, DriveError> {
    if worker.is_some_and(|worker| is_named(&store.forgetting(), worker)) {
        return Err(DriveError::ForgottenWorker);
    }
    if standing.progress.state != State::Todo {
        return Ok(Some(Refusal::Locked(standing.progress.state)));
    }
    if let Some(before) = store.awaited(standing)? {
        let (quest, key) = (before.id, before.key);
        return Ok(Some(Refusal::Waits { quest, key }));
    }
    let claim = store.claim_on(standing.id)?;
    if let Some(claim) = claim.filter(|claim| !claim.admits_answer(worker, now)) {
        return Ok(Some(Refusal::Claimed(claim.worker)));
    }
    let streak = store.totals().streak.length();
    Ok(store.paused().then_some(Refusal::Paused { streak }))
}

/// Why nothing is recorded.
#[derive(Debug)]
pub(super) enum Declined {
    /// It is not to be.
    Refusal(Refusal),
    /// It cannot be.
    Error(DriveError),
}

impl From<DriveError> for Declined {
    fn from(error: DriveError) -> Self {
        Self::Error(error)
    }
}

impl From<SessionError> for Declined {
    fn from(error: SessionError) -> Self {
        Self::Error(error.into())
    }
}
