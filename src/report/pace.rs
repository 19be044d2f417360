//! How fast quests are settled, and how long the rest takes at that.

use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

/// How fast quests were settled of late.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Pace {
    /// How many were settled, after the first of those that count.
    pub settled: u32,
    /// In how many seconds, from that first one until now.
    pub seconds: i64,
    /// How many that is an hour.
    pub per_hour: f64,
    /// How many seconds the rest takes at that.
    pub left_seconds: i64,
}

/// How far back is looked, the nearest first, and how many must have been settled there.
const WINDOWS: [(SignedDuration, usize); 2] = [
    (SignedDuration::from_hours(1), 3),
    (SignedDuration::from_hours(24), 2),
];

/// From when on a few quests say anything of the next ones.
const SHORTEST: SignedDuration = SignedDuration::from_secs(10);

impl Pace {
    /// The pace at `now` where quests were settled at these times, and `left` are to be.
    ///
    /// It counts until now: where nothing is settled any more, it falls. None where too few were
    /// settled of late.
    #[must_use]
    pub fn of(settled: impl Iterator<Item = Timestamp>, left: u32, now: Timestamp) -> Option<Self> {
        let ages = settled.map(|at| now.duration_since(at));
        // What is of the future was written by another clock.
        let ages: Vec<_> = ages.filter(|age| !age.is_negative()).collect();
        WINDOWS.iter().find_map(|(window, least)| {
            let of_late = ages.iter().filter(|age| *age <= window);
            let span = *of_late.clone().max()?;
            let enough = of_late.clone().count() >= *least && span >= SHORTEST;
            enough.then(|| Self::over(of_late.count() - 1, span, left))
        })
    }

    fn over(settled: usize, span: SignedDuration, left: u32) -> Self {
        let settled = u32::try_from(settled).unwrap_or(u32::MAX);
        let seconds = span.as_secs();
        let milliseconds = i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
        let each = milliseconds / i64::from(settled.max(1));
        let per_hour = f64::from(settled) * 3600.0 / span.as_secs_f64();
        Self {
            settled,
            seconds,
            per_hour: (per_hour * 100.0).round() / 100.0,
            left_seconds: each.saturating_mul(i64::from(left)) / 1000,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_000_000 + seconds).unwrap()
    }

    fn pace(settled: &[i64], left: u32, now: i64) -> Option<Pace> {
        Pace::of(settled.iter().map(|seconds| at(*seconds)), left, at(now))
    }

    #[test]
    fn counts_until_now_and_tells_how_long_the_rest_takes() {
        let expected = Pace {
            settled: 3,
            seconds: 180,
            per_hour: 60.0,
            left_seconds: 600,
        };
        assert_eq!(pace(&[0, 60, 120, 180], 10, 180), Some(expected));
        let slower = pace(&[0, 60, 120, 180], 10, 360).unwrap();
        assert_eq!(slower.left_seconds, 1200);
        assert_eq!(pace(&[0, 60, 120], 0, 120).unwrap().left_seconds, 0);
    }

    #[test]
    fn a_night_between_does_not_count_once_there_is_enough_after_it() {
        let night = 12 * 3600;
        let morning = [0, 30, night, night + 60, night + 120];
        let pace_then = pace(&morning, 1, night + 120).unwrap();
        assert_eq!((pace_then.settled, pace_then.left_seconds), (2, 60));
        // Where the last hour has too few, the last day does.
        assert_eq!(pace(&[0, 7200], 1, 7200).unwrap().left_seconds, 7200);
    }

    #[test]
    fn too_few_too_close_too_old_or_of_the_future_say_nothing() {
        assert_eq!(pace(&[], 9, 0), None);
        assert_eq!(pace(&[0], 9, 600), None);
        assert_eq!(pace(&[0, 1, 2, 3], 9, 4), None);
        assert_eq!(pace(&[0, 60, 120], 9, 3 * 24 * 3600), None);
        assert_eq!(pace(&[60, 120, 180], 9, 0), None);
    }
}
