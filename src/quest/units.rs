//! Sizes such as `1MiB` and lengths of time such as `60s` in quest files.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::base::clock::length_of_time;
use crate::base::serde_as_text;
use jiff::SignedDuration;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "WrittenSize")]
pub struct ByteSize(u64);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected a size such as `1MiB`, `64KiB` or 4096 bytes, from 1 byte to 1GiB")]
pub struct BadSize;

const UNITS: [(&str, u64); 4] = [
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("B", 1),
];

const LARGEST: u64 = 1 << 30;

impl ByteSize {
    pub const fn mebibytes(count: u16) -> Self {
        Self((count as u64) << 20)
    }

    pub const fn bytes(self) -> u64 {
        self.0
    }

    fn new(bytes: u64) -> Result<Self, BadSize> {
        match bytes {
            1..=LARGEST => Ok(Self(bytes)),
            _ => Err(BadSize),
        }
    }
}

impl FromStr for ByteSize {
    type Err = BadSize;

    fn from_str(text: &str) -> Result<Self, BadSize> {
        let text = text.trim();
        let mut units = UNITS.iter();
        let unit = units.find_map(|(name, bytes)| Some((text.strip_suffix(name)?, *bytes)));
        let (number, unit) = unit.ok_or(BadSize)?;
        let number: u64 = number.trim_end().parse().map_err(|_| BadSize)?;
        Self::new(number.checked_mul(unit).ok_or(BadSize)?)
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = UNITS
            .iter()
            .find(|(_, bytes)| self.0.is_multiple_of(*bytes));
        match whole {
            Some((name, bytes)) => write!(f, "{} {name}", self.0 / bytes),
            None => write!(f, "{} B", self.0),
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a size such as `1MiB` or 4096")]
enum WrittenSize {
    Bytes(i64),
    Text(String),
}

impl TryFrom<WrittenSize> for ByteSize {
    type Error = BadSize;

    fn try_from(written: WrittenSize) -> Result<Self, BadSize> {
        match written {
            WrittenSize::Bytes(bytes) => Self::new(u64::try_from(bytes).map_err(|_| BadSize)?),
            WrittenSize::Text(text) => text.parse(),
        }
    }
}

impl JsonSchema for ByteSize {
    fn schema_name() -> Cow<'static, str> {
        "ByteSize".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": ["string", "integer"], "examples": ["1MiB", "64KiB", 4096]})
    }
}

/// A length of time in whole milliseconds, at most a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Span(u32);

const LONGEST_MILLIS: u32 = 24 * 60 * 60 * 1000;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected a length of time such as `60s`, `2m` or `500ms`, from 1ms to 24h")]
pub struct BadSpan;

impl Span {
    pub const fn from_millis(millis: u32) -> Self {
        Self(millis)
    }

    pub const fn millis(self) -> u32 {
        self.0
    }

    pub const fn duration(self) -> Duration {
        Duration::from_millis(self.0 as u64)
    }
}

impl FromStr for Span {
    type Err = BadSpan;

    fn from_str(text: &str) -> Result<Self, BadSpan> {
        let duration = length_of_time(text).ok_or(BadSpan)?;
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

serde_as_text!(Span);

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
    fn parses_sizes_and_spans() {
        for (text, bytes, shown) in [
            (r#""1MiB""#, 1 << 20, "1 MiB"),
            (r#"" 64 KiB ""#, 65_536, "64 KiB"),
            (r#""1GiB""#, 1 << 30, "1 GiB"),
            (r#""10B""#, 10, "10 B"),
            ("4096", 4096, "4 KiB"),
            ("1025", 1025, "1025 B"),
        ] {
            let size: ByteSize = serde_json::from_str(text).unwrap();
            assert_eq!((size.bytes(), size.to_string().as_str()), (bytes, shown));
        }
        for bad in [
            "0",
            "-1",
            r#""""#,
            r#""1""#,
            r#""1MB""#,
            r#""2GiB""#,
            r#""-1B""#,
            "true",
            r#""99999999999999999999GiB""#,
            r#""18446744073709551615GiB""#,
        ] {
            assert!(serde_json::from_str::<ByteSize>(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn displays_sizes_and_spans() {
        for (text, millis, shown) in [
            ("60s", 60_000, "1m"),
            (" 2m 30s ", 150_000, "2m 30s"),
            ("500ms", 500, "500ms"),
            ("24h", 86_400_000, "24h"),
            ("1d", 86_400_000, "24h"),
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
