//! A length of time, as people write it: `60s`, `2m 30s`, `500ms`.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use jiff::SignedDuration;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// A length of time in whole milliseconds, at most a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Span(u32);

/// The longest span, in milliseconds.
const LONGEST_MILLIS: u32 = 24 * 60 * 60 * 1000;

/// A text that is no length of time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected a length of time such as `60s`, `2m` or `500ms`, from 1ms to 24h")]
pub struct BadSpan;

impl Span {
    /// The span of so many milliseconds.
    #[must_use]
    pub const fn from_millis(millis: u32) -> Self {
        Self(millis)
    }

    /// How many milliseconds it is.
    #[must_use]
    pub const fn millis(self) -> u32 {
        self.0
    }

    /// The span as a duration.
    #[must_use]
    pub const fn duration(self) -> Duration {
        Duration::from_millis(self.0 as u64)
    }
}

impl FromStr for Span {
    type Err = BadSpan;

    fn from_str(text: &str) -> Result<Self, BadSpan> {
        let duration: SignedDuration = text.trim().parse().map_err(|_| BadSpan)?;
        let millis = u32::try_from(duration.as_millis()).map_err(|_| BadSpan)?;
        if millis == 0 || millis > LONGEST_MILLIS {
            return Err(BadSpan);
        }
        Ok(Self(millis))
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#}", SignedDuration::from_millis(self.0.into()))
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

impl JsonSchema for Span {
    fn schema_name() -> Cow<'static, str> {
        "Span".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "examples": ["60s", "2m", "500ms"]})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_written_as_people_write_it() {
        for (text, millis, shown) in [
            ("60s", 60_000, "1m"),
            (" 2m 30s ", 150_000, "2m 30s"),
            ("500ms", 500, "500ms"),
            ("24h", 86_400_000, "24h"),
        ] {
            let span: Span = text.parse().unwrap();
            assert_eq!(span.millis(), millis);
            assert_eq!(span.to_string(), shown);
            assert_eq!(shown.parse(), Ok(span));
        }
        for bad in ["", "0s", "60", "-1s", "25h", "soon"] {
            assert_eq!(bad.parse::<Span>(), Err(BadSpan), "{bad}");
        }
    }
}
