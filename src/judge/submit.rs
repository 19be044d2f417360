//! Judges a submission and records it in the ledger.
//!
//! [`submit`] is the whole procedure: the claim, the gate, the panel of reviewers if there is one, and
//! the attempt, which is made and written under the session's lock.

use std::cell::Cell;

use jiff::Timestamp;
use serde_json::value::to_raw_value;

use crate::base::Digest;
use crate::base::clock::Clock;
use crate::gate::{Case, Gate as _, Judgement, ReviewerReport, common_rules, is_anchored};
use crate::judge::error::{JudgeError, Refusal};
use crate::judge::forgotten::{is_named, masked_submission, without_forgotten};
use crate::judge::kind::{Received, SessionKind};
use crate::judge::network::check_network;
use crate::judge::panel::PanelRound;
use crate::judge::recorded::{
    KeptBodies, NewJudgement, SessionAccepted, is_sent_back, marks, without_other_addresses,
};
use crate::judge::union::{self, Again, Laid, Step};
use crate::judge::worktree::Worktree;
use crate::quest::{Key, Quest, QuestId, Submission, Verdict};
use crate::session::{
    Asked, Attempt, Claimed, Event, IdempotencyKey, Progress, QuestRecord, Session, SessionError,
    State, Tally, VerdictBasis, Worker,
};
use crate::world::World;
use crate::world::evidence::Recording;
use crate::world::evidence::record::Recorder;
use crate::world::sandbox::Sandbox;

#[derive(Debug, Clone, Copy)]
pub struct Answer<'a> {
    pub quest: QuestId,
    pub worker: Option<&'a Worker>,
    pub key: CallKey,
    pub submission: &'a Submission,
    pub files: AnswerFiles<'a>,
}

/// Where the files of an answer are.
#[derive(Debug, Clone, Copy, Default)]
pub enum AnswerFiles<'a> {
    #[default]
    WorkingTree,
    /// They came with the answer.
    Received(&'a Received),
    Worktree(&'a Worktree),
    /// They were laid over the accepted tree.
    Laid(&'a Laid),
}

/// The idempotency key of the call that submits an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CallKey {
    #[default]
    None,
    /// No attempt may have it yet.
    New(IdempotencyKey),
    /// The fixer ran, and the answer of the same call is judged again.
    Again(IdempotencyKey),
}

impl CallKey {
    pub(super) fn get(self) -> Option<IdempotencyKey> {
        match self {
            Self::None => None,
            Self::New(key) | Self::Again(key) => Some(key),
        }
    }

    pub(super) fn again(self) -> Self {
        self.get().map_or(Self::None, Self::Again)
    }
}

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
    /// The earlier PASSes that may see the answer's files, and were too many to be judged again.
    pub left_out: Vec<QuestId>,
}

impl Judged {
    fn of(session: &Session, key: Key, attempt: &Attempt, judgement: Judgement) -> Self {
        Self {
            id: attempt.quest,
            key,
            judgement,
            state: attempt.state,
            tries: attempt.tries,
            max_tries: session.manifest().frozen.max_tries.get(),
            attempt: attempt.number,
            tally: session.totals().tally,
            left_out: Vec::new(),
        }
    }
}

/// The recorded judgement of an earlier call with the same key. Nothing is judged, and no try is used.
pub(super) fn recorded(
    session: &Session,
    answer: &Answer<'_>,
    key: IdempotencyKey,
    kind: &SessionKind,
    sandbox: &dyn Sandbox,
) -> Result<Option<Judged>, JudgeError> {
    let Some(record) = session.keyed(key)? else {
        return Ok(None);
    };
    let attempt = session.reader()?.keyed_attempt(&record, key)?;
    let attempt = attempt.ok_or(JudgeError::KeyUsed)?;
    // The recorded submission may be masked, if an address was forgotten before or after the first call.
    let submission = answer.submission;
    let masked = masked_submission(&session.forgetting(), submission, &kind.quest, sandbox);
    let digests = [Some(submission.digest()), masked.map(|it| it.digest())];
    let same = record.id == answer.quest
        && attempt.worker.as_ref() == answer.worker
        && digests.contains(&Some(attempt.submitted));
    if !same {
        return Err(JudgeError::KeyUsed);
    }
    let judgement = serde_json::from_str(attempt.judgement.get())?;
    Ok(Some(Judged::of(session, record.key, &attempt, judgement)))
}

