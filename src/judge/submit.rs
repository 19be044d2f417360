//! A submission on its way from the worker into the ledger.
//!
//! [`submit`] reads from top to bottom: the claim, the gate, the panel of reviewers where the quest
//! kind has one, and the settlement under the session's lock.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
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
use crate::judge::recorded::{KeptBodies, RecordedJudgement, is_sent_back, trimmed};
use crate::quest::{Key, Quest, QuestId, Submission};
use crate::session::{
    Appended, Asked, Attempt, Claimed, Event, Progress, QuestRecord, Session, SessionError, State,
    Tally, VerdictBasis, Worker,
};
use crate::world::evidence::Recording;
use crate::world::evidence::record::Recorder;
use crate::world::{EarlierDoubt, UniqueValue, UniquenessIndex, World};

/// An answer of a worker for one quest.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'a> {
    pub quest: QuestId,
    pub worker: Option<&'a Worker>,
    pub submission: &'a Submission,
}

/// What came of a submission.
#[derive(Debug)]
pub enum SubmitOutcome {
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

/// Why an answer was not judged; nothing changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "status", rename_all = "kebab-case")]
pub enum Refusal {
    /// The quest takes no submission.
    Locked {
        state: State,
    },
    /// The quest comes after one that has not passed.
    Waits {
        quest: QuestId,
        key: Key,
    },
    Claimed {
        worker: Worker,
    },
    /// Another answer to the quest was judged first.
    Overtaken,
    Paused {
        streak: u32,
    },
}

/// Why nothing is recorded.
#[derive(Debug)]
pub(super) enum Declined {
    Refusal(Refusal),
    Error(JudgeError),
}

impl<E: Into<JudgeError>> From<E> for Declined {
    fn from(error: E) -> Self {
        Self::Error(error.into())
    }
}

/// Judges an answer and records the judgement.
///
/// The gate runs without the session's lock, since it may take minutes. Under the lock the claim
/// and everything that the verdict took from the session are looked at again: of two answers at
/// once, one is recorded and the other changes nothing.
pub fn submit(
    session: &mut Session,
    answer: Answer<'_>,
    kind: &SessionKind,
    world: World<'_>,
    clock: &mut dyn Clock,
) -> Result<SubmitOutcome, JudgeError> {
    match judged(session, answer, kind, world, clock) {
        Ok(judged) => Ok(SubmitOutcome::Judged(Box::new(judged))),
        Err(Declined::Refusal(refusal)) => Ok(SubmitOutcome::Refused(refusal)),
        Err(Declined::Error(error)) => Err(error),
    }
}

fn judged(
    session: &mut Session,
    answer: Answer<'_>,
    kind: &SessionKind,
    world: World<'_>,
    clock: &mut dyn Clock,
) -> Result<Judged, Declined> {
    let before = open_quest(session, &answer, clock.now())?;
    renew_claim(session, &answer, clock)?;
    let quest = session.reader()?.quest(&before)?;
    let submission = Submitted {
        quest: &quest,
        answer,
        digest: answer.submission.digest(),
        kind,
        world,
        before: &before,
    };
    let judgement = match submission.without_gate(session)? {
        Some(judgement) => judgement,
        None => {
            let (judgement, round, recording) = submission.machine(session)?;
            match round {
                None => submission.finish(judgement, recording)?,
                // Reviewers are asked about a PASS of the machine only, once a quest.
                Some(round) => {
                    let permitted = submission.permit_review(session, &round, clock)?;
                    let round = (&round, permitted);
                    submission.review(session, judgement, round, recording, clock)?
                }
            }
        }
    };
    submission.record(session, judgement, clock)
}

/// The quest, if it takes this answer now.
fn open_quest(
    session: &Session,
    answer: &Answer<'_>,
    now: Timestamp,
) -> Result<QuestRecord, Declined> {
    let refused = |refusal| Err(Declined::Refusal(refusal));
    let Some(standing) = session.standing(answer.quest)? else {
        return refused(Refusal::Overtaken);
    };
    let worker = answer.worker;
    if worker.is_some_and(|worker| is_named(&session.forgetting(), worker)) {
        return Err(JudgeError::ForgottenWorker.into());
    }
    if standing.progress.state != State::Todo {
        return refused(Refusal::Locked {
            state: standing.progress.state,
        });
    }
    if let Some(before) = session.awaited(&standing)? {
        let (quest, key) = (before.id, before.key);
        return refused(Refusal::Waits { quest, key });
    }
    let claim = session.claim_on(standing.id)?;
    if let Some(claim) = claim.filter(|claim| !claim.admits_answer(worker, now)) {
        return refused(Refusal::Claimed {
            worker: claim.worker,
        });
    }
    if session.paused() {
        let streak = session.totals().streak.length();
        return refused(Refusal::Paused { streak });
    }
    Ok(standing)
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
    appended(session.append_at(clock, |session, now| {
        open_quest(session, answer, now)?;
        let claim = mine(session, now)?.map(|claim| {
            Event::Claim(Claimed {
                quest: claim.quest,
                worker: claim.worker,
                lease: claim.lease,
            })
        });
        Ok(claim.into_iter().collect())
    })?)
}

fn appended(appended: Appended<Declined>) -> Result<(), Declined> {
    match appended {
        Appended::Done => Ok(()),
        Appended::Refused(declined) => Err(declined),
    }
}

/// A submission on its way to the ledger.
struct Submitted<'a> {
    quest: &'a Quest,
    answer: Answer<'a>,
    digest: Digest,
    kind: &'a SessionKind,
    world: World<'a>,
    before: &'a QuestRecord,
}

