//! Watching one agent until it ends or has to be stopped.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::claim::Lost;
use super::plan::{Answers, RunError};
use super::quest_run::{Judged, QuestRun, Submitted};
use super::worker::{RunWorker, Watched};
use crate::judge::Probe;
use crate::run::agent::{Agent, AgentEvent, ProcessVitals};
use crate::run::detect::{Call, Health, LivenessMonitor, Observed, VitalSigns};
use crate::run::limits::most_important;
use crate::session::{Event, Reason, Session, SessionError, Spent, State};

const LOOK: Duration = Duration::from_secs(1);

// An agent may submit within the first milliseconds and then linger.
const SHORTEST: Duration = Duration::from_millis(10);

struct Watch {
    begun: Instant,
    most: Option<Duration>,
    pulse: LivenessMonitor,
    looked: Instant,
    renewed: Instant,
    alive: bool,
    last: ProcessVitals,
    spent: Spent,
    read: u64,
    probe: Option<Probe>,
}

impl RunWorker<'_> {
    pub(super) fn watch(
        &mut self,
        mut agent: Agent,
        read: u64,
        most: Option<Duration>,
        quest_run: &mut QuestRun,
    ) -> Result<Watched, RunError> {
        let plan = &self.shared.plan;
        let mut watch = Watch::new(read, most, quest_run);
        if plan.answers == Answers::World {
            watch.probe = Probe::start(&self.session, quest_run.guard.quest, plan.pace.poll)?;
        }
        let mut pause = SHORTEST.min(plan.pace.poll);
        loop {
            agent.wait(pause);
            if let Some(end) = agent.ended() {
                for event in agent.events() {
                    watch.take(event, quest_run, self);
                }
                let time = watch.begun.elapsed();
                return Ok(Watched {
                    end,
                    halt: None,
                    time,
                });
            }
            if let Some(halt) = self.look(&mut agent, &mut watch, quest_run)? {
                let end = agent.stop(plan.pace.grace);
                let time = watch.begun.elapsed();
                return Ok(Watched {
                    end,
                    halt: Some(halt),
                    time,
                });
            }
            pause = (pause * 3 / 2).min(plan.pace.poll);
        }
    }

    fn look(
        &mut self,
        agent: &mut Agent,
        watch: &mut Watch,
        quest_run: &mut QuestRun,
    ) -> Result<Option<Reason>, RunError> {
        let mut reasons = Vec::new();
        for event in agent.events() {
            reasons.extend(watch.take(event, quest_run, self));
        }
        if let Some(probe) = &watch.probe
            && probe.holds()?
        {
            reasons.extend(self.judge_world(quest_run)?);
        }
        reasons.extend(self.poll_activity(quest_run)?);
        if watch.looked.elapsed() >= LOOK {
            reasons.extend(self.feel(agent, watch, quest_run)?);
        }
        reasons.extend(self.budgets(watch, quest_run));
        Ok(most_important(reasons))
    }

    fn feel(
        &mut self,
        agent: &mut Agent,
        watch: &mut Watch,
        quest_run: &mut QuestRun,
    ) -> Result<Option<Reason>, RunError> {
        let health = watch.feel(agent.vitals());
        let bill = self.shared.plan.limits.bill(&watch.spent);
        self.shared.is_using(self.index, bill);
        if health == Health::Stalled {
            return Ok(Some(Reason::AgentFailed));
        }
        let lease = Duration::from_secs(u64::from(quest_run.guard.lease.seconds()));
        if !watch.alive || watch.renewed.elapsed() * 2 <= lease {
            return Ok(None);
        }
        (watch.alive, watch.renewed) = (false, Instant::now());
        let renewed = quest_run
            .guard
            .renew(&mut self.session, &mut (self.now, self.salts))?;
        Ok(renewed.err().map(Lost::reason))
    }

    fn budgets(&self, watch: &Watch, quest_run: &QuestRun) -> Option<Reason> {
        let time = watch.begun.elapsed();
        let limits = &self.shared.plan.limits;
        if let Some(most) = watch.most {
            let hard = self
                .shared
                .stopping()
                .filter(|it| *it == Reason::Interrupted);
            let late = (time >= most).then_some(Reason::QuestTimeout);
            let spent = limits.last_call_under_way(&limits.bill(&watch.spent));
            let over = [hard, late, spent, limits.run_is_spent(&self.shared.used())];
            return most_important(over.into_iter().flatten());
        }
        let used = quest_run.with(time, &watch.spent, limits);
        let soft = limits.diminishing;
        let reasons = [
            self.shared.stopping(),
            limits.quest_under_way(&used),
            limits.run_under_way(&self.shared.used()),
            soft.of(used.bill.tokens, limits.quest.tokens, quest_run.stall),
        ];
        most_important(reasons.into_iter().flatten())
    }
}

