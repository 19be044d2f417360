//! A curve of fewer points that looks the same.

use crate::report::picture::Remaining;

/// At most `most` of `points`, which are in order of time, the first and the last among them.
///
/// The way along the curve, time and quests counting alike, is cut into pieces of equal length; the
/// first and the last point of each stay. So nothing moves by more than one piece in either
/// direction. A rise whose own point is gone is told of at the next one that stays.
#[must_use]
pub(super) fn thinned(points: &[Remaining], most: usize) -> Vec<Remaining> {
    if points.len() <= most {
        return points.to_vec();
    }
    let ways = ways(points);
    let pieces = (most / 2).max(1) as u128;
    let whole = ways.last().map_or(1, |way| way + 1);
    let piece = |at: usize| ways.get(at).map(|way| way * pieces / whole);
    let mut kept = Vec::with_capacity(most);
    let mut grew = false;
    for (at, point) in points.iter().enumerate() {
        grew |= point.grew;
        let is_first = at == 0 || piece(at - 1) != piece(at);
        let is_last = piece(at + 1) != piece(at);
        if is_first || is_last {
            kept.push(Remaining { grew, ..*point });
            grew = false;
        }
    }
    kept
}

/// How far each point lies along the curve, in the length of a unit that all share.
fn ways(points: &[Remaining]) -> Vec<u128> {
    let steps = || points.windows(2).map(|pair| distance(pair[0], pair[1]));
    let time: u128 = steps().map(|(time, _)| time).sum();
    let quests: u128 = steps().map(|(_, quests)| quests).sum();
    let mut way = 0;
    let ways = steps().map(|(of_time, of_quests)| {
        way += of_time * quests.max(1) + of_quests * time.max(1);
        way
    });
    std::iter::once(0).chain(ways).collect()
}

/// How far two points lie apart, in milliseconds and in quests.
fn distance(one: Remaining, next: Remaining) -> (u128, u128) {
    let time = next.at.duration_since(one.at).as_millis();
    (time.unsigned_abs(), one.left.abs_diff(next.left).into())
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use proptest::prelude::*;

    use super::*;

    /// A curve of these steps: milliseconds, quests and whether they are new.
    fn curve(steps: &[(u16, u8, bool)]) -> Vec<Remaining> {
        let mut point = Remaining {
            at: Timestamp::UNIX_EPOCH,
            left: 100_000,
            grew: false,
        };
        let mut points = vec![point];
        for (time, quests, grew) in steps {
            let at = point.at.as_millisecond() + i64::from(*time);
            point.at = Timestamp::from_millisecond(at).unwrap();
            point.left = if *grew {
                point.left + u32::from(*quests)
            } else {
                point.left.saturating_sub((*quests).into())
            };
            point.grew = *grew;
            points.push(point);
        }
        points
    }

    #[test]
    fn few_points_stay_as_they_are() {
        let points = curve(&[(1, 1, false), (5, 2, true)]);
        assert_eq!(thinned(&points, 3), points);
    }

    #[test]
    fn a_pause_stays_between_the_points_around_it() {
        let mut steps = vec![(10, 1, false); 500];
        steps[250].0 = 60_000;
        let points = curve(&steps);
        let thin = thinned(&points, 40);
        assert!(thin.contains(&points[250]) && thin.contains(&points[251]));
    }

    proptest! {
        #[test]
        fn the_ends_stay_and_nothing_rises_unsaid(
            steps in proptest::collection::vec(
                (any::<u16>(), any::<u8>(), proptest::bool::weighted(0.05)), 0..300),
            most in 2..50_usize,
        ) {
            let points = curve(&steps);
            let thin = thinned(&points, most);
            prop_assert!(thin.len() <= most.max(1));
            prop_assert_eq!(thin.first(), points.first());
            let ends = thin.last().zip(points.last());
            prop_assert!(ends.is_some_and(|(thin, whole)| (thin.at, thin.left) == (whole.at, whole.left)));
            for pair in thin.windows(2) {
                prop_assert!(pair[0].at <= pair[1].at);
                prop_assert!(pair[1].grew || pair[1].left <= pair[0].left);
            }
            let grew = |points: &[Remaining]| points.iter().any(|point| point.grew);
            prop_assert_eq!(grew(&thin), grew(&points));
        }
    }
}
