//! What is known of the work on one quest, and what a prompt is made from.

use std::error::Error;
use std::time::{Duration, Instant};

use super::claim::ClaimGuard;
use super::plan::Answers;
use super::run_dir::{Calls, Noted};
use crate::base::Digest;
use crate::judge::{JudgeContext, Pace};
use crate::quest::Key;
use crate::run::detect::{Alarm, Detectors, Observed};
use crate::run::limits::{Limits, StallBudget, UsedByQuest};
use crate::session::{Claim, Log, QuestRecord, Reason, Session, Spent};

const MAX_PAST: usize = 10;

#[derive(Debug)]
pub struct QuestRun {
    pub key: Key,
    pub guard: ClaimGuard,
    pub used: UsedByQuest,
    pub seen: u32,
    pub conversation: Option<String>,
    pub facts: Vec<String>,
    pub history: Vec<Past>,
    pub submitted: Vec<Submitted>,
    pub stall: StallBudget,
    pub detectors: Detectors,
    pub activity: Activity,
}

impl QuestRun {
    pub fn submits(&mut self, (digest, submitted): Judged) -> Option<Reason> {
        self.stall.clear();
        self.submitted.push(submitted);
        self.observe(Observed::Submitted(digest))
    }

    pub fn begin(&mut self) {
        self.used.starts = self.used.starts.saturating_add(1);
        self.stall.clear();
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
        let over = self.history.len().saturating_sub(MAX_PAST);
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

#[derive(Debug)]
pub struct PromptInput<'a> {
    pub standing: &'a QuestRecord,
    pub claim: &'a Claim,
    pub answers: Answers,
    pub history: &'a [Past],
    pub facts: &'a [String],
    pub last_call: Option<Reason>,
}

#[derive(Debug, Clone)]
pub struct Past {
    pub start: u32,
    pub reason: Reason,
    pub submitted: Vec<Submitted>,
}

#[derive(Debug, Clone)]
pub struct Submitted {
    pub text: String,
    pub rules: Vec<String>,
}

pub trait PromptBuilder: Sync {
    fn prompt(
        &self,
        session: &Session,
        input: &PromptInput<'_>,
    ) -> Result<String, Box<dyn Error + Send + Sync>>;
}

#[derive(Debug)]
pub struct Activity {
    calls: Option<Calls>,
    pub log: Log,
    pub tree: Tree,
}

#[derive(Debug)]
pub struct Tree {
    known: Option<Digest>,
    pace: Pace,
    due: Instant,
}

/// A submission that the ledger records.
pub type Judged = (Digest, Submitted);

impl Activity {
    #[must_use]
    pub fn new(log: Log, poll: Duration) -> Self {
        Self {
            calls: None,
            log,
            tree: Tree {
                known: None,
                pace: Pace::new(poll),
                due: Instant::now(),
            },
        }
    }

    pub fn begin(&mut self, calls: Calls, chamber: &JudgeContext<'_>) {
        self.calls = Some(calls);
        self.tree.known = chamber.written();
    }

    /// The calls of comail that were recorded since the last time.
    pub fn noted(&mut self) -> Vec<Noted> {
        self.calls.as_mut().map_or(Vec::new(), Calls::since)
    }
}

impl Tree {
    pub fn has_changed(&mut self, chamber: &JudgeContext<'_>) -> bool {
        let begun = Instant::now();
        if self.known.is_none() || begun < self.due {
            return false;
        }
        let now = chamber.written();
        self.pace.note(begun.elapsed());
        self.due = Instant::now() + self.pace.pause();
        let changed = now.is_some() && now != self.known;
        self.known = now.or(self.known);
        changed
    }
}
