//! One turn: a submission goes before the gate, and what the gate says into the ledger.

use std::num::NonZeroU32;

use jiff::Timestamp;
use serde_json::value::to_raw_value;

use super::accepted::{SessionAccepted, marks};
use super::error::DriveError;
use super::grounds::grounds;
use super::observe::{observe, observe_again};
use crate::gate::email::anchor::is_anchored;
use crate::gate::{Gate, Judgement, house};
use crate::quest::{Digest, Key, Quest, QuestId, Submission};
use crate::session::{
    Appended, Attempt, Event, Grounds, Progress, Salt, Session, Standing, State, Tally,
};
use crate::world::evidence::{Recording, pack};
use crate::world::{Fetcher, Resolver};

/// Who judges, and by what.
#[derive(Clone, Copy)]
pub struct Judge<'a> {
    /// The gate.
    pub gate: &'a dyn Gate,
    /// Pages.
    pub fetcher: &'a dyn Fetcher,
    /// DNS.
    pub resolver: &'a dyn Resolver,
}

/// What came of a submission.
#[derive(Debug)]
pub enum Outcome {
    /// It was judged, and the judgement is on disk.
    Judged(Box<Judged>),
    /// It was not; nothing changed.
    Refused(Refusal),
}

/// Why a submission was not judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The quest takes no submission.
    Locked(State),
    /// Another submission of the quest was judged meanwhile.
    Overtaken,
    /// The unproven streak pauses the session.
    Paused {
        /// Its length, in quests.
        streak: u32,
    },
}

/// A judgement that is on disk.
#[derive(Debug)]
pub struct Judged {
    /// The quest.
    pub id: QuestId,
    /// Its key.
    pub key: Key,
    /// What the gate said.
    pub judgement: Judgement,
    /// Where the quest stands now.
    pub state: State,
    /// How many of its submissions have failed.
    pub tries: u32,
    /// The FAIL that ends it.
    pub max_tries: u32,
    /// The attempt's number, from 1.
    pub attempt: u32,
    /// Where all quests stand now.
    pub tally: Tally,
}

/// Judges `submission` for the quest `id` and records what the gate says.
///
/// The gate runs outside the session's lock. Under the lock everything that the verdict took
/// from the session is looked at again, so that of two submissions at once one is recorded and
/// the other changes nothing. Evidence is kept under the lock too: a submission that is never
/// recorded leaves none behind.
pub fn submit(
    session: &mut Session,
    id: QuestId,
    submission: &Submission,
    judge: &Judge<'_>,
    now: &mut dyn FnMut() -> Timestamp,
    salts: &mut dyn FnMut() -> Salt,
) -> Result<Outcome, DriveError> {
    let Some(standing) = session.board().get(id).cloned() else {
        return Ok(Outcome::Refused(Refusal::Overtaken));
    };
    if let Some(refusal) = refusal(session, &standing) {
        return Ok(Outcome::Refused(refusal));
    }
    let quest = session.quest(&standing)?;
    let turn = Turn {
        quest: &quest,
        submission,
        submitted: submission.digest(),
        judge,
        before: &standing,
    };
    let ruling = turn.rule(session)?;
    turn.record(session, ruling, now(), salts)
}

/// Why `session` takes no submission for this quest.
fn refusal(session: &Session, standing: &Standing) -> Option<Refusal> {
    if standing.progress.state != State::Todo {
        return Some(Refusal::Locked(standing.progress.state));
    }
    session.paused().then(|| Refusal::Paused {
        streak: session.board().streak().length(),
    })
}

/// A submission on its way to the ledger.
struct Turn<'a> {
    quest: &'a Quest,
    submission: &'a Submission,
    submitted: Digest,
    judge: &'a Judge<'a>,
    before: &'a Standing,
}

/// What was judged, by what, on which grounds.
struct Ruling {
    judgement: Judgement,
    grounds: Grounds,
    recording: Recording,
}

