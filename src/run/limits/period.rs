//! How long something may take.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use jiff::SignedDuration;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Period(Duration);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected a length of time such as 90s, 10m or 1h30m, at most a year")]
pub struct BadPeriod;

const LONGEST: Duration = Duration::from_secs(366 * 24 * 60 * 60);

const SHORTEST: Duration = Duration::from_millis(1);

impl Period {
    #[must_use]
    pub const fn seconds(seconds: u32) -> Self {
        let most = LONGEST.as_secs();
        let seconds = seconds as u64;
        Self(Duration::from_secs(if seconds == 0 {
            1
        } else if seconds > most {
            most
        } else {
            seconds
        }))
    }

    #[must_use]
    pub const fn duration(self) -> Duration {
        self.0
    }
}

impl FromStr for Period {
    type Err = BadPeriod;

    fn from_str(text: &str) -> Result<Self, BadPeriod> {
        let signed: SignedDuration = text.parse().map_err(|_| BadPeriod)?;
        let duration = Duration::try_from(signed).map_err(|_| BadPeriod)?;
        (SHORTEST..=LONGEST)
            .contains(&duration)
            .then_some(Self(duration))
            .ok_or(BadPeriod)
    }
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let signed = SignedDuration::try_from(self.0).unwrap_or(SignedDuration::MAX);
        write!(f, "{signed:#}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_lengths_as_people_write_them() {
        for (text, seconds) in [("90s", 90), ("10m", 600), ("1h30m", 5_400), ("8h", 28_800)] {
            assert_eq!(text.parse(), Ok(Period::seconds(seconds)), "{text}");
        }
        let short: Period = "250ms".parse().unwrap();
        assert_eq!(short.duration(), Duration::from_millis(250));
        assert_eq!(Period::seconds(600).to_string(), "10m");
    }

    #[test]
    fn refuses_what_has_no_length() {
        for bad in [
            "",
            "10",
            "0s",
            "-10m",
            "1 fortnight",
            "400d",
            "9000h",
            "1ns",
        ] {
            assert_eq!(bad.parse::<Period>(), Err(BadPeriod), "{bad}");
        }
    }
}
