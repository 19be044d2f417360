//! The soft budget: a drive that goes on and brings little that is new.

use super::amount::{Percent, Times, Tokens};
use crate::session::Reason;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Diminishing {
    pub share: Percent,
    pub turns: Times,
    pub new_tokens: Tokens,
}

impl Default for Diminishing {
    fn default() -> Self {
        Self {
            share: Percent::new(90),
            turns: Times::new(3),
            new_tokens: Tokens::new(500),
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Trickle {
    turns: u32,
}

impl Trickle {
    pub fn turn(&mut self, new_tokens: u64, diminishing: &Diminishing) {
        self.turns = if new_tokens < diminishing.new_tokens.get() {
            self.turns.saturating_add(1)
        } else {
            0
        };
    }

    pub fn clear(&mut self) {
        self.turns = 0;
    }

    #[must_use]
    pub fn turns(self) -> u32 {
        self.turns
    }
}

impl Diminishing {
    #[must_use]
    pub fn of(&self, tokens: u64, budget: Tokens, trickle: Trickle) -> Option<Reason> {
        let used_up = self.share.is_reached(tokens, budget.get());
        let dry = trickle.turns >= self.turns.get();
        (used_up || dry).then_some(Reason::Diminishing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUDGET: Tokens = Tokens::new(100_000);

    fn after(turns: &[u64]) -> Option<Reason> {
        let settings = Diminishing::default();
        let mut trickle = Trickle::default();
        for tokens in turns {
            trickle.turn(*tokens, &settings);
        }
        settings.of(0, BUDGET, trickle)
    }

    #[test]
    fn ends_at_nine_tenths_of_the_tokens() {
        let settings = Diminishing::default();
        let of = |tokens| settings.of(tokens, BUDGET, Trickle::default());
        assert_eq!(of(89_999), None);
        assert_eq!(of(90_000), Some(Reason::Diminishing));
    }

    #[test]
    fn ends_after_three_turns_in_a_row_that_bring_little() {
        assert_eq!(after(&[499, 0, 10]), Some(Reason::Diminishing));
        assert_eq!(after(&[499, 0]), None);
        assert_eq!(after(&[499, 0, 500]), None, "500 is not little");
        assert_eq!(after(&[1, 1, 900, 1, 1]), None, "not in a row");
    }

    #[test]
    fn a_judgement_begins_the_count_anew() {
        let settings = Diminishing::default();
        let mut trickle = Trickle::default();
        for _ in 0..3 {
            trickle.turn(1, &settings);
        }
        trickle.clear();
        assert_eq!(settings.of(0, BUDGET, trickle), None);
    }

    #[test]
    fn the_three_numbers_are_settings() {
        let settings = Diminishing {
            share: Percent::new(50),
            turns: Times::new(1),
            new_tokens: Tokens::new(10),
        };
        let mut trickle = Trickle::default();
        assert!(settings.of(50_000, BUDGET, trickle).is_some());
        trickle.turn(10, &settings);
        assert_eq!(settings.of(49_999, BUDGET, trickle), None);
        trickle.turn(9, &settings);
        assert!(settings.of(49_999, BUDGET, trickle).is_some());
    }
}
