//! Judging REVIEWs again that rest on an unanswered lookup alone.

use std::cell::RefCell;

use jiff::Timestamp;
use serde_json::value::to_raw_value;

use super::accepted::marks;
use super::crowd::{Job, Looked};
use super::error::DriveError;
use super::refusal::{Declined, Refusal};
use super::ruling::Ruling;
use super::silence::{is_silence_alone, is_unanswered, may_be_silence};
use crate::gate::{Case, Gate, Judgement};
use crate::privacy::MASK;
use crate::privacy::{is_masked, unsaid};
use crate::session::{
    Appended, Attempt, Event, Outcome, Resolution, Salt, Session, Standing, Store as _,
};
use crate::world::evidence::Evidence;

/// What became of a REVIEW that was judged again.
#[derive(Debug)]
pub enum Rechecked {
    Resolved(Outcome, Judgement),
    /// Some lookup is still not answered; nothing was recorded.
    Unanswered(Judgement),
    /// Somebody else has resolved it meanwhile; nothing was recorded.
    Meanwhile,
}

/// The submissions of the REVIEWs that rest on an unanswered lookup alone and that nobody has
/// looked at again, in order of quests.
pub fn to_recheck(session: &Session) -> Result<Vec<Job>, DriveError> {
    let mut reader = session.reader()?;
    let mut jobs = Vec::new();
    for standing in session.unanswered()? {
        let Some(last) = reader.last_attempt(&standing)? else {
            continue;
        };
        if rests_on_silence_alone(&last.value)? {
            jobs.push(Job {
                quest: reader.quest(&standing)?,
                submission: last.value.submission,
            });
        }
    }
    Ok(jobs)
}

fn rests_on_silence_alone(attempt: &Attempt) -> Result<bool, DriveError> {
    // What an address was blotted out of is no longer what was judged.
    let blotted = is_masked(&attempt.submission) || attempt.evidence.get().contains(MASK);
    if blotted || !may_be_silence(&attempt.rules) {
        return Ok(false);
    }
    let judgement: Judgement = serde_json::from_str(attempt.judgement.get())?;
    let evidence: Evidence = serde_json::from_str(attempt.evidence.get())?;
    Ok(is_silence_alone(&judgement, &evidence))
}

/// Records what became of a REVIEW that was judged again away from the session.
///
/// Under the lock, what the session knows is asked, and whether the REVIEW is still to be
/// resolved: of two who judge it again at once, one is recorded. A lookup that is still not
/// answered changes nothing.
pub fn resolve(
    session: &mut Session,
    gate: &dyn Gate,
    looked: Looked,
    now: Timestamp,
    salts: &mut dyn FnMut() -> Salt,
) -> Result<Rechecked, DriveError> {
    let Looked {
        job,
        judgement,
        recording,
    } = looked;
    let mut rechecked = None;
    let (evidence, new) = (session.evidence(), RefCell::default());
    let decide = |session: &Session, _| {
        let standing = session.standing(job.quest.id)?;
        let standing = standing.filter(Standing::is_unanswered);
        let standing = standing.ok_or(Declined::Refusal(Refusal::Overtaken))?;
        let case = Case {
            quest: &job.quest,
            submission: &job.submission,
        };
        let ruling = Ruling::seen(gate, judgement, recording).look_again(gate, case, session)?;
        let ruling = unsaid(&session.forgetting(), ruling);
        if is_unanswered(&ruling.judgement, &ruling.recording.evidence) {
            rechecked = Some(Rechecked::Unanswered(ruling.judgement));
            return Ok(Vec::new());
        }
        let resolution = resolution(&standing, &job, &ruling, gate)?;
        ruling.keep(&evidence, &new)?;
        rechecked = Some(Rechecked::Resolved(resolution.outcome, ruling.judgement));
        Ok::<_, Declined>(vec![Event::Resolution(Box::new(resolution))])
    };
    let undo = || new.borrow().iter().for_each(|body| evidence.remove(*body));
    let appended = session.append_or(&mut || now, salts, decide, undo)?;
    match appended {
        Appended::Refused(Declined::Error(error)) => Err(error),
        Appended::Refused(Declined::Refusal(_)) => Ok(Rechecked::Meanwhile),
        Appended::Done => Ok(rechecked.unwrap_or(Rechecked::Meanwhile)),
    }
}

fn resolution(
    standing: &Standing,
    job: &Job,
    ruling: &Ruling,
    gate: &dyn Gate,
) -> Result<Resolution, DriveError> {
    let case = Case {
        quest: &job.quest,
        submission: &job.submission,
    };
    let outcome = Outcome::of(ruling.judgement.verdict);
    Ok(Resolution {
        quest: standing.id,
        attempt: standing.attempts,
        outcome,
        verdict: ruling.judgement.verdict,
        grounds: ruling.grounds,
        rules: ruling.fired(),
        holds: match outcome {
            Outcome::Confirmed => marks(gate, case),
            Outcome::Refuted | Outcome::Open => Vec::new(),
        },
        judgement: to_raw_value(&ruling.judgement)?,
        evidence: to_raw_value(&ruling.recording.evidence)?,
    })
}
