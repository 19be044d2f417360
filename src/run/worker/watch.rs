//! Watches one start of an agent: its events, its signs of life, its budgets and the ledger.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::{RunWorker, Watched};
use crate::judge::Poll;
use crate::run::agent::{Agent, AgentEnd, AgentEvent, BYTES_OF_A_TOKEN, Stream};
use crate::run::agents::{Answers, PlannedAgent};
use crate::run::detect::{LivenessMonitor, Observed, SelfCall, VitalSigns};
use crate::run::limits::Before;
use crate::run::plan::{Live, RunError};
use crate::run::quest_run::QuestRun;
use crate::session::{Progress, Reason, Spent, State};

const VITALS_INTERVAL: Duration = Duration::from_secs(1);

// An agent may submit within the first milliseconds and then linger.
const FIRST_PAUSE: Duration = Duration::from_millis(10);

/// Why a start of an agent is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Halt {
    For(Reason),
    /// The checks pass while it works. The tree is judged only after the agent has ended, because the
    /// agent could still change it.
    ChecksHold,
}

struct Watch {
    begun: Instant,
    most: Option<Duration>,
    liveness: LivenessMonitor,
    looked: Instant,
    renewed: Instant,
    /// Whether it showed a sign of life since the last renewal of its claim.
    alive: bool,
    last: VitalSigns,
    spent: Spent,
    read: u64,
    poll: Option<Poll>,
    reports_usage: bool,
}

