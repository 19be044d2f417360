//! What is known of the work on one quest, and what a prompt is made from.

use std::error::Error;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::claim::ClaimGuard;
use super::plan::Answers;
use super::run_dir::Calls;
use crate::base::Digest;
use crate::judge::{JudgeContext, Pace};
use crate::quest::Key;
use crate::run::detect::{Detectors, Observed, SelfCall};
use crate::run::limits::{Limits, StallBudget, Used};
use crate::session::{Claim, Ledger, QuestRecord, Reason, Session, Spent};

#[derive(Debug)]
pub struct QuestRun {
    pub key: Key,
    pub guard: ClaimGuard,
    pub used: Used,
    /// The last attempt that this worker has read from the ledger.
    pub seen: u32,
    pub conversation: Option<String>,
    /// Notes for the next prompt.
    pub facts: Vec<String>,
    pub history: Vec<Past>,
    pub submitted: Vec<Submitted>,
    pub stall: StallBudget,
    pub detectors: Detectors,
    pub activity: Activity,
}

impl QuestRun {
    pub fn begin(&mut self) {
        self.used.starts = self.used.starts.saturating_add(1);
        self.stall.clear();
        self.facts.clear();
        self.submitted.clear();
        let _ = self.detectors.observe(Observed::Began);
    }

    pub fn submits(&mut self, (digest, submitted): Judged) -> Option<Reason> {
        self.stall.clear();
        self.submitted.push(submitted);
        self.observe(Observed::Judged(digest))
    }

    /// Why the work on the quest ends by what was observed; a warning goes into the next prompt.
    pub fn observe(&mut self, observed: Observed) -> Option<Reason> {
        let alarm = self.detectors.observe(observed)?;
        let reason = alarm.reason();
        if reason.is_none() {
            self.facts.push(alarm.text());
        }
        reason
    }

    /// What the quest has used together with a start of this length.
    pub fn with(&self, time: Duration, spent: &Spent, limits: &Limits) -> Used {
        Used {
            bill: self.used.bill.and(limits.bill(spent)),
            time: self.used.time.saturating_add(time),
            ..self.used
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

/// An earlier start of an agent for the quest.
#[derive(Debug, Clone, Serialize)]
pub struct Past {
    pub start: u32,
    pub reason: Reason,
    pub submitted: Vec<Submitted>,
}

#[derive(Debug, Clone, Serialize)]
pub struct Submitted {
    pub text: String,
    pub rules: Vec<String>,
}

/// A submission that the ledger records.
pub type Judged = (Digest, Submitted);

pub trait PromptBuilder: Sync {
    fn prompt(
        &self,
        session: &Session,
        input: &PromptInput<'_>,
    ) -> Result<String, Box<dyn Error + Send + Sync>>;
}

/// Where the activity of an agent shows: its calls of comail, the ledger and the tree.
#[derive(Debug)]
pub struct Activity {
    calls: Option<Calls>,
    pub log: Ledger,
    tree: Option<Digest>,
    pace: Pace,
    due: Instant,
}

impl Activity {
    pub fn new(log: Ledger, poll: Duration) -> Self {
        Self {
            calls: None,
            log,
            tree: None,
            pace: Pace::new(poll),
            due: Instant::now(),
        }
    }

    pub fn begin(&mut self, calls: Calls, context: &JudgeContext) {
        self.calls = Some(calls);
        self.tree = context.written();
    }

    /// The calls of comail that were recorded since the last time.
    pub fn noted(&mut self) -> Vec<SelfCall> {
        self.calls.as_mut().map_or(Vec::new(), Calls::since)
    }

    /// Whether the tree has changed; it is not read more often than its size allows.
    pub fn tree_has_changed(&mut self, context: &JudgeContext) -> bool {
        let begun = Instant::now();
        if self.tree.is_none() || begun < self.due {
            return false;
        }
        let now = context.written();
        self.pace.note(begun.elapsed());
        self.due = Instant::now() + self.pace.pause();
        let changed = now.is_some() && now != self.tree;
        self.tree = now.or(self.tree);
        changed
    }
}
