//! How much less what is long ago counts.

use jiff::{SignedDuration, Timestamp};

/// After how many days something counts half.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HalfLife(u32);

impl Default for HalfLife {
    fn default() -> Self {
        Self(30)
    }
}

impl HalfLife {
    /// So many days; one where that is none.
    #[must_use]
    pub fn of_days(days: u32) -> Self {
        Self(days.max(1))
    }

    /// How many days it is.
    #[must_use]
    pub fn days(self) -> u32 {
        self.0
    }

    /// What something of `then` counts at `now`: 1 for what is no older, and then ever less.
    #[must_use]
    pub fn weight(self, then: Timestamp, now: Timestamp) -> f64 {
        let age = now.duration_since(then).max(SignedDuration::ZERO);
        let day = SignedDuration::from_hours(24);
        0.5_f64.powf(age.as_secs_f64() / day.as_secs_f64() / f64::from(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_half_after_each_half_life() {
        let now: Timestamp = "2026-03-02T00:00:00Z".parse().unwrap();
        let weight = |then: &str| HalfLife::default().weight(then.parse().unwrap(), now);
        for (then, expected) in [
            ("2026-03-02T00:00:00Z", 1.0),
            ("2026-01-31T00:00:00Z", 0.5),
            ("2026-01-01T00:00:00Z", 0.25),
            ("2027-01-01T00:00:00Z", 1.0),
        ] {
            assert!((weight(then) - expected).abs() < 1e-9, "{then}");
        }
    }
}
