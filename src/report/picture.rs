//! The picture of a session: what the HTML page shows, as values.

use jiff::Timestamp;
use serde::Serialize;

pub use crate::judge::excerpts::{ExcerptRow, Piece};

use crate::base::Digest;
use crate::quest::{Key, QuestId};
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
    pub tries: u32,
    /// When it was last judged or decided; none where nothing happened.
    pub last: Option<Timestamp>,
    /// How long it took from first hand-out or submission to its end, in milliseconds.
    pub took: Option<u64>,
    pub worker: Option<String>,
    pub answer: Vec<Labelled>,
    /// What that answer is worth; none where nothing was submitted.
    pub worth: Option<Worth>,
    pub shown: Vec<Labelled>,
    pub facts: FactRows,
    pub again: bool,
    /// Every rule that fired at any judgement, each once, the first first.
    pub fired: Vec<String>,
    pub excerpts: Vec<ExcerptRow>,
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
    /// It says that there is none.
    Missing,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Labelled {
    pub label: String,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct FactRows {
    pub shown: Vec<FactRow>,
    pub left_out: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FactRow {
    pub rule: String,
    /// Whether it makes a FAIL, else a REVIEW.
    pub fails: bool,
    pub field: Option<String>,
    pub place: Option<String>,
    pub expected: String,
    pub actual: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Step {
    pub at: Timestamp,
    pub what: String,
    pub by: Option<String>,
    pub notes: Vec<String>,
    /// What fired, unless it is what the quest's row tells as its facts.
    pub facts: FactRows,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Spread {
    pub known: u32,
    /// The least, the middle, that of nine in ten, and the greatest; none where nothing is known.
    pub marks: Option<Marks>,
    /// The bars, from the least number on; empty ones between are there.
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
    pub completeness: Option<Word>,
    pub overview: Overview,
    /// How many quests were left when, in order; it only falls, but where a list grew.
    pub burn_down: Vec<Remaining>,
    pub funnel: Vec<FunnelStep>,
    /// The rules that fired, the most frequent first.
    pub rules: Vec<RuleRow>,
    /// How long quests took from first hand-out or submission to the end, in milliseconds.
    pub times: Spread,
    pub tries: Spread,
    pub workers: Vec<WorkerRow>,
    pub runs: Vec<RunReport>,
    /// Quests, in order; not all of them where there are very many.
    pub quests: Vec<QuestRow>,
    /// How many quests are not among them.
    pub left_out: u32,
    pub head: Digest,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Word {
    pub complete: bool,
    pub shortfalls: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Remaining {
    pub at: Timestamp,
    pub left: u32,
    pub grew: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FunnelStep {
    /// Its name; `house` is what comes before the gate: whether there is an answer, and a new one.
    pub name: String,
    /// How many submissions came to it: all that no step before has stopped.
    pub reached: u32,
    pub stopped: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleRow {
    pub rule: String,
    pub meaning: Option<String>,
    /// Whether it makes a FAIL; none where the gate's catalogue does not tell.
    pub fails: Option<bool>,
    pub submissions: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WorkerRow {
    /// Its name, or that of its run; none of those that gave none.
    pub name: Option<String>,
    pub submissions: u32,
    pub pass: u32,
    pub review: u32,
    pub fail: u32,
}
