//! How often something is looked at that costs time to look at.

use std::time::Duration;

const REST: u32 = 10;

/// The pace of looks: an interval, and longer pauses after looks that took long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    interval: Duration,
    took: Duration,
}

impl Pace {
    #[must_use]
    pub fn new(interval: Duration) -> Self {
        Self {
            interval,
            took: Duration::ZERO,
        }
    }

    pub fn note(&mut self, took: Duration) {
        self.took = took;
    }

    #[must_use]
    pub fn pause(&self) -> Duration {
        self.interval.max(self.took.saturating_mul(REST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pause_is_the_interval_or_ten_times_what_the_look_took() {
        let mut pace = Pace::new(Duration::from_millis(100));
        let mut pauses = Vec::new();
        for took in [0, 9, 10, 11, 3_000, 1] {
            pace.note(Duration::from_millis(took));
            pauses.push(pace.pause().as_millis());
        }
        assert_eq!(pauses, [100, 100, 100, 110, 30_000, 100]);
        pace.note(Duration::MAX);
        assert_eq!(pace.pause(), Duration::MAX);
    }
}