impl Watch {
    fn new(read: u64, most: Option<Duration>, quest_run: &QuestRun) -> Self {
        let begun = Instant::now();
        // What it used until it is looked at first is a sign of life like any other.
        let last = ProcessVitals::default();
        let lease = Duration::from_secs(u64::from(quest_run.guard.lease.seconds()));
        Self {
            begun,
            most,
            pulse: LivenessMonitor::new(signs(Duration::ZERO, last), LOOK, lease),
            looked: begun,
            renewed: begun,
            alive: true,
            last,
            spent: Spent::default(),
            read,
            probe: None,
        }
    }

    fn feel(&mut self, vitals: ProcessVitals) -> Health {
        self.alive |= vitals != self.last;
        self.last = vitals;
        self.looked = Instant::now();
        if !self.spent.told {
            // What it reads and writes besides is not seen.
            let guess = (self.read + vitals.written) / 4;
            if self.spent.cost.is_none() || guess > self.spent.tokens.saturating_add(1_000) {
                self.spent.tokens = self.spent.tokens.max(guess);
                self.spent.cost = None;
            }
        }
        self.pulse.see(signs(self.begun.elapsed(), vitals))
    }

    fn take(
        &mut self,
        event: AgentEvent,
        quest_run: &mut QuestRun,
        worker: &RunWorker<'_>,
    ) -> Option<Reason> {
        let limits = &worker.shared.plan.limits;
        match event {
            AgentEvent::ToolCall(call) => {
                return quest_run.observe(Observed::Call(call.call?));
            }
            AgentEvent::Turn { new_tokens } => {
                quest_run.stall.turn(new_tokens, &limits.diminishing);
            }
            AgentEvent::Spent(spent) => {
                self.spent = spent;
                worker.shared.is_using(worker.index, limits.bill(&spent));
            }
            AgentEvent::Conversation(name) => quest_run.conversation = Some(name),
            AgentEvent::Denied(_) => {}
        }
        None
    }
}

fn signs(at: Duration, vitals: ProcessVitals) -> VitalSigns {
    VitalSigns {
        at,
        cpu: vitals.cpu,
        logged: vitals.written,
    }
}

impl RunWorker<'_> {
    pub(super) fn poll_activity(
        &mut self,
        quest_run: &mut QuestRun,
    ) -> Result<Option<Reason>, RunError> {
        // A call notes itself once it is over: what it came to is in the ledger before that.
        let noted = quest_run.activity.noted();
        let (mut judged, mut settled) = (VecDeque::new(), false);
        if self.tide.has_changed() {
            // What this worker has added itself, it has read.
            if !self.tide.is_at(self.session.ledger_bytes()) {
                self.read_on()?;
            }
            judged = self.judged(quest_run)?.into();
            let standing = self.session.standing(quest_run.guard.quest)?;
            settled = standing.is_some_and(|it| it.progress.state != State::Todo);
        }
        if noted.is_empty() && judged.is_empty() {
            return Ok(settled.then_some(Reason::Settled));
        }
        let mut reasons = Vec::new();
        if quest_run.activity.tree.has_changed(&self.chamber) {
            reasons.extend(quest_run.observe(Observed::Progress));
        }
        for noted in noted {
            if noted.judged
                && let Some(judged) = judged.pop_front()
            {
                reasons.extend(quest_run.submits(judged));
            }
            reasons.extend(quest_run.observe(Observed::Call(Call::noted(noted.self_call))));
        }
        for judged in judged {
            reasons.extend(quest_run.submits(judged));
        }
        Ok(if settled {
            Some(Reason::Settled)
        } else {
            most_important(reasons)
        })
    }

    // Takes the lock, because a line reaches the ledger before the index shows it.
    fn read_on(&mut self) -> Result<(), RunError> {
        let nothing = |_: &Session, _| Ok::<_, SessionError>(Vec::new());
        self.session
            .append_at(&mut (self.now, self.salts), nothing)?;
        Ok(())
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
            // Lines were redacted, so the ones behind them have moved.
            quest_run.activity.log = self.session.log_on();
            if let Some(standing) = self.session.standing(quest)?
                && standing.attempts > seen
                && let Some(last) = self.session.last_attempt(&standing)?
            {
                seen = standing.attempts;
                found.push((last.value.submitted, Submitted::of(&last.value)));
            }
        }
        quest_run.seen = seen;
        Ok(found)
    }
}
