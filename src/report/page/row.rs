//! A quest as the table's template names it.

use jiff::Timestamp;
use serde::Serialize;

use crate::report::picture::{Picture, QuestRow, Worth};
use crate::session::State;

/// The most rules that stand in the row itself; its details have all of them.
const MOST_RULES: usize = 2;

/// A quest of the table.
#[derive(Debug, Serialize)]
pub struct Row<'a> {
    quest: &'a QuestRow,
    /// What is proven, or would be; none of what does not stand.
    answer: Option<&'a str>,
    /// What the answer in the details is.
    answer_is: &'static str,
    /// What the facts in the details are of; none where nothing was submitted.
    facts_of: Option<&'static str>,
    /// What a REVIEW came to.
    became: Option<&'static str>,
    /// The state's place among the states.
    place: Option<usize>,
    /// The last time, in milliseconds since 1970.
    last: Option<i64>,
    /// Some of the rules that fired at the last judgement, and how many more there are.
    rules: Vec<&'a str>,
    more_rules: usize,
    /// All that ever fired, as the script reads them.
    fired: String,
}

impl<'a> Row<'a> {
    /// The row of `quest`.
    pub fn of(quest: &'a QuestRow, picture: &'a Picture) -> Self {
        let mut rules = fired_rules(quest);
        let more_rules = rules.len().saturating_sub(MOST_RULES);
        rules.truncate(MOST_RULES);
        let is_review = quest.state == State::Review;
        Self {
            quest,
            answer: answer(quest, picture).filter(|_| quest.worth == Some(Worth::Stands)),
            answer_is: quest.worth.map_or("Answer", answer_is),
            facts_of: quest.worth.map(|_| facts_of(quest)),
            became: is_review.then(|| quest.effective.name()),
            place: State::ALL.iter().position(|state| *state == quest.state),
            last: quest.last.map(Timestamp::as_millisecond),
            rules,
            more_rules,
            fired: quest.fired.join("\n"),
        }
    }
}

/// What an answer is called that is worth this.
fn answer_is(worth: Worth) -> &'static str {
    match worth {
        Worth::Stands => "Answer",
        Worth::Refuted => "Last answer (refuted)",
        Worth::SentBack => "Last answer (sent back)",
        Worth::Rejected => "Last answer (rejected)",
        Worth::Missing => "Last submission (no answer)",
    }
}

/// What the facts of a quest are called of which something was submitted.
fn facts_of(quest: &QuestRow) -> &'static str {
    if quest.again {
        "Facts, as judged again"
    } else {
        "Facts of the last submission"
    }
}

/// The rules that fired at the last judgement, each once, in order.
fn fired_rules(quest: &QuestRow) -> Vec<&str> {
    let mut rules: Vec<&str> = Vec::new();
    for fact in &quest.facts.shown {
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
