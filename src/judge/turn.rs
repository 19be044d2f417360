//! One turn: a submission goes before the gate, and what the gate says into the ledger.

use std::cell::RefCell;
use std::num::NonZeroU32;

use jiff::Timestamp;
use serde_json::value::to_raw_value;

use super::accepted::marks;
use super::anchored::anchored;
use super::error::DriveError;
use super::kind::kind_of;
use super::leave::Leave;
use super::observe::observe;
use super::refusal::{Declined, Refusal, refusal};
use super::revision::revises;
use super::ruling::Ruling;
use crate::base::Digest;
use crate::gate::{Case, Gate, Judgement, house};
use crate::privacy::{Masked, holding_files, masked, unsaid};
use crate::quest::{Key, Quest, QuestId, Submission};
use crate::session::{
    Appended, Attempt, Claimed, Event, Grounds, Progress, Salt, Session, Standing, State, Store,
    Tally, Worker,
};
use crate::world::sandbox::Workshop;
use crate::world::{Fetcher, Resolver};

/// Who judges, and by what.
#[derive(Clone, Copy)]
pub struct Judge<'a> {
    pub gate: &'a dyn Gate,
    pub fetcher: &'a dyn Fetcher,
    pub resolver: &'a dyn Resolver,
    pub workshop: &'a dyn Workshop,
}

impl Judge<'_> {
    /// That the gate could look; an answer is not held to account for what kept it from that.
    pub(super) fn looked(&self) -> Result<(), DriveError> {
        let failure = self.workshop.failure();
        failure.map_or(Ok(()), |why| Err(DriveError::Workshop(why)))
    }
}

/// An answer on its way to the gate.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'a> {
    pub quest: QuestId,
    pub worker: Option<&'a Worker>,
    pub submission: &'a Submission,
}

/// What came of a submission.
#[derive(Debug)]
pub enum Outcome {
    Judged(Box<Judged>),
    /// It was not; nothing changed.
    Refused(Refusal),
}

/// A judgement that is on disk.
#[derive(Debug)]
pub struct Judged {
    pub id: QuestId,
    pub key: Key,
    pub judgement: Judgement,
    pub state: State,
    pub tries: u32,
    pub max_tries: u32,
    pub attempt: u32,
    pub tally: Tally,
}

/// Judges an answer and records what the gate says.
///
/// The gate runs outside the session's lock. Under the lock everything that the verdict took
/// from the session is looked at again, and so is the claim: of two answers at once one is
/// recorded and the other changes nothing. Evidence is kept under the lock too, and taken away
/// again where the answer cannot be recorded: only a process that is killed leaves any behind.
///
/// That reviewers are asked is recorded before they are. Where what they said never is, the next
/// answer that passes every check is a REVIEW, and they are not asked again.
pub fn submit(
    session: &mut Session,
    answer: Answer<'_>,
    judge: &Judge<'_>,
    now: &mut dyn FnMut() -> Timestamp,
    salts: &mut dyn FnMut() -> Salt,
) -> Result<Outcome, DriveError> {
    let Some(standing) = session.standing(answer.quest)? else {
        return Ok(Outcome::Refused(Refusal::Overtaken));
    };
    if let Some(refusal) = refusal(session, &standing, answer.worker, now())? {
        return Ok(Outcome::Refused(refusal));
    }
    if let Some(refusal) = hold(session, &answer, now, salts)? {
        return Ok(Outcome::Refused(refusal));
    }
    let quest = session.quest(&standing)?;
    let turn = Turn {
        quest: &quest,
        answer,
        submitted: answer.submission.digest(),
        judge,
        before: &standing,
    };
    match turn.rule(session, now, salts) {
        Ok(ruling) => turn.record(session, ruling, now, salts),
        Err(Declined::Refusal(refusal)) => Ok(Outcome::Refused(refusal)),
        Err(Declined::Error(error)) => Err(error),
    }
}

/// Renews the worker's worn claim, so that it does not run out while the gate looks.
fn hold(
    session: &mut Session,
    answer: &Answer<'_>,
    clock: &mut dyn FnMut() -> Timestamp,
    salts: &mut dyn FnMut() -> Salt,
) -> Result<Option<Refusal>, DriveError> {
    let Some(worker) = answer.worker else {
        return Ok(None);
    };
    let mine = |session: &Session, now| -> Result<_, DriveError> {
        let claim = session.claim_of(worker)?;
        Ok(claim.filter(|claim| claim.quest == answer.quest && claim.is_worn(now)))
    };
    if mine(session, clock())?.is_none() {
        return Ok(None);
    }
    let appended = session.append_at(clock, salts, |session, now| {
        let standing = session.standing(answer.quest).map_err(DriveError::from)?;
        let standing = standing.ok_or(Declined::Refusal(Refusal::Overtaken))?;
        if let Some(refusal) = refusal(session, &standing, Some(worker), now)? {
            return Err(Declined::Refusal(refusal));
        }
        let claim = mine(session, now)?.map(|claim| {
            Event::Claim(Claimed {
                quest: claim.quest,
                worker: claim.worker,
                lease: claim.lease,
            })
        });
        Ok(claim.into_iter().collect())
    })?;
    match appended {
        Appended::Done => Ok(None),
        Appended::Refused(Declined::Refusal(refusal)) => Ok(Some(refusal)),
        Appended::Refused(Declined::Error(error)) => Err(error),
    }
}

struct Turn<'a> {
    quest: &'a Quest,
    answer: Answer<'a>,
    submitted: Digest,
    judge: &'a Judge<'a>,
    before: &'a Standing,
}

