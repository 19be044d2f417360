//! The check that evidence alone leads to every judgement of a session again.

use std::path::Path;

use comail::drive::{ReplayError, replay};
use comail::session::{Attempt, Entry, Event, Session};

/// Judges every attempt of the session again, from its evidence; returns how many there were.
///
/// # Panics
///
/// When one cannot be judged, or is judged otherwise than recorded, be it by a byte.
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
    attempts.len()
}

/// Every attempt of the ledger, in order, those among them that an earlier session brought.
pub fn attempts(session: &Session) -> Vec<Attempt> {
    let mut attempts = Vec::new();
    let mut take = |entry: Entry<'_>| match entry.event {
        Event::Attempt(attempt) => attempts.push(*attempt),
        Event::Carried(carried) => attempts.push(carried.attempt),
        _ => {}
    };
    session
        .log()
        .read_on(&mut take)
        .expect("a ledger that reads");
    attempts
}

/// The judgement that the attempt's evidence leads to, as the ledger would have it.
pub fn again(session: &Session, attempt: &Attempt) -> Result<String, ReplayError> {
    let judgement = replay(session, attempt)?;
    Ok(serde_json::to_string(&judgement).expect("judgements can be written"))
}
