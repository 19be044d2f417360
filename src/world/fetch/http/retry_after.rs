//! The `Retry-After` header (RFC 9110 §10.2.3).

use std::time::{Duration, SystemTime};

use jiff::fmt::rfc2822::DateTimeParser;

/// How long the server asks to be left alone, `now` being now: seconds, or a date, for which
/// the past means not at all.
pub(in crate::world) fn parse(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        // More digits than fit are still a number: longer than anyone waits.
        return Some(Duration::from_secs(value.parse().unwrap_or(u64::MAX)));
    }
    let date = DateTimeParser::new()
        .relaxed_weekday(true)
        .parse_timestamp(value)
        .ok()?;
    Some(
        SystemTime::from(date)
            .duration_since(now)
            .unwrap_or_default(),
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn seconds_and_dates_are_understood() {
        // RFC 9110 §5.6.7: Sun, 06 Nov 1994 08:49:37 GMT is 784111777.
        let date = "Sun, 06 Nov 1994 08:49:37 GMT";
        assert_eq!(parse(" 120 ", at(0)), Some(Duration::from_secs(120)));
        assert_eq!(parse(date, at(784_111_770)), Some(Duration::from_secs(7)));
        assert_eq!(parse(date, at(784_111_800)), Some(Duration::ZERO));
    }

    #[test]
    fn what_is_neither_is_not_obeyed() {
        for value in ["", "-1", "1.5", "soon", "12 s"] {
            assert_eq!(parse(value, at(0)), None, "{value:?}");
        }
    }

    #[test]
    fn a_number_beyond_all_bounds_is_the_longest_wait() {
        let wait = parse(&"9".repeat(40), at(0));
        assert_eq!(wait, Some(Duration::from_secs(u64::MAX)));
    }

    proptest! {
        #[test]
        fn no_value_makes_it_panic(value in "\\PC{0,40}") {
            let _ = parse(&value, at(0));
        }
    }
}
