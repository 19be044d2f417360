//! How often one token may call: a bucket that holds a burst and fills at a steady rate.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::token::TokenId;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    pub per_second: f64,
    pub burst: f64,
}

#[derive(Debug, Clone, Copy)]
struct Bucket {
    calls: f64,
    since: Instant,
}

/// The buckets of the tokens that called; only valid tokens come here, so their number is bounded.
#[derive(Debug, Default)]
pub struct Buckets(BTreeMap<TokenId, Bucket>);

impl Buckets {
    /// Takes a call out of the bucket, or says how long to wait for one.
    pub fn take(&mut self, token: TokenId, rate: Rate, now: Instant) -> Result<(), Duration> {
        let full = Bucket {
            calls: rate.burst,
            since: now,
        };
        let bucket = self.0.entry(token).or_insert(full);
        let passed = now.saturating_duration_since(bucket.since);
        bucket.calls = (bucket.calls + passed.as_secs_f64() * rate.per_second).min(rate.burst);
        bucket.since = now;
        if bucket.calls < 1.0 {
            let missing = (1.0 - bucket.calls) / rate.per_second;
            return Err(Duration::from_secs_f64(missing));
        }
        bucket.calls -= 1.0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_followed_by_the_steady_rate_and_others_are_not_held_up() {
        let rate = Rate {
            per_second: 2.0,
            burst: 3.0,
        };
        let (one, two) = ("00000001".parse().unwrap(), "00000002".parse().unwrap());
        let (mut buckets, now) = (Buckets::default(), Instant::now());
        for _ in 0..3 {
            assert_eq!(buckets.take(one, rate, now), Ok(()));
        }
        let half = Duration::from_millis(500);
        assert_eq!(buckets.take(one, rate, now), Err(half));
        assert_eq!(buckets.take(two, rate, now), Ok(()));
        assert_eq!(buckets.take(one, rate, now + half), Ok(()));
        assert!(buckets.take(one, rate, now + half).is_err());
        // However long it rests, it never holds more than a burst.
        let later = now + Duration::from_hours(1);
        for _ in 0..3 {
            assert_eq!(buckets.take(one, rate, later), Ok(()));
        }
        assert!(buckets.take(one, rate, later).is_err());
    }
}