/// Judges an answer and records the judgement.
///
/// The gate runs without the session's lock, because it may take minutes. Under the lock, the claim
/// and everything that the verdict took from the session are checked again. Of two concurrent
/// answers, only one is recorded.
pub fn submit(
    session: &mut Session,
    answer: Answer<'_>,
    kind: &SessionKind,
    world: World<'_>,
    clock: &mut dyn Clock,
) -> Result<Judged, JudgeError> {
    let before = open_quest(session, &answer, clock.now())?;
    refuse_used_key(session, answer.key)?;
    renew_claim(session, &answer, clock)?;
    let submitted = Submitted {
        quest: &session.reader()?.quest(&before)?,
        answer,
        digest: answer.submission.digest(),
        kind,
        world,
        before: &before,
    };
    let mut left_out = Vec::new();
    let judgement = if let Some(judgement) = submitted.without_gate(session)? {
        judgement
    } else {
        let (judgement, round, recording) = submitted.machine(session)?;
        let again = submitted.judge_earlier(session, &judgement)?;
        left_out = again.left_out;
        if let Some(broken) = again.broken {
            NewJudgement::without_gate(broken, VerdictBasis::World)
        } else {
            let (judgement, recording) = match round {
                None => (judgement, recording),
                // Reviewers are asked only about a PASS of the machine, and once per quest.
                Some(round) => submitted.review(session, judgement, &round, recording, clock)?,
            };
            let recording =
                without_other_addresses(&kind.gate, submitted.case(), &judgement, recording)?;
            NewJudgement::by_gate(&kind.gate, judgement, recording)
        }
    };
    let judged = submitted.record(session, judgement, clock)?;
    if judged.judgement.verdict == Verdict::Fail {
        left_out.clear();
    }
    Ok(Judged { left_out, ..judged })
}

/// The quest, if it accepts this answer now.
fn open_quest(
    session: &Session,
    answer: &Answer<'_>,
    now: Timestamp,
) -> Result<QuestRecord, JudgeError> {
    let Some(record) = session.quest_record(answer.quest)? else {
        return Err(Refusal::Overtaken.into());
    };
    let worker = answer.worker;
    if worker.is_some_and(|worker| is_named(&session.forgetting(), worker)) {
        return Err(JudgeError::ForgottenWorker);
    }
    if record.progress.state != State::Todo {
        let state = record.progress.state;
        return Err(Refusal::Locked { state }.into());
    }
    if let Some(before) = session.awaited(&record)? {
        let (quest, key) = (before.id, before.key);
        return Err(Refusal::Waits { quest, key }.into());
    }
    let claim = record.claim.as_ref();
    if let Some(claim) = claim.filter(|claim| !claim.admits_answer(worker, now)) {
        let worker = claim.worker.clone();
        return Err(Refusal::Claimed { worker }.into());
    }
    if session.paused() {
        let streak = session.totals().streak;
        return Err(Refusal::Paused { streak }.into());
    }
    Ok(record)
}

/// Fails if another call has used the key since it was looked up.
fn refuse_used_key(session: &Session, key: CallKey) -> Result<(), JudgeError> {
    match key {
        CallKey::New(key) if session.keyed(key)?.is_some() => Err(Refusal::Overtaken.into()),
        _ => Ok(()),
    }
}

