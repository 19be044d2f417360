//! One worker of a run: it claims one quest after the other and starts agents until each is settled.

use std::sync::mpsc::Sender;
use std::time::Duration;

use jiff::Timestamp;

use super::claim::{Choice, ClaimGuard, choose};
use super::plan::{Answers, RunError, RunEvent};
use super::quest_run::{Activity, Past, PromptBuilder, PromptInput, QuestRun};
use super::run_dir::{Calls, RunDir, start_of, worker_of};
use super::shared::SharedRunState;
use crate::judge::JudgeContext;
use crate::run::agent::{Agent, AgentEnd, AgentError, AgentLauncher, Given, command_line};
use crate::run::detect::Detectors;
use crate::run::limits::{Before, StallBudget, Used};
use crate::session::{
    Appended, Claim, DrivenAttempt, DrivenQuest, Event, LedgerWatch, QuestRecord, Reason, RunLine,
    RunStep, Salt, Session, SessionError, State, Worker,
};

const MAX_NOTE_BYTES: usize = 4096;

const MAX_HISTORY: usize = 10;

pub struct RunWorker<'a> {
    pub shared: &'a SharedRunState,
    pub index: usize,
    pub session: Session,
    pub context: JudgeContext,
    pub place: &'a RunDir,
    pub launcher: &'a AgentLauncher,
    pub prompts: &'a dyn PromptBuilder,
    pub events: Sender<RunEvent>,
    pub ledger: LedgerWatch,
    pub now: fn() -> Timestamp,
    pub salts: fn() -> Salt,
}

/// What follows a start of the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AfterStart {
    Retry,
    Ended(Reason),
}

/// How a start of the agent ended.
#[derive(Debug)]
pub struct Watched {
    pub end: AgentEnd,
    /// Why it was stopped.
    pub halt: Option<Reason>,
    pub time: Duration,
}

