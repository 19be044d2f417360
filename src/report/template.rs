//! Templates: the report, the page and the texts of commands are rendered from the values that
//! `--json` prints.
//!
//! All text that a template prints is escaped for its format, so text from outside cannot add markup.
//! A misspelled name in a template is an error.

use jiff::{SignedDuration, Timestamp};
use minijinja::value::{Value, ValueKind};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior};

use crate::base::text::{plural, truncate};

/// The warning in every text about a session on a recorded world.
pub const RECORDED_WORLD: &str =
    "Recorded world, not the network: the results say nothing about real sites.";

/// An environment that prints text through `escape`.
pub fn environment(escape: fn(&str) -> String) -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    // In every format, because it marks the result of macros as escaped. The formatter escapes the
    // rest.
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    environment.set_formatter(move |out, _, value| {
        let text = value.to_string();
        let plain = value.is_safe() || matches!(value.kind(), ValueKind::Number | ValueKind::Bool);
        out.write_str(&if plain { text } else { escape(&text) })?;
        Ok(())
    });
    environment.add_global("recorded_world", trusted(RECORDED_WORLD));
    environment.add_filter("number", number);
    environment.add_filter("counted", counted);
    environment.add_filter("plural", |count: u64, noun: &str| plural(count, noun));
    environment.add_filter("cut", |text: &str, most: usize| {
        truncate(text, most).into_owned()
    });
    environment.add_filter("span", span);
    environment.add_filter("short_span", short_span);
    environment.add_filter("duration", duration);
    environment.add_filter("percent", percent);
    environment.add_filter("moment", |at: &str| time(at).map(moment));
    environment.add_filter("second", |at: &str| time(at).map(second));
    environment.add_filter("whole_second", |at: &str| {
        time(at).map(|at| format!("{at:.0}"))
    });
    environment.add_filter("milliseconds", |at: &str| {
        time(at).map(Timestamp::as_millisecond)
    });
    environment
}

fn time(at: &str) -> Result<Timestamp, Error> {
    at.parse::<Timestamp>()
        .map_err(|error| Error::new(ErrorKind::InvalidOperation, error.to_string()))
}

/// Text that needs no escaping, because comail itself made it.
pub(super) fn trusted(text: impl Into<String>) -> Value {
    Value::from_safe_string(text.into())
}

const SECOND: u64 = 1000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

pub(super) fn number(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

fn counted(count: u64, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", number(count))
}

/// A time span in at most two units.
fn span(milliseconds: u64) -> String {
    let both = |large: (u64, &str), small: (u64, &str)| {
        let whole = format!("{} {}", number(milliseconds / large.0), large.1);
        match milliseconds % large.0 / small.0 {
            0 => whole,
            rest => format!("{whole} {rest} {}", small.1),
        }
    };
    match milliseconds {
        0..SECOND => format!("{milliseconds} ms"),
        SECOND..MINUTE => format!("{} s", milliseconds / SECOND),
        MINUTE..HOUR => both((MINUTE, "min"), (SECOND, "s")),
        HOUR..DAY => both((HOUR, "h"), (MINUTE, "min")),
        DAY.. => both((DAY, "d"), (HOUR, "h")),
    }
}

/// A time span in seconds for a narrow line, such as `1h 5m`.
pub fn short_span(seconds: i64) -> String {
    let seconds = seconds.max(0);
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds}s"),
        (0, 0, _) => format!("{minutes}m"),
        (0, _, _) => format!("{hours}h {}m", minutes % 60),
        _ => format!("{days}d {}h", hours % 24),
    }
}

/// A time in seconds, such as `1h 1m 1s`; below one second in milliseconds.
fn duration(milliseconds: u64) -> String {
    if milliseconds < SECOND {
        return format!("{milliseconds}ms");
    }
    let seconds = i64::try_from(milliseconds / SECOND).unwrap_or(i64::MAX);
    format!("{:#}", SignedDuration::from_secs(seconds))
}

/// The share in percent. It is 0 % or 100 % only if the part is none or all of the whole.
fn percent(part: u64, whole: u64) -> String {
    let (part, whole) = (u128::from(part), u128::from(whole.max(1)));
    match (part * 100 + whole / 2) / whole {
        0 if part > 0 => "<1 %".to_owned(),
        100 if part < whole => ">99 %".to_owned(),
        percent => format!("{percent} %"),
    }
}

fn moment(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M").to_string()
}

fn second(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_times_are_written_for_people() {
        let numbers = [0, 999, 1000, 1_234_567].map(number);
        assert_eq!(numbers, ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(counted(1, "quest"), "1 quest");
        assert_eq!(counted(1000, "quest"), "1,000 quests");
        for (milliseconds, text) in [
            (0, "0 ms"),
            (999, "999 ms"),
            (1000, "1 s"),
            (59_999, "59 s"),
            (60_000, "1 min"),
            (61_500, "1 min 1 s"),
            (HOUR, "1 h"),
            (HOUR + MINUTE, "1 h 1 min"),
            (DAY, "1 d"),
            (3 * DAY + 5 * HOUR + 1, "3 d 5 h"),
        ] {
            assert_eq!(span(milliseconds), text);
        }
        for (milliseconds, text) in [
            (0, "0ms"),
            (999, "999ms"),
            (1999, "1s"),
            (3_661_000, "1h 1m 1s"),
        ] {
            assert_eq!(duration(milliseconds), text);
        }
        let spans = [-5, 0, 59, 60, 3599, 3600, 7260, 86_399, 90_000].map(short_span);
        let expected = [
            "0s", "0s", "59s", "1m", "59m", "1h 0m", "2h 1m", "23h 59m", "1d 1h",
        ];
        assert_eq!(spans, expected);
        let at = "2026-03-01T09:05:59.5+09:00".parse().unwrap();
        assert_eq!(moment(at), "2026-03-01 00:05");
        assert_eq!(second(at), "2026-03-01 00:05:59");
    }

    #[test]
    fn a_share_is_0_or_100_percent_only_if_it_is_nothing_or_everything() {
        let shares = [(0, 0), (0, 9), (1, 1000), (1, 3), (999, 1000), (9, 9)];
        assert_eq!(
            shares.map(|(part, whole)| percent(part, whole)),
            ["0 %", "0 %", "<1 %", "33 %", ">99 %", "100 %"]
        );
    }

    #[test]
    fn a_misspelled_name_is_an_error() {
        let environment = environment(str::to_owned);
        assert!(environment.render_str("{{ other }}", ()).is_err());
        assert!(
            environment
                .render_str("{% if other %}{% endif %}", ())
                .is_err()
        );
    }
}
