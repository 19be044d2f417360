//! What was used up so far.

use std::time::Duration;

use super::money::Money;
use crate::session::Spent;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bill {
    pub tokens: u64,
    pub cost: Money,
    pub tokens_guessed: bool,
    pub cost_guessed: bool,
}

impl Bill {
    /// The bill of one start. `price` is the cost of a million tokens when the agent reports none.
    /// A reported cost that any program may have printed never lowers the estimate.
    #[must_use]
    pub fn of(spent: &Spent, price: Money) -> Self {
        let estimate = price.for_tokens(spent.tokens);
        let cost = match spent.cost.map(Money::billionths) {
            Some(told) if spent.told => told,
            Some(said) => said.max(estimate),
            None => estimate,
        };
        Self {
            tokens: spent.tokens,
            cost,
            tokens_guessed: !spent.told && spent.tokens > 0,
            cost_guessed: (spent.cost.is_none() || !spent.told) && spent.tokens > 0,
        }
    }

    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(other.tokens),
            cost: self.cost.and(other.cost),
            tokens_guessed: self.tokens_guessed || other.tokens_guessed,
            cost_guessed: self.cost_guessed || other.cost_guessed,
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UsedByQuest {
    pub starts: u32,
    pub bill: Bill,
    pub time: Duration,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Used {
    pub starts: u32,
    pub quests: u32,
    pub bill: Bill,
    pub time: Duration,
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRICE: Money = Money::billionths(15_000_000_000);

    fn spent(tokens: u64, cost: Option<u64>, told: bool) -> Bill {
        let spent = Spent { tokens, cost, told };
        Bill::of(&spent, PRICE)
    }

    #[test]
    fn what_was_told_is_no_guess() {
        let told = spent(1_000, Some(7), true);
        assert_eq!((told.tokens, told.cost.get()), (1_000, 7));
        assert!(!told.tokens_guessed && !told.cost_guessed);
    }

    #[test]
    fn a_price_that_was_not_told_is_estimated_and_said_to_be() {
        let untold = spent(1_000, None, true);
        assert_eq!(untold.cost, Money::billionths(15_000_000));
        assert!(!untold.tokens_guessed && untold.cost_guessed);
    }

    #[test]
    fn a_price_that_anything_may_have_told_is_no_less_than_the_estimate() {
        let [little, much] = [7, 16_000_000].map(|cost| spent(1_000, Some(cost), false));
        assert_eq!(little.cost, Money::billionths(15_000_000));
        assert_eq!(much.cost, Money::billionths(16_000_000));
        assert!(little.cost_guessed && much.cost_guessed);
    }

    #[test]
    fn one_guess_makes_the_sum_a_guess() {
        let told = spent(1_000, Some(7), true);
        let sum = told.and(spent(500, None, false)).and(told);
        assert_eq!(sum.tokens, 2_500);
        assert_eq!(sum.cost.get(), 7 + 7_500_000 + 7);
        assert!(sum.tokens_guessed && sum.cost_guessed);
        let none = Bill::default();
        assert_eq!(told.and(none).and(spent(0, None, false)), told);
    }
}
