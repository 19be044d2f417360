//! Time and randomness for recording changes of a session.

use std::fmt;

use jiff::{SignedDuration, Span, SpanRelativeTo, Timestamp};
use schemars::JsonSchema;

/// Randomness that keeps a redacted body from being guessed by its digest: 16 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
pub struct Salt(#[schemars(with = "String", regex(pattern = "^[0-9a-f]{32}$"))] pub [u8; 16]);

impl fmt::Display for Salt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

/// Parses a length of time such as `90s`, `1h30m`, `1d` or `2w`. A day has 24 hours.
pub fn length_of_time(text: &str) -> Option<SignedDuration> {
    let span: Span = text.trim().parse().ok()?;
    span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()
}

/// The source of time and salts, which tests replace.
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
        // Without randomness the salt is all zeros. The chain still holds, but a redacted body could
        // be guessed from its digest.
        let _ = getrandom::fill(&mut bytes);
        Salt(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_days_and_weeks_but_not_months() {
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
