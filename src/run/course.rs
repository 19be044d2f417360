//! The drive of one quest, as far as it got.

use std::time::Duration;

use super::deeds::Deeds;
use super::desk::Past;
use super::hold::Hold;
use crate::quest::Key;
use crate::run::detect::{Alarm, Detectors, Observed};
use crate::run::limits::{Limits, Trickle, UsedByQuest};
use crate::session::{Reason, Spent};

/// How many starts before are told of.
const MOST_PAST: usize = 10;

/// The drive of one quest, as far as it got.
#[derive(Debug)]
pub struct Course {
    /// The quest's key.
    pub key: Key,
    /// The hold on it.
    pub hold: Hold,
    /// What the drive used up.
    pub used: UsedByQuest,
    /// How many attempts of the quest were seen.
    pub seen: u32,
    /// The agent's own conversation.
    pub conversation: Option<String>,
    /// What the next prompt has to say besides.
    pub facts: Vec<String>,
    /// What the starts so far came to.
    pub history: Vec<Past>,
    /// What the start in hand submitted.
    pub submitted: Vec<super::desk::Submitted>,
    /// The turns that brought little.
    pub trickle: Trickle,
    /// What goes round in circles.
    pub detectors: Detectors,
    /// By what is seen what the agent does.
    pub deeds: Deeds,
}

impl Course {
    /// Begins one more start of the agent.
    pub fn begin(&mut self) {
        self.used.starts = self.used.starts.saturating_add(1);
        self.trickle.clear();
        self.facts.clear();
        self.submitted.clear();
        // That a process began is no alarm.
        let _ = self.detectors.observe(Observed::Began);
    }

    /// Takes in what was seen; why the drive ends, if it does for this.
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

    /// Takes in what the start in hand came to.
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

    /// What it used up together with what the start in hand did so far.
    #[must_use]
    pub fn with(&self, time: Duration, spent: &Spent, limits: &Limits) -> UsedByQuest {
        UsedByQuest {
            starts: self.used.starts,
            bill: self.used.bill.and(limits.bill(spent)),
            time: self.used.time.saturating_add(time),
        }
    }
}
