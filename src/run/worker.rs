//! One worker of a run: it claims one quest after the other and starts agents until each is settled.

use std::collections::BTreeSet;
use std::sync::MutexGuard;
use std::sync::mpsc::Sender;

use jiff::Timestamp;

use super::claim::{Choice, ClaimGuard, Lost, choose, decide};
use super::plan::{Answers, RunError, RunEvent};
use super::quest_run::{Activity, PromptBuilder, PromptInput, QuestRun};
use super::run_dir::{Calls, RunDir, worker_of};
use super::shared::SharedRunState;
use crate::judge::JudgeContext;
use crate::quest::QuestId;
use crate::run::agent::{Agent, AgentEnd, AgentError, AgentLauncher, Given, command_line};
use crate::run::detect::Detectors;
use crate::run::limits::{StallBudget, UsedByQuest, most_important};
use crate::session::{
    Appended, Claim, DrivenAttempt, DrivenQuest, Event, Lease, LedgerWatch, QuestRecord, Reason,
    RunLine, RunStep, Salt, Session, SessionError, Spent, State, Worker,
};

pub struct RunWorker<'a> {
    pub shared: &'a SharedRunState,
    pub index: usize,
    pub session: Session,
    pub chamber: JudgeContext<'a>,
    pub place: &'a RunDir,
    pub launcher: &'a AgentLauncher,
    pub prompts: &'a dyn PromptBuilder,
    pub events: Sender<RunEvent>,
    pub tide: LedgerWatch,
    pub next: Option<(Choice, Worker)>,
    pub now: fn() -> Timestamp,
    pub salts: fn() -> Salt,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AfterStart {
    Retry,
    Ended(Reason),
}

impl RunWorker<'_> {
    pub fn work(&mut self) -> Result<(), RunError> {
        let shared = self.shared;
        // What is claimed is freed as any other quest that there is no time for.
        while self.next.is_some() || shared.stopping().is_none() {
            let (choice, name) = if let Some(next) = self.next.take() {
                next
            } else {
                // One at a time: how many quests were taken up is looked at before each.
                let _turn = shared.turn();
                if let Some(reason) = shared.plan.limits.another_quest(&shared.used()) {
                    shared.ends_for(reason);
                    return Ok(());
                }
                let (name, _) = self.name()?;
                let choice = self.choose(&name)?;
                if matches!(choice, Choice::Quest(..)) {
                    shared.take();
                }
                (choice, name)
            };
            match choice {
                Choice::Quest(standing, claim) => self.drive(&standing, &claim, name)?,
                Choice::Complete => return Ok(()),
                Choice::Paused => shared.stop(Reason::Paused),
                Choice::Nothing if !shared.is_driving() => return Ok(()),
                Choice::Nothing | Choice::Held => shared.wait(shared.plan.pace.poll),
            }
            if let Some(reason) = shared.plan.limits.run_under_way(&shared.used()) {
                shared.stop(reason);
            }
        }
        Ok(())
    }

    fn choose(&mut self, name: &Worker) -> Result<Choice, RunError> {
        choose(
            &mut self.session,
            name,
            self.shared.plan.lease,
            &self.shared.given_up(),
            &mut (self.now, self.salts),
        )
    }

    pub(super) fn name(&self) -> Result<(Worker, u32), RunError> {
        let number = self.shared.next_name();
        Ok((worker_of(self.shared.plan.run, number)?, number))
    }

    fn drive(
        &mut self,
        standing: &QuestRecord,
        claim: &Claim,
        worker: Worker,
    ) -> Result<(), RunError> {
        let mut quest_run = QuestRun {
            key: standing.key.clone(),
            guard: ClaimGuard {
                quest: standing.id,
                worker,
                lease: claim.lease,
            },
            used: UsedByQuest::default(),
            seen: standing.attempts,
            conversation: None,
            facts: Vec::new(),
            history: Vec::new(),
            submitted: Vec::new(),
            stall: StallBudget::default(),
            detectors: Detectors::new(self.shared.plan.detectors),
            activity: Activity::new(self.session.log_on(), self.shared.plan.pace.poll),
        };
        let driven = self.drive_to_its_end(&mut quest_run);
        let reason = match &driven {
            Ok(reason) => *reason,
            Err(_) => Reason::Error,
        };
        if reason == Reason::Paused {
            self.shared.stop(reason);
        }
        self.shared.release(standing.id, reason);
        driven.map(drop)
    }

    fn drive_to_its_end(&mut self, quest_run: &mut QuestRun) -> Result<Reason, RunError> {
        let reason = loop {
            self.shared.wait_for_backend();
            if let Some(reason) = self.before_start(quest_run) {
                break reason;
            }
            if quest_run.used.starts > 0
                && let Some(reason) = self.hand_over(quest_run)?
            {
                break reason;
            }
            match self.start(quest_run, None)? {
                AfterStart::Retry => {}
                // Its end is recorded with that of the agent.
                AfterStart::Ended(Reason::Settled) => return Ok(Reason::Settled),
                AfterStart::Ended(reason) => break reason,
            }
        };
        // It would cost what there is no more of.
        let shared = self.shared;
        let spent = shared.plan.limits.run_is_spent(&shared.used()).is_some();
        let handover = if deserves_last_call(reason) && quest_run.used.starts > 0 && !spent {
            match self.last_call(quest_run, reason)? {
                LastCall::Settled => return Ok(Reason::Settled),
                LastCall::Left(handover) => handover,
            }
        } else {
            None
        };
        self.close(quest_run, reason, handover)
    }

    pub(super) fn hand_over(
        &mut self,
        quest_run: &mut QuestRun,
    ) -> Result<Option<Reason>, RunError> {
        let (next, _) = self.name()?;
        let passed =
            quest_run
                .guard
                .hand_over(next, &mut self.session, &mut (self.now, self.salts))?;
        Ok(passed.err().map(Lost::reason))
    }

    fn before_start(&self, quest_run: &QuestRun) -> Option<Reason> {
        let limits = &self.shared.plan.limits;
        let tokens = quest_run.used.bill.tokens;
        let soft = limits.diminishing;
        let reasons = [
            self.shared.stopping(),
            limits.of_quest(&quest_run.used),
            limits.of_run(&self.shared.used()),
            soft.of(tokens, limits.quest.tokens, quest_run.stall),
        ];
        most_important(reasons.into_iter().flatten())
    }

    fn close(
        &mut self,
        quest_run: &QuestRun,
        reason: Reason,
        handover: Option<Box<str>>,
    ) -> Result<Reason, RunError> {
        let mut closed = None;
        let guard = &quest_run.guard;
        let run = self.shared.plan.run;
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
            self.emit(RunEvent::Quest {
                key: quest_run.key.clone(),
                state,
                quest,
            });
        }
        Ok(reason)
    }

    pub(super) fn emit(&self, event: RunEvent) {
        let _ = self.events.send(event);
    }
}