/// Renews a claim if less than half of it is left, so that it does not expire while the gate runs.
fn renew_claim(
    session: &mut Session,
    answer: &Answer<'_>,
    clock: &mut dyn Clock,
) -> Result<(), JudgeError> {
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
    session.append(clock, |session, now| {
        open_quest(session, answer, now)?;
        let claim = mine(session, now)?.map(|claim| {
            Event::Claim(Claimed {
                quest: claim.quest,
                worker: claim.worker,
                lease: claim.lease,
            })
        });
        Ok((claim.into_iter().collect(), ()))
    })
}

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
        Case::new(self.quest, self.answer.submission)
    }

    /// The judgement of a submission that needs no gate: it contains a forgotten address, says that
    /// nothing was found, or repeats an earlier one.
    fn without_gate(&self, session: &Session) -> Result<Option<NewJudgement>, JudgeError> {
        // `replay::without_gate` decides in the same order: `audit` compares the two.
        let (judgement, basis) = if self.masked(session)?.is_some() {
            (common_rules::forgotten_address(), VerdictBasis::Submission)
        } else if let Submission::None(why) = self.answer.submission {
            (common_rules::no_result(why), VerdictBasis::NoResult)
        } else if self.kind.gate.accepts_repeats() {
            return Ok(None);
        } else if let Some(earlier) = session.repeats(self.quest.id, self.digest)? {
            (
                common_rules::repeated_submission(earlier),
                VerdictBasis::Repeat,
            )
        } else {
            return Ok(None);
        };
        Ok(Some(NewJudgement::without_gate(judgement, basis)))
    }

    /// The masked submission, if it contains a forgotten address.
    fn masked(&self, session: &Session) -> Result<Option<Submission>, JudgeError> {
        let (submission, sandbox) = (self.answer.submission, self.world.sandbox);
        let masked =
            masked_submission(&session.forgetting(), submission, &self.kind.quest, sandbox);
        self.could_run()?;
        Ok(masked)
    }

    /// Checks that the gate could run its commands. A failed sandbox is not the worker's fault.
    fn could_run(&self) -> Result<(), JudgeError> {
        let failure = self.world.sandbox.failure();
        failure.map_or(Ok(()), |why| Err(JudgeError::Sandbox(why)))
    }

    /// Runs the machine's checks. Also returns the round of reviewers if they must be asked.
    fn machine(
        &self,
        session: &Session,
    ) -> Result<(Judgement, Option<PanelRound<'a>>, Recording), JudgeError> {
        let accepted = SessionAccepted::new(session, self.quest.id);
        let recorder = Recorder::new(World {
            accepted: &accepted,
            ..self.world
        });
        let (judgement, round) = self.kind.gate.examine(self.case(), &recorder.world());
        let recording = recorder.finish();
        accepted.into_result(())?;
        self.could_run()?;
        check_network(&recording.evidence, &self.world)?;
        Ok((judgement, round, recording))
    }

    fn judge_earlier(&self, session: &Session, judgement: &Judgement) -> Result<Again, JudgeError> {
        match (self.answer.files, self.kind.judge_again) {
            (AnswerFiles::Laid(laid), Some(most)) if judgement.verdict != Verdict::Fail => {
                union::judge_earlier(session, laid, most)
            }
            _ => Ok(Again::default()),
        }
    }

    /// Asks the reviewers, once per quest. This is recorded before they are asked, so that an agent
    /// cannot get them asked again by killing the process. From then on, an answer that passes every
    /// check is a REVIEW.
    fn review(
        &self,
        session: &mut Session,
        judgement: Judgement,
        round: &PanelRound<'_>,
        recording: Recording,
        clock: &mut dyn Clock,
    ) -> Result<(Judgement, Recording), JudgeError> {
        let permitted = round.needs_permission() && !self.before.asked;
        if permitted {
            self.append_asked(session, false, clock)?;
        }
        let mut accepted = SessionAccepted::new(session, self.quest.id);
        accepted.may_ask = permitted;
        let world = World {
            accepted: &accepted,
            ..self.world
        };
        let recorder = Recorder::resume(world, recording);
        let judgement = round.review(judgement, self.case(), &recorder.world());
        let recording = recorder.finish();
        accepted.into_result(())?;
        if let Err(error) = self.could_run() {
            // The failure was ours, so the event is withdrawn. Otherwise reviewers could never be asked
            // about this quest again. It stays if a reviewer did anything but clear the answer.
            // Otherwise a worker could get another opinion by making the machine fail.
            let mut reviewers = judgement.panel.iter().flat_map(|panel| &panel.reviewers);
            if permitted && reviewers.all(cleared) {
                // If this fails too, a person must decide.
                let _ = self.append_asked(session, true, clock);
            }
            return Err(error);
        }
        Ok((judgement, recording))
    }

    fn append_asked(
        &self,
        session: &mut Session,
        withdrawn: bool,
        clock: &mut dyn Clock,
    ) -> Result<(), JudgeError> {
        session.append(clock, |session, now| {
            let record = open_quest(session, &self.answer, now)?;
            // Another answer was sent to the reviewers, or judged.
            if record.asked != withdrawn || !self.before.is_judged_by(&record) {
                return Err(Refusal::Overtaken.into());
            }
            let asked = Event::Asked(Asked {
                quest: record.id,
                number: record.attempts.saturating_add(1),
                submitted: self.digest,
                withdrawn,
            });
            Ok((vec![asked], ()))
        })
    }

    fn record(
        &self,
        session: &mut Session,
        judgement: NewJudgement,
        clock: &mut dyn Clock,
    ) -> Result<Judged, JudgeError> {
        let kept = KeptBodies::new(session.evidence());
        let applied = Cell::new(None);
        let decide = |session: &Session, now| {
            let (attempt, judgement) = self.attempt_under_lock(session, judgement, now)?;
            kept.keep(&judgement.recording)?;
            // Before the line is written, because the tree must contain the files of every recorded
            // answer: the final gate judges the tree.
            if let Some(received) = self.accepted_files(attempt.verdict)
                && attempt.state != State::Todo
            {
                applied.set(Some(received.apply()?));
            }
            let event = Event::Attempt(Box::new(attempt.clone()));
            Ok::<_, JudgeError>((vec![event], (attempt, judgement.judgement)))
        };
        let appended = session.append_or_undo(clock, decide, || {
            kept.remove();
            // Dropping it undoes it.
            drop(applied.take());
        });
        // If the ledger may have the line, the tree must keep the files.
        if let Some(applied) = applied.take() {
            applied.keep();
        }
        let (attempt, judgement) = appended?;
        let verdict = attempt.verdict.to_string();
        tracing::info!(verdict, quest = %attempt.quest, "judged");
        let key = self.quest.key.clone();
        Ok(Judged::of(session, key, &attempt, judgement))
    }

    /// The files that came with an answer, unless it is a FAIL: an agent could fill the disk with FAILs.
    fn accepted_files(&self, verdict: Verdict) -> Option<&'a Received> {
        match self.answer.files {
            AnswerFiles::Received(received) if verdict != Verdict::Fail => Some(received),
            _ => None,
        }
    }

    /// What an answer adds to the accepted tree, unless it is a FAIL.
    fn accepted_step(&self, verdict: Verdict) -> Option<&'a Step> {
        match self.answer.files {
            AnswerFiles::Laid(laid) if verdict != Verdict::Fail => laid.step.as_ref(),
            _ => None,
        }
    }

    /// Fails if the verdict rests on an accepted tree that is no longer the session's. A check of the
    /// answer itself fails on any.
    fn refuse_moved(&self, session: &Session, judgement: &Judgement) -> Result<(), JudgeError> {
        let AnswerFiles::Laid(laid) = self.answer.files else {
            return Ok(());
        };
        let rests_on_tree = judgement.verdict != Verdict::Fail
            || common_rules::is_of_rule(judgement, &common_rules::BREAKS_PASSED);
        if rests_on_tree && laid.change.parent != session.totals().accepted {
            return Err(JudgeError::TreeMoved);
        }
        Ok(())
    }

    fn attempt_under_lock(
        &self,
        session: &Session,
        judgement: NewJudgement,
        now: Timestamp,
    ) -> Result<(Attempt, NewJudgement), JudgeError> {
        let record = open_quest(session, &self.answer, now)?;
        if !self.before.is_judged_by(&record) {
            return Err(Refusal::Overtaken.into());
        }
        refuse_used_key(session, self.answer.key)?;
        let gate = &self.kind.gate;
        // The address may have been forgotten while the gate ran.
        let (submission, judgement) = if let Some(masked) = self.masked(session)? {
            let forgotten = common_rules::forgotten_address();
            let basis = VerdictBasis::Submission;
            (masked, NewJudgement::without_gate(forgotten, basis))
        } else {
            self.refuse_moved(session, &judgement.judgement)?;
            // Another quest may have passed with the same address while the gate ran.
            let judgement = judgement.judge_again(gate, self.case(), session)?;
            let judgement = without_forgotten(&session.forgetting(), judgement);
            let verdict = judgement.judgement.verdict;
            let judgement = if let Some(received) = self.accepted_files(verdict) {
                judgement.with_received(gate, serde_json::to_vec(&received.patch)?)
            } else if let Some(step) = self.accepted_step(verdict) {
                judgement.with_received(gate, step.text.clone())
            } else {
                judgement
            };
            (self.answer.submission.clone(), judgement)
        };
        let max_tries = session.manifest().frozen.max_tries;
        let verdict = judgement.judgement.verdict;
        let judged = record.progress.judged(verdict, max_tries);
        let judged = judged.map_err(|locked| Refusal::Locked { state: locked.0 })?;
        // A REVIEW that rests on reviewers' doubts may go back to the agent instead of being locked.
        let goes_back = is_sent_back(gate.revisions(), &judgement.judgement, record.revisions);
        let revised = record.progress.revised(max_tries).filter(|_| goes_back);
        let Progress { state, tries } = revised.unwrap_or(judged);
        let accepted = self.accepted_step(verdict).map(|step| step.accepted);
        let attempt = Attempt {
            quest: self.quest.id,
            number: record.attempts.saturating_add(1),
            submitted: submission.digest(),
            submission,
            verdict,
            grounds: judgement.grounds,
            state,
            tries,
            rules: judgement.fired(),
            anchored: is_anchored(self.quest),
            seen: judgement.judgement.seen,
            revision: revised.is_some(),
            accepted: accepted.filter(|_| state != State::Todo),
            holds: match state {
                State::Pass => marks(gate, self.case()),
                State::Todo | State::Review | State::Done => Vec::new(),
            },
            worker: self.answer.worker.cloned(),
            idempotency_key: self.answer.key.get(),
            judgement: to_raw_value(&judgement.judgement)?,
            evidence: to_raw_value(&judgement.recording.evidence)?,
        };
        Ok((attempt, judgement))
    }
}

/// Whether a reviewer answered and cleared the answer.
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
    fn only_a_counted_vote_without_doubt_clears() {
        let clear = || Vote::Cleared(String::from("all of it"));
        assert!(cleared(&reviewer(true, vec![clear()], &[])));
        let silent = Vote::Error(String::from("said nothing"));
        assert!(!cleared(&reviewer(true, vec![clear(), silent], &[])));
        // A reviewer that missed the plant has no votes, and an error that says so.
        assert!(!cleared(&reviewer(false, vec![], &["overlooked it"])));
        assert!(!cleared(&reviewer(false, vec![], &[])));
        assert!(!cleared(&reviewer(true, vec![clear()], &["a stray line"])));
    }
}
