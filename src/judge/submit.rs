//! Whether a quest's PASS rests on something that the operator knew beforehand.

use std::cell::{Cell, RefCell};
use std::num::NonZeroU32;

use jiff::Timestamp;
use serde_json::value::to_raw_value;

use crate::base::Digest;
use crate::gate::doubts::REVIEWERS_DOUBT;
use crate::gate::email::anchor::is_anchored;
use crate::gate::{Case, Gate, Judgement, ReviewerReport, house};
use crate::judge::accepted::{SessionAccepted, marks};
use crate::judge::error::DriveError;
use crate::judge::forgotten::{Masked, holding_files, is_named, masked, unsaid};
use crate::judge::kind::kind_of;
use crate::judge::recorded::{Ruling, observe};
use crate::quest::{Key, Quest, QuestId, Submission, Verdict};
use crate::session::{
    Appended, Asked, Attempt, Claimed, Event, Grounds, Progress, Salt, Session, SessionError,
    Standing, State, Store, Tally, Worker,
};
use crate::world::sandbox::Workshop;
use crate::world::{Accepted, EarlierDoubt, Fetcher, Resolver, Taken};

/// Whether submissions for `quest` are held against what the operator knows: a site that can be
/// compared, or cells that checks go by.
#[must_use]
pub fn anchored(quest: &Quest) -> bool {
    is_anchored(quest) || !quest.known.is_empty()
}

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

/// Whether a judgement goes back to the agent that has been sent back so often before: reviewers
/// have doubted it, and quote what they doubt it by.
pub(super) fn revises(gate: &dyn Gate, judgement: &Judgement, before: u32) -> bool {
    let mut facts = judgement.facts.iter();
    judgement.verdict == Verdict::Review
        && facts.any(|fact| fact.rule == REVIEWERS_DOUBT.id)
        && before < gate.revisions()
}

pub(super) fn doubts_of(attempt: &Attempt) -> Vec<EarlierDoubt> {
    let judgement = serde_json::from_str::<Judgement>(attempt.judgement.get());
    let panel = judgement.ok().and_then(|judgement| judgement.panel);
    let reviewers = panel.into_iter().flat_map(|panel| panel.reviewers);
    let doubts = reviewers.flat_map(|reviewer| {
        let doubted = reviewer.votes.into_iter().filter_map(|on| {
            let passage = on.vote.doubt()?;
            Some((on.question, passage.quotation.clone()))
        });
        let doubted: Vec<_> = doubted.collect();
        let name = reviewer.name;
        doubted
            .into_iter()
            .map(move |(question, quotation)| EarlierDoubt {
                reviewer: name.clone(),
                question,
                quotation,
            })
    });
    doubts.collect()
}

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

pub(super) struct Leave<'a> {
    session: RefCell<&'a mut Session>,
    answer: Answer<'a>,
    submitted: Digest,
    before: &'a Standing,
    clock: RefCell<&'a mut dyn FnMut() -> Timestamp>,
    salts: RefCell<&'a mut dyn FnMut() -> Salt>,
    noted: Cell<bool>,
    failed: RefCell<Option<Declined>>,
}

impl<'a> Leave<'a> {
    pub(super) fn new(
        session: &'a mut Session,
        answer: Answer<'a>,
        before: &'a Standing,
        clock: &'a mut dyn FnMut() -> Timestamp,
        salts: &'a mut dyn FnMut() -> Salt,
    ) -> Self {
        Self {
            session: RefCell::new(session),
            submitted: answer.submission.digest(),
            answer,
            before,
            clock: RefCell::new(clock),
            salts: RefCell::new(salts),
            noted: Cell::new(false),
            failed: RefCell::new(None),
        }
    }

    /// The answer of a gate that asked; else why the session could not tell, or gave no leave.
    pub(super) fn told<T>(self, answer: T) -> Result<T, Declined> {
        self.failed.into_inner().map_or(Ok(answer), Err)
    }

    /// Takes the note back where something of ours failed, and all who were heard cleared the
    /// answer: else they would never be heard on the quest again.
    ///
    /// One who overlooked the plant cleared nothing: who sees that, and has what follows fail,
    /// would be given other ears.
    pub(super) fn withdraw(&self, judgement: &Judgement) {
        let mut reviewers = judgement.panel.iter().flat_map(|panel| &panel.reviewers);
        if self.noted.get() && reviewers.all(cleared) {
            // Where it cannot be, a person hears of it.
            let _ = self.note(true);
        }
    }

