//! The drive of one quest, as far as it got.

use std::time::Duration;

use super::deeds::Deeds;
use super::desk::Past;
use super::hold::Hold;
use crate::quest::Key;
use crate::run::detect::{Alarm, Detectors, Observed};
use crate::run::limits::{Limits, Trickle, UsedByQuest};
use crate::session::{Reason, Spent};

const MOST_PAST: usize = 10;

#[derive(Debug)]
pub struct Course {
    pub key: Key,
    pub hold: Hold,
    pub used: UsedByQuest,
    pub seen: u32,
    pub conversation: Option<String>,
    pub facts: Vec<String>,
    pub history: Vec<Past>,
    pub submitted: Vec<super::desk::Submitted>,
    pub trickle: Trickle,
    pub detectors: Detectors,
    pub deeds: Deeds,
}

impl Course {
    pub fn begin(&mut self) {
        self.used.starts = self.used.starts.saturating_add(1);
        self.trickle.clear();
        self.facts.clear();
        self.submitted.clear();
        // That a process began is no alarm.
        let _ = self.detectors.observe(Observed::Began);
    }

    pub fn observe(&mut self, observed: Observed) -> Option<Reason> {
        let alarm = self.detectors.observe(observed)?;
        self.heed(&alarm)
    }

    fn heed(&mut self, alarm: &Alarm) -> Option<Reason> {
        let reason = alarm.reason();
        if reason.is_none() {
            self.facts.push(alarm.text());
        }
        reason
    }

    pub fn end(&mut self, reason: Reason, time: Duration, spent: &Spent, limits: &Limits) {
        self.used.time = self.used.time.saturating_add(time);
        self.used.bill = self.used.bill.and(limits.bill(spent));
        self.history.push(Past {
            start: self.used.starts,
            reason,
            submitted: std::mem::take(&mut self.submitted),
        });
        let over = self.history.len().saturating_sub(MOST_PAST);
        self.history.drain(..over);
    }

    #[must_use]
    pub fn with(&self, time: Duration, spent: &Spent, limits: &Limits) -> UsedByQuest {
        UsedByQuest {
            starts: self.used.starts,
            bill: self.used.bill.and(limits.bill(spent)),
            time: self.used.time.saturating_add(time),
        }
    }
}
