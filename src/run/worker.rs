//! One worker of a run: it claims one quest after the other and starts agents until each is settled.

mod watch;

use std::mem;
use std::sync::mpsc::Sender;
use std::time::Duration;

use super::access::Judge;
use super::agents::{Answers, PlannedAgent, agent_for};
use super::plan::{Brought, JudgedAnswer, Live, RunError, RunEvent, SharedRunState, WhyNothing};
use super::quest_run::{
    Activity, Choice, ClaimGuard, Judged, Past, PromptBuilder, PromptInput, QuestRun, Submitted,
    choose, submission,
};
use super::run_dir::{RunDir, worker_of, write_prompt};
use crate::base::clock::SystemClock;
use crate::base::text::truncate;
use crate::judge;
use crate::judge::live_runs::start_of;
use crate::judge::{AnswerFiles, JudgeContext, JudgeError, Refusal, SubmitResult};
use crate::quest::{Fields, Submission};
use crate::run::agent::{
    Agent, AgentEnd, AgentError, AgentLauncher, Given, ProviderError, Totals, command_line, end_of,
};
use crate::run::detect::Detectors;
use crate::run::limits::{Before, StallBudget, Used};
use crate::session::{
    AgentStart, Claim, DrivenAttempt, DrivenQuest, Event, LedgerWatch, QuestRecord, Reason,
    RunLine, RunStep, Session, SessionError, State, Worker,
};

const MAX_NOTE_BYTES: usize = 4096;

/// The maximum length of the reason why an output could not be judged, in characters.
const MAX_WHY: usize = 300;

const MAX_HISTORY: usize = 10;

pub struct RunWorker<'a> {
    pub shared: &'a SharedRunState,
    pub index: usize,
    pub session: Session,
    pub context: JudgeContext,
    pub place: &'a RunDir,
    pub launcher: &'a AgentLauncher,
    pub prompts: &'a dyn PromptBuilder,
    pub judge: &'a dyn Judge,
    pub events: Sender<RunEvent>,
    pub ledger: LedgerWatch,
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
    pub halt: Option<Reason>,
    /// Whether it was ended because the checks passed.
    pub checks_held: bool,
    pub time: Duration,
}