    fn note(&self, withdrawn: bool) -> Result<(), Declined> {
        let mut session = self.session.borrow_mut();
        let (mut clock, mut salts) = (self.clock.borrow_mut(), self.salts.borrow_mut());
        let appended = session.append_at(&mut **clock, &mut **salts, |session, now| {
            let standing = session.standing(self.answer.quest)?;
            let standing = standing.ok_or(Declined::Refusal(Refusal::Overtaken))?;
            if let Some(refusal) = refusal(session, &standing, self.answer.worker, now)? {
                return Err(Declined::Refusal(refusal));
            }
            // Another answer is before the reviewers, or was judged.
            if standing.asked != withdrawn || standing.attempts != self.before.attempts {
                return Err(Declined::Refusal(Refusal::Overtaken));
            }
            Ok(vec![Event::Asked(Asked {
                quest: standing.id,
                number: standing.attempts.saturating_add(1),
                submitted: self.submitted,
                withdrawn,
            })])
        })?;
        match appended {
            Appended::Done => Ok(()),
            Appended::Refused(declined) => Err(declined),
        }
    }

    fn ask<T>(&self, question: impl FnOnce(&dyn Accepted) -> T) -> T {
        let session = self.session.borrow();
        let accepted = SessionAccepted::new(&**session, self.answer.quest);
        let answer = question(&accepted);
        if let Err(error) = accepted.told(()) {
            *self.failed.borrow_mut() = Some(error.into());
        }
        answer
    }
}

/// Whether a reviewer was heard, and had nothing against the answer.
fn cleared(reviewer: &ReviewerReport) -> bool {
    let mut votes = reviewer.votes.iter();
    reviewer.counts && reviewer.errors.is_empty() && votes.all(|on| on.vote.is_clearance())
}

impl Accepted for Leave<'_> {
    fn holder(&self, taken: &Taken) -> Option<Key> {
        self.ask(|accepted| accepted.holder(taken))
    }

    fn doubts(&self) -> Vec<EarlierDoubt> {
        self.ask(|accepted| accepted.doubts())
    }

    fn may_ask(&self) -> bool {
        if self.before.asked {
            return false;
        }
        match self.note(false) {
            Ok(()) => self.noted.set(true),
            Err(declined) => *self.failed.borrow_mut() = Some(declined),
        }
        self.noted.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::{Case, Doubts, PanelReport, Rule};
    use crate::gate::{Vote, VoteOn};
    use crate::world::sandbox::Usage;
    use crate::world::{Taken, World};

    struct Sends(u32);

    impl Gate for Sends {
        fn rules(&self) -> Vec<Rule> {
            Vec::new()
        }

        fn judge(&self, _case: Case<'_>, _world: &World<'_>) -> Judgement {
            passed()
        }

        fn takes(&self, _case: Case<'_>) -> Vec<Taken> {
            Vec::new()
        }

        fn revisions(&self) -> u32 {
            self.0
        }

        fn confirming(&self) -> Vec<&str> {
            Vec::new()
        }
    }

    fn passed() -> Judgement {
        Judgement::from_facts(Vec::new(), Vec::new())
    }

    fn doubts() -> Doubts {
        Doubts::new(PanelReport {
            plant: None,
            reviewers: Vec::new(),
        })
    }

    #[test]
    fn doubts_alone_go_back_and_no_more_often_than_is_said() {
        let mut doubted = doubts();
        doubted.doubt("Is it so?", "it is not", String::from("reader"));
        let doubted = passed().doubted(doubted);
        assert!(revises(&Sends(2), &doubted, 0) && revises(&Sends(2), &doubted, 1));
        assert!(!revises(&Sends(2), &doubted, 2) && !revises(&Sends(0), &doubted, 0));
        let mut unsettled = doubts();
        unsettled.unsettled("two answers", "one");
        assert!(!revises(&Sends(2), &passed().doubted(unsettled), 0));
        assert!(!revises(&Sends(2), &passed().doubted(doubts()), 0));
    }

    fn reviewer(counts: bool, votes: Vec<Vote>, errors: &[&str]) -> ReviewerReport {
        let votes = votes.into_iter().map(|vote| VoteOn {
            question: String::from("faithful"),
            vote,
        });
        ReviewerReport {
            name: String::from("one"),
            model: String::from("m"),
            counts,
            votes: votes.collect(),
            errors: errors.iter().map(|error| (*error).to_owned()).collect(),
            usage: Usage::default(),
        }
    }

    #[test]
    fn only_who_was_heard_and_said_no_has_cleared() {
        let clear = || Vote::Cleared(String::from("all of it"));
        assert!(cleared(&reviewer(true, vec![clear()], &[])));
        let silent = Vote::Error(String::from("said nothing"));
        assert!(!cleared(&reviewer(true, vec![clear(), silent], &[])));
        // Who overlooked the plant has no votes, and an error that says so.
        assert!(!cleared(&reviewer(false, vec![], &["overlooked it"])));
        assert!(!cleared(&reviewer(false, vec![], &[])));
        assert!(!cleared(&reviewer(true, vec![clear()], &["a stray line"])));
    }
}
