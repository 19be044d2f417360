//! The share of quests that must have passed, where one is asked for.

use std::fmt;
use std::str::FromStr;

use crate::session::Tally;

/// The least share of PASSes, in hundredths of a percent.
///
/// Only what a machine proved counts: a REVIEW is none, whatever became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MinPass(u32);

/// A text that is no share.
#[derive(Debug, thiserror::Error)]
#[error("a share is 0% to 100%, written such as 80% or 99.5%; less than 1% only with its %")]
pub struct BadPercent;

const ALL: u32 = 100 * 100;

impl MinPass {
    #[must_use]
    pub fn holds(self, tally: &Tally) -> bool {
        let passed = u64::from(tally.pass) * u64::from(ALL);
        passed >= u64::from(self.0) * u64::from(tally.total())
    }
}

impl FromStr for MinPass {
    type Err = BadPercent;

    fn from_str(text: &str) -> Result<Self, BadPercent> {
        let number = text.strip_suffix('%').unwrap_or(text);
        let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if !digits(whole) || !digits(part) || whole.len() > 3 || part.len() > 2 {
            return Err(BadPercent);
        }
        let part = format!("{part:0<2}");
        let number = |text: &str| text.parse::<u32>().map_err(|_| BadPercent);
        let hundredths = number(whole)? * 100 + number(&part)?;
        // Such as 0.8, by which most people mean 80 %.
        let is_fraction = !text.ends_with('%') && (1..100).contains(&hundredths);
        (hundredths <= ALL && !is_fraction)
            .then_some(Self(hundredths))
            .ok_or(BadPercent)
    }
}

impl fmt::Display for MinPass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0 / 100, self.0 % 100) {
            (whole, 0) => write!(f, "{whole} %"),
            (whole, part) if part % 10 == 0 => write!(f, "{whole}.{} %", part / 10),
            (whole, part) => write!(f, "{whole}.{part:02} %"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_read_as_people_write_it_and_has_bounds() {
        for (text, shown) in [
            ("80%", "80 %"),
            ("80", "80 %"),
            ("99.5%", "99.5 %"),
            ("0.05%", "0.05 %"),
            ("100.00%", "100 %"),
            ("0", "0 %"),
        ] {
            assert_eq!(text.parse::<MinPass>().unwrap().to_string(), shown);
        }
        for bad in [
            "", "%", "-1", "100.01", "101%", "8e1", "1.234", ".5", "5.", "80 %", "+5", "0.8",
            "0.05",
        ] {
            assert!(bad.parse::<MinPass>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_share_is_met_exactly_and_missed_by_one() {
        let least: MinPass = "80%".parse().unwrap();
        let tally = |pass, review| Tally {
            pass,
            review,
            ..Tally::default()
        };
        assert!(least.holds(&tally(8, 2)));
        assert!(!least.holds(&tally(7, 3)));
        assert!(!least.holds(&tally(799_999_999, 200_000_001)));
        assert!(least.holds(&tally(0, 0)), "of nothing");
        let all: MinPass = "100".parse().unwrap();
        assert!(all.holds(&tally(1, 0)) && !all.holds(&tally(99_999, 1)));
    }
}
