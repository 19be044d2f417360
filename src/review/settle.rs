//! Records a person's decisions.

use crate::base::clock::Clock;

use crate::judge::forgotten::is_forgotten;
use crate::quest::{Key, QuestId};
use crate::session::{
    Decided, Decision, Dispute, Effective, Event, Projection, QuestRecord, Reopened, Session,
    SessionError, SettledQuest, Settlement, SigningKey, State,
};

#[derive(Debug, Clone, Copy)]
pub struct Person<'a> {
    pub by: &'a str,
    pub note: &'a str,
    pub key: Option<&'a SigningKey>,
}

#[derive(Debug, thiserror::Error)]
pub enum NotSettled {
    #[error("there is no quest {0}")]
    Unknown(QuestId),
    #[error("quest {id}, {}, is {}: only a REVIEW or a sampled PASS can be settled", key.as_str(), spoken(*effective))]
    NoReview {
        id: QuestId,
        key: Key,
        effective: Effective,
    },
    #[error("quest {0} has a new answer: look at it again")]
    Moved(QuestId),
    #[error("quest {0} changed just now: look at it again")]
    Meanwhile(QuestId),
    #[error(
        "the answer of quest {0} was forgotten: there is nothing left to accept, only to reject"
    )]
    Forgotten(QuestId),
    /// It stays wrong, whatever a person decides.
    #[error("quest {0} was disputed, and a dispute cannot be withdrawn")]
    Disputed(QuestId),
    /// There is no PASS from before the first draw that was not drawn yet.
    #[error("no PASS is left to draw; later draws take those from before the first one")]
    NothingToDraw,
    #[error("quest {0} is TODO: there is nothing to reopen")]
    Todo(QuestId),
    #[error("quest {0} is already open: there is nothing to withdraw")]
    AlreadyOpen(QuestId),
    /// The gate decided it later.
    #[error("quest {0} was not settled by a person: there is nothing to withdraw")]
    NotDecided(QuestId),
    #[error("quest {id} is {}: only an answer that counts as right can be disputed", spoken(*effective))]
    NotRight { id: QuestId, effective: Effective },
    #[error("only decisions signed with the operator's key count in this session")]
    Unsealed,
    #[error(transparent)]
    Session(#[from] SessionError),
}

/// The outcome for a sentence, with states in capitals as everywhere.
fn spoken(effective: Effective) -> String {
    match effective {
        Effective::Pass | Effective::Done | Effective::Todo => effective.name().to_uppercase(),
        other => other.name().to_owned(),
    }
}

/// Settles all of `quests` with `decision`, or none.
///
/// They are checked again in the ledger under the session's lock, because anybody can write to the
/// index, and a signature must not cover forged records. In a session with an operator's key, the
/// decision is signed with `person.key` for its place in the ledger.
pub fn settle(
    session: &mut Session,
    quests: Vec<SettledQuest>,
    decision: Decision,
    person: Person<'_>,
    clock: &mut dyn Clock,
) -> Result<(), NotSettled> {
    settle_if(session, quests, decision, person, clock, &|_| true)
}

/// Like [`settle`], but only if every record `is_unchanged`.
pub(super) fn settle_if(
    session: &mut Session,
    mut quests: Vec<SettledQuest>,
    decision: Decision,
    person: Person<'_>,
    clock: &mut dyn Clock,
    is_unchanged: &dyn Fn(&QuestRecord) -> bool,
) -> Result<(), NotSettled> {
    quests.sort_unstable_by_key(|settled| settled.quest);
    quests.dedup_by_key(|settled| settled.quest);
    if quests.is_empty() {
        return Ok(());
    }
    session.append(clock, |session, _| {
        let projection = session.projection()?;
        for settled in &quests {
            let record = known(&projection, settled.quest)?;
            if !is_unchanged(&record) {
                return Err(NotSettled::Meanwhile(settled.quest));
            }
            may_settle_one(session, &record, *settled, decision)?;
        }
        let settlement = Settlement {
            quests,
            decision,
            by: person.by.to_owned(),
            note: person.note.to_owned(),
            seal: None,
        };
        let settlement = sealed(&projection, settlement, person.key)?;
        Ok((vec![Event::Settled(Box::new(settlement))], ()))
    })
}

