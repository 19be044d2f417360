//! Which quests wait for others, for which, and which of them wait in vain.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use super::standing::Way;
use crate::quest::QuestId;

/// A quest that can never be handed out unless a person settles the one that blocks it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blocked {
    /// The quest.
    pub quest: QuestId,
    /// The quest that ended without a PASS, which it waits for, if through others.
    pub by: QuestId,
}

/// The quests in TODO that wait for others.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Waiting {
    /// All that wait, in order, those that are blocked included.
    pub quests: Vec<QuestId>,
    /// Those of them that are blocked, in order.
    pub blocked: Vec<Blocked>,
    /// What they wait for in the end, in order: it waits for nothing itself.
    pub fronts: Vec<QuestId>,
}

impl Waiting {
    /// Of the quests in TODO that come after others, with those others, the ones that wait.
    pub(super) fn of(
        waiters: Vec<(QuestId, Box<[QuestId]>)>,
        way: impl Fn(QuestId) -> Way,
    ) -> Self {
        let mut quests = BTreeSet::new();
        let mut ended = BTreeMap::new();
        let mut followers: HashMap<QuestId, Vec<QuestId>> = HashMap::new();
        for (quest, after) in waiters {
            for before in after {
                match way(before) {
                    Way::Passed => continue,
                    Way::Open => {}
                    Way::Ended => {
                        ended.entry(quest).or_insert(before);
                    }
                }
                followers.entry(before).or_default().push(quest);
                quests.insert(quest);
            }
        }
        let fronts = followers.keys().filter(|quest| !quests.contains(quest));
        let fronts: BTreeSet<_> = fronts.copied().collect();
        Self {
            fronts: fronts.into_iter().collect(),
            quests: quests.into_iter().collect(),
            blocked: spread(ended, &followers),
        }
    }

    /// Whether the quest is blocked.
    #[must_use]
    pub fn blocks(&self, quest: QuestId) -> bool {
        let found = self
            .blocked
            .binary_search_by_key(&quest, |blocked| blocked.quest);
        found.is_ok()
    }
}

/// All that is blocked: by what has ended, and by what is blocked itself.
fn spread(
    mut blocked: BTreeMap<QuestId, QuestId>,
    followers: &HashMap<QuestId, Vec<QuestId>>,
) -> Vec<Blocked> {
    let mut queue: VecDeque<_> = blocked.iter().map(|(quest, by)| (*quest, *by)).collect();
    while let Some((quest, by)) = queue.pop_front() {
        for follower in followers.get(&quest).into_iter().flatten() {
            if let std::collections::btree_map::Entry::Vacant(place) = blocked.entry(*follower) {
                place.insert(by);
                queue.push_back((*follower, by));
            }
        }
    }
    let pairs = blocked.into_iter();
    pairs.map(|(quest, by)| Blocked { quest, by }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: usize) -> QuestId {
        QuestId::from_index(number - 1).unwrap()
    }

    fn ids(numbers: &[usize]) -> Vec<QuestId> {
        numbers.iter().map(|number| id(*number)).collect()
    }

    /// What waits of these quests after others, where 8 has passed and 9 has ended.
    fn waiting(waiters: &[(usize, &[usize])]) -> Waiting {
        let waiters = waiters
            .iter()
            .map(|(quest, after)| (id(*quest), ids(after).into()));
        Waiting::of(waiters.collect(), |quest| {
            match quest.to_string().as_str() {
                "8" => Way::Passed,
                "9" => Way::Ended,
                _ => Way::Open,
            }
        })
    }

    fn blocked(pairs: &[(usize, usize)]) -> Vec<Blocked> {
        let pair = |(quest, by): &(usize, usize)| Blocked {
            quest: id(*quest),
            by: id(*by),
        };
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn a_quest_waits_until_all_before_it_have_passed() {
        let found = waiting(&[(1, &[8]), (2, &[7, 8]), (3, &[2])]);
        assert_eq!(found.quests, ids(&[2, 3]));
        assert_eq!(found.fronts, ids(&[7]));
        assert_eq!(found.blocked, []);
    }

    #[test]
    fn what_follows_a_blocked_quest_is_blocked_by_the_same() {
        let found = waiting(&[(1, &[2]), (2, &[3, 7]), (3, &[9]), (4, &[7])]);
        assert_eq!(found.quests, ids(&[1, 2, 3, 4]));
        assert_eq!(found.blocked, blocked(&[(1, 9), (2, 9), (3, 9)]));
        assert_eq!(found.fronts, ids(&[7, 9]));
        assert!(found.blocks(id(2)) && !found.blocks(id(4)));
    }

    #[test]
    fn a_circle_ends_nothing_and_a_long_row_is_followed_to_its_end() {
        assert_eq!(waiting(&[(1, &[2]), (2, &[1])]).blocked, []);
        let mut waiters: Vec<_> = (10..200_000)
            .map(|n| (id(n), ids(&[n + 1]).into()))
            .collect();
        waiters.push((id(200_000), ids(&[1]).into()));
        let ended = Waiting::of(waiters, |quest| match quest.index() {
            0 => Way::Ended,
            _ => Way::Open,
        });
        assert_eq!(ended.blocked.len(), 200_000 - 9);
    }
}