pub(super) fn state_and_reason(
    store: &Session,
    quest_run: &QuestRun,
    otherwise: Reason,
) -> Result<(State, Reason), SessionError> {
    let standing = store.standing(quest_run.guard.quest)?;
    let state = standing.map_or(State::Todo, |standing| standing.progress.state);
    let settled = state != State::Todo;
    Ok((state, if settled { Reason::Settled } else { otherwise }))
}

fn deserves_last_call(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::Attempts
            | Reason::WallClock
            | Reason::QuestTimeout
            | Reason::Tokens
            | Reason::Cost
            | Reason::Diminishing
    )
}

#[derive(Debug)]
pub(super) struct Prefetch<'a> {
    name: Worker,
    lease: Option<Lease>,
    driven: BTreeSet<QuestId>,
    choice: Choice,
    _turn: MutexGuard<'a, ()>,
}

impl<'a> RunWorker<'a> {
    pub(super) fn prefetch(&self, reason: Reason) -> Result<Option<Prefetch<'a>>, RunError> {
        let shared = self.shared;
        if reason != Reason::Settled || shared.stopping().is_some() {
            return Ok(None);
        }
        let turn = shared.turn();
        if shared.plan.limits.another_quest(&shared.used()).is_some() {
            return Ok(None);
        }
        Ok(Some(Prefetch {
            name: self.name()?.0,
            lease: shared.plan.lease,
            driven: shared.given_up(),
            choice: Choice::Nothing,
            _turn: turn,
        }))
    }

    pub(super) fn accept_prefetch(&mut self, prefetch: Prefetch<'a>) {
        if matches!(prefetch.choice, Choice::Quest(..)) {
            self.shared.take();
            self.next = Some((prefetch.choice, prefetch.name));
        }
    }
}

