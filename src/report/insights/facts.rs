//! The facts that recur.

use std::collections::{HashMap, HashSet};

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::Digest;
use crate::base::text::truncate;
use crate::gate::Fact;
use crate::quest::{FieldName, QuestId};

/// A fact that was found in more than one submission.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Recurring {
    /// The rule that fired.
    pub rule: String,
    /// The field that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// What would have let the check pass.
    pub expected: String,
    /// What was so instead.
    pub actual: String,
    /// In how many submissions.
    pub submissions: u32,
    /// In how many quests, of each session apart.
    pub quests: u32,
    /// How many submissions that counts for, where long ago counts less.
    pub weighted: f64,
}

/// The most different facts that are kept of a session.
///
/// Where there are more, those found once are dropped: what recurs often is hardly ever lost.
const MOST_FACTS: usize = 20_000;

/// The longest text that is kept of a fact, in characters.
const MOST_CHARS: usize = 200;

/// The facts of a session, each as often as it was found.
#[derive(Debug, Default)]
pub struct FactTable(HashMap<Digest, Found>);

#[derive(Debug)]
struct Found {
    fact: Recurring,
    quests: HashSet<QuestId>,
}

impl FactTable {
    /// Notes a fact of a submission for `quest`.
    pub(super) fn note(&mut self, fact: &Fact, quest: QuestId) {
        let key = key(fact);
        if self.0.len() >= MOST_FACTS && !self.0.contains_key(&key) {
            self.0.retain(|_, found| found.fact.submissions > 1);
            if self.0.len() >= MOST_FACTS {
                return;
            }
        }
        let found = self.0.entry(key).or_insert_with(|| Found {
            fact: Recurring {
                rule: fact.rule.as_str().to_owned(),
                field: fact.field.as_ref().map(|field| field.as_str().to_owned()),
                expected: truncate(&fact.expected, MOST_CHARS).into_owned(),
                actual: truncate(&fact.actual, MOST_CHARS).into_owned(),
                submissions: 0,
                quests: 0,
                weighted: 0.0,
            },
            quests: HashSet::new(),
        });
        found.fact.submissions += 1;
        found.quests.insert(quest);
    }

    /// Each fact with how often it was found, by what makes it the same.
    pub(super) fn into_each(self) -> impl Iterator<Item = (Digest, Recurring)> {
        self.0.into_iter().map(|(key, found)| {
            let quests = u32::try_from(found.quests.len()).unwrap_or(u32::MAX);
            (
                key,
                Recurring {
                    quests,
                    ..found.fact
                },
            )
        })
    }
}

fn key(fact: &Fact) -> Digest {
    let field = fact.field.as_ref().map(FieldName::as_str);
    let parts = serde_json::json!([fact.rule, field, fact.expected, fact.actual]);
    Digest::of(parts.to_string().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::{Level, RuleId};

    fn fact(actual: &str) -> Fact {
        Fact {
            cause: crate::gate::Cause::Wrong,
            rule: RuleId::known("some-rule"),
            level: Level::Fail,
            field: None,
            location: None,
            expected: "this".to_owned(),
            actual: actual.to_owned(),
            count: 1,
        }
    }

    #[test]
    fn the_same_fact_is_counted_by_submission_and_quest() {
        let mut table = FactTable::default();
        let two = QuestId::from_index(1).unwrap();
        for quest in [QuestId::FIRST, QuestId::FIRST, two] {
            table.note(&fact("that"), quest);
        }
        table.note(&fact("other"), two);
        let mut each: Vec<_> = table.into_each().map(|(_, fact)| fact).collect();
        each.sort_by_key(|fact| fact.submissions);
        let counts: Vec<_> = each.iter().map(|it| (it.submissions, it.quests)).collect();
        assert_eq!(counts, [(1, 1), (3, 2)]);
    }

    #[test]
    fn what_recurs_outlives_what_does_not() {
        let mut table = FactTable::default();
        table.note(&fact("again"), QuestId::FIRST);
        table.note(&fact("again"), QuestId::FIRST);
        for number in 0..MOST_FACTS + 10 {
            table.note(&fact(&number.to_string()), QuestId::FIRST);
        }
        assert!(table.0.len() <= MOST_FACTS);
        assert!(table.0.contains_key(&key(&fact("again"))));
    }
}
