//! The picture of a session as a value: everything that the HTML page shows, and nothing of how.

use jiff::Timestamp;
use serde::Serialize;

use super::quest_row::QuestRow;
use super::spread::Spread;
use crate::base::Digest;
use crate::report::Overview;
use crate::report::run::RunReport;

/// Everything that the page about a session shows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Picture {
    /// The list's file name, as people know the session.
    pub title: String,
    /// The quest kind.
    pub kind: String,
    /// What a quest's key is, such as `company`.
    pub unit: String,
    /// When the picture was taken.
    pub at: Timestamp,
    /// The version of the program that took it.
    pub comail: String,
    /// Whether the session is complete, where that was looked into.
    pub completeness: Option<Word>,
    /// How many quests stand where, and which rules fire.
    pub overview: Overview,
    /// How many quests were left when, in order; it only falls, but where a list grew.
    pub burn_down: Vec<Remaining>,
    /// What each step of the gate stopped, in the order in which they run.
    pub funnel: Vec<FunnelStep>,
    /// The rules that fired, the most frequent first.
    pub rules: Vec<RuleRow>,
    /// How long quests took from first hand-out or submission to the end, in milliseconds.
    pub times: Spread,
    /// How many submissions settled quests took.
    pub tries: Spread,
    /// Who submitted.
    pub workers: Vec<WorkerRow>,
    /// The runs, in the order in which they began.
    pub runs: Vec<RunReport>,
    /// Quests, in order; not all of them where there are very many.
    pub quests: Vec<QuestRow>,
    /// How many quests are not among them.
    pub left_out: u32,
    /// The hash of the ledger's last line.
    pub head: Digest,
}

/// Whether the session is complete, and what stands against it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Word {
    /// Whether it is.
    pub complete: bool,
    /// What stands against it, in words.
    pub shortfalls: Vec<String>,
}

/// How many quests were left from a time on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Remaining {
    /// From when on.
    pub at: Timestamp,
    /// How many were left.
    pub left: u32,
    /// Whether a newer list added quests here.
    pub grew: bool,
}

/// A step of the gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FunnelStep {
    /// Its name; `house` is what comes before the gate: whether there is an answer, and a new one.
    pub name: String,
    /// How many submissions came to it: all that no step before has stopped.
    pub reached: u32,
    /// How many it stopped.
    pub stopped: u32,
}

/// A rule that fired.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleRow {
    /// Its name.
    pub rule: String,
    /// What it means, where the gate's catalogue tells.
    pub meaning: Option<String>,
    /// Whether it makes a FAIL; none where the gate's catalogue does not tell.
    pub fails: Option<bool>,
    /// In how many submissions it fired.
    pub submissions: u32,
}

/// What a worker did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WorkerRow {
    /// Its name, or that of its run; none of those that gave none.
    pub name: Option<String>,
    /// Submissions of its that were judged.
    pub submissions: u32,
    /// Those that passed.
    pub pass: u32,
    /// Those that went to a person.
    pub review: u32,
    /// Those that failed.
    pub fail: u32,
}