impl<'a> Submitted<'a> {
    fn case(&self) -> Case<'a> {
        Case {
            quest: self.quest,
            submission: self.answer.submission,
        }
    }

    /// Checks that the gate could run its commands. A worker is not to blame for a sandbox that
    /// failed.
    fn could_run(&self) -> Result<(), JudgeError> {
        let failure = self.world.sandbox.failure();
        failure.map_or(Ok(()), |why| Err(JudgeError::Sandbox(why)))
    }

    /// The judgement on a submission that no gate is asked about: it holds a forgotten address,
    /// says that nothing was found, or repeats an earlier one.
    fn without_gate(&self, session: &Session) -> Result<Option<RecordedJudgement>, Declined> {
        let (judgement, basis) = if let Some(masked) = self.masked(session)? {
            (masked.judgement, VerdictBasis::Submission)
        } else if let Submission::None(why) = self.answer.submission {
            (house::no_result(why), VerdictBasis::NoResult)
        } else if self.kind.gate.judges_anew() {
            return Ok(None);
        } else if let Some(earlier) = session.repeats(self.quest.id, self.digest)? {
            (house::repeated_submission(earlier), VerdictBasis::Repeat)
        } else {
            return Ok(None);
        };
        Ok(Some(RecordedJudgement::by_house(judgement, basis)))
    }

    fn masked(&self, session: &Session) -> Result<Option<Masked>, JudgeError> {
        let forgetting = session.forgetting();
        if forgetting.suppressed().is_empty() {
            return Ok(None);
        }
        let (submission, sandbox) = (self.answer.submission, self.world.sandbox);
        let holds = holding_files(&forgetting, submission, &self.kind.quest, sandbox);
        self.could_run()?;
        Ok(masked(&forgetting, submission, &holds))
    }

    /// What the machine's checks say, and the round of reviewers if they are to be asked.
    fn machine(
        &self,
        session: &Session,
    ) -> Result<(Judgement, Option<PanelRound<'a>>, Recording), Declined> {
        let accepted = SessionAccepted::new(session, self.quest.id);
        let recorder = Recorder::new(World {
            accepted: &accepted,
            ..self.world
        });
        let (judgement, round) = self.kind.gate.examine(self.case(), &recorder.world());
        let recording = recorder.finish();
        accepted.checked(())?;
        self.could_run()?;
        Ok((judgement, round, recording))
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
        appended(session.append_at(clock, |session, now| {
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
        })?)
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
            doubts: match self.kind.gate.revisions() {
                0 => Vec::new(),
                _ => earlier_doubts(session, self.quest.id)?,
            },
            may_ask: permitted,
        };
        let world = World {
            accepted: &known,
            ..self.world
        };
        let recorder = Recorder::resume(world, recording);
        let judgement = round.review(judgement, self.case(), &recorder.world());
        let recording = recorder.finish();
        if let Err(error) = self.could_run() {
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
        let gate = &self.kind.gate;
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
        let kept = KeptBodies::new(session.evidence());
        let decide = |session: &Session, now| {
            let (attempt, judgement) = self.settle(session, judgement, now)?;
            kept.keep(&judgement.recording)?;
            let event = Event::Attempt(Box::new(attempt.clone()));
            recorded = Some((attempt, judgement.judgement));
            Ok::<_, Declined>(vec![event])
        };
        appended(session.append_or(clock, decide, || kept.remove())?)?;
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
        let gate = &self.kind.gate;
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
        let judged =
            judged.map_err(|locked| Declined::Refusal(Refusal::Locked { state: locked.0 }))?;
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

/// Whether submissions for `quest` are compared with what the operator knows: a site, or cells that
/// checks use.
pub fn anchored(quest: &Quest) -> bool {
    is_anchored(quest) || !quest.known.is_empty()
}

/// What the session knows for reviewers, taken from it before they are asked.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::{Vote, VoteOn};
    use crate::world::sandbox::Usage;

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