impl RunWorker<'_> {
    pub(super) fn watch(
        &mut self,
        (mut agent, planned): (Agent, &PlannedAgent),
        read: u64,
        most: Option<Duration>,
        quest_run: &mut QuestRun,
    ) -> Result<Watched, RunError> {
        let plan = &self.shared.plan;
        let begun = Instant::now();
        let in_tree = quest_run.activity.worktree().is_none();
        let poll = if planned.answers == Answers::World && in_tree {
            Poll::start(&self.session, quest_run.guard.quest, plan.pace.poll)?
        } else {
            None
        };
        let lease = Duration::from_secs(u64::from(quest_run.guard.lease.seconds()));
        let mut watch = Watch {
            begun,
            most,
            liveness: LivenessMonitor::new(VITALS_INTERVAL, lease),
            looked: begun,
            renewed: begun,
            alive: true,
            last: VitalSigns::default(),
            spent: Spent::default(),
            read,
            poll,
            reports_usage: planned.command.stream() == Stream::Events,
        };
        let mut pause = FIRST_PAUSE.min(plan.pace.poll);
        let (end, halt) = loop {
            agent.wait(pause);
            if let Some(end) = agent.ended() {
                for event in agent.events() {
                    self.take(event, &mut watch, quest_run);
                }
                break (end, None);
            }
            if let Some(halt) = self.look(&mut agent, &mut watch, quest_run)? {
                let is_done = matches!(halt, Halt::For(Reason::Settled) | Halt::ChecksHold);
                let closed = if is_done {
                    self.await_usage(&mut agent, &mut watch, quest_run)
                } else {
                    None
                };
                let end = closed.unwrap_or_else(|| agent.stop(plan.pace.grace));
                break (end, Some(halt));
            }
            pause = (pause * 3 / 2).min(plan.pace.poll);
        };
        let time = watch.begun.elapsed();
        let checks_held = halt == Some(Halt::ChecksHold);
        let halt = match halt {
            Some(Halt::For(reason)) => Some(reason),
            Some(Halt::ChecksHold) | None => None,
        };
        Ok(Watched {
            end,
            halt,
            checks_held,
            time,
        })
    }

    /// Waits for an agent that reports its usage at the end, unless it calls another tool.
    fn await_usage(
        &self,
        agent: &mut Agent,
        watch: &mut Watch,
        quest_run: &mut QuestRun,
    ) -> Option<AgentEnd> {
        let plan = &self.shared.plan;
        let until = Instant::now() + plan.pace.grace;
        while watch.reports_usage
            && !watch.spent.told
            && self.budgets(watch, quest_run).is_none()
            && Instant::now() < until
        {
            agent.wait(plan.pace.poll);
            if let Some(end) = agent.ended() {
                return Some(end);
            }
            for event in agent.events() {
                if matches!(event, AgentEvent::ToolCall(_)) {
                    return None;
                }
                self.take(event, watch, quest_run);
            }
        }
        None
    }

    fn look(
        &mut self,
        agent: &mut Agent,
        watch: &mut Watch,
        quest_run: &mut QuestRun,
    ) -> Result<Option<Halt>, RunError> {
        let mut reasons = Vec::new();
        for event in agent.events() {
            reasons.extend(self.take(event, watch, quest_run));
        }
        if let Some(doing) = agent.doing() {
            self.live(Live::Does(doing));
        }
        if watch.poll.as_ref().is_some_and(Poll::holds) {
            return Ok(Some(Halt::ChecksHold));
        }
        reasons.extend(self.poll_activity(quest_run)?);
        if watch.looked.elapsed() >= VITALS_INTERVAL {
            reasons.extend(self.check_vitals(agent.vitals(), watch, quest_run)?);
        }
        reasons.extend(self.budgets(watch, quest_run));
        Ok(reasons.into_iter().min().map(Halt::For))
    }

    fn take(
        &self,
        event: AgentEvent,
        watch: &mut Watch,
        quest_run: &mut QuestRun,
    ) -> Option<Reason> {
        let limits = &self.shared.plan.limits;
        match event {
            AgentEvent::ToolCall(call) => return quest_run.observe(Observed::Tool(call)),
            AgentEvent::Turn { new_tokens } => {
                quest_run.stall.turn(new_tokens, &limits.diminishing);
            }
            AgentEvent::Spent(spent) => {
                watch.spent = spent;
                self.shared.is_using(self.index, limits.bill(&spent));
                self.live(Live::Used(spent));
            }
            AgentEvent::Estimate(tokens) => {
                let spent = &mut watch.spent;
                spent.tokens = spent.tokens.max(tokens);
                self.shared.is_using(self.index, limits.bill(spent));
            }
            AgentEvent::Conversation(name) => quest_run.conversation = Some(name),
            AgentEvent::NotLoggedIn => return Some(Reason::NotLoggedIn),
        }
        None
    }

    /// Estimates what was spent, and renews the claim while the agent is alive.
    fn check_vitals(
        &mut self,
        vitals: VitalSigns,
        watch: &mut Watch,
        quest_run: &mut QuestRun,
    ) -> Result<Option<Reason>, RunError> {
        watch.alive |= vitals != watch.last;
        watch.last = vitals;
        watch.looked = Instant::now();
        let spent = &mut watch.spent;
        if !spent.told {
            // The estimate does not include what the agent reads and writes elsewhere.
            let guess = (watch.read + vitals.printed) / BYTES_OF_A_TOKEN;
            if spent.cost.is_none() || guess > spent.tokens.saturating_add(1_000) {
                spent.tokens = spent.tokens.max(guess);
                spent.cost = None;
            }
        }
        let bill = self.shared.plan.limits.bill(spent);
        self.shared.is_using(self.index, bill);
        self.live(Live::Used(*spent));
        if watch.liveness.is_stalled(watch.begun.elapsed(), vitals) {
            return Ok(Some(Reason::Stalled));
        }
        let lease = Duration::from_secs(u64::from(quest_run.guard.lease.seconds()));
        if !watch.alive || watch.renewed.elapsed() * 2 <= lease {
            return Ok(None);
        }
        (watch.alive, watch.renewed) = (false, Instant::now());
        quest_run.guard.renew(&mut self.session)
    }

    fn budgets(&self, watch: &Watch, quest_run: &QuestRun) -> Option<Reason> {
        let time = watch.begun.elapsed();
        let limits = &self.shared.plan.limits;
        let (stopping, used) = (self.shared.stopping(), self.shared.used());
        let reasons = if let Some(most) = watch.most {
            [
                stopping.filter(|reason| *reason == Reason::Interrupted),
                (time >= most).then_some(Reason::QuestTimeout),
                limits.last_call_ended(limits.bill(&watch.spent)),
                limits.run_ended(&used, Before::Spending),
            ]
        } else {
            let of_quest = quest_run.with(time, &watch.spent, limits);
            [
                stopping,
                limits.quest_ended(&of_quest, Before::GoingOn),
                limits.run_ended(&used, Before::GoingOn),
                limits.diminishing(of_quest.bill.tokens, quest_run.stall),
            ]
        };
        reasons.into_iter().flatten().min()
    }

    /// Why the progress of the quest ends this start, if it does.
    fn ends(&self, progress: Progress, quest_run: &QuestRun) -> Option<Reason> {
        if progress.state != State::Todo {
            return Some(Reason::Settled);
        }
        let (now, next) = (self.agent(quest_run.fails), self.agent(progress.tries));
        (now.after != next.after).then_some(Reason::Escalated)
    }

    /// Reads the calls and changes of the agent outside its own output, and observes them in order.
    pub(super) fn poll_activity(
        &mut self,
        quest_run: &mut QuestRun,
    ) -> Result<Option<Reason>, RunError> {
        // A call is noted after its end, so its result is in the ledger by then.
        let noted = quest_run.activity.noted();
        let (mut judged, mut ends) = (VecDeque::new(), None);
        if self.ledger.has_changed() {
            // This worker has already read the lines that it added itself.
            if !self.ledger.is_at(self.session.ledger_bytes()) {
                self.read_on()?;
            }
            judged = self.judged(quest_run)?.into();
            let quest_record = self.session.quest_record(quest_run.guard.quest)?;
            let progress = quest_record.map(|record| record.progress);
            ends = progress.and_then(|progress| self.ends(progress, quest_run));
        }
        if noted.is_empty() && judged.is_empty() {
            return Ok(ends);
        }
        let mut reasons = Vec::new();
        if quest_run.activity.tree_has_changed(&self.context) {
            reasons.extend(quest_run.observe(Observed::Progress));
        }
        for call in noted {
            reasons.extend(match call {
                SelfCall::Next | SelfCall::Status => quest_run.observe(Observed::Poll),
                SelfCall::Refused(digest) => quest_run.observe(Observed::Refused(digest)),
                // The judgement is in the ledger; the note only gives its place in the order.
                SelfCall::Judged => {
                    self.shared.has_network();
                    judged
                        .pop_front()
                        .and_then(|judged| quest_run.submits(judged))
                }
                SelfCall::Unjudged(why) => self.lacks_network(&why),
            });
        }
        for judged in judged {
            reasons.extend(quest_run.submits(judged));
        }
        Ok(reasons.into_iter().chain(ends).min())
    }
}
