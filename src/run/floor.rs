//! What the workers of a run share: its plan, what was used up, and whether it goes on.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::dying::Dying;
use super::plan::Plan;
use crate::quest::QuestId;
use crate::run::limits::{Bill, Used, foremost};
use crate::session::{Reason, Spent};

#[derive(Debug)]
pub struct Floor {
    pub plan: Plan,
    began: Instant,
    shared: Mutex<Shared>,
    bell: Condvar,
    turn: Mutex<()>,
}

#[derive(Debug, Default)]
struct Shared {
    names: u32,
    starts: u32,
    quests: u32,
    driving: u32,
    bill: Bill,
    running: Vec<Bill>,
    given_up: BTreeSet<QuestId>,
    reasons: BTreeSet<Reason>,
    stop: Option<Reason>,
    dying: Dying,
}

impl Floor {
    #[must_use]
    pub fn new(plan: Plan) -> Self {
        let workers = plan.workers as usize;
        let shared = Shared {
            running: vec![Bill::default(); workers],
            ..Shared::default()
        };
        Self {
            plan,
            began: Instant::now(),
            shared: Mutex::new(shared),
            bell: Condvar::new(),
            turn: Mutex::new(()),
        }
    }

    pub fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn next_name(&self) -> u32 {
        let mut shared = self.shared();
        shared.names = shared.names.saturating_add(1);
        shared.names
    }

    pub fn has_started(&self) {
        let mut shared = self.shared();
        shared.starts = shared.starts.saturating_add(1);
    }

    pub fn take_up(&self) {
        let mut shared = self.shared();
        shared.quests = shared.quests.saturating_add(1);
        shared.driving += 1;
    }

    pub fn put_down(&self, quest: QuestId, reason: Reason) {
        let mut shared = self.shared();
        shared.driving = shared.driving.saturating_sub(1);
        if reason != Reason::Settled {
            shared.given_up.insert(quest);
            shared.reasons.insert(reason);
        }
        self.bell.notify_all();
    }

    pub fn is_driving(&self) -> bool {
        self.shared().driving > 0
    }

    pub fn given_up(&self) -> BTreeSet<QuestId> {
        self.shared().given_up.clone()
    }

    pub fn is_using(&self, worker: usize, bill: Bill) {
        if let Some(running) = self.shared().running.get_mut(worker) {
            *running = bill;
        }
    }

    pub fn has_used(&self, worker: usize, spent: &Spent) {
        let bill = self.plan.limits.bill(spent);
        let mut shared = self.shared();
        shared.bill = shared.bill.and(bill);
        if let Some(running) = shared.running.get_mut(worker) {
            *running = Bill::default();
        }
    }

    pub fn used(&self) -> Used {
        let shared = self.shared();
        Used {
            starts: shared.starts,
            quests: shared.quests,
            bill: shared
                .running
                .iter()
                .fold(shared.bill, |sum, it| sum.and(*it)),
            time: self.began.elapsed(),
        }
    }

    pub fn stop(&self, reason: Reason) {
        let mut shared = self.shared();
        shared.stop = foremost(shared.stop.into_iter().chain([reason]));
        self.bell.notify_all();
    }

    // The other workers finish the quests they hold.
    pub fn ends_for(&self, reason: Reason) {
        self.shared().reasons.insert(reason);
    }

    pub fn stopping(&self) -> Option<Reason> {
        self.shared().stop
    }

    pub fn unsettled(&self) -> Option<Reason> {
        let shared = self.shared();
        foremost(shared.reasons.iter().copied())
    }

    pub fn died(&self, reason: Reason) {
        let rules = self.plan.dying;
        let too_many = self.shared().dying.died(Instant::now(), &rules);
        if too_many {
            self.stop(reason);
        }
    }

    pub fn lived(&self) {
        self.shared().dying.lived();
    }

    pub fn wait_for_backend(&self) {
        let mut shared = self.shared();
        loop {
            let left = shared.dying.left(Instant::now());
            if left.is_zero() || shared.stop.is_some() {
                return;
            }
            let waited = self.bell.wait_timeout(shared, left);
            shared = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    pub fn wait(&self, most: Duration) {
        let shared = self.shared();
        if shared.stop.is_none() {
            drop(self.bell.wait_timeout(shared, most));
        }
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
