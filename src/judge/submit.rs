//! A submission on its way from the worker into the ledger.
//!
//! [`submit`] reads from top to bottom: the claim, the gate, the panel of reviewers where the quest
//! kind has one, and the settlement under the session's lock.

use std::cell::RefCell;

use jiff::Timestamp;
use serde_json::value::to_raw_value;

use crate::base::Digest;
use crate::base::clock::Clock;
use crate::gate::email::site::is_anchored;
use crate::gate::{Case, Gate as _, Judgement, ReviewerReport, house};
use crate::judge::accepted::{SessionAccepted, earlier_doubts, marks};
use crate::judge::error::JudgeError;
use crate::judge::forgotten::{Masked, holding_files, is_named, masked, without_forgotten};
use crate::judge::kind::SessionKind;
use crate::judge::panel::PanelRound;
use crate::judge::recorded::{RecordedJudgement, trimmed};
use crate::quest::{Key, Quest, QuestId, Submission, Verdict};
use crate::session::{
    Appended, Asked, Attempt, Claimed, Event, Progress, QuestRecord, Session, SessionError, State,
    Tally, VerdictBasis, Worker,
};
use crate::world::evidence::Recording;
use crate::world::evidence::record::Recorder;
use crate::world::sandbox::Workshop;
use crate::world::{EarlierDoubt, Fetcher, Resolver, UniqueValue, UniquenessIndex, World};

/// Whether submissions for `quest` are compared with what the operator knows: a site, or cells that
/// checks use.
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
fn refusal(
    store: &Session,
    standing: &QuestRecord,
    worker: Option<&Worker>,
    now: Timestamp,
) -> Result<Option<Refusal>, JudgeError> {
    if worker.is_some_and(|worker| is_named(&store.forgetting(), worker)) {
        return Err(JudgeError::ForgottenWorker);
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
    Refusal(Refusal),
    Error(JudgeError),
}

impl From<JudgeError> for Declined {
    fn from(error: JudgeError) -> Self {
        Self::Error(error)
    }
}

impl From<SessionError> for Declined {
    fn from(error: SessionError) -> Self {
        Self::Error(error.into())
    }
}

impl From<serde_json::Error> for Declined {
    fn from(error: serde_json::Error) -> Self {
        Self::Error(error.into())
    }
}

/// What a submission is judged by.
#[derive(Clone, Copy)]
pub struct Judge<'a> {
    pub kind: &'a SessionKind,
    pub fetcher: &'a dyn Fetcher,
    pub resolver: &'a dyn Resolver,
    pub workshop: &'a dyn Workshop,
}

impl<'a> Judge<'a> {
    pub(super) fn world(&self, accepted: &'a dyn UniquenessIndex) -> World<'a> {
        World {
            fetcher: self.fetcher,
            resolver: self.resolver,
            accepted,
            workshop: self.workshop,
        }
    }

    /// That the gate could run its commands. A worker does not answer for a sandbox that failed.
    pub(super) fn could_run(&self) -> Result<(), JudgeError> {
        let failure = self.workshop.failure();
        failure.map_or(Ok(()), |why| Err(JudgeError::Workshop(why)))
    }
}

/// An answer of a worker for one quest.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'a> {
    pub quest: QuestId,
    pub worker: Option<&'a Worker>,
    pub submission: &'a Submission,
}

