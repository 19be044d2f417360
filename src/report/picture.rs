//! The picture of a session: everything that the HTML page shows, as values.

use jiff::Timestamp;
use serde::Serialize;

pub use crate::judge::excerpts::{Excerpt, ExcerptLine};

use crate::base::Digest;
use crate::gate::Fact;
use crate::quest::{Key, QuestId, Shown};
use crate::report::Overview;
use crate::report::run::RunReport;
use crate::session::{Effective, State};

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct QuestRow {
    pub id: QuestId,
    pub key: Key,
    pub state: State,
    pub effective: Effective,
    pub disputed: bool,
    /// The number of submitted answers, with any verdict.
    pub tries: u32,
    /// The time of the last judgement or decision.
    pub last: Option<Timestamp>,
    /// From the first claim or submission to the end, in milliseconds.
    pub took: Option<u64>,
    pub worker: Option<String>,
    pub answer: Vec<Shown>,
    /// Whether that answer counts; none without a submission.
    pub worth: Option<Worth>,
    pub shown: Vec<Shown>,
    pub facts: FactRows,
    pub again: bool,
    /// Every rule that ever fired, once, in order of appearance.
    pub fired: Vec<String>,
    pub excerpts: Vec<Excerpt>,
    pub history: Vec<Step>,
    pub damage: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Worth {
    Stands,
    Refuted,
    SentBack,
    Rejected,
    /// The submission says that there is no answer.
    Missing,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct FactRows {
    pub shown: Vec<Fact>,
    pub left_out: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Step {
    pub at: Timestamp,
    pub what: String,
    pub by: Option<String>,
    pub notes: Vec<String>,
    /// Whether the gate judged in this step.
    #[serde(skip)]
    pub judged: bool,
    /// The facts that fired, unless the row of the quest shows them.
    pub facts: FactRows,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Spread {
    pub known: u32,
    /// Minimum, median, p90 and maximum; none if nothing is known.
    pub marks: Option<Marks>,
    /// The bars from the smallest number on, including empty ones.
    pub bars: Vec<Bar>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Marks {
    pub least: u64,
    pub median: u64,
    pub ninth: u64,
    pub most: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Bar {
    pub from: u64,
    pub to: u64,
    pub quests: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Picture {
    pub title: String,
    pub kind: String,
    pub unit: String,
    pub at: Timestamp,
    pub comail: String,
    pub completeness: Word,
    pub overview: Overview,
    /// The number of quests left over time; it rises only where the list grew.
    pub burn_down: Vec<Remaining>,
    pub funnel: Vec<FunnelStep>,
    /// The rules that fired, the most frequent first.
    pub rules: Vec<RuleRow>,
    /// The times of quests from first claim or submission to the end, in milliseconds.
    pub times: Spread,
    pub tries: Spread,
    pub workers: Vec<WorkerRow>,
    pub runs: Vec<RunReport>,
    /// The quests that have a row, by number.
    pub quests: Vec<QuestRow>,
    /// The number of quests without a row.
    pub left_out: u32,
    pub head: Digest,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Word {
    pub complete: bool,
    /// The headline if everything is settled, but not everything is proven.
    pub settled: Option<String>,
    pub shortfalls: Vec<String>,
    /// The number of PASSes that were not judged again because of `--quick`.
    pub left_out: usize,
    /// That the result has changes of quests that do not count as PASS.
    pub unproven: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Remaining {
    pub at: Timestamp,
    pub left: u32,
    pub grew: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FunnelStep {
    /// The name of the step, or `before the first step`.
    pub name: String,
    /// The submissions that no earlier step stopped.
    pub reached: u32,
    pub stopped: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleRow {
    pub rule: String,
    pub meaning: Option<String>,
    /// Whether it causes a FAIL; none if the gate does not know the rule.
    pub fails: Option<bool>,
    pub submissions: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WorkerRow {
    /// The name of the worker or of its run; none for submissions without a worker.
    pub name: Option<String>,
    pub submissions: u32,
    pub pass: u32,
    pub review: u32,
    pub fail: u32,
}
