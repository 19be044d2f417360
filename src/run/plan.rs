//! What a run is to do, what it reports, and what can go wrong.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::Serialize;

use crate::judge::JudgeError;
use crate::quest::{Key, QuestId};
use crate::run::agent::{AgentCommand, AgentError, BadCommandLine};
use crate::run::detect;
use crate::run::limits::{Bill, Limits, Used};
use crate::session::{
    BadWorker, Began, DrivenAttempt, DrivenQuest, Lease, Reason, RunId, SessionError, Spent, State,
};

/// How an agent answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Answers {
    /// The agent calls `comail submit`
    Submit,
    /// The last JSON object that the agent prints is its submission
    Stdout,
    /// The agent's work is judged, for kinds without fields to submit; an agent that ends by itself
    /// is judged too, which may use a try
    World,
}

#[derive(Debug)]
pub struct Plan {
    pub run: RunId,
    pub command: AgentCommand,
    pub model: Option<String>,
    pub answers: Answers,
    pub resume: bool,
    pub workers: u32,
    pub limits: Limits,
    pub detectors: detect::Settings,
    pub pace: Pace,
    pub crash_backoff: CrashBackoffRules,
    pub lease: Option<Lease>,
    pub dir: PathBuf,
    pub max_log_bytes: u64,
}

#[derive(Debug, Clone, Copy)]
pub struct Pace {
    pub poll: Duration,
    pub grace: Duration,
    pub last_call: Duration,
}

#[derive(Debug, Clone, Copy)]
pub struct CrashBackoffRules {
    pub first: Duration,
    pub longest: Duration,
    pub in_a_row: u32,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            poll: Duration::from_millis(100),
            grace: Duration::from_secs(5),
            last_call: Duration::from_secs(60),
        }
    }
}