/// What came of a submission.
#[derive(Debug)]
pub enum Outcome {
    /// It was judged, and the judgement is on disk.
    Judged(Box<Judged>),
    /// It was not judged, and nothing changed.
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

/// Judges an answer and records the judgement.
///
/// The gate runs without the session's lock, since it may take minutes. Under the lock the claim
/// and everything that the verdict took from the session are looked at again: of two answers at
/// once, one is recorded and the other changes nothing.
pub fn submit(
    session: &mut Session,
    answer: Answer<'_>,
    judge: &Judge<'_>,
    clock: &mut dyn Clock,
) -> Result<Outcome, JudgeError> {
    match judged(session, answer, judge, clock) {
        Ok(judged) => Ok(Outcome::Judged(Box::new(judged))),
        Err(Declined::Refusal(refusal)) => Ok(Outcome::Refused(refusal)),
        Err(Declined::Error(error)) => Err(error),
    }
}

fn judged(
    session: &mut Session,
    answer: Answer<'_>,
    judge: &Judge<'_>,
    clock: &mut dyn Clock,
) -> Result<Judged, Declined> {
    let before = open_quest(session, &answer, clock.now())?;
    renew_claim(session, &answer, clock)?;
    let quest = session.quest(&before)?;
    let submission = Submitted {
        quest: &quest,
        answer,
        digest: answer.submission.digest(),
        judge,
        before: &before,
    };
    let judgement = match submission.without_gate(session)? {
        Some(judgement) => judgement,
        None => match submission.machine(session)? {
            Machine::Decided(judgement, recording) => submission.finish(judgement, recording)?,
            // Reviewers are asked about a PASS of the machine only, once a quest.
            Machine::ForReview(judgement, round, recording) => {
                let permitted = submission.permit_review(session, &round, clock)?;
                submission.review(session, judgement, (&round, permitted), recording, clock)?
            }
        },
    };
    submission.record(session, judgement, clock)
}

/// The quest, if it takes this answer now.
fn open_quest(
    session: &Session,
    answer: &Answer<'_>,
    now: Timestamp,
) -> Result<QuestRecord, Declined> {
    let standing = session.standing(answer.quest)?;
    let standing = standing.ok_or(Declined::Refusal(Refusal::Overtaken))?;
    match refusal(session, &standing, answer.worker, now)? {
        Some(refusal) => Err(Declined::Refusal(refusal)),
        None => Ok(standing),
    }
}

/// Renews a claim of which less than half is left, so that it does not expire while the gate runs.
fn renew_claim(
    session: &mut Session,
    answer: &Answer<'_>,
    clock: &mut dyn Clock,
) -> Result<(), Declined> {
    let Some(worker) = answer.worker else {
        return Ok(());
    };
    let mine = |session: &Session, now| -> Result<_, SessionError> {
        let claim = session.claim_of(worker)?;
        Ok(claim.filter(|claim| claim.quest == answer.quest && claim.is_worn(now)))
    };
    if mine(session, clock.now())?.is_none() {
        return Ok(());
    }
    let appended = session.append_at(clock, |session, now| {
        open_quest(session, answer, now)?;
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
        Appended::Done => Ok(()),
        Appended::Refused(declined) => Err(declined),
    }
}

/// What the machine's checks say.
enum Machine<'a> {
    Decided(Judgement, Recording),
    /// A PASS that reviewers are asked about.
    ForReview(Judgement, PanelRound<'a>, Recording),
}

/// A submission on its way to the ledger.
struct Submitted<'a> {
    quest: &'a Quest,
    answer: Answer<'a>,
    digest: Digest,
    judge: &'a Judge<'a>,
    before: &'a QuestRecord,
}

impl<'a> Submitted<'a> {
    fn case(&self) -> Case<'a> {
        Case {
            quest: self.quest,
            submission: self.answer.submission,
        }
    }

    /// The judgement on a submission that no gate is asked about: it holds a forgotten address,
    /// says that nothing was found, or repeats an earlier one.
    fn without_gate(&self, session: &Session) -> Result<Option<RecordedJudgement>, Declined> {
        if let Some(masked) = self.masked(session)? {
            let judgement = masked.judgement;
            return Ok(Some(RecordedJudgement::by_house(
                judgement,
                VerdictBasis::Submission,
            )));
        }
        if let Submission::None(why) = self.answer.submission {
            let judgement = house::no_result(why);
            return Ok(Some(RecordedJudgement::by_house(
                judgement,
                VerdictBasis::NoResult,
            )));
        }
        if self.judge.kind.gate.judges_anew() {
            return Ok(None);
        }
        let earlier = session.repeats(self.quest.id, self.digest)?;
        let judgement = earlier.map(house::repeated_submission);
        Ok(judgement.map(|judgement| RecordedJudgement::by_house(judgement, VerdictBasis::Repeat)))
    }

    fn masked(&self, session: &Session) -> Result<Option<Masked>, JudgeError> {
        let forgetting = session.forgetting();
        if forgetting.suppressed().is_empty() {
            return Ok(None);
        }
        let (submission, workshop) = (self.answer.submission, self.judge.workshop);
        let holds = holding_files(&forgetting, submission, &self.judge.kind.quest, workshop);
        self.judge.could_run()?;
        Ok(masked(&forgetting, submission, &holds))
    }

