//! How many: times, tokens, and shares of a budget.

use std::fmt;
use std::str::FromStr;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadAmount {
    #[error("expected a number of times, from 1")]
    Times,
    #[error("expected a number of tokens such as 100000, 100k or 2M, from 1")]
    Tokens,
    #[error("expected a share from 1% to 100%")]
    Percent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Times(u32);

impl Times {
    #[must_use]
    pub const fn new(times: u32) -> Self {
        Self(if times == 0 { 1 } else { times })
    }

    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl FromStr for Times {
    type Err = BadAmount;

    fn from_str(text: &str) -> Result<Self, BadAmount> {
        let times = text.parse().map_err(|_| BadAmount::Times)?;
        (times > 0).then_some(Self(times)).ok_or(BadAmount::Times)
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tokens(u64);

const UNITS: [(char, u64); 2] = [('k', 1_000), ('M', 1_000_000)];

impl Tokens {
    #[must_use]
    pub const fn new(tokens: u64) -> Self {
        Self(if tokens == 0 { 1 } else { tokens })
    }

    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl FromStr for Tokens {
    type Err = BadAmount;

    fn from_str(text: &str) -> Result<Self, BadAmount> {
        let mut units = UNITS.into_iter();
        let (digits, unit) = units
            .find_map(|(unit, stands_for)| Some((text.strip_suffix(unit)?, stands_for)))
            .unwrap_or((text, 1));
        let number: u64 = digits.parse().map_err(|_| BadAmount::Tokens)?;
        let tokens = number.checked_mul(unit).ok_or(BadAmount::Tokens)?;
        (tokens > 0)
            .then_some(Self(tokens))
            .ok_or(BadAmount::Tokens)
    }
}

impl fmt::Display for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Percent(u8);

impl Percent {
    #[must_use]
    pub const fn new(percent: u8) -> Self {
        Self(match percent {
            0 => 1,
            101.. => 100,
            within => within,
        })
    }

    #[must_use]
    pub const fn get(self) -> u8 {
        self.0
    }

    #[must_use]
    pub fn is_reached(self, part: u64, whole: u64) -> bool {
        u128::from(part) * 100 >= u128::from(whole) * u128::from(self.0)
    }
}

impl FromStr for Percent {
    type Err = BadAmount;

    fn from_str(text: &str) -> Result<Self, BadAmount> {
        let digits = text.strip_suffix('%').unwrap_or(text);
        match digits.trim_end().parse() {
            Ok(percent @ 1..=100) => Ok(Self(percent)),
            _ => Err(BadAmount::Percent),
        }
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} %", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_amounts_as_people_write_them() {
        assert_eq!("30".parse(), Ok(Times::new(30)));
        assert_eq!("100000".parse(), Ok(Tokens::new(100_000)));
        assert_eq!("100k".parse(), Ok(Tokens::new(100_000)));
        assert_eq!("2M".parse(), Ok(Tokens::new(2_000_000)));
        assert_eq!("80%".parse(), Ok(Percent::new(80)));
        assert_eq!("80".parse(), Ok(Percent::new(80)));
    }

    #[test]
    fn refuses_none_and_nonsense() {
        for bad in ["", "0", "-1", "1.5", "many", "99999999999"] {
            assert_eq!(bad.parse::<Times>(), Err(BadAmount::Times), "{bad}");
        }
        for bad in ["", "0", "0k", "k", "1kk", "-1", "99999999999999M"] {
            assert_eq!(bad.parse::<Tokens>(), Err(BadAmount::Tokens), "{bad}");
        }
        for bad in ["", "%", "0%", "101%", "80%%", "300"] {
            assert_eq!(bad.parse::<Percent>(), Err(BadAmount::Percent), "{bad}");
        }
    }

    #[test]
    fn a_share_is_reached_at_its_number_and_not_before() {
        let share = Percent::new(90);
        assert!(share.is_reached(90_000, 100_000));
        assert!(!share.is_reached(89_999, 100_000));
        assert!(share.is_reached(u64::MAX, u64::MAX));
    }
}