impl Prefetch<'_> {
    pub(super) fn choose(
        &mut self,
        session: &Session,
        now: Timestamp,
    ) -> Result<Vec<Event>, SessionError> {
        let lease = self.lease.unwrap_or(session.manifest().frozen.lease);
        let (choice, events) = decide(session, &self.name, lease, &self.driven, now)?;
        self.choice = choice;
        Ok(events)
    }
}

struct Ended {
    state: State,
    reason: Reason,
    paused: bool,
}

impl RunWorker<'_> {
    pub(super) fn start(
        &mut self,
        quest_run: &mut QuestRun,
        last: Option<Reason>,
    ) -> Result<AfterStart, RunError> {
        let (after, _) = self.start_once(quest_run, last)?;
        Ok(after)
    }

    pub(super) fn start_once(
        &mut self,
        quest_run: &mut QuestRun,
        last: Option<Reason>,
    ) -> Result<(AfterStart, String), RunError> {
        let seen = quest_run.seen;
        let prompt = self.prompt(quest_run, last)?;
        quest_run.begin();
        let (plan, start) = (&self.shared.plan, start_number(&quest_run.guard));
        let calls = Calls::of(self.session.dir(), plan.run, start)?;
        quest_run.activity.begin(calls, &self.chamber);
        self.shared.has_started();
        let watched = self.run_agent(&prompt, quest_run, last)?;
        // What an agent answered that ended by itself is paid for, whichever budget that was.
        let by_itself = watched.halt.is_none() || watched.end.exit == Some(0);
        let judged = if by_itself || last.is_some() {
            self.judge_printed(&watched.end, quest_run)?
        } else {
            None
        };
        // What was submitted while it ended is seen as well.
        let late = self.poll_activity(quest_run)?;
        let halt = watched.halt.or(judged).or(late);
        let idle = quest_run.seen == seen && watched.end.answer.is_none();
        let died = halt.is_none() && idle && self.died(&watched);
        let reason = halt.unwrap_or_else(|| end_reason(&watched.end, died));
        let ended = self.record(quest_run, reason, &watched, last.is_some())?;
        let tail = watched.end.tail;
        if ended.reason == Reason::Settled {
            self.shared.lived();
            return Ok((AfterStart::Ended(Reason::Settled), tail));
        }
        if died {
            self.shared.died(match reason {
                Reason::PermissionDenied => reason,
                _ => Reason::Breaker,
            });
        } else {
            self.shared.lived();
        }
        Ok((after(&ended, halt), tail))
    }

    fn prompt(&self, quest_run: &QuestRun, last: Option<Reason>) -> Result<String, RunError> {
        let guard = &quest_run.guard;
        let standing = self.session.standing(guard.quest)?;
        let claim = self.session.claim_on(guard.quest)?;
        let (Some(standing), Some(claim)) = (standing, claim) else {
            return Err(SessionError::Illegal("the quest is not held").into());
        };
        let remembers = self.shared.plan.resume && quest_run.conversation.is_some();
        let input = PromptInput {
            standing: &standing,
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
        let order = self
            .place
            .order(plan, line, (&quest_run.guard.worker, number), last);
        let read = prompt.len() as u64;
        let most = last.map(|_| plan.pace.last_call);
        match Agent::start(&order, self.launcher) {
            Ok(agent) => self.watch(agent, read, most, quest_run),
            Err(error @ AgentError::NotStarted { .. }) => {
                self.emit(RunEvent::Note {
                    text: error.to_string(),
                });
                Ok(Watched::never())
            }
            Err(error) => Err(error.into()),
        }
    }

    fn died(&self, watched: &Watched) -> bool {
        let end = &watched.end;
        let failed = end.exit != Some(0);
        let soon = watched.time < self.shared.plan.crash_backoff.within;
        failed && (soon || end.rate_limited || end.no_login)
    }

    // One append records the end of the attempt, the end of the quest and the next claim.
    fn record(
        &mut self,
        quest_run: &mut QuestRun,
        reason: Reason,
        watched: &Watched,
        last_call: bool,
    ) -> Result<Ended, RunError> {
        let limits = &self.shared.plan.limits;
        let spent = watched.end.spent;
        self.shared.has_used(self.index, &spent);
        if watched.end.conversation.is_some() {
            quest_run.conversation.clone_from(&watched.end.conversation);
        }
        let (guard, run, starts) = (
            &quest_run.guard,
            self.shared.plan.run,
            quest_run.used.starts,
        );
        let line = |step| Event::Run(Box::new(RunLine { run, step }));
        let mut recorded = None;
        let mut prefetch = self.prefetch(reason)?;
        let clock = &mut (self.now, self.salts);
        let appended = self.session.append_at(clock, |session, now| {
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
            recorded = Some((state, attempt, quest, session.paused()));
            let mut events: Vec<_> = steps.into_iter().flatten().map(line).collect();
            // An agent that has settled its quest may ask for another before it is stopped.
            events.extend(guard.extra_claim(session)?);
            if let Some(prefetch) = &mut prefetch {
                events.extend(prefetch.choose(session, now)?);
            }
            Ok::<_, SessionError>(events)
        })?;
        let (state, attempt, quest, paused) = match (appended, recorded) {
            (Appended::Refused(error), _) => return Err(error.into()),
            (Appended::Done, None) => {
                return Err(SessionError::Illegal("nothing was decided").into());
            }
            (Appended::Done, Some(recorded)) => recorded,
        };
        if let Some(prefetch) = prefetch {
            self.accept_prefetch(prefetch);
        }
        let reason = attempt.reason;
        let key = quest_run.key.clone();
        quest_run.end(reason, watched.time, &spent, limits);
        self.emit(RunEvent::Attempt {
            key,
            last_call,
            attempt,
        });
        if let Some(quest) = quest {
            let key = quest_run.key.clone();
            self.emit(RunEvent::Quest { key, state, quest });
        }
        Ok(Ended {
            state,
            reason,
            paused,
        })
    }

    fn judge_printed(
        &mut self,
        end: &AgentEnd,
        quest_run: &mut QuestRun,
    ) -> Result<Option<Reason>, RunError> {
        match self.shared.plan.answers {
            Answers::Stdout => self.judge_answer(end, quest_run),
            // One that failed does not say that it is done.
            Answers::World if end.exit == Some(0) => self.judge_world_left(quest_run),
            Answers::Submit | Answers::World => Ok(None),
        }
    }
}