impl RunWorker<'_> {
    pub fn work(&mut self) -> Result<(), RunError> {
        let shared = self.shared;
        while shared.stopping().is_none() {
            let (choice, worker) = {
                let _turn = shared.turn();
                let ended = shared.plan.limits.run_ended(&shared.used(), Before::Quest);
                if let Some(reason) = ended {
                    // The other workers finish the quests that they hold.
                    shared.counters().reasons.insert(reason);
                    return Ok(());
                }
                let worker = self.next_name()?;
                let given_up = shared.counters().given_up.clone();
                let lease = shared.plan.lease;
                let clock = &mut (self.now, self.salts);
                let choice = choose(&mut self.session, &worker, lease, &given_up, clock)?;
                if matches!(choice, Choice::Quest(..)) {
                    let mut counters = shared.counters();
                    counters.quests = counters.quests.saturating_add(1);
                    counters.driving += 1;
                }
                (choice, worker)
            };
            match choice {
                Choice::Quest(record, claim) => self.drive(&record, &claim, worker)?,
                Choice::Complete => return Ok(()),
                Choice::Paused => shared.stop(Reason::Paused),
                Choice::Nothing if shared.counters().driving == 0 => return Ok(()),
                Choice::Nothing | Choice::Held => shared.wait(shared.plan.pace.poll),
            }
            let used = shared.used();
            if let Some(reason) = shared.plan.limits.run_ended(&used, Before::GoingOn) {
                shared.stop(reason);
            }
        }
        Ok(())
    }

    fn next_name(&self) -> Result<Worker, RunError> {
        let mut counters = self.shared.counters();
        counters.names = counters.names.saturating_add(1);
        Ok(worker_of(self.shared.plan.run, counters.names)?)
    }

    fn drive(
        &mut self,
        record: &QuestRecord,
        claim: &Claim,
        worker: Worker,
    ) -> Result<(), RunError> {
        let plan = &self.shared.plan;
        let mut quest_run = QuestRun {
            key: record.key.clone(),
            guard: ClaimGuard {
                quest: record.id,
                worker,
                lease: claim.lease,
            },
            used: Used::default(),
            seen: record.attempts,
            conversation: None,
            facts: Vec::new(),
            history: Vec::new(),
            submitted: Vec::new(),
            stall: StallBudget::default(),
            detectors: Detectors::new(plan.detectors),
            activity: Activity::new(self.session.ledger(), plan.pace.poll),
        };
        let driven = self.drive_to_its_end(&mut quest_run);
        let reason = *driven.as_ref().unwrap_or(&Reason::Error);
        if reason == Reason::Paused {
            self.shared.stop(reason);
        }
        self.shared.release(record.id, reason);
        driven.map(drop)
    }

    fn drive_to_its_end(&mut self, quest_run: &mut QuestRun) -> Result<Reason, RunError> {
        let reason = loop {
            self.shared.wait_after_crash();
            if let Some(reason) = self.before_start(quest_run) {
                break reason;
            }
            if quest_run.used.starts > 0
                && let Some(reason) = self.hand_over(quest_run)?
            {
                break reason;
            }
            match self.start(quest_run, None)?.0 {
                AfterStart::Retry => {}
                // Its end was recorded together with that of the agent.
                AfterStart::Ended(Reason::Settled) => return Ok(Reason::Settled),
                AfterStart::Ended(reason) => break reason,
            }
        };
        let limits = &self.shared.plan.limits;
        let spent = limits.run_ended(&self.shared.used(), Before::Spending);
        let deserves_last_call = matches!(
            reason,
            Reason::Attempts
                | Reason::WallClock
                | Reason::QuestTimeout
                | Reason::Tokens
                | Reason::Cost
                | Reason::Diminishing
        );
        let mut handover = None;
        if deserves_last_call
            && quest_run.used.starts > 0
            && spent.is_none()
            && self.hand_over(quest_run)?.is_none()
        {
            let (after, tail) = self.start(quest_run, Some(reason))?;
            if after == AfterStart::Ended(Reason::Settled) {
                return Ok(Reason::Settled);
            }
            handover = note(&tail);
        }
        self.close(quest_run, reason, handover)
    }

    /// Claims the quest under the name of the next start; why that is impossible, if it is.
    fn hand_over(&mut self, quest_run: &mut QuestRun) -> Result<Option<Reason>, RunError> {
        let next = self.next_name()?;
        let clock = &mut (self.now, self.salts);
        quest_run.guard.hand_over(next, &mut self.session, clock)
    }

    fn before_start(&self, quest_run: &QuestRun) -> Option<Reason> {
        let limits = &self.shared.plan.limits;
        let reasons = [
            self.shared.stopping(),
            limits.quest_ended(&quest_run.used, Before::Start),
            limits.run_ended(&self.shared.used(), Before::Start),
            limits.diminishing(quest_run.used.bill.tokens, quest_run.stall),
        ];
        reasons.into_iter().flatten().min()
    }

    /// Records the end of the work on a quest, and releases the claim.
    fn close(
        &mut self,
        quest_run: &QuestRun,
        reason: Reason,
        handover: Option<Box<str>>,
    ) -> Result<Reason, RunError> {
        let guard = &quest_run.guard;
        let run = self.shared.plan.run;
        let mut closed = None;
        let clock = &mut (self.now, self.salts);
        let appended = self.session.append_at(clock, |session, _| {
            let (state, reason) = state_and_reason(session, quest_run, reason)?;
            let quest = DrivenQuest {
                quest: guard.quest,
                reason,
                starts: quest_run.used.starts,
                handover: handover.filter(|_| reason != Reason::Settled),
            };
            let mut events = Vec::new();
            if quest.starts > 0 {
                let step = RunStep::Quest(quest.clone());
                events.push(Event::Run(Box::new(RunLine { run, step })));
            }
            if guard.is_held(session)? {
                events.push(guard.released());
            }
            closed = Some((state, quest));
            Ok::<_, SessionError>(events)
        })?;
        if let Appended::Refused(error) = appended {
            return Err(error.into());
        }
        let Some((state, quest)) = closed else {
            return Ok(reason);
        };
        let reason = quest.reason;
        if quest.starts > 0 {
            let key = quest_run.key.clone();
            self.emit(RunEvent::Quest { key, state, quest });
        }
        Ok(reason)
    }

    pub(super) fn emit(&self, event: RunEvent) {
        let _ = self.events.send(event);
    }

    /// Starts the agent once; `last` is set for the last call. Also returns the end of its output.
    fn start(
        &mut self,
        quest_run: &mut QuestRun,
        last: Option<Reason>,
    ) -> Result<(AfterStart, String), RunError> {
        let seen = quest_run.seen;
        let prompt = self.prompt(quest_run, last)?;
        quest_run.begin();
        let (plan, start) = (&self.shared.plan, start_number(&quest_run.guard));
        let calls = Calls::of(self.session.dir(), plan.run, start)?;
        quest_run.activity.begin(calls, &self.context);
        {
            let mut counters = self.shared.counters();
            counters.starts = counters.starts.saturating_add(1);
        }
        let watched = self.run_agent(&prompt, quest_run, last)?;
        let end = &watched.end;
        // The answer of an agent that ended by itself is judged whichever budget ended meanwhile: it
        // is paid for.
        let by_itself = watched.halt.is_none() || end.exit == Some(0);
        let judged = if by_itself || last.is_some() {
            self.judge_printed(end, quest_run)?
        } else {
            None
        };
        // Something may have been submitted while the agent ended.
        let late = self.poll_activity(quest_run)?;
        let halt = watched.halt.or(judged).or(late);
        let idle = quest_run.seen == seen && end.answer.is_none();
        // An agent that failed without an answer has crashed, or ran into a limit of its provider.
        let died = halt.is_none() && idle && end.exit != Some(0);
        let denied = end.denied || (died && end.no_login);
        let reason = halt.unwrap_or(if denied {
            Reason::PermissionDenied
        } else {
            Reason::AgentFailed
        });
        let (state, reason, paused) = self.record(quest_run, reason, &watched, last.is_some())?;
        let after = if state != State::Todo || reason == Reason::Settled {
            AfterStart::Ended(Reason::Settled)
        } else if paused {
            AfterStart::Ended(Reason::Paused)
        } else {
            match halt {
                // It stalled; another start may do better.
                None | Some(Reason::AgentFailed) => AfterStart::Retry,
                Some(reason) => AfterStart::Ended(reason),
            }
        };
        let died = died && reason != Reason::Settled;
        self.shared.ended(died.then_some(if denied {
            Reason::PermissionDenied
        } else {
            Reason::Breaker
        }));
        Ok((after, watched.end.tail))
    }

    fn prompt(&self, quest_run: &QuestRun, last: Option<Reason>) -> Result<String, RunError> {
        let guard = &quest_run.guard;
        let record = self.session.standing(guard.quest)?;
        let claim = self.session.claim_on(guard.quest)?;
        let (Some(record), Some(claim)) = (record, claim) else {
            return Err(SessionError::Illegal("the quest is not held").into());
        };
        let remembers = self.shared.plan.resume && quest_run.conversation.is_some();
        let input = PromptInput {
            standing: &record,
            claim: &claim,
            answers: self.shared.plan.answers,
            history: if remembers { &[] } else { &quest_run.history },
            facts: &quest_run.facts,
            last_call: last,
        };
        let prompt = self.prompts.prompt(&self.session, &input);
        prompt.map_err(RunError::Prompt)
    }

    fn run_agent(
        &mut self,
        prompt: &str,
        quest_run: &mut QuestRun,
        last: Option<Reason>,
    ) -> Result<Watched, RunError> {
        let plan = &self.shared.plan;
        let number = start_number(&quest_run.guard);
        let file = if plan.command.needs_file() {
            Some(self.place.write_prompt(number, prompt)?)
        } else {
            None
        };
        let resumed = plan.resume && plan.command.can_resume();
        let given = Given {
            prompt,
            prompt_file: file.as_deref(),
            model: plan.model.as_deref(),
            conversation: quest_run.conversation.as_deref().filter(|_| resumed),
        };
        let line = command_line(&plan.command, &given)?;
        let worker = &quest_run.guard.worker;
        let order = self.place.order(plan, line, (worker, number), last);
        match Agent::start(&order, self.launcher) {
            Ok(agent) => {
                let most = last.map(|_| plan.pace.last_call);
                self.watch(agent, prompt.len() as u64, most, quest_run)
            }
            Err(error @ AgentError::NotStarted { .. }) => {
                let text = error.to_string();
                self.emit(RunEvent::Note { text });
                Ok(Watched {
                    end: AgentEnd::default(),
                    halt: None,
                    time: Duration::ZERO,
                })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Records the end of the start and, if the quest is settled, that of the quest in one append.
    /// Returns the quest's state, the reason, and whether the session is paused.
    fn record(
        &mut self,
        quest_run: &mut QuestRun,
        reason: Reason,
        watched: &Watched,
        last_call: bool,
    ) -> Result<(State, Reason, bool), RunError> {
        let spent = watched.end.spent;
        self.shared.has_used(self.index, &spent);
        if watched.end.conversation.is_some() {
            quest_run.conversation.clone_from(&watched.end.conversation);
        }
        let (guard, starts) = (&quest_run.guard, quest_run.used.starts);
        let run = self.shared.plan.run;
        let mut recorded = None;
        let clock = &mut (self.now, self.salts);
        let appended = self.session.append_at(clock, |session, _| {
            let (state, reason) = state_and_reason(session, quest_run, reason)?;
            let attempt = DrivenAttempt {
                quest: guard.quest,
                start: starts,
                worker: guard.worker.clone(),
                reason,
                milliseconds: u64::try_from(watched.time.as_millis()).unwrap_or(u64::MAX),
                spent,
                exit: watched.end.exit,
            };
            let quest = (reason == Reason::Settled).then_some(DrivenQuest {
                quest: guard.quest,
                reason,
                starts,
                handover: None,
            });
            let steps = [
                Some(RunStep::Attempt(attempt.clone())),
                quest.clone().map(RunStep::Quest),
            ];
            let steps = steps.into_iter().flatten();
            let mut events: Vec<_> = steps
                .map(|step| Event::Run(Box::new(RunLine { run, step })))
                .collect();
            // An agent that has settled its quest may claim another before it is stopped.
            events.extend(guard.extra_claim(session)?);
            recorded = Some((state, attempt, quest, session.paused()));
            Ok::<_, SessionError>(events)
        })?;
        let (state, attempt, quest, paused) = match (appended, recorded) {
            (Appended::Refused(error), _) => return Err(error.into()),
            (Appended::Done, None) => {
                return Err(SessionError::Illegal("nothing was decided").into());
            }
            (Appended::Done, Some(recorded)) => recorded,
        };
        let reason = attempt.reason;
        quest_run.used = quest_run.with(watched.time, &spent, &self.shared.plan.limits);
        quest_run.history.push(Past {
            start: starts,
            reason,
            submitted: std::mem::take(&mut quest_run.submitted),
        });
        let over = quest_run.history.len().saturating_sub(MAX_HISTORY);
        quest_run.history.drain(..over);
        self.emit(RunEvent::Attempt {
            key: quest_run.key.clone(),
            last_call,
            attempt,
        });
        if let Some(quest) = quest {
            let key = quest_run.key.clone();
            self.emit(RunEvent::Quest { key, state, quest });
        }
        Ok((state, reason, paused))
    }

    fn judge_printed(
        &mut self,
        end: &AgentEnd,
        quest_run: &mut QuestRun,
    ) -> Result<Option<Reason>, RunError> {
        match self.shared.plan.answers {
            Answers::Stdout => self.judge_answer(end, quest_run),
            // An agent that failed does not say that it is done.
            Answers::World if end.exit == Some(0) => {
                let record = self.session.standing(quest_run.guard.quest)?;
                if record.is_some_and(|record| record.progress.state == State::Todo) {
                    self.judge_world(quest_run)
                } else {
                    Ok(None)
                }
            }
            Answers::Submit | Answers::World => Ok(None),
        }
    }
}

/// The quest's state. Once it is settled, that is the reason, whatever else happened.
fn state_and_reason(
    session: &Session,
    quest_run: &QuestRun,
    otherwise: Reason,
) -> Result<(State, Reason), SessionError> {
    let record = session.standing(quest_run.guard.quest)?;
    let state = record.map_or(State::Todo, |record| record.progress.state);
    let settled = state != State::Todo;
    Ok((state, if settled { Reason::Settled } else { otherwise }))
}

fn start_number(guard: &ClaimGuard) -> u32 {
    start_of(&guard.worker).map_or(0, |(_, number)| number)
}

/// What the last call leaves for whoever takes the quest next.
fn note(tail: &str) -> Option<Box<str>> {
    let tail = tail.trim();
    let over = tail.len().saturating_sub(MAX_NOTE_BYTES);
    let from = (over..=tail.len()).find(|at| tail.is_char_boundary(*at))?;
    let note = tail[from..].trim_start();
    (!note.is_empty()).then(|| note.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_bounded_and_never_blank() {
        assert_eq!(note(" \n"), None);
        assert_eq!(note(" half done \n").as_deref(), Some("half done"));
        let long = note(&"ü".repeat(MAX_NOTE_BYTES)).unwrap();
        assert!(long.len() <= MAX_NOTE_BYTES && long.len() > MAX_NOTE_BYTES - 4);
    }
}
