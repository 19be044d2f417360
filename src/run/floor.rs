//! What the workers of a run share: its plan, what was used up, and whether it goes on.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::dying::Dying;
use super::plan::Plan;
use crate::quest::QuestId;
use crate::run::limits::{Bill, Used, foremost};
use crate::session::{Reason, Spent};

/// What the workers of a run share.
#[derive(Debug)]
pub struct Floor {
    /// What is to be done.
    pub plan: Plan,
    began: Instant,
    shared: Mutex<Shared>,
    bell: Condvar,
    turn: Mutex<()>,
}

#[derive(Debug, Default)]
struct Shared {
    /// How many names were given to hold quests by.
    names: u32,
    /// How often the agent was started.
    starts: u32,
    /// How many quests were taken up.
    quests: u32,
    /// How many quests are being driven now.
    driving: u32,
    /// What the starts used up that have ended.
    bill: Bill,
    /// What those used up that go on, by worker.
    running: Vec<Bill>,
    /// The quests whose drive ended unsettled.
    given_up: BTreeSet<QuestId>,
    /// Why those did.
    reasons: BTreeSet<Reason>,
    /// Why the run is to end.
    stop: Option<Reason>,
    dying: Dying,
}

impl Floor {
    /// A floor on which nothing has happened yet.
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

    /// Waits for its turn to take up a quest, which ends when this is dropped.
    pub fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of the next name to hold a quest by, from 1.
    pub fn next_name(&self) -> u32 {
        let mut shared = self.shared();
        shared.names = shared.names.saturating_add(1);
        shared.names
    }

    /// Notes that the agent was started.
    pub fn has_started(&self) {
        let mut shared = self.shared();
        shared.starts = shared.starts.saturating_add(1);
    }

    /// Notes that a quest was taken up.
    pub fn take_up(&self) {
        let mut shared = self.shared();
        shared.quests = shared.quests.saturating_add(1);
        shared.driving += 1;
    }

    /// Notes that the drive of a quest ended, and why.
    pub fn put_down(&self, quest: QuestId, reason: Reason) {
        let mut shared = self.shared();
        shared.driving = shared.driving.saturating_sub(1);
        if reason != Reason::Settled {
            shared.given_up.insert(quest);
            shared.reasons.insert(reason);
        }
        self.bell.notify_all();
    }

    /// Whether some worker drives a quest.
    pub fn is_driving(&self) -> bool {
        self.shared().driving > 0
    }

    /// The quests that this run does not take up again.
    pub fn given_up(&self) -> BTreeSet<QuestId> {
        self.shared().given_up.clone()
    }

    /// Notes what the agent of `worker` has used up so far.
    pub fn is_using(&self, worker: usize, bill: Bill) {
        if let Some(running) = self.shared().running.get_mut(worker) {
            *running = bill;
        }
    }

    /// Notes what the agent of `worker`, which has ended, used up.
    pub fn has_used(&self, worker: usize, spent: &Spent) {
        let bill = self.plan.limits.bill(spent);
        let mut shared = self.shared();
        shared.bill = shared.bill.and(bill);
        if let Some(running) = shared.running.get_mut(worker) {
            *running = Bill::default();
        }
    }

    /// What the run has used up.
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

    /// Ends the run.
    pub fn stop(&self, reason: Reason) {
        let mut shared = self.shared();
        shared.stop = foremost(shared.stop.into_iter().chain([reason]));
        self.bell.notify_all();
    }

    /// Notes why a worker takes up nothing more; the others go on with what they have in hand.
    pub fn ends_for(&self, reason: Reason) {
        self.shared().reasons.insert(reason);
    }

    /// Why the run is to end, if so.
    pub fn stopping(&self) -> Option<Reason> {
        self.shared().stop
    }

    /// Why drives ended that did not settle their quests, and the run is over: the one that tells
    /// most.
    pub fn unsettled(&self) -> Option<Reason> {
        let shared = self.shared();
        foremost(shared.reasons.iter().copied())
    }

    /// Notes that an agent died at its start; too many end the run for this reason.
    pub fn died(&self, reason: Reason) {
        let rules = self.plan.dying;
        let too_many = self.shared().dying.died(Instant::now(), &rules);
        if too_many {
            self.stop(reason);
        }
    }

    /// Notes that an agent did not die at its start.
    pub fn lived(&self) {
        self.shared().dying.lived();
    }

    /// Waits until agents may be started, or the run is to end.
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

    /// Waits until a drive ends or the run is to, for so long at most.
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