impl<'a> RunWorker<'a> {
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
                let choice = choose(&mut self.session, &worker, lease, &given_up)?;
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
                Choice::Nothing => shared.wait(shared.plan.pace.poll),
                Choice::Held(claim) => {
                    self.note_holder(&claim);
                    shared.wait(shared.plan.pace.poll);
                }
            }
            let used = shared.used();
            if let Some(reason) = shared.plan.limits.run_ended(&used, Before::GoingOn) {
                shared.stop(reason);
            }
        }
        Ok(())
    }

    /// Notes once which holder the run waits for, unless it is one of its own agents.
    fn note_holder(&self, claim: &Claim) {
        let run = start_of(&claim.worker).map(|(run, _)| run);
        if run == Some(self.shared.plan.run)
            || mem::replace(&mut self.shared.counters().waits, true)
        {
            return;
        }
        let holder = run.map_or_else(|| claim.worker.to_string(), |run| format!("run {run}"));
        let text = format!(
            "this run waits, because {holder} holds quest {}",
            claim.quest
        );
        let hint = format!(
            "if that one is gone, `comail release {}` frees the quest before the lease ends",
            claim.quest
        );
        self.advise(text, hint);
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
            fails: record.progress.tries,
            used: Used::default(),
            seen: record.attempts,
            conversation: None,
            totals: Totals::default(),
            provider: None,
            facts: Vec::new(),
            unjudged: None,
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
        self.live(Live::Idle);
        driven.map(drop)
    }

    fn drive_to_its_end(&mut self, quest_run: &mut QuestRun) -> Result<Reason, RunError> {
        let reason = loop {
            self.shared.wait_after_fruitless();
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
                // The end of the quest was recorded together with that of the agent.
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
            // The provider would refuse the last call as well.
            && quest_run.provider.is_none()
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

    /// Claims the quest under the name of the next start. Returns the reason if the claim is lost.
    fn hand_over(&mut self, quest_run: &mut QuestRun) -> Result<Option<Reason>, RunError> {
        let next = self.next_name()?;
        let guard = &mut quest_run.guard;
        guard.hand_over(next, &mut self.session)
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

    fn close(
        &mut self,
        quest_run: &QuestRun,
        reason: Reason,
        handover: Option<Box<str>>,
    ) -> Result<Reason, RunError> {
        let guard = &quest_run.guard;
        let run = self.shared.plan.run;
        let (state, quest) = self.session.append(&mut SystemClock, |session, _| {
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
            Ok::<_, SessionError>((events, (state, quest)))
        })?;
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

    fn advise(&self, text: String, hint: String) {
        self.emit(RunEvent::Note { text });
        self.emit(RunEvent::Hint { text: hint });
    }

    fn live(&self, live: Live) {
        let agent = self.index;
        self.emit(RunEvent::Live { agent, live });
    }

    /// The agent for a quest with so many FAILs.
    fn agent(&self, fails: u32) -> &'a PlannedAgent {
        agent_for(fails, &self.shared.plan.agents)
    }

    /// The agent for the next start, which may be another one than for the last.
    fn next_agent(&self, quest_run: &mut QuestRun) -> Result<&'a PlannedAgent, RunError> {
        let record = self.session.quest_record(quest_run.guard.quest)?;
        let before = self.agent(quest_run.fails);
        quest_run.fails = record.map_or(0, |record| record.progress.tries);
        let agent = self.agent(quest_run.fails);
        if agent.after != before.after {
            quest_run.change_agent(Detectors::new(self.shared.plan.detectors));
        }
        Ok(agent)
    }

    /// Records which of several agents is started.
    fn record_start(&mut self, agent: &PlannedAgent, quest_run: &QuestRun) -> Result<(), RunError> {
        let plan = &self.shared.plan;
        if plan.agents.then.is_empty() {
            return Ok(());
        }
        let start = AgentStart {
            quest: quest_run.guard.quest,
            start: quest_run.used.starts,
            worker: quest_run.guard.worker.clone(),
            agent: agent.command.name(),
            model: agent.model.clone(),
        };
        let (run, step) = (plan.run, RunStep::Start(start.clone()));
        let events = vec![Event::Run(Box::new(RunLine { run, step }))];
        self.session
            .append(&mut SystemClock, |_, _| Ok::<_, SessionError>((events, ())))?;
        let key = quest_run.key.clone();
        self.emit(RunEvent::Start { key, start });
        Ok(())
    }

    /// Starts the agent once; `last` is set for the last call. Also returns the end of its output.
    fn start(
        &mut self,
        quest_run: &mut QuestRun,
        last: Option<Reason>,
    ) -> Result<(AfterStart, String), RunError> {
        let (seen, accepted) = (quest_run.seen, self.session.totals().accepted);
        let agent = self.next_agent(quest_run)?;
        let prompt = self.prompt(agent, quest_run, last)?;
        quest_run.begin();
        self.record_start(agent, quest_run)?;
        let plan = &self.shared.plan;
        let guard = &quest_run.guard;
        // The worktree of the last start is removed together with its admission.
        let earlier = quest_run.activity.worktree();
        let admission = self.judge.admit(guard.quest, &guard.worker, earlier);
        let admission = admission.map_err(RunError::Judge)?;
        quest_run.activity.begin(admission, &self.context);
        {
            let mut counters = self.shared.counters();
            counters.starts = counters.starts.saturating_add(1);
        }
        self.live(Live::Started {
            quest: quest_run.guard.quest,
            key: quest_run.key.clone(),
            start: quest_run.used.starts,
        });
        let watched = self.run_agent(agent, &prompt, quest_run, last)?;
        if let Some(admission) = quest_run.activity.admission() {
            admission.close();
        }
        let end = &watched.end;
        // The answer of an agent that ended by itself is judged even if a budget ended meanwhile: it
        // is already paid for.
        let by_itself = watched.halt.is_none() || end.exit == Some(0);
        if agent.answers != Answers::Submit {
            self.live(Live::Does(String::from("comail judges its answer")));
        }
        let judged = if by_itself || last.is_some() {
            self.judge_printed(agent.answers, &watched, quest_run)?
        } else {
            None
        };
        // Something may have been submitted while the agent ended.
        let late = self.poll_activity(quest_run)?;
        let halt = watched.halt.or(judged).or(late);
        let reason = halt.unwrap_or(match end.provider {
            Some(ProviderError::NotLoggedIn) => Reason::NotLoggedIn,
            Some(ProviderError::Busy) => Reason::RateLimited,
            None if end.denied => Reason::PermissionDenied,
            None => Reason::AgentFailed,
        });
        let (state, reason, paused) = self.record(quest_run, reason, &watched, last.is_some())?;
        let after = if state != State::Todo || reason == Reason::Settled {
            AfterStart::Ended(Reason::Settled)
        } else if paused {
            AfterStart::Ended(Reason::Paused)
        } else {
            match halt {
                // Another start may do better.
                None
                | Some(
                    Reason::Escalated
                    | Reason::AgentFailed
                    | Reason::Stalled
                    | Reason::NotLoggedIn
                    | Reason::NoNetwork,
                ) => AfterStart::Retry,
                Some(reason) => AfterStart::Ended(reason),
            }
        };
        let brought = if quest_run.seen > seen || reason == Reason::Settled {
            Brought::Submission
        } else if self.session.totals().accepted != accepted {
            Brought::Nothing(WhyNothing::Overtaken)
        } else {
            // The reason for a last call is a budget.
            Brought::Nothing(WhyNothing::of(last.or(halt), watched.end.provider))
        };
        if self.shared.ended(brought) {
            let unjudged = quest_run.unjudged.as_deref();
            let (text, hint) = agent.why_fruitless(plan.fruitless.in_a_row, &watched.end, unjudged);
            self.advise(text, hint);
        }
        Ok((after, watched.end.tail))
    }

    fn prompt(
        &self,
        agent: &PlannedAgent,
        quest_run: &QuestRun,
        last: Option<Reason>,
    ) -> Result<String, RunError> {
        let guard = &quest_run.guard;
        let record = self.session.quest_record(guard.quest)?;
        let claim = self.session.claim_on(guard.quest)?;
        let (Some(record), Some(claim)) = (record, claim) else {
            return Err(SessionError::Illegal("the quest is not held").into());
        };
        let remembers = agent.resume && quest_run.conversation.is_some();
        let input = PromptInput {
            record: &record,
            claim: &claim,
            agent,
            history: if remembers { &[] } else { &quest_run.history },
            facts: &quest_run.facts,
            last_call: last,
        };
        let prompt = self.prompts.prompt(&self.session, &input);
        prompt.map_err(RunError::Prompt)
    }

    fn run_agent(
        &mut self,
        planned: &PlannedAgent,
        prompt: &str,
        quest_run: &mut QuestRun,
        last: Option<Reason>,
    ) -> Result<Watched, RunError> {
        let plan = &self.shared.plan;
        let number = start_of(&quest_run.guard.worker).map_or(0, |(_, number)| number);
        let admission = quest_run.activity.admission();
        let file = match admission.filter(|_| planned.command.needs_file()) {
            Some(admission) => Some(write_prompt(admission.dir(), prompt)?),
            None => None,
        };
        let resumed = planned.resume && planned.command.can_resume();
        let given = Given {
            prompt,
            prompt_file: file.as_deref(),
            model: planned.model.as_deref(),
            conversation: quest_run.conversation.as_deref().filter(|_| resumed),
        };
        let line = command_line(&planned.command, &given)?;
        let resumed = given
            .conversation
            .map(|name| (name.to_owned(), quest_run.totals));
        let order = self
            .place
            .order((plan, planned), line, (admission, number), last, resumed);
        match Agent::start(&order, self.launcher) {
            Ok(agent) => {
                let most = last.map(|_| plan.pace.last_call);
                self.watch((agent, planned), prompt.len() as u64, most, quest_run)
            }
            Err(error @ AgentError::NotStarted { .. }) => {
                let text = error.to_string();
                self.emit(RunEvent::Note { text });
                Ok(Watched {
                    end: AgentEnd::default(),
                    halt: None,
                    checks_held: false,
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
        quest_run.provider = watched.end.provider;
        if watched.end.conversation.is_some() {
            quest_run.conversation.clone_from(&watched.end.conversation);
            quest_run.totals = watched.end.totals;
        }
        let (guard, starts) = (&quest_run.guard, quest_run.used.starts);
        let run = self.shared.plan.run;
        let (state, attempt, quest, paused, totals) =
            self.session.append(&mut SystemClock, |session, _| {
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
                let events = steps
                    .map(|step| Event::Run(Box::new(RunLine { run, step })))
                    .collect();
                Ok::<_, SessionError>((
                    events,
                    (state, attempt, quest, session.paused(), session.totals()),
                ))
            })?;
        let judged = quest_run.submitted.last();
        let judged = judged.map(|it| it.judged.clone());
        let reason = attempt.reason;
        quest_run.used = quest_run.with(watched.time, &spent, &self.shared.plan.limits);
        let agent = self.agent(quest_run.fails);
        let by = (!self.shared.plan.agents.then.is_empty()).then(|| agent.title());
        quest_run.history.push(Past {
            start: starts,
            by,
            reason,
            submitted: std::mem::take(&mut quest_run.submitted),
        });
        let over = quest_run.history.len().saturating_sub(MAX_HISTORY);
        quest_run.history.drain(..over);
        self.emit(RunEvent::Attempt {
            key: quest_run.key.clone(),
            last_call,
            judged,
            unjudged: quest_run.unjudged.clone(),
            attempt,
        });
        self.emit(RunEvent::Progress(Box::new(totals)));
        if let Some(quest) = quest {
            let key = quest_run.key.clone();
            self.emit(RunEvent::Quest { key, state, quest });
        }
        Ok((state, reason, paused))
    }

    fn judge_printed(
        &mut self,
        answers: Answers,
        watched: &Watched,
        quest_run: &mut QuestRun,
    ) -> Result<Option<Reason>, RunError> {
        let end = &watched.end;
        match answers {
            Answers::Stdout => self.judge_answer(end, quest_run),
            // A failed exit is no claim that the work is done.
            Answers::World if watched.checks_held || end.exit == Some(0) => {
                let record = self.session.quest_record(quest_run.guard.quest)?;
                if record.is_none_or(|record| record.progress.state != State::Todo) {
                    return Ok(None);
                }
                self.judge(&Submission::Fields(Fields::new()), quest_run)
            }
            Answers::Submit | Answers::World => Ok(None),
        }
    }
}

/// The quest's state and the reason, which is always `Settled` for a settled quest.
fn state_and_reason(
    session: &Session,
    quest_run: &QuestRun,
    otherwise: Reason,
) -> Result<(State, Reason), SessionError> {
    let record = session.quest_record(quest_run.guard.quest)?;
    let state = record.map_or(State::Todo, |record| record.progress.state);
    let settled = state != State::Todo;
    Ok((state, if settled { Reason::Settled } else { otherwise }))
}

/// The note of a last call for the next agent on the quest.
fn note(tail: &str) -> Option<Box<str>> {
    let note = end_of(tail.trim(), MAX_NOTE_BYTES).trim_start();
    (!note.is_empty()).then(|| note.into())
}

/// Notes why what the last agent left could not be judged, also for the next prompt.
fn unjudged(what: &str, why: &str, quest_run: &mut QuestRun) {
    let fact = format!("the {what} of the last agent could not be judged: {why}");
    quest_run.facts.push(fact);
    quest_run.unjudged = Some(truncate(why, MAX_WHY).into_owned());
}

impl RunWorker<'_> {
    /// Judges the answer that an agent printed. Output that is not a submission uses no try; the
    /// next prompt says what was wrong.
    pub(super) fn judge_answer(
        &mut self,
        end: &AgentEnd,
        quest_run: &mut QuestRun,
    ) -> Result<Option<Reason>, RunError> {
        let kind = judge::kind_of(self.session.manifest())?;
        let submission = match (&end.answer, &end.bad_answer) {
            (Some(answer), _) => submission(&kind, answer.clone()),
            (None, Some(why)) => Err(why.clone()),
            (None, None) => Err("it printed no JSON object".to_owned()),
        };
        match submission {
            Ok(submission) => self.judge(&submission, quest_run),
            Err(why) => {
                unjudged("output", &why, quest_run);
                Ok(None)
            }
        }
    }

    fn judge(
        &mut self,
        submission: &Submission,
        quest_run: &mut QuestRun,
    ) -> Result<Option<Reason>, RunError> {
        let worker = quest_run.guard.worker.clone();
        let answer = judge::Answer {
            quest: quest_run.guard.quest,
            worker: Some(&worker),
            key: judge::CallKey::None,
            submission,
            files: match quest_run.activity.worktree() {
                Some(worktree) => AnswerFiles::Worktree(worktree),
                None => AnswerFiles::WorkingTree,
            },
        };
        let submitted = self
            .context
            .submit(&mut self.session, answer, &mut SystemClock);
        let refusal = match submitted {
            Ok(SubmitResult { judged, .. }) => {
                quest_run.seen = judged.attempt;
                let rules = judged.judgement.facts.iter();
                let answer = JudgedAnswer {
                    verdict: judged.judgement.verdict,
                    rules: rules.map(|fact| fact.rule.as_str().to_owned()).collect(),
                };
                let submitted = Submitted::new(submission, answer);
                let alarm = quest_run.submits((submission.digest(), submitted));
                let settled = judged.state != State::Todo;
                self.shared.has_network();
                return Ok(alarm.filter(|_| !settled));
            }
            Err(JudgeError::Refused(refusal)) => refusal,
            Err(
                error @ (JudgeError::NoNetwork(_)
                | JudgeError::NotAsked(_)
                | JudgeError::NoBrowser(_)),
            ) => {
                let fact = format!("the answer of the last agent could not be judged: {error}");
                quest_run.facts.push(fact);
                self.lacks_network(&error.to_string());
                return Ok(Some(Reason::NoNetwork));
            }
            // The files of the answer are to blame, and the next start gets a new worktree.
            Err(
                error
                @ (JudgeError::Worktree(_) | JudgeError::Conflicts(_) | JudgeError::TreeMoved),
            ) => {
                unjudged("answer", &error.to_string(), quest_run);
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        };
        Ok(Some(match refusal {
            Refusal::Paused { .. } => Reason::Paused,
            Refusal::Locked { .. } => Reason::Settled,
            Refusal::Waits { .. } | Refusal::Claimed { .. } | Refusal::Overtaken => {
                Reason::AgentFailed
            }
        }))
    }

    /// Counts a submission that could not be judged for lack of a network. Returns the reason if this
    /// ends the run.
    fn lacks_network(&self, why: &str) -> Option<Reason> {
        if !self.shared.lacks_network() {
            return None;
        }
        self.shared.stop(Reason::NoNetwork);
        let (text, hint) = match self.context.world.check_network() {
            Ok(()) => (
                format!("answers could not be judged three times in a row: {why}"),
                "resolve this, and start the run again",
            ),
            Err(why) => (
                format!("comail had no network three times in a row: {why}"),
                "check the network, for example with `comail doctor`",
            ),
        };
        self.advise(text, hint.to_owned());
        Some(Reason::NoNetwork)
    }

    // Takes the lock, because a line reaches the ledger before the index shows it.
    fn read_on(&mut self) -> Result<(), RunError> {
        let nothing = |_: &Session, _| Ok((Vec::new(), ()));
        self.session.append(&mut SystemClock, nothing)
    }

    fn judged(&mut self, quest_run: &mut QuestRun) -> Result<Vec<Judged>, RunError> {
        let (quest, mut seen) = (quest_run.guard.quest, quest_run.seen);
        let mut found = Vec::new();
        let read = quest_run.activity.log.read_on(&mut |entry| {
            if let Event::Attempt(attempt) = &entry.event
                && attempt.quest == quest
                && attempt.number > seen
            {
                seen = attempt.number;
                found.push((attempt.submitted, Submitted::of(attempt)));
            }
        });
        if read.is_err() {
            // Lines were redacted, so the lines after them have moved.
            quest_run.activity.log = self.session.ledger();
            if let Some(quest_record) = self.session.quest_record(quest)?
                && quest_record.attempts > seen
                && let Some(last) = self.session.reader()?.last_attempt(&quest_record)?
            {
                seen = quest_record.attempts;
                found.push((last.value.submitted, Submitted::of(&last.value)));
            }
        }
        quest_run.seen = seen;
        Ok(found)
    }
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
