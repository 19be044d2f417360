//! A length of time that an operator writes: `60s`, `2m`, `500ms`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

/// A length of time in whole milliseconds: 1 millisecond to 24 hours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Span(u32);

/// A text that is no such length of time.
#[derive(Debug, thiserror::Error)]
#[error("a length of time is 1 millisecond to 24 hours, written such as 500ms, 60s, 2m or 1h30m")]
pub struct BadSpan;

impl Span {
    const MOST_MILLIS: u32 = 24 * 60 * 60 * 1000;

    /// So many milliseconds.
    pub fn from_millis(millis: u32) -> Result<Self, BadSpan> {
        match millis {
            1..=Self::MOST_MILLIS => Ok(Self(millis)),
            _ => Err(BadSpan),
        }
    }

    /// Its length in milliseconds.
    #[must_use]
    pub fn millis(self) -> u32 {
        self.0
    }

    /// Its length.
    #[must_use]
    pub fn duration(self) -> Duration {
        Duration::from_millis(u64::from(self.0))
    }
}

impl FromStr for Span {
    type Err = BadSpan;

    fn from_str(text: &str) -> Result<Self, BadSpan> {
        let duration: SignedDuration = text.parse().map_err(|_| BadSpan)?;
        if duration.subsec_nanos() % 1_000_000 != 0 {
            return Err(BadSpan);
        }
        let millis = u32::try_from(duration.as_millis()).map_err(|_| BadSpan)?;
        Self::from_millis(millis)
    }
}

impl TryFrom<String> for Span {
    type Error = BadSpan;

    fn try_from(text: String) -> Result<Self, BadSpan> {
        text.parse()
    }
}

impl From<Span> for String {
    fn from(span: Span) -> Self {
        span.to_string()
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#}", SignedDuration::from_millis(i64::from(self.0)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn is_written_as_an_operator_writes_it() {
        let cases = [
            ("60s", 60_000, "1m"),
            ("2m", 120_000, "2m"),
            ("500ms", 500, "500ms"),
            ("1h30m", 5_400_000, "1h 30m"),
            ("0.5s", 500, "500ms"),
            ("24h", 86_400_000, "24h"),
        ];
        for (text, millis, shown) in cases {
            let span: Span = text.parse().expect(text);
            assert_eq!(
                (span.millis(), span.to_string().as_str()),
                (millis, shown),
                "{text}"
            );
        }
        let read: Span = serde_json::from_str("\"90s\"").expect("a span");
        assert_eq!(serde_json::to_string(&read).expect("JSON"), "\"1m 30s\"");
    }

    #[test]
    fn refuses_what_is_none() {
        for text in ["", "0s", "60", "-1s", "1us", "0.0001s", "25h", "1y", "soon"] {
            assert!(text.parse::<Span>().is_err(), "{text}");
        }
        assert!(serde_json::from_str::<Span>("60").is_err());
    }

    proptest! {
        #[test]
        fn reads_what_it_shows(millis in 1..=Span::MOST_MILLIS, text in ".{0,12}") {
            let span = Span::from_millis(millis).expect("a span");
            prop_assert_eq!(span.to_string().parse::<Span>().expect("its own text"), span);
            let _ = text.parse::<Span>();
        }
    }
}
