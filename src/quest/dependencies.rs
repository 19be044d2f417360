//! Which quests must have passed before which: from the names in the list to numbers.

use std::fmt;

use super::{Key, Quest, QuestId};

/// The most keys of a circle that a message spells out.
const MOST_SPELLED: usize = 12;

#[derive(Debug, thiserror::Error)]
pub enum DependencyError {
    #[error(
        "row {row} comes after `{name}`, and no quest has that key{}; mend the list",
        hint(nearest)
    )]
    Unknown {
        row: u32,
        name: Key,
        nearest: Vec<Key>,
    },
    #[error(
        "row {row} comes after `{name}`, and that is the key of {} quests ({}); give each a key \
         of its own",
        quests.len(), joined(quests)
    )]
    Ambiguous {
        row: u32,
        name: Key,
        quests: Vec<QuestId>,
    },
    #[error("no quest of a circle can ever come first: {}; mend the list", Circle(.0))]
    Circle(Vec<Key>),
}

/// The keys of a circle; each comes after the next, and the last is the first again.
struct Circle<'a>(&'a [Key]);

impl fmt::Display for Circle<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((last, others)) = self.0.split_last() else {
            return Ok(());
        };
        for key in others.iter().take(MOST_SPELLED) {
            write!(f, "{key} → ")?;
        }
        match others.len().checked_sub(MOST_SPELLED) {
            None | Some(0) => write!(f, "{last}"),
            Some(more) => write!(f, "… ({more} more) → {last}"),
        }
    }
}

fn hint(nearest: &[Key]) -> String {
    if nearest.is_empty() {
        return String::new();
    }
    format!(" (did you mean {}?)", joined(nearest))
}

fn joined(items: &[impl ToString]) -> String {
    let texts: Vec<_> = items.iter().map(ToString::to_string).collect();
    texts.join(", ")
}

pub(super) fn names(cell: &str) -> impl Iterator<Item = Key> + '_ {
    let parts = cell.split([';', '\n', '\r']);
    parts.filter_map(|part| Key::new(part).ok())
}

/// The keys of the first circle among the quests from `from` on; those before it are in none.
///
/// Each key comes after the next one, and the last is the first again.
pub(super) fn circle(quests: &[Quest], from: usize) -> Option<Vec<Key>> {
    let mut seen = vec![Seen::Not; quests.len()];
    let mut path: Vec<(usize, usize)> = Vec::new();
    for start in from..quests.len() {
        if seen[start] != Seen::Not {
            continue;
        }
        seen[start] = Seen::OnPath;
        path.push((start, 0));
        while let Some((at, next)) = path.last_mut() {
            let Some(before) = quests[*at].after.get(*next).map(|id| id.index()) else {
                seen[*at] = Seen::Done;
                path.pop();
                continue;
            };
            *next += 1;
            match seen.get(before) {
                Some(Seen::Not) => {
                    seen[before] = Seen::OnPath;
                    path.push((before, 0));
                }
                Some(Seen::OnPath) => return Some(keys_from(quests, &path, before)),
                Some(Seen::Done) | None => {}
            }
        }
    }
    None
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    Not,
    OnPath,
    Done,
}

fn keys_from(quests: &[Quest], path: &[(usize, usize)], first: usize) -> Vec<Key> {
    let places = path.iter().map(|(place, _)| *place);
    let circle = places.skip_while(|place| *place != first);
    let closed = circle.chain(std::iter::once(first));
    closed.map(|place| quests[place].key.clone()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn id(index: usize) -> QuestId {
        QuestId::from_index(index).unwrap()
    }

    fn quests(after: &[Vec<usize>]) -> Vec<Quest> {
        let quest = |(index, after): (usize, &Vec<usize>)| Quest {
            id: id(index),
            key: Key::new(&index.to_string()).unwrap(),
            anchor: None,
            shown: Vec::new(),
            known: Vec::new(),
            after: after.iter().map(|index| id(*index)).collect(),
            rows: Vec::new(),
        };
        after.iter().enumerate().map(quest).collect()
    }

    fn found(after: &[Vec<usize>]) -> Option<String> {
        let circle = circle(&quests(after), 0)?;
        Some(DependencyError::Circle(circle).to_string())
    }

    #[test]
    fn a_circle_is_told_in_its_order() {
        assert_eq!(found(&[vec![1], vec![2], vec![]]), None);
        let told = |keys| {
            Some(format!(
                "no quest of a circle can ever come first: {keys}; mend the list"
            ))
        };
        assert_eq!(found(&[vec![], vec![0, 1]]), told("1 → 1"));
        let through = [vec![1], vec![0, 2], vec![3], vec![1]];
        assert_eq!(found(&through), told("0 → 1 → 0"));
        let behind = [vec![], vec![0, 2], vec![3], vec![1]];
        assert_eq!(found(&behind), told("1 → 2 → 3 → 1"));
    }

    #[test]
    fn a_million_quests_in_a_row_are_gone_through_and_a_long_circle_is_cut_short() {
        let count = 1_000_000;
        let mut chain: Vec<_> = (1..count).map(|next| vec![next]).collect();
        chain.push(Vec::new());
        assert_eq!(found(&chain), None);
        chain[count - 1].push(0);
        let told = found(&chain).unwrap();
        assert!(told.contains("0 → 1 → 2 →"), "{told}");
        assert!(
            told.ends_with("11 → … (999988 more) → 0; mend the list"),
            "{told}"
        );
    }

    #[test]
    fn keys_are_parted_by_semicolons_and_line_breaks() {
        let names: Vec<_> = names(" a b;c, d\r\n;; e\n").map(String::from).collect();
        assert_eq!(names, ["a b", "c, d", "e"]);
    }

    proptest! {
        #[test]
        fn what_is_told_is_a_circle_and_none_is_missed(
            after in prop::collection::vec(prop::collection::vec(0usize..7, 0..3), 7),
        ) {
            // Warshall: which quest is reached from which.
            let mut reached = [[false; 7]; 7];
            for (quest, before) in after.iter().enumerate() {
                for before in before {
                    reached[quest][*before] = true;
                }
            }
            for by in 0..7 {
                for from in 0..7 {
                    for to in 0..7 {
                        reached[from][to] |= reached[from][by] && reached[by][to];
                    }
                }
            }
            let expected = (0..7).any(|quest| reached[quest][quest]);
            let told = circle(&quests(&after), 0);
            prop_assert_eq!(told.is_some(), expected);
            let Some(keys) = told else { return Ok(()) };
            let places: Vec<usize> = keys.iter().map(|key| key.as_str().parse().unwrap()).collect();
            prop_assert_eq!(places.first(), places.last());
            for step in places.windows(2) {
                prop_assert!(after[step[0]].contains(&step[1]), "{:?}", places);
            }
        }
    }
}