    fn machine(&self, session: &Session) -> Result<Machine<'a>, Declined> {
        let accepted = SessionAccepted::new(session, self.quest.id);
        let recorder = Recorder::new(self.judge.world(&accepted));
        let (judgement, round) = self.judge.kind.gate.examine(self.case(), &recorder.world());
        let recording = recorder.finish();
        accepted.told(())?;
        self.judge.could_run()?;
        Ok(match round {
            Some(round) => Machine::ForReview(judgement, round, recording),
            None => Machine::Decided(judgement, recording),
        })
    }

    /// Records that reviewers are asked, before they are. An agent that kills the process because
    /// it dislikes what they say cannot have them asked again: from then on, an answer that passes
    /// every check is a REVIEW.
    fn permit_review(
        &self,
        session: &mut Session,
        round: &PanelRound<'_>,
        clock: &mut dyn Clock,
    ) -> Result<bool, Declined> {
        if !round.needs_permission() || self.before.asked {
            return Ok(false);
        }
        self.append_asked(session, false, clock)?;
        Ok(true)
    }

    fn append_asked(
        &self,
        session: &mut Session,
        withdrawn: bool,
        clock: &mut dyn Clock,
    ) -> Result<(), Declined> {
        let appended = session.append_at(clock, |session, now| {
            let standing = open_quest(session, &self.answer, now)?;
            // Another answer was sent to the reviewers, or judged.
            if standing.asked != withdrawn || standing.attempts != self.before.attempts {
                return Err(Declined::Refusal(Refusal::Overtaken));
            }
            Ok(vec![Event::Asked(Asked {
                quest: standing.id,
                number: standing.attempts.saturating_add(1),
                submitted: self.digest,
                withdrawn,
            })])
        })?;
        match appended {
            Appended::Done => Ok(()),
            Appended::Refused(declined) => Err(declined),
        }
    }

    fn review(
        &self,
        session: &mut Session,
        judgement: Judgement,
        (round, permitted): (&PanelRound<'_>, bool),
        recording: Recording,
        clock: &mut dyn Clock,
    ) -> Result<RecordedJudgement, Declined> {
        let known = ForReviewers {
            doubts: match self.judge.kind.gate.revisions() {
                0 => Vec::new(),
                _ => earlier_doubts(session, self.quest.id)?,
            },
            may_ask: permitted,
        };
        let recorder = Recorder::resume(self.judge.world(&known), recording);
        let judgement = round.review(judgement, self.case(), &recorder.world());
        let recording = recorder.finish();
        if let Err(error) = self.judge.could_run() {
            // The failure was ours, so that the note is taken back: otherwise reviewers could never
            // be asked about this quest again. It stays if a reviewer did anything but clear the
            // answer: otherwise a worker who makes the machine fail would get other reviewers.
            let mut reviewers = judgement.panel.iter().flat_map(|panel| &panel.reviewers);
            if permitted && reviewers.all(cleared) {
                // If this fails too, a person decides the quest.
                let _ = self.append_asked(session, true, clock);
            }
            return Err(error.into());
        }
        self.finish(judgement, recording)
    }

    fn finish(
        &self,
        judgement: Judgement,
        recording: Recording,
    ) -> Result<RecordedJudgement, Declined> {
        let gate = &self.judge.kind.gate;
        let recording = trimmed(gate, self.case(), &judgement, recording)?;
        Ok(RecordedJudgement::by_gate(gate, judgement, recording))
    }

    fn record(
        &self,
        session: &mut Session,
        judgement: RecordedJudgement,
        clock: &mut dyn Clock,
    ) -> Result<Judged, Declined> {
        let mut recorded = None;
        let (evidence, new) = (session.evidence(), RefCell::default());
        let decide = |session: &Session, now| {
            let (attempt, judgement) = self.settle(session, judgement, now)?;
            judgement.keep(&evidence, &new)?;
            let event = Event::Attempt(Box::new(attempt.clone()));
            recorded = Some((attempt, judgement.judgement));
            Ok::<_, Declined>(vec![event])
        };
        // Only a process that is killed leaves evidence behind that no line of the ledger names.
        let undo = || new.borrow().iter().for_each(|body| evidence.remove(*body));
        match session.append_or(clock, decide, undo)? {
            Appended::Refused(declined) => return Err(declined),
            Appended::Done => {}
        }
        let (attempt, judgement) = recorded.ok_or(Declined::Refusal(Refusal::Overtaken))?;
        Ok(Judged {
            id: self.quest.id,
            key: self.quest.key.clone(),
            judgement,
            state: attempt.state,
            tries: attempt.tries,
            max_tries: session.manifest().frozen.max_tries.get(),
            attempt: attempt.number,
            tally: session.totals().tally,
        })
    }

    fn settle(
        &self,
        session: &Session,
        judgement: RecordedJudgement,
        now: Timestamp,
    ) -> Result<(Attempt, RecordedJudgement), Declined> {
        let standing = open_quest(session, &self.answer, now)?;
        if standing.attempts != self.before.attempts {
            return Err(Declined::Refusal(Refusal::Overtaken));
        }
        let gate = &self.judge.kind.gate;
        // The address may have been forgotten while the gate ran.
        let (submission, judgement) = if let Some(masked) = self.masked(session)? {
            let house = RecordedJudgement::by_house(masked.judgement, VerdictBasis::Submission);
            (masked.submission, house)
        } else {
            let judgement = judgement.judge_again(gate, self.case(), session)?;
            let judgement = without_forgotten(&session.forgetting(), judgement);
            (self.answer.submission.clone(), judgement)
        };
        let max_tries = session.manifest().frozen.max_tries;
        let verdict = judgement.judgement.verdict;
        let judged = standing.progress.judged(verdict, max_tries);
        let judged = judged.map_err(|locked| Declined::Refusal(Refusal::Locked(locked.0)))?;
        let due = is_sent_back(gate.revisions(), &judgement.judgement, standing.revisions);
        let revised = standing.progress.revised(max_tries).filter(|_| due);
        let Progress { state, tries } = revised.unwrap_or(judged);
        let attempt = Attempt {
            quest: self.quest.id,
            number: standing.attempts.saturating_add(1),
            submitted: submission.digest(),
            submission,
            verdict,
            grounds: judgement.grounds,
            state,
            tries,
            rules: judgement.fired(),
            anchored: anchored(self.quest),
            revision: revised.is_some(),
            holds: match state {
                State::Pass => marks(gate, self.case()),
                State::Todo | State::Review | State::Done => Vec::new(),
            },
            worker: self.answer.worker.cloned(),
            judgement: to_raw_value(&judgement.judgement)?,
            evidence: to_raw_value(&judgement.recording.evidence)?,
        };
        Ok((attempt, judgement))
    }
}