pub fn dispute(
    session: &mut Session,
    quest: QuestId,
    person: Person<'_>,
    clock: &mut dyn Clock,
) -> Result<(), NotSettled> {
    session.append(clock, |session, _| {
        let projection = session.projection()?;
        right(&known(&projection, quest)?)?;
        let dispute = Dispute {
            quest,
            by: person.by.to_owned(),
            note: person.note.to_owned(),
            seal: None,
        };
        let dispute = sealed(&projection, dispute, person.key)?;
        Ok((vec![Event::Disputed(Box::new(dispute))], ()))
    })
}

/// The record of a quest that can be disputed, because it counts as right in the whole ledger.
pub fn may_dispute(session: &Session, quest: QuestId) -> Result<QuestRecord, NotSettled> {
    let projection = session.projection()?;
    let record = known(&projection, quest)?;
    right(&record)?;
    Ok(record)
}

/// Makes all of `quests` TODO again, or none; they must not have changed since they were looked at.
pub fn reopen(
    session: &mut Session,
    quests: &[QuestRecord],
    person: Person<'_>,
    clock: &mut dyn Clock,
) -> Result<(), NotSettled> {
    session.append(clock, |session, _| {
        let projection = session.projection()?;
        for seen in quests {
            if known(&projection, seen.id)? != *seen {
                return Err(NotSettled::Meanwhile(seen.id));
            }
        }
        let quests = quests.iter().map(|quest| SettledQuest {
            quest: quest.id,
            attempt: quest.attempts,
        });
        let reopened = Reopened {
            quests: quests.collect(),
            by: person.by.to_owned(),
            note: person.note.to_owned(),
            seal: None,
        };
        let reopened = sealed(&projection, reopened, person.key)?;
        Ok((vec![Event::Reopened(Box::new(reopened))], ()))
    })
}

/// The records of these quests in order, each once, if all of them are locked.
pub fn may_reopen(
    session: &Session,
    mut quests: Vec<QuestId>,
) -> Result<Vec<QuestRecord>, NotSettled> {
    let projection = session.projection()?;
    quests.sort_unstable();
    quests.dedup();
    let records = quests.into_iter().map(|quest| {
        let record = known(&projection, quest)?;
        match record.progress.state {
            State::Todo => Err(NotSettled::Todo(quest)),
            State::Pass | State::Review | State::Done => Ok(record),
        }
    });
    records.collect()
}

/// Refuses what [`settle`] would refuse, before a person is asked.
pub fn may_settle(
    session: &Session,
    quests: &[SettledQuest],
    decision: Decision,
) -> Result<(), NotSettled> {
    let projection = session.projection()?;
    quests.iter().try_for_each(|settled| {
        let record = known(&projection, settled.quest)?;
        may_settle_one(session, &record, *settled, decision)
    })
}

fn right(record: &QuestRecord) -> Result<(), NotSettled> {
    let effective = Effective::of(record);
    if effective.holds() {
        return Ok(());
    }
    Err(NotSettled::NotRight {
        id: record.id,
        effective,
    })
}

fn known(projection: &Projection, id: QuestId) -> Result<QuestRecord, NotSettled> {
    projection.get(id)?.ok_or(NotSettled::Unknown(id))
}

fn may_settle_one(
    session: &Session,
    record: &QuestRecord,
    settled: SettledQuest,
    decision: Decision,
) -> Result<(), NotSettled> {
    if record.progress.state != State::Review && !record.sampled {
        return Err(NotSettled::NoReview {
            id: record.id,
            key: record.key.clone(),
            effective: Effective::of(record),
        });
    }
    if record.attempts != settled.attempt {
        return Err(NotSettled::Moved(record.id));
    }
    match decision {
        Decision::Reopened if record.waits_for_a_person() => {
            Err(NotSettled::AlreadyOpen(record.id))
        }
        Decision::Reopened if record.settled.is_none() => Err(NotSettled::NotDecided(record.id)),
        Decision::Accepted if record.sampled && record.dispute.is_some() => {
            Err(NotSettled::Disputed(record.id))
        }
        Decision::Accepted
            if !session.forgetting().is_empty()
                && is_forgotten(&mut session.reader()?, record)? =>
        {
            Err(NotSettled::Forgotten(record.id))
        }
        _ => Ok(()),
    }
}

pub(super) fn sealed<T: Decided>(
    projection: &Projection,
    decided: T,
    key: Option<&SigningKey>,
) -> Result<T, NotSettled> {
    let (policy, after) = (projection.policy(), projection.tip().head);
    let sealed = policy.sealed(decided, after, key);
    sealed
        .map_err(SessionError::from)?
        .ok_or(NotSettled::Unsealed)
}

#[cfg(test)]
mod tests;
