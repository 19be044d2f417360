//! Dependencies between quests: which must pass first.

use std::fmt;

use itertools::Itertools as _;

use super::{Key, QuestId};

/// The most keys of a circle that a message lists.
const MOST_SPELLED: usize = 12;

#[derive(Debug, thiserror::Error)]
pub enum DependencyError {
    #[error(
        "row {row} comes after `{name}`, but no quest has that key{}; correct the list",
        hint(nearest)
    )]
    Unknown {
        row: u32,
        name: Key,
        nearest: Vec<Key>,
    },
    #[error(
        "row {row} comes after `{name}`, which is the key of {} quests ({}); give each its own \
         key",
        quests.len(), joined(quests)
    )]
    Ambiguous {
        row: u32,
        name: Key,
        quests: Vec<QuestId>,
    },
    #[error("these quests wait for each other, so none of them can come first: {}; correct the list", Circle(.0))]
    Circle(Vec<Key>),
}

/// The keys of a circle, each dependent on the next. The last repeats the first.
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

fn joined(items: &[impl fmt::Display]) -> String {
    items.iter().join(", ")
}

/// The keys in a cell, separated by `;` or line breaks.
pub(super) fn names(cell: &str) -> impl Iterator<Item = Key> + '_ {
    let parts = cell.split([';', '\n', '\r']);
    parts.filter_map(|part| Key::new(part).ok())
}

/// The first circle among `count` quests, as indices, each `after` the next. The last repeats the
/// first.
pub(super) fn circle<'a>(
    count: usize,
    after: impl Fn(usize) -> &'a [QuestId],
) -> Option<Vec<usize>> {
    let mut seen = vec![Seen::Not; count];
    let mut path: Vec<(usize, usize)> = Vec::new();
    for start in 0..count {
        if seen[start] != Seen::Not {
            continue;
        }
        seen[start] = Seen::OnPath;
        path.push((start, 0));
        while let Some((at, next)) = path.last_mut() {
            let Some(before) = after(*at).get(*next).map(|id| id.index()) else {
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
                Some(Seen::OnPath) => {
                    let places = path.iter().map(|(place, _)| *place);
                    let circle = places.skip_while(|place| *place != before);
                    return Some(circle.chain(std::iter::once(before)).collect());
                }
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn places(after: &[Vec<usize>]) -> Option<Vec<usize>> {
        let id = |index: &usize| QuestId::from_index(*index).unwrap();
        let ids = |after: &Vec<usize>| after.iter().map(id).collect();
        let after: Vec<Vec<QuestId>> = after.iter().map(ids).collect();
        circle(after.len(), |place| &after[place])
    }

    fn found(after: &[Vec<usize>]) -> Option<String> {
        let keys = places(after)?.into_iter();
        let keys = keys.map(|place| Key::new(&place.to_string()).unwrap());
        Some(DependencyError::Circle(keys.collect()).to_string())
    }

    #[test]
    fn reports_a_circle_in_order() {
        assert_eq!(found(&[vec![1], vec![2], vec![]]), None);
        let told = |keys| {
            Some(format!(
                "these quests wait for each other, so none of them can come first: {keys}; correct the list"
            ))
        };
        assert_eq!(found(&[vec![], vec![0, 1]]), told("1 → 1"));
        let through = [vec![1], vec![0, 2], vec![3], vec![1]];
        assert_eq!(found(&through), told("0 → 1 → 0"));
        let behind = [vec![], vec![0, 2], vec![3], vec![1]];
        assert_eq!(found(&behind), told("1 → 2 → 3 → 1"));
    }

    #[test]
    fn handles_a_long_chain_and_shortens_a_long_circle() {
        let count = 1_000_000;
        let mut chain: Vec<_> = (1..count).map(|next| vec![next]).collect();
        chain.push(Vec::new());
        assert_eq!(found(&chain), None);
        chain[count - 1].push(0);
        let told = found(&chain).unwrap();
        assert!(told.contains("0 → 1 → 2 →"), "{told}");
        assert!(
            told.ends_with("11 → … (999988 more) → 0; correct the list"),
            "{told}"
        );
    }

    #[test]
    fn splits_keys_at_semicolons_and_line_breaks() {
        let names: Vec<_> = names(" a b;c, d\r\n;; e\n").map(String::from).collect();
        assert_eq!(names, ["a b", "c, d", "e"]);
    }

    proptest! {
        #[test]
        fn finds_every_circle_and_only_circles(
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
            let told = places(&after);
            prop_assert_eq!(told.is_some(), expected);
            let Some(places) = told else { return Ok(()) };
            prop_assert_eq!(places.first(), places.last());
            for step in places.windows(2) {
                prop_assert!(after[step[0]].contains(&step[1]), "{:?}", places);
            }
        }
    }
}