/// What the session tells reviewers, taken from it before they are asked.
struct ForReviewers {
    doubts: Vec<EarlierDoubt>,
    may_ask: bool,
}

impl UniquenessIndex for ForReviewers {
    /// Reviewers come after every check, and none of them asks who holds an address.
    fn holder(&self, _taken: &UniqueValue) -> Option<Key> {
        None
    }

    fn doubts(&self) -> Vec<EarlierDoubt> {
        self.doubts.clone()
    }

    fn may_ask(&self) -> bool {
        self.may_ask
    }
}

/// Whether a reviewer answered, and had nothing against the answer.
fn cleared(reviewer: &ReviewerReport) -> bool {
    let mut votes = reviewer.votes.iter();
    reviewer.counts && reviewer.errors.is_empty() && votes.all(|on| on.vote.is_clearance())
}

/// Whether a REVIEW goes back to the agent, which happens at most `revisions` times: reviewers
/// doubt the answer, and quote why.
pub(super) fn is_sent_back(revisions: u32, judgement: &Judgement, before: u32) -> bool {
    judgement.verdict == Verdict::Review && judgement.is_doubted() && before < revisions
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::{Doubts, PanelReport, Vote, VoteOn};
    use crate::world::sandbox::Usage;

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
        assert!(is_sent_back(2, &doubted, 0) && is_sent_back(2, &doubted, 1));
        assert!(!is_sent_back(2, &doubted, 2) && !is_sent_back(0, &doubted, 0));
        let mut unsettled = doubts();
        unsettled.unsettled("two answers", "one");
        assert!(!is_sent_back(2, &passed().doubted(unsettled), 0));
        assert!(!is_sent_back(2, &passed().doubted(doubts()), 0));
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