impl Turn<'_> {
    fn rule(&self, session: &Session) -> Result<Ruling, DriveError> {
        if let Submission::None(why) = self.submission {
            return Ok(Ruling::unseen(house::no_result(why), Grounds::NoResult));
        }
        if let Some(earlier) = self.before.repeats(self.submitted) {
            let judgement = house::repeated_submission(earlier);
            return Ok(Ruling::unseen(judgement, Grounds::Repeat));
        }
        let accepted = SessionAccepted::new(session.board(), self.quest.id);
        let (judgement, recording) = observe(self.judge, self.case(), &accepted)?;
        Ok(Ruling::seen(judgement, recording))
    }

    fn case(&self) -> crate::gate::Case<'_> {
        crate::gate::Case {
            quest: self.quest,
            submission: self.submission,
        }
    }

    fn record(
        &self,
        session: &mut Session,
        ruling: Ruling,
        now: Timestamp,
        salts: &mut dyn FnMut() -> Salt,
    ) -> Result<Outcome, DriveError> {
        let max_tries = session.manifest().frozen.max_tries;
        let mut recorded = None;
        let appended = session.append(now, salts, |session| {
            let (attempt, ruling) = self.settle(session, ruling, max_tries)?;
            keep(session, &ruling.recording)?;
            let event = Event::Attempt(Box::new(attempt.clone()));
            recorded = Some((attempt, ruling.judgement));
            Ok::<_, Declined>(vec![event])
        })?;
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
                tally: session.board().tally(),
            }))),
        }
    }

    /// Decides, under the lock, what is recorded.
    fn settle(
        &self,
        session: &Session,
        ruling: Ruling,
        max_tries: NonZeroU32,
    ) -> Result<(Attempt, Ruling), Declined> {
        let standing = session
            .board()
            .get(self.quest.id)
            .ok_or(Declined::Refusal(Refusal::Overtaken))?;
        if let Some(refusal) = refusal(session, standing) {
            return Err(Declined::Refusal(refusal));
        }
        if standing.submissions.len() != self.before.submissions.len() {
            return Err(Declined::Refusal(Refusal::Overtaken));
        }
        let ruling = self.look_again(session, ruling);
        let Progress { state, tries } = standing
            .progress
            .judged(ruling.judgement.verdict, max_tries)
            .map_err(|locked| Declined::Refusal(Refusal::Locked(locked.0)))?;
        let number = u32::try_from(standing.submissions.len() + 1).unwrap_or(u32::MAX);
        let attempt = Attempt {
            quest: self.quest.id,
            number,
            submission: self.submission.clone(),
            submitted: self.submitted,
            verdict: ruling.judgement.verdict,
            grounds: ruling.grounds,
            state,
            tries,
            rules: fired(&ruling.judgement),
            anchored: is_anchored(self.quest),
            holds: match state {
                State::Pass => marks(self.submission),
                State::Todo | State::Review | State::Done => Vec::new(),
            },
            judgement: to_raw_value(&ruling.judgement).map_err(DriveError::from)?,
            evidence: to_raw_value(&ruling.recording.evidence).map_err(DriveError::from)?,
        };
        Ok((attempt, ruling))
    }

    /// Judges again, from evidence alone, when what the session knows has changed.
    fn look_again(&self, session: &Session, ruling: Ruling) -> Ruling {
        let accepted = SessionAccepted::new(session.board(), self.quest.id);
        let again = observe_again(self.judge.gate, self.case(), &ruling.recording, &accepted);
        match again {
            None => ruling,
            Some((judgement, recording)) => Ruling::seen(judgement, recording),
        }
    }
}

/// Puts the bodies that a ledger line is about to name on disk.
fn keep(session: &Session, recording: &Recording) -> Result<(), DriveError> {
    let store = session.evidence();
    for (digest, body) in &recording.bodies {
        store.keep(*digest, &pack(body))?;
    }
    Ok(())
}

/// The rules that fired, each once, in the order of the facts.
fn fired(judgement: &Judgement) -> Vec<String> {
    let mut rules: Vec<String> = Vec::new();
    for fact in &judgement.facts {
        if !rules.iter().any(|rule| rule == fact.rule.as_str()) {
            rules.push(fact.rule.to_string());
        }
    }
    rules
}

/// Why nothing is recorded.
enum Declined {
    Refusal(Refusal),
    Error(DriveError),
}

impl From<DriveError> for Declined {
    fn from(error: DriveError) -> Self {
        Self::Error(error)
    }
}

impl Ruling {
    fn unseen(judgement: Judgement, grounds: Grounds) -> Self {
        Self {
            judgement,
            grounds,
            recording: Recording::default(),
        }
    }

    fn seen(judgement: Judgement, recording: Recording) -> Self {
        let evidence = &recording.evidence;
        let looked_up = !evidence.exchanges.is_empty();
        let grounds = grounds(&judgement, looked_up, evidence.rests_on_silence());
        Self {
            judgement,
            grounds,
            recording,
        }
    }
}
