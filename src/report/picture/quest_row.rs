//! What the page tells of one quest.

use jiff::Timestamp;
use serde::Serialize;

use crate::quest::{Key, QuestId};
use crate::session::{Effective, State};

/// What the page tells of one quest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct QuestRow {
    /// Its number.
    pub id: QuestId,
    /// Its key.
    pub key: Key,
    /// Where it stands.
    pub state: State,
    /// What it comes to.
    pub effective: Effective,
    /// Whether somebody says that the world is otherwise.
    pub disputed: bool,
    /// How many submissions failed.
    pub tries: u32,
    /// When it was last judged or decided; none where nothing happened.
    pub last: Option<Timestamp>,
    /// How long it took from first hand-out or submission to its end, in milliseconds.
    pub took: Option<u64>,
    /// Who answered last, where a worker was named.
    pub worker: Option<String>,
    /// The answer that counts or was given last, field by field.
    pub answer: Vec<Labelled>,
    /// What that answer is worth; none where nothing was submitted.
    pub worth: Option<Worth>,
    /// What the list says beside the key.
    pub shown: Vec<Labelled>,
    /// What fired at the last judgement.
    pub facts: FactRows,
    /// Whether that was when a REVIEW was judged again.
    pub again: bool,
    /// Every rule that fired at any judgement, each once, the first first.
    pub fired: Vec<String>,
    /// What the gate saw, with what was looked for marked.
    pub excerpts: Vec<ExcerptRow>,
    /// What happened, in order.
    pub history: Vec<Step>,
    /// Why nothing is shown of what the gate saw, where that is so.
    pub damage: Option<String>,
}

/// What an answer is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Worth {
    /// It is proven, or waits for a person, or a person accepted it.
    Stands,
    /// The gate refuted it.
    Refuted,
    /// Reviewers sent it back for another.
    SentBack,
    /// A person rejected it.
    Rejected,
    /// It says that there is none.
    Missing,
}

/// A text and what it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Labelled {
    /// What it is.
    pub label: String,
    /// The text.
    pub text: String,
}

/// Facts, of which there may be more than are shown.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct FactRows {
    /// Those that are shown.
    pub shown: Vec<FactRow>,
    /// How many are left out.
    pub left_out: u32,
}

/// A fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FactRow {
    /// The rule that fired.
    pub rule: String,
    /// Whether it makes a FAIL, else a REVIEW.
    pub fails: bool,
    /// The field that it is about, where it is about one.
    pub field: Option<String>,
    /// Where, such as a page's address and line.
    pub place: Option<String>,
    /// What should be there.
    pub expected: String,
    /// What is there.
    pub actual: String,
}

/// Lines of something that the gate saw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExcerptRow {
    /// What it is of: a page's address, a path, a command.
    pub of: String,
    /// The number of its first line.
    pub first: usize,
    /// Its lines, each in pieces.
    pub lines: Vec<Vec<Piece>>,
}

/// A piece of a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Piece {
    /// The text.
    pub text: String,
    /// Whether it is what was looked for, such as the address.
    pub marked: bool,
}

/// Something that happened to a quest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Step {
    /// When.
    pub at: Timestamp,
    /// What, in a word, such as `FAIL`, `accepted` or `disputed`.
    pub what: String,
    /// By whom, where somebody is named.
    pub by: Option<String>,
    /// The rules that fired, what was answered, or what a person noted.
    pub notes: Vec<String>,
    /// What fired, unless it is what the quest's row tells as its facts.
    pub facts: FactRows,
}
