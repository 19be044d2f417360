//! Replays every judgement of a session from its evidence alone.

use std::path::Path;

use comail::judge::audit::{Plan, audit_ledger};
use comail::judge::{ReplayError, Replayer, resolved};
use comail::session::{Attempt, Event, Resolution, Session, Unwatched, VerdictBasis};

use super::forge::events;

/// Judges every attempt and every resolved REVIEW of the session again from its evidence, and
/// expects the recorded judgement byte for byte; returns the number of attempts.
#[track_caller]
pub fn assert_replays(session_dir: &Path) -> usize {
    let session = Session::open(session_dir)
        .unwrap_or_else(|error| panic!("{error}; a test that means it says `spoils()`"));
    let attempts = attempts(&session);
    for attempt in &attempts {
        let (quest, number) = (attempt.quest, attempt.number);
        let recorded = attempt.judgement.get();
        let again = again(&session, attempt)
            .unwrap_or_else(|error| panic!("attempt {number} of quest {quest}: {error}"));
        assert_eq!(again, recorded, "attempt {number} of quest {quest}");
    }
    for resolution in resolutions(&session) {
        let quest = resolution.quest;
        let again = again_resolved(&session, &resolution)
            .unwrap_or_else(|error| panic!("the resolution of quest {quest}: {error}"));
        let recorded = resolution.judgement.get();
        assert_eq!(again, recorded, "the resolution of quest {quest}");
    }
    attempts.len()
}

/// Audits the session, and expects no finding.
#[track_caller]
pub fn assert_audited(session_dir: &Path) {
    let mut session = Session::open(session_dir).expect("a session");
    let projection = session.fold().expect("a ledger that folds");
    let plan = Plan {
        session: &session,
        projection: &projection,
        noted: Some(projection.tip().head),
        same_judge: true,
    };
    let audited = audit_ledger(plan, &Unwatched).expect("an audit");
    assert_eq!(audited.findings, [], "of an honest session");
    assert_eq!(audited.checked.lines, projection.tip().length);
}

/// Every attempt of the ledger, in order, with those that were carried over.
pub fn attempts(session: &Session) -> Vec<Attempt> {
    let attempts = events(session.dir())
        .into_iter()
        .filter_map(|event| match event {
            Event::Attempt(attempt) => Some(*attempt),
            Event::Carried(carried) => Some(carried.attempt),
            _ => None,
        });
    attempts.collect()
}

pub fn resolutions(session: &Session) -> Vec<Resolution> {
    let resolutions = events(session.dir())
        .into_iter()
        .filter_map(|event| match event {
            Event::Resolution(resolution) => Some(*resolution),
            _ => None,
        });
    resolutions.collect()
}

pub fn again_resolved(session: &Session, resolution: &Resolution) -> Result<String, ReplayError> {
    let quest_record = session.quest_record(resolution.quest);
    let quest_record = quest_record.expect("an index").expect("a quest");
    let attempt = session
        .reader()
        .expect("a ledger")
        .last_attempt(&quest_record);
    let attempt = attempt.expect("a ledger").expect("an attempt").value;
    judged_again(session, &resolved(*attempt, resolution), None)
}

/// The judgement that the attempt's evidence leads to, in the form of the ledger.
pub fn again(session: &Session, attempt: &Attempt) -> Result<String, ReplayError> {
    let earlier = match attempt.grounds {
        VerdictBasis::Repeat => session.repeats(attempt.quest, attempt.submitted),
        _ => Ok(None),
    };
    let earlier = earlier.expect("an index");
    let earlier = earlier.filter(|number| *number < attempt.number);
    judged_again(session, attempt, earlier)
}

fn judged_again(
    session: &Session,
    attempt: &Attempt,
    earlier: Option<u32>,
) -> Result<String, ReplayError> {
    let quest_record = session.quest_record(attempt.quest);
    let quest_record = quest_record.expect("an index").expect("a quest");
    let quest = session.reader().expect("a ledger").quest(&quest_record);
    let replayer = Replayer::new(session.manifest(), session.evidence())?;
    let judgement = replayer.replay(&quest.expect("a quest"), attempt, earlier)?;
    Ok(serde_json::to_string(&judgement).expect("judgements can be written"))
}
