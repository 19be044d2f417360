//! Money, in billionths of a US dollar.

use std::fmt;
use std::str::FromStr;

const PARTS: u64 = 1_000_000_000;

const MOST_DECIMALS: usize = 9;

const SHOWN_DECIMALS: usize = 2;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Money(u64);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected an amount of US dollars such as 2.50, more than 0")]
pub struct BadMoney;

impl Money {
    #[must_use]
    pub const fn billionths(billionths: u64) -> Self {
        Self(billionths)
    }

    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    #[must_use]
    pub fn for_tokens(self, tokens: u64) -> Self {
        let cost = u128::from(self.0) * u128::from(tokens) / 1_000_000;
        Self(u64::try_from(cost).unwrap_or(u64::MAX))
    }
}

impl FromStr for Money {
    type Err = BadMoney;

    fn from_str(text: &str) -> Result<Self, BadMoney> {
        let (whole, parts) = text.split_once('.').unwrap_or((text, "0"));
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if !digits(whole) || !digits(parts) || parts.len() > MOST_DECIMALS {
            return Err(BadMoney);
        }
        let whole: u64 = whole.parse().map_err(|_| BadMoney)?;
        let parts: u64 = format!("{parts:0<MOST_DECIMALS$}")
            .parse()
            .map_err(|_| BadMoney)?;
        let billionths = whole
            .checked_mul(PARTS)
            .and_then(|it| it.checked_add(parts));
        match billionths {
            Some(1..) => billionths.map(Self).ok_or(BadMoney),
            _ => Err(BadMoney),
        }
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{}.{:09}", self.0 / PARTS, self.0 % PARTS);
        let short = text.trim_end_matches('0').len();
        let cents = text.len() - MOST_DECIMALS + SHOWN_DECIMALS;
        f.write_str(&text[..short.max(cents)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_shows_dollars() {
        for (text, billionths) in [
            ("2.50", 2_500_000_000),
            ("0.10", 100_000_000),
            ("7.00", 7_000_000_000),
            ("0.000000001", 1),
        ] {
            let money: Money = text.parse().unwrap();
            assert_eq!(money.get(), billionths);
            assert_eq!(money.to_string(), text);
        }
        assert_eq!("7".parse(), Ok(Money::billionths(7 * PARTS)));
    }

    #[test]
    fn refuses_what_is_no_amount() {
        for bad in [
            "",
            "0",
            "0.00",
            ".5",
            "1.",
            "-1",
            "+1",
            "1,50",
            "$2",
            "1e3",
            "1.0000000001",
            "nan",
            "99999999999999999999",
            "18446744074",
        ] {
            assert_eq!(bad.parse::<Money>(), Err(BadMoney), "{bad}");
        }
    }

    #[test]
    fn a_price_is_of_a_million() {
        let price: Money = "15.00".parse().unwrap();
        assert_eq!(price.for_tokens(1_000_000), price);
        assert_eq!(price.for_tokens(100), Money::billionths(1_500_000));
        assert_eq!(price.for_tokens(u64::MAX), Money::billionths(u64::MAX));
    }
}
