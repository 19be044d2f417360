//! Watching one agent until it ends, or is to be ended.

use std::time::{Duration, Instant};

use super::course::Course;
use super::error::RunError;
use super::hold::Lost;
use super::plan::Answers;
use super::worker::RunWorker;
use crate::judge::Probe;
use crate::run::agent::{Agent, AgentEnd, AgentEvent, CpuTime, ToolCall, Vital};
use crate::run::detect::{Call, Health, Observed, Pulse, Vitals};
use crate::run::limits::foremost;
use crate::session::{Reason, Spent};

const LOOK: Duration = Duration::from_secs(1);

// An agent may submit within the first milliseconds and then linger.
const SHORTEST: Duration = Duration::from_millis(10);

#[derive(Debug)]
pub struct Watched {
    pub end: AgentEnd,
    pub halt: Option<Reason>,
    pub time: Duration,
}

struct Watch {
    begun: Instant,
    most: Option<Duration>,
    pulse: Pulse,
    looked: Instant,
    renewed: Instant,
    alive: bool,
    last: Vital,
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
        course: &mut Course,
    ) -> Result<Watched, RunError> {
        let plan = &self.floor.plan;
        let mut watch = Watch::new(read, most, course);
        if plan.answers == Answers::World {
            watch.probe = Probe::start(&self.session, course.hold.quest, plan.pace.poll)?;
        }
        let mut pause = SHORTEST.min(plan.pace.poll);
        loop {
            agent.wait(pause);
            if let Some(end) = agent.ended() {
                for event in agent.events() {
                    watch.take(event, course, self);
                }
                let time = watch.begun.elapsed();
                return Ok(Watched {
                    end,
                    halt: None,
                    time,
                });
            }
            if let Some(halt) = self.look(&mut agent, &mut watch, course)? {
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
        course: &mut Course,
    ) -> Result<Option<Reason>, RunError> {
        let mut reasons = Vec::new();
        for event in agent.events() {
            reasons.extend(watch.take(event, course, self));
        }
        if let Some(probe) = &watch.probe
            && probe.holds()?
        {
            reasons.extend(self.judge_world(course)?);
        }
        reasons.extend(self.tidings(course)?);
        if watch.looked.elapsed() >= LOOK {
            reasons.extend(self.feel(agent, watch, course)?);
        }
        reasons.extend(self.budgets(watch, course));
        Ok(foremost(reasons))
    }

    fn feel(
        &mut self,
        agent: &mut Agent,
        watch: &mut Watch,
        course: &mut Course,
    ) -> Result<Option<Reason>, RunError> {
        let health = watch.feel(agent.vital());
        let bill = self.floor.plan.limits.bill(&watch.spent);
        self.floor.is_using(self.index, bill);
        if health == Health::Stalled {
            return Ok(Some(Reason::AgentFailed));
        }
        let lease = Duration::from_secs(u64::from(course.hold.lease.seconds()));
        if !watch.alive || watch.renewed.elapsed() * 2 <= lease {
            return Ok(None);
        }
        (watch.alive, watch.renewed) = (false, Instant::now());
        let renewed = course
            .hold
            .renew(&mut self.session, &mut self.now, &mut self.salts)?;
        Ok(renewed.err().map(of_loss))
    }

    fn budgets(&self, watch: &Watch, course: &Course) -> Option<Reason> {
        let time = watch.begun.elapsed();
        let limits = &self.floor.plan.limits;
        if let Some(most) = watch.most {
            let hard = self
                .floor
                .stopping()
                .filter(|it| *it == Reason::Interrupted);
            let late = (time >= most).then_some(Reason::QuestTimeout);
            let spent = limits.last_call_under_way(&limits.bill(&watch.spent));
            let over = [hard, late, spent, limits.run_is_spent(&self.floor.used())];
            return foremost(over.into_iter().flatten());
        }
        let used = course.with(time, &watch.spent, limits);
        let soft = limits.diminishing;
        let reasons = [
            self.floor.stopping(),
            limits.quest_under_way(&used),
            limits.run_under_way(&self.floor.used()),
            soft.of(used.bill.tokens, limits.quest.tokens, course.trickle),
        ];
        foremost(reasons.into_iter().flatten())
    }
}

pub(super) fn of_loss(lost: Lost) -> Reason {
    match lost {
        Lost::Settled => Reason::Settled,
        Lost::Paused => Reason::Paused,
        Lost::Taken => Reason::AgentFailed,
    }
}

impl Watch {
    fn new(read: u64, most: Option<Duration>, course: &Course) -> Self {
        let begun = Instant::now();
        // What it used until it is looked at first is a sign of life like any other.
        let last = Vital {
            cpu: CpuTime::Used(Duration::ZERO),
            written: 0,
        };
        let lease = Duration::from_secs(u64::from(course.hold.lease.seconds()));
        Self {
            begun,
            most,
            pulse: Pulse::new(vitals(Duration::ZERO, last), LOOK, lease),
            looked: begun,
            renewed: begun,
            alive: true,
            last,
            spent: Spent::default(),
            read,
            probe: None,
        }
    }

    fn feel(&mut self, vital: Vital) -> Health {
        self.alive |= vital != self.last;
        self.last = vital;
        self.looked = Instant::now();
        if !self.spent.told {
            // What it reads and writes besides is not seen.
            let guess = (self.read + vital.written) / 4;
            if self.spent.cost.is_none() || guess > self.spent.tokens.saturating_add(1_000) {
                self.spent.tokens = self.spent.tokens.max(guess);
                self.spent.cost = None;
            }
        }
        self.pulse.see(vitals(self.begun.elapsed(), vital))
    }

    fn take(
        &mut self,
        event: AgentEvent,
        course: &mut Course,
        worker: &RunWorker<'_>,
    ) -> Option<Reason> {
        let limits = &worker.floor.plan.limits;
        match event {
            AgentEvent::ToolCall(call) => {
                if call.own.is_none() || course.deeds.heeds_events() {
                    return course.observe(Observed::Call(seen(&call)));
                }
            }
            AgentEvent::Turn { new_tokens } => course.trickle.turn(new_tokens, &limits.diminishing),
            AgentEvent::Spent(spent) => {
                self.spent = spent;
                worker.floor.is_using(worker.index, limits.bill(&spent));
            }
            AgentEvent::Conversation(name) => course.conversation = Some(name),
            AgentEvent::Denied(_) => {}
        }
        None
    }
}

fn vitals(at: Duration, vital: Vital) -> Vitals {
    let cpu = match vital.cpu {
        CpuTime::Used(cpu) => cpu,
        CpuTime::Unknown => Duration::ZERO,
    };
    Vitals {
        at,
        cpu,
        logged: vital.written,
    }
}

fn seen(call: &ToolCall) -> Call {
    Call::digested(&call.tool, call.arguments, call.own)
}
