//! A quest as the table's template names it.

use jiff::Timestamp;
use serde::Serialize;

use crate::report::picture::{Picture, QuestRow};
use crate::session::State;

/// The most rules that stand in the row itself; its details have all of them.
const MOST_RULES: usize = 2;

/// A quest of the table.
#[derive(Debug, Serialize)]
pub struct Row<'a> {
    quest: &'a QuestRow,
    /// What is proven, or would be.
    answer: Option<&'a str>,
    /// What a REVIEW came to.
    became: Option<&'static str>,
    /// The state's place among the states.
    place: Option<usize>,
    /// The last time, in milliseconds since 1970.
    last: Option<i64>,
    rules: Vec<&'a str>,
    /// All of them, as the script reads them.
    all_rules: String,
    more_rules: usize,
}

impl<'a> Row<'a> {
    /// The row of `quest`.
    pub fn of(quest: &'a QuestRow, picture: &'a Picture) -> Self {
        let mut rules = rules(quest);
        let all_rules = rules.join("\n");
        let more_rules = rules.len().saturating_sub(MOST_RULES);
        rules.truncate(MOST_RULES);
        let is_review = quest.state == State::Review;
        Self {
            quest,
            answer: answer(quest, picture),
            became: is_review.then(|| quest.effective.name()),
            place: State::ALL.iter().position(|state| *state == quest.state),
            last: quest.last.map(Timestamp::as_millisecond),
            rules,
            all_rules,
            more_rules,
        }
    }
}

/// The rules that fired at the last judgement, each once, in order.
pub fn rules(quest: &QuestRow) -> Vec<&str> {
    let mut rules: Vec<&str> = Vec::new();
    for fact in &quest.facts {
        if !rules.contains(&fact.rule.as_str()) {
            rules.push(&fact.rule);
        }
    }
    rules
}

/// The field that a quest is about: the one that is called as its kind is, else the first that
/// is not the key.
fn answer<'a>(quest: &'a QuestRow, picture: &Picture) -> Option<&'a str> {
    let fields = || quest.answer.iter();
    let named = fields().find(|field| field.label == picture.kind);
    let first = || fields().find(|field| field.label != picture.unit);
    named.or_else(first).map(|field| field.text.as_str())
}