fn start_number(guard: &ClaimGuard) -> u32 {
    super::run_dir::start_of(&guard.worker).map_or(0, |(_, number)| number)
}

fn end_reason(end: &AgentEnd, died: bool) -> Reason {
    if end.denied || (died && end.no_login) {
        Reason::PermissionDenied
    } else {
        Reason::AgentFailed
    }
}

fn after(ended: &Ended, halt: Option<Reason>) -> AfterStart {
    if ended.state != State::Todo {
        AfterStart::Ended(Reason::Settled)
    } else if ended.paused {
        AfterStart::Ended(Reason::Paused)
    } else {
        match halt {
            // It fell silent: another one may do better.
            None | Some(Reason::AgentFailed) => AfterStart::Retry,
            Some(reason) => AfterStart::Ended(reason),
        }
    }
}

#[derive(Debug)]
pub struct Watched {
    pub end: AgentEnd,
    pub halt: Option<Reason>,
    pub time: std::time::Duration,
}

impl Watched {
    fn never() -> Self {
        Self {
            end: AgentEnd {
                exit: None,
                signal: None,
                answer: None,
                bad_answer: None,
                spent: Spent::default(),
                tail: String::new(),
                conversation: None,
                denied: false,
                rate_limited: false,
                no_login: false,
            },
            halt: None,
            time: std::time::Duration::ZERO,
        }
    }
}

const LONGEST: usize = 4096;

#[derive(Debug)]
pub(super) enum LastCall {
    Settled,
    Left(Option<Box<str>>),
}

impl RunWorker<'_> {
    pub(super) fn last_call(
        &mut self,
        quest_run: &mut QuestRun,
        reason: Reason,
    ) -> Result<LastCall, RunError> {
        if self.hand_over(quest_run)?.is_some() {
            return Ok(LastCall::Left(None));
        }
        let (after, tail) = self.start_once(quest_run, Some(reason))?;
        if after == AfterStart::Ended(Reason::Settled) {
            return Ok(LastCall::Settled);
        }
        Ok(LastCall::Left(note(&tail)))
    }
}

fn note(tail: &str) -> Option<Box<str>> {
    let tail = tail.trim();
    let over = tail.len().saturating_sub(LONGEST);
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
        let long = note(&"ü".repeat(LONGEST)).unwrap();
        assert!(long.len() <= LONGEST && long.len() > LONGEST - 4);
    }
}
