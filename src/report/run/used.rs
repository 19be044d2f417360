//! What starts of an agent used up together.

use schemars::JsonSchema;
use serde::Serialize;

use crate::session::Spent;

/// What starts of an agent used up together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Used {
    /// Tokens in and out.
    pub tokens: u64,
    /// The price in billionths of a US dollar, as far as it is known; none where it is not at all.
    pub cost: Option<u64>,
    /// Starts of which tokens or price are estimated, for the agent did not tell.
    pub estimated: u32,
    /// Starts of which no price is known: what they cost comes on top.
    pub unpriced: u32,
}

impl Used {
    /// The same and one start more.
    #[must_use]
    pub fn with(self, spent: Spent) -> Self {
        Self {
            tokens: self.tokens.saturating_add(spent.tokens),
            cost: added(self.cost, spent.cost),
            estimated: self.estimated + u32::from(!spent.told),
            unpriced: self.unpriced + u32::from(spent.cost.is_none()),
        }
    }

    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(other.tokens),
            cost: added(self.cost, other.cost),
            estimated: self.estimated.saturating_add(other.estimated),
            unpriced: self.unpriced.saturating_add(other.unpriced),
        }
    }

    /// Its tokens as people read them: with `~` where any of them are estimated.
    #[must_use]
    pub fn tokens_text(&self) -> String {
        let about = if self.estimated > 0 { "~" } else { "" };
        format!("{about}{}", self.tokens)
    }

    /// Its price as people read it: with `~` where any of it is estimated, with `+` where some of
    /// it is not known.
    #[must_use]
    pub fn cost_text(&self) -> String {
        let Some(cost) = self.cost else {
            return "?".to_owned();
        };
        let about = if self.estimated > 0 { "~" } else { "" };
        let more = if self.unpriced > 0 { "+" } else { "" };
        // Up to the next hundredth of a cent, so that nothing that cost something is shown as free.
        let hundredths = cost.div_ceil(100_000);
        let (dollars, rest) = (hundredths / 10_000, hundredths % 10_000);
        format!("{about}${dollars}.{rest:04}{more}")
    }
}

fn added(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.saturating_add(other)),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(starts: &[(u64, Option<u64>, bool)]) -> Used {
        let spent = starts.iter().map(|(tokens, cost, told)| Spent {
            tokens: *tokens,
            cost: *cost,
            told: *told,
        });
        spent.fold(Used::default(), Used::with)
    }

    #[test]
    fn what_was_told_is_shown_as_it_is() {
        let told = used(&[(10, Some(1_200_000), true), (5, Some(300_000_000), true)]);
        assert_eq!(told.tokens_text(), "15");
        assert_eq!(told.cost_text(), "$0.3012");
        assert_eq!((told.estimated, told.unpriced), (0, 0));
    }

    #[test]
    fn what_is_estimated_or_not_known_is_said_so() {
        let some = used(&[(10, Some(1), true), (5, None, false)]);
        assert_eq!(some.tokens_text(), "~15");
        assert_eq!(some.cost_text(), "~$0.0001+");
        let none = used(&[(5, None, true)]);
        assert_eq!(
            (none.tokens_text(), none.cost_text()),
            ("5".into(), "?".into())
        );
        assert_eq!(some.and(none).unpriced, 2);
    }
}
