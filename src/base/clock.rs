//! The time and the randomness with which changes of a session are recorded.

use std::fmt;

use jiff::{SignedDuration, Span, SpanRelativeTo, Timestamp};
use schemars::JsonSchema;

/// Randomness that keeps a redacted body from being guessed by its digest: 16 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
pub struct Salt(#[schemars(with = "String", regex(pattern = "^[0-9a-f]{32}$"))] pub [u8; 16]);

impl fmt::Display for Salt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut digits = [0; 32];
        hex::encode_to_slice(self.0, &mut digits).map_err(|_| fmt::Error)?;
        f.write_str(str::from_utf8(&digits).map_err(|_| fmt::Error)?)
    }
}

/// Reads a length of time as people write it, such as `90s`, `1h30m`, `1d` or `2w`: a day has 24 hours.
pub fn length_of_time(text: &str) -> Option<SignedDuration> {
    let span: Span = text.trim().parse().ok()?;
    span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()
}

/// Where a change takes its time and its salts from, so that tests can give both.
pub trait Clock {
    fn now(&mut self) -> Timestamp;

    fn salt(&mut self) -> Salt;
}

impl<N, S> Clock for (N, S)
where
    N: FnMut() -> Timestamp,
    S: FnMut() -> Salt,
{
    fn now(&mut self) -> Timestamp {
        (self.0)()
    }

    fn salt(&mut self) -> Salt {
        (self.1)()
    }
}

/// The machine's clock and the operating system's randomness.
#[derive(Debug)]
pub struct SystemClock;

impl SystemClock {
    pub fn time() -> Timestamp {
        let now = Timestamp::now();
        Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
    }
}

impl Clock for SystemClock {
    fn now(&mut self) -> Timestamp {
        Self::time()
    }

    fn salt(&mut self) -> Salt {
        let mut bytes = [0; 16];
        // Without randomness a salt is all zeros: the chain still holds, and only a body that is
        // redacted one day could be guessed from its digest.
        let _ = getrandom::fill(&mut bytes);
        Salt(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_of_time_may_have_days_and_weeks_and_no_months() {
        for (text, hours) in [
            ("1d", Some(24)),
            (" 2d 1h ", Some(49)),
            ("1w", Some(7 * 24)),
            ("90m", None),
            ("1mo", None),
            ("1y", None),
            ("8", None),
            ("soon", None),
            ("", None),
        ] {
            let read = length_of_time(text).filter(|it| it.as_secs() % 3600 == 0);
            assert_eq!(read, hours.map(SignedDuration::from_hours), "{text}");
        }
        assert_eq!(length_of_time("90m"), Some(SignedDuration::from_mins(90)));
    }
}
