//! The time that all lookups of one submission share.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::world::{Silence, Unanswered};

/// The most that a budget is ever given, so that no setting can overflow the clock.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// A span of time that starts with the first lookup and is shared by all that follow.
#[derive(Debug)]
pub struct Budget {
    limit: Duration,
    deadline: OnceLock<Instant>,
}

impl Budget {
    /// A budget of `limit`, at most a day; it has not started yet.
    #[must_use]
    pub fn new(limit: Duration) -> Self {
        Self {
            limit: limit.min(LONGEST),
            deadline: OnceLock::new(),
        }
    }

    /// The whole span.
    #[must_use]
    pub fn limit(&self) -> Duration {
        self.limit
    }

    /// The moment at which it ends; the first call starts it.
    pub fn deadline(&self) -> Instant {
        *self.deadline.get_or_init(|| Instant::now() + self.limit)
    }

    /// What is left of it, `None` once it is used up; the first call starts it.
    pub fn left(&self) -> Option<Duration> {
        let left = self.deadline().saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }

    /// What a lookup answers that finds it used up.
    #[must_use]
    pub fn used_up(&self) -> Unanswered {
        Unanswered {
            silence: Silence::Budget,
            status: None,
            detail: format!(
                "the {} s for all lookups of one submission are used up",
                self.limit.as_secs_f64()
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_starts_with_the_first_look_at_it_and_never_moves() {
        let budget = Budget::new(Duration::from_secs(60));
        let first = budget.deadline();
        assert_eq!(budget.deadline(), first);
        assert!(budget.left().is_some_and(|left| left <= budget.limit()));
    }

    #[test]
    fn nothing_is_left_of_an_empty_budget() {
        let budget = Budget::new(Duration::ZERO);
        assert_eq!(budget.left(), None);
        assert_eq!(budget.used_up().silence, Silence::Budget);
    }

    #[test]
    fn the_longest_setting_does_not_overflow_the_clock() {
        let budget = Budget::new(Duration::MAX);
        assert!(budget.left().is_some_and(|left| left <= LONGEST));
    }
}