impl Default for CrashBackoffRules {
    fn default() -> Self {
        Self {
            first: Duration::from_secs(1),
            longest: Duration::from_secs(60),
            in_a_row: 5,
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Drive(#[from] JudgeError),
    #[error(transparent)]
    Agent(#[from] AgentError),
    #[error(transparent)]
    CommandLine(#[from] BadCommandLine),
    #[error("cannot write a prompt for the agent")]
    Prompt(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("cannot {what} {}", path.display())]
    Io {
        what: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("cannot name another start of the agent")]
    Worker(#[from] BadWorker),
    #[error("a worker thread of comail ended early")]
    Deserted,
}

impl From<SessionError> for RunError {
    fn from(error: SessionError) -> Self {
        Self::Drive(error.into())
    }
}

impl RunError {
    pub fn io(what: &'static str, path: &std::path::Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { what, path, source }
    }
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum RunEvent {
    Began {
        run: RunId,
        #[serde(flatten)]
        began: Began,
    },
    Attempt {
        key: Key,
        /// Whether it was the last call after a budget had ended.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        last_call: bool,
        #[serde(flatten)]
        attempt: DrivenAttempt,
    },
    Quest {
        key: Key,
        state: State,
        #[serde(flatten)]
        quest: DrivenQuest,
    },
    Ended {
        run: RunId,
        reason: Reason,
    },
    /// A note for people, on standard error.
    #[schemars(skip)]
    Note {
        text: String,
    },
}

#[derive(Debug)]
pub struct SharedRunState {
    pub plan: Plan,
    began: Instant,
    counters: Mutex<Counters>,
    changed: Condvar,
    turn: Mutex<()>,
}

#[derive(Debug, Default)]
pub struct Counters {
    /// The names given to starts so far.
    pub names: u32,
    pub starts: u32,
    pub quests: u32,
    pub driving: u32,
    pub given_up: BTreeSet<QuestId>,
    /// Why quests were given up, or no other was begun.
    pub reasons: BTreeSet<Reason>,
    pub stop: Option<Reason>,
    bill: Bill,
    running: Vec<Bill>,
    crash_backoff: CrashBackoff,
}

impl SharedRunState {
    pub fn new(plan: Plan) -> Self {
        let counters = Counters {
            running: vec![Bill::default(); plan.workers as usize],
            ..Counters::default()
        };
        Self {
            plan,
            began: Instant::now(),
            counters: Mutex::new(counters),
            changed: Condvar::new(),
            turn: Mutex::new(()),
        }
    }

    /// Lets one worker at a time choose a quest, because the number of quests is checked first.
    pub fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn counters(&self) -> MutexGuard<'_, Counters> {
        self.counters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn release(&self, quest: QuestId, reason: Reason) {
        let mut counters = self.counters();
        counters.driving = counters.driving.saturating_sub(1);
        if reason != Reason::Settled {
            counters.given_up.insert(quest);
            counters.reasons.insert(reason);
        }
        self.changed.notify_all();
    }

    /// Sets what the start that a worker watches has used so far.
    pub fn is_using(&self, worker: usize, bill: Bill) {
        self.counters().running[worker] = bill;
    }

    pub fn has_used(&self, worker: usize, spent: &Spent) {
        let mut counters = self.counters();
        counters.bill = counters.bill.and(self.plan.limits.bill(spent));
        counters.running[worker] = Bill::default();
    }

    pub fn used(&self) -> Used {
        let counters = self.counters();
        let running = counters.running.iter();
        Used {
            starts: counters.starts,
            quests: counters.quests,
            bill: running.fold(counters.bill, |sum, bill| sum.and(*bill)),
            time: self.began.elapsed(),
        }
    }

    pub fn stop(&self, reason: Reason) {
        let mut counters = self.counters();
        counters.stop = counters.stop.into_iter().chain([reason]).min();
        self.changed.notify_all();
    }

    pub fn stopping(&self) -> Option<Reason> {
        self.counters().stop
    }

    /// Counts a start that died of the given reason, or one that lived.
    pub fn ended(&self, died: Option<Reason>) {
        let Some(reason) = died else {
            self.counters().crash_backoff = CrashBackoff::default();
            return;
        };
        let rules = self.plan.crash_backoff;
        let too_many = self.counters().crash_backoff.died(Instant::now(), &rules);
        if too_many {
            self.stop(reason);
        }
    }

    pub fn wait_after_crash(&self) {
        let mut counters = self.counters();
        loop {
            let left = counters.crash_backoff.left(Instant::now());
            if left.is_zero() || counters.stop.is_some() {
                return;
            }
            let waited = self.changed.wait_timeout(counters, left);
            counters = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    pub fn wait(&self, most: Duration) {
        let counters = self.counters();
        if counters.stop.is_none() {
            drop(self.changed.wait_timeout(counters, most));
        }
    }
}

/// The pause after agents that crashed in a row. It is the same for all workers, because a crash
/// usually has a cause that they share, such as a rate limit.
#[derive(Debug, Clone, Copy, Default)]
struct CrashBackoff {
    in_a_row: u32,
    until: Option<Instant>,
}

impl CrashBackoff {
    fn died(&mut self, now: Instant, rules: &CrashBackoffRules) -> bool {
        self.in_a_row = self.in_a_row.saturating_add(1);
        let doubled = rules.first.saturating_mul(1 << (self.in_a_row - 1).min(16));
        self.until = Some(now + doubled.min(rules.longest));
        self.in_a_row >= rules.in_a_row
    }

    fn left(&self, now: Instant) -> Duration {
        let until = self.until.unwrap_or(now);
        until.saturating_duration_since(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest_and_the_fifth_is_too_many() {
        let rules = CrashBackoffRules {
            first: Duration::from_secs(1),
            longest: Duration::from_secs(5),
            in_a_row: 5,
        };
        let now = Instant::now();
        let mut crash_backoff = CrashBackoff::default();
        assert_eq!(crash_backoff.left(now), Duration::ZERO);
        let mut seen = Vec::new();
        for _ in 0..5 {
            let ends = crash_backoff.died(now, &rules);
            seen.push((crash_backoff.left(now).as_secs(), ends));
        }
        let expected = [(1, false), (2, false), (4, false), (5, false), (5, true)];
        assert_eq!(seen, expected);
    }
}
