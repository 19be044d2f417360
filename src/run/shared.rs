//! What the workers of a run share: the plan, what was used, and whether the run continues.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::plan::{CrashBackoffRules, Plan};
use crate::quest::QuestId;
use crate::run::limits::{Bill, Used, most_important};
use crate::session::{Reason, Spent};

#[derive(Debug)]
pub struct SharedRunState {
    pub plan: Plan,
    began: Instant,
    counters: Mutex<Counters>,
    bell: Condvar,
    turn: Mutex<()>,
}

#[derive(Debug, Default)]
struct Counters {
    names: u32,
    starts: u32,
    quests: u32,
    driving: u32,
    bill: Bill,
    running: Vec<Bill>,
    given_up: BTreeSet<QuestId>,
    reasons: BTreeSet<Reason>,
    stop: Option<Reason>,
    crash_backoff: CrashBackoff,
}

impl SharedRunState {
    #[must_use]
    pub fn new(plan: Plan) -> Self {
        let workers = plan.workers as usize;
        let counters = Counters {
            running: vec![Bill::default(); workers],
            ..Counters::default()
        };
        Self {
            plan,
            began: Instant::now(),
            counters: Mutex::new(counters),
            bell: Condvar::new(),
            turn: Mutex::new(()),
        }
    }

    pub fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn next_name(&self) -> u32 {
        let mut counters = self.counters();
        counters.names = counters.names.saturating_add(1);
        counters.names
    }

    pub fn has_started(&self) {
        let mut counters = self.counters();
        counters.starts = counters.starts.saturating_add(1);
    }

    pub fn take(&self) {
        let mut counters = self.counters();
        counters.quests = counters.quests.saturating_add(1);
        counters.driving += 1;
    }

    pub fn release(&self, quest: QuestId, reason: Reason) {
        let mut counters = self.counters();
        counters.driving = counters.driving.saturating_sub(1);
        if reason != Reason::Settled {
            counters.given_up.insert(quest);
            counters.reasons.insert(reason);
        }
        self.bell.notify_all();
    }

    pub fn is_driving(&self) -> bool {
        self.counters().driving > 0
    }

    pub fn given_up(&self) -> BTreeSet<QuestId> {
        self.counters().given_up.clone()
    }

    pub fn is_using(&self, worker: usize, bill: Bill) {
        if let Some(running) = self.counters().running.get_mut(worker) {
            *running = bill;
        }
    }

    pub fn has_used(&self, worker: usize, spent: &Spent) {
        let bill = self.plan.limits.bill(spent);
        let mut counters = self.counters();
        counters.bill = counters.bill.and(bill);
        if let Some(running) = counters.running.get_mut(worker) {
            *running = Bill::default();
        }
    }

    pub fn used(&self) -> Used {
        let counters = self.counters();
        Used {
            starts: counters.starts,
            quests: counters.quests,
            bill: counters
                .running
                .iter()
                .fold(counters.bill, |sum, it| sum.and(*it)),
            time: self.began.elapsed(),
        }
    }

    pub fn stop(&self, reason: Reason) {
        let mut counters = self.counters();
        counters.stop = most_important(counters.stop.into_iter().chain([reason]));
        self.bell.notify_all();
    }

    // The other workers finish the quests they hold.
    pub fn ends_for(&self, reason: Reason) {
        self.counters().reasons.insert(reason);
    }

    pub fn stopping(&self) -> Option<Reason> {
        self.counters().stop
    }

    pub fn unsettled(&self) -> Option<Reason> {
        let counters = self.counters();
        most_important(counters.reasons.iter().copied())
    }

    pub fn died(&self, reason: Reason) {
        let rules = self.plan.crash_backoff;
        let too_many = self.counters().crash_backoff.died(Instant::now(), &rules);
        if too_many {
            self.stop(reason);
        }
    }

    pub fn lived(&self) {
        self.counters().crash_backoff.lived();
    }

    pub fn wait_for_backend(&self) {
        let mut counters = self.counters();
        loop {
            let left = counters.crash_backoff.left(Instant::now());
            if left.is_zero() || counters.stop.is_some() {
                return;
            }
            let waited = self.bell.wait_timeout(counters, left);
            counters = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    pub fn wait(&self, most: Duration) {
        let counters = self.counters();
        if counters.stop.is_none() {
            drop(self.bell.wait_timeout(counters, most));
        }
    }

    fn counters(&self) -> MutexGuard<'_, Counters> {
        self.counters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub struct CrashBackoff {
    in_a_row: u32,
    until: Option<Instant>,
}

impl CrashBackoff {
    pub fn died(&mut self, now: Instant, rules: &CrashBackoffRules) -> bool {
        self.in_a_row = self.in_a_row.saturating_add(1);
        self.until = Some(now + pause(self.in_a_row, rules));
        self.in_a_row >= rules.in_a_row
    }

    pub fn lived(&mut self) {
        *self = Self::default();
    }

    #[must_use]
    pub fn left(&self, now: Instant) -> Duration {
        let until = self.until.unwrap_or(now);
        until.saturating_duration_since(now)
    }
}

fn pause(in_a_row: u32, rules: &CrashBackoffRules) -> Duration {
    let doublings = in_a_row.saturating_sub(1).min(16);
    rules
        .first
        .saturating_mul(1 << doublings)
        .min(rules.longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: CrashBackoffRules = CrashBackoffRules {
        within: Duration::from_secs(2),
        first: Duration::from_secs(1),
        longest: Duration::from_secs(5),
        in_a_row: 5,
    };

    #[test]
    fn pauses_double_up_to_the_longest_and_the_fifth_is_too_many() {
        let now = Instant::now();
        let mut crash_backoff = CrashBackoff::default();
        let mut seen = Vec::new();
        for _ in 0..5 {
            let ends = crash_backoff.died(now, &RULES);
            seen.push((crash_backoff.left(now).as_secs(), ends));
        }
        let expected = [(1, false), (2, false), (4, false), (5, false), (5, true)];
        assert_eq!(seen, expected);
    }

    #[test]
    fn one_that_lived_begins_the_count_anew() {
        let now = Instant::now();
        let mut crash_backoff = CrashBackoff::default();
        for _ in 0..4 {
            assert!(!crash_backoff.died(now, &RULES));
        }
        crash_backoff.lived();
        assert_eq!(crash_backoff.left(now), Duration::ZERO);
        assert!(!crash_backoff.died(now, &RULES));
    }
}
