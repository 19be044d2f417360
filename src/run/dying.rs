//! Agents that die at their start, one after the other: ever longer pauses, and then the end.

use std::time::{Duration, Instant};

use super::plan::DyingRules;

#[derive(Debug, Clone, Copy, Default)]
pub struct Dying {
    in_a_row: u32,
    until: Option<Instant>,
}

impl Dying {
    pub fn died(&mut self, now: Instant, rules: &DyingRules) -> bool {
        self.in_a_row = self.in_a_row.saturating_add(1);
        self.until = Some(now + pause(self.in_a_row, rules));
        self.in_a_row >= rules.in_a_row
    }

    pub fn lived(&mut self) {
        *self = Self::default();
    }

    #[must_use]
    pub fn left(&self, now: Instant) -> Duration {
        let until = self.until.unwrap_or(now);
        until.saturating_duration_since(now)
    }
}

fn pause(in_a_row: u32, rules: &DyingRules) -> Duration {
    let doublings = in_a_row.saturating_sub(1).min(16);
    rules
        .first
        .saturating_mul(1 << doublings)
        .min(rules.longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: DyingRules = DyingRules {
        within: Duration::from_secs(2),
        first: Duration::from_secs(1),
        longest: Duration::from_secs(5),
        in_a_row: 5,
    };

    #[test]
    fn pauses_double_up_to_the_longest_and_the_fifth_is_too_many() {
        let now = Instant::now();
        let mut dying = Dying::default();
        let mut seen = Vec::new();
        for _ in 0..5 {
            let ends = dying.died(now, &RULES);
            seen.push((dying.left(now).as_secs(), ends));
        }
        let expected = [(1, false), (2, false), (4, false), (5, false), (5, true)];
        assert_eq!(seen, expected);
    }

    #[test]
    fn one_that_lived_begins_the_count_anew() {
        let now = Instant::now();
        let mut dying = Dying::default();
        for _ in 0..4 {
            assert!(!dying.died(now, &RULES));
        }
        dying.lived();
        assert_eq!(dying.left(now), Duration::ZERO);
        assert!(!dying.died(now, &RULES));
    }
}
