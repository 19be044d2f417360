//! Numbers as a histogram and the marks that say most of them.

use crate::report::picture::{Bar, Marks, Spread};

/// Where the bars of times begin, in milliseconds: each some three times the one before.
pub(super) const TIMES: &[u64] = &[
    0,
    10,
    30,
    100,
    300,
    1_000,
    3_000,
    10_000,
    30_000,
    MINUTE,
    3 * MINUTE,
    10 * MINUTE,
    30 * MINUTE,
    60 * MINUTE,
    180 * MINUTE,
    720 * MINUTE,
    DAY,
    3 * DAY,
    10 * DAY,
    30 * DAY,
    100 * DAY,
];

const MINUTE: u64 = 60_000;
const DAY: u64 = 24 * 60 * MINUTE;

/// Where the bars of tries begin.
pub(super) const TRIES: &[u64] = &[
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 21, 51, 101, 201, 501, 1_001, 10_001, 100_001,
];

/// How `values` are spread over bars that begin at `edges`, which are in order, 0 first.
#[must_use]
pub(super) fn spread(mut values: Vec<u64>, edges: &[u64]) -> Spread {
    values.sort_unstable();
    let Some(marks) = marks(&values) else {
        return Spread::default();
    };
    let bar_of = |value: u64| edges.partition_point(|edge| *edge <= value) - 1;
    let bars = (bar_of(marks.least)..=bar_of(marks.most)).map(|at| {
        let (from, next) = (edges[at], edges.get(at + 1));
        let below = |edge: u64| values.partition_point(|value| *value < edge);
        let upto = next.map_or(values.len(), |next| below(*next));
        Bar {
            from,
            to: next.map_or(marks.most, |next| next - 1),
            quests: small(upto - below(from)),
        }
    });
    Spread {
        known: small(values.len()),
        marks: Some(marks),
        bars: bars.collect(),
    }
}

/// The marks of values in order; none where there are none.
fn marks(values: &[u64]) -> Option<Marks> {
    let upto = |tenths: usize| values.get((values.len() * tenths).div_ceil(10).max(1) - 1);
    Some(Marks {
        least: *values.first()?,
        median: *upto(5)?,
        ninth: *upto(9)?,
        most: *values.last()?,
    })
}

fn small(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_known_is_an_empty_spread() {
        assert_eq!(spread(Vec::new(), TIMES), Spread::default());
    }

    #[test]
    fn bars_reach_from_the_least_to_the_greatest_and_leave_no_gap() {
        let found = spread(vec![3, 1, 1, 12], TRIES);
        let bars: Vec<_> = found
            .bars
            .iter()
            .map(|it| (it.from, it.to, it.quests))
            .collect();
        assert_eq!(bars.len(), 11);
        assert_eq!(bars[..3], [(1, 1, 2), (2, 2, 0), (3, 3, 1)]);
        assert_eq!(bars[10], (11, 20, 1));
        let marks = found.marks.unwrap();
        assert_eq!(
            (marks.least, marks.median, marks.ninth, marks.most),
            (1, 1, 12, 12)
        );
    }

    #[test]
    fn the_last_bar_ends_with_the_greatest() {
        let found = spread(vec![200 * DAY, 300 * DAY], TIMES);
        assert_eq!(
            (found.bars[0].from, found.bars[0].to),
            (100 * DAY, 300 * DAY)
        );
    }

    proptest! {
        #[test]
        fn every_value_is_in_one_bar(values in proptest::collection::vec(any::<u64>(), 1..100)) {
            for edges in [TIMES, TRIES] {
                prop_assert!(edges.is_sorted_by(|one, next| one < next));
                let found = spread(values.clone(), edges);
                let counted: u32 = found.bars.iter().map(|bar| bar.quests).sum();
                prop_assert_eq!(counted as usize, values.len());
                for pair in found.bars.windows(2) {
                    prop_assert_eq!(pair[0].to + 1, pair[1].from);
                }
                let marks = found.marks.unwrap();
                prop_assert!(marks.least <= marks.median && marks.median <= marks.ninth);
                prop_assert!(marks.ninth <= marks.most);
            }
        }
    }
}
