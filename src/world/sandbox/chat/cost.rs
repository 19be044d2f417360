//! What an answer cost.

use std::fmt;
use std::iter::Sum;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How many of them are one.
const PARTS: u64 = 1_000_000_000;

/// What something cost, in billionths of what its provider bills in: US dollars, as a rule.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Cost(u64);

impl Cost {
    /// The cost that a number means; none for what is no amount.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "an amount out of bounds is refused before"
    )]
    pub fn of(amount: f64) -> Option<Self> {
        let parts = (amount * PARTS as f64).round();
        (0.0..u64::MAX as f64)
            .contains(&parts)
            .then_some(Self(parts as u64))
    }

    /// It in billionths.
    #[must_use]
    pub fn billionths(self) -> u64 {
        self.0
    }
}

impl Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        Self(costs.fold(0, |sum, cost| sum.saturating_add(cost.0)))
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{}.{:09}", self.0 / PARTS, self.0 % PARTS);
        let short = text.trim_end_matches('0').len();
        // Cents are always shown.
        let cents = text.len() - 7;
        f.write_str(&text[..short.max(cents)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_what_was_paid() {
        let shown = |amount| Cost::of(amount).map(|cost| cost.to_string());
        assert_eq!(shown(0.000_012_5).as_deref(), Some("0.0000125"));
        assert_eq!(shown(2.0).as_deref(), Some("2.00"));
        assert_eq!(shown(0.1).as_deref(), Some("0.10"));
        assert_eq!(shown(0.0).as_deref(), Some("0.00"));
    }

    #[test]
    fn what_is_no_amount_is_no_cost() {
        for amount in [-0.1, f64::NAN, f64::INFINITY, 1e300] {
            assert_eq!(Cost::of(amount), None, "{amount}");
        }
    }

    #[test]
    fn a_sum_never_overflows() {
        let sum: Cost = [Cost(u64::MAX), Cost(1)].into_iter().sum();
        assert_eq!(sum, Cost(u64::MAX));
    }
}