impl Turn<'_> {
    fn rule(
        &self,
        session: &mut Session,
        clock: &mut dyn FnMut() -> Timestamp,
        salts: &mut dyn FnMut() -> Salt,
    ) -> Result<Ruling, Declined> {
        if let Some(masked) = self.masked(session)? {
            return Ok(Ruling::unseen(masked.judgement, Grounds::Submission));
        }
        if let Submission::None(why) = self.answer.submission {
            return Ok(Ruling::unseen(house::no_result(why), Grounds::NoResult));
        }
        if !self.judge.gate.judges_anew()
            && let Some(earlier) = session.repeats(self.quest.id, self.submitted)?
        {
            let judgement = house::repeated_submission(earlier);
            return Ok(Ruling::unseen(judgement, Grounds::Repeat));
        }
        let leave = Leave::new(session, self.answer, self.before, clock, salts);
        let observed = observe(self.judge, self.case(), &leave).map_err(DriveError::from)?;
        if let Err(error) = self.judge.looked() {
            leave.withdraw(&observed.0);
            return Err(error.into());
        }
        let (judgement, recording) = leave.told(observed)?;
        Ok(Ruling::seen(self.judge.gate, judgement, recording))
    }

    fn masked(&self, session: &Session) -> Result<Option<Masked>, DriveError> {
        let forgetting = session.forgetting();
        if forgetting.suppressed().is_empty() {
            return Ok(None);
        }
        let kind = kind_of(session.manifest())?;
        let (submission, workshop) = (self.answer.submission, self.judge.workshop);
        let holds = holding_files(&forgetting, submission, &kind, workshop);
        self.judge.looked()?;
        Ok(masked(&forgetting, submission, &holds))
    }

    fn case(&self) -> Case<'_> {
        Case {
            quest: self.quest,
            submission: self.answer.submission,
        }
    }

    fn record(
        &self,
        session: &mut Session,
        ruling: Ruling,
        clock: &mut dyn FnMut() -> Timestamp,
        salts: &mut dyn FnMut() -> Salt,
    ) -> Result<Outcome, DriveError> {
        let max_tries = session.manifest().frozen.max_tries;
        let mut recorded = None;
        let (evidence, new) = (session.evidence(), RefCell::default());
        let decide = |session: &Session, now| {
            let (attempt, ruling) = self.settle(session, ruling, max_tries, now)?;
            ruling.keep(&evidence, &new)?;
            let event = Event::Attempt(Box::new(attempt.clone()));
            recorded = Some((attempt, ruling.judgement));
            Ok::<_, Declined>(vec![event])
        };
        let undo = || new.borrow().iter().for_each(|body| evidence.remove(*body));
        let appended = session.append_or(clock, salts, decide, undo)?;
        match (appended, recorded) {
            (Appended::Refused(Declined::Refusal(refusal)), _) => Ok(Outcome::Refused(refusal)),
            (Appended::Refused(Declined::Error(error)), _) => Err(error),
            (Appended::Done, None) => Ok(Outcome::Refused(Refusal::Overtaken)),
            (Appended::Done, Some((attempt, judgement))) => Ok(Outcome::Judged(Box::new(Judged {
                id: self.quest.id,
                key: self.quest.key.clone(),
                judgement,
                state: attempt.state,
                tries: attempt.tries,
                max_tries: max_tries.get(),
                attempt: attempt.number,
                tally: session.totals().tally,
            }))),
        }
    }

    fn settle(
        &self,
        session: &Session,
        ruling: Ruling,
        max_tries: NonZeroU32,
        now: Timestamp,
    ) -> Result<(Attempt, Ruling), Declined> {
        let standing = session.standing(self.quest.id).map_err(DriveError::from)?;
        let standing = standing.ok_or(Declined::Refusal(Refusal::Overtaken))?;
        if let Some(refusal) = refusal(session, &standing, self.answer.worker, now)? {
            return Err(Declined::Refusal(refusal));
        }
        if standing.attempts != self.before.attempts {
            return Err(Declined::Refusal(Refusal::Overtaken));
        }
        // It may have been forgotten while the gate looked.
        let (submission, ruling) = if let Some(masked) = self.masked(session)? {
            let ruling = Ruling::unseen(masked.judgement, Grounds::Submission);
            (masked.submission, ruling)
        } else {
            let ruling = ruling.look_again(self.judge.gate, self.case(), session)?;
            let ruling = unsaid(&session.forgetting(), ruling);
            (self.answer.submission.clone(), ruling)
        };
        let judged = standing
            .progress
            .judged(ruling.judgement.verdict, max_tries)
            .map_err(|locked| Declined::Refusal(Refusal::Locked(locked.0)))?;
        let due = revises(self.judge.gate, &ruling.judgement, standing.revisions);
        let revised = standing.progress.revised(max_tries).filter(|_| due);
        let Progress { state, tries } = revised.unwrap_or(judged);
        let attempt = Attempt {
            quest: self.quest.id,
            number: standing.attempts.saturating_add(1),
            submitted: submission.digest(),
            submission,
            verdict: ruling.judgement.verdict,
            grounds: ruling.grounds,
            state,
            tries,
            rules: ruling.fired(),
            anchored: anchored(self.quest),
            revision: revised.is_some(),
            holds: match state {
                State::Pass => marks(self.judge.gate, self.case()),
                State::Todo | State::Review | State::Done => Vec::new(),
            },
            worker: self.answer.worker.cloned(),
            judgement: to_raw_value(&ruling.judgement).map_err(DriveError::from)?,
            evidence: to_raw_value(&ruling.recording.evidence).map_err(DriveError::from)?,
        };
        Ok((attempt, ruling))
    }
}
