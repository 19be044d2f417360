//! The queue: REVIEWs that wait for a person, grouped by rule, the oldest first.

use std::collections::BTreeSet;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::judge::forgotten::is_forgotten;
use crate::quest::{Key, QuestId};
use crate::session::{Effective, LineReader, Session, SessionError, Standing, Store as _};

/// A REVIEW that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Waiting {
    /// The quest.
    pub id: QuestId,
    /// Its key.
    pub key: Key,
    /// The attempt that is to be settled.
    pub attempt: u32,
    /// Open or, where the gate fails it now, refuted.
    pub effective: Effective,
    /// When it was judged last.
    pub since: Timestamp,
    /// The rules that fired then, each once.
    pub rules: Vec<String>,
}

/// REVIEWs of one rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Group {
    /// The first rule that fired for each of them.
    pub rule: String,
    /// They, the oldest first.
    pub quests: Vec<Waiting>,
}

/// Every REVIEW that waits for a person, each in one group.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Queue {
    /// How many there are.
    pub open: usize,
    /// The group with the oldest first.
    pub groups: Vec<Group>,
}

/// What a REVIEW without rules is grouped by; no rule has this name.
const NO_RULE: &str = "-";

impl Queue {
    /// The queue of these.
    #[must_use]
    pub fn of(mut waiting: Vec<Waiting>) -> Self {
        waiting.sort_by_key(|one| (one.since, one.id));
        let open = waiting.len();
        let mut groups: Vec<Group> = Vec::new();
        for one in waiting {
            let rule = one.rules.first().map_or(NO_RULE, String::as_str);
            match groups.iter_mut().find(|group| group.rule == rule) {
                Some(group) => group.quests.push(one),
                None => groups.push(Group {
                    rule: rule.to_owned(),
                    quests: vec![one],
                }),
            }
        }
        Self { open, groups }
    }

    /// The queue of `session`.
    pub fn read(session: &Session) -> Result<Self, SessionError> {
        let mut reader = session.reader()?;
        let mut waiting = Vec::new();
        let forgetting = session.forgetting();
        for standing in session.reviews()? {
            // What was answered is gone, so that nobody can look at it.
            let gone = !forgetting.is_empty() && is_forgotten(&mut reader, &standing)?;
            if Effective::of(&standing).is_open() && !gone {
                waiting.extend(wait_of(&mut reader, standing)?);
            }
        }
        Ok(Self::of(waiting))
    }

    /// All of them in the order of the queue.
    pub fn all(&self) -> impl Iterator<Item = &Waiting> {
        self.groups.iter().flat_map(|group| &group.quests)
    }

    /// Those for which `rule` fired, first or beside others.
    #[must_use]
    pub fn with_rule(&self, rule: &str) -> Vec<&Waiting> {
        let fired = |one: &&Waiting| one.rules.iter().any(|it| it == rule);
        self.all().filter(fired).collect()
    }

    /// Every rule that fired for any of them, by name.
    #[must_use]
    pub fn rules(&self) -> BTreeSet<&str> {
        self.all()
            .flat_map(|one| &one.rules)
            .map(String::as_str)
            .collect()
    }
}

fn wait_of(reader: &mut LineReader, standing: Standing) -> Result<Option<Waiting>, SessionError> {
    let judged = match reader.resolution(&standing)? {
        Some(again) => Some((again.at, again.value.rules)),
        None => reader
            .last_attempt(&standing)?
            .map(|last| (last.at, last.value.rules)),
    };
    Ok(judged.map(|(since, rules)| Waiting {
        id: standing.id,
        attempt: standing.attempts,
        effective: Effective::of(&standing),
        key: standing.key,
        since,
        rules,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(id: usize, second: i64, rules: &[&str]) -> Waiting {
        Waiting {
            id: QuestId::from_index(id - 1).unwrap(),
            key: Key::new(&format!("quest {id}")).unwrap(),
            attempt: 1,
            effective: Effective::Open,
            since: Timestamp::from_second(second).unwrap(),
            rules: rules.iter().map(|rule| (*rule).to_owned()).collect(),
        }
    }

    fn ids<'a>(waiting: impl IntoIterator<Item = &'a Waiting>) -> Vec<usize> {
        waiting.into_iter().map(|one| one.id.index() + 1).collect()
    }

    #[test]
    fn each_stands_once_and_the_oldest_first() {
        let queue = Queue::of(vec![
            waiting(1, 30, &["free-mail"]),
            waiting(2, 20, &["owner-contested", "free-mail"]),
            waiting(3, 10, &["free-mail"]),
            waiting(4, 10, &["free-mail"]),
        ]);
        let groups: Vec<_> = queue
            .groups
            .iter()
            .map(|group| (group.rule.as_str(), ids(&group.quests)))
            .collect();
        let expected = [("free-mail", vec![3, 4, 1]), ("owner-contested", vec![2])];
        assert_eq!((queue.open, groups.as_slice()), (4, &expected[..]));
        assert_eq!(ids(queue.all()), [3, 4, 1, 2]);
    }

    #[test]
    fn a_rule_means_all_for_which_it_fired() {
        let queue = Queue::of(vec![
            waiting(1, 1, &["free-mail"]),
            waiting(2, 2, &["owner-contested", "free-mail"]),
            waiting(3, 3, &["owner-contested"]),
        ]);
        assert_eq!(ids(queue.with_rule("free-mail")), [1, 2]);
        assert_eq!(ids(queue.with_rule("free")), Vec::<usize>::new());
        let rules: Vec<_> = queue.rules().into_iter().collect();
        assert_eq!(rules, ["free-mail", "owner-contested"]);
    }

    #[test]
    fn nothing_open_is_an_empty_queue() {
        assert_eq!(Queue::of(Vec::new()), Queue::default());
    }
}
