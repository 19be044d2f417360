//! Numbers, times and spans as people read them.

use jiff::Timestamp;

const SECOND: u64 = 1000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// The number with a comma between thousands.
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

/// `1 quest`, `2 quests`.
pub(super) fn counted(count: u64, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", number(count))
}

/// How long these milliseconds are, in at most two units.
pub(super) fn span(milliseconds: u64) -> String {
    match milliseconds {
        0..SECOND => format!("{milliseconds} ms"),
        SECOND..MINUTE => format!("{} s", milliseconds / SECOND),
        MINUTE..HOUR => both(milliseconds, (MINUTE, "min"), (SECOND, "s")),
        HOUR..DAY => both(milliseconds, (HOUR, "h"), (MINUTE, "min")),
        DAY.. => both(milliseconds, (DAY, "d"), (HOUR, "h")),
    }
}

fn both(milliseconds: u64, large: (u64, &str), small: (u64, &str)) -> String {
    let whole = format!("{} {}", number(milliseconds / large.0), large.1);
    match milliseconds % large.0 / small.0 {
        0 => whole,
        rest => format!("{whole} {rest} {}", small.1),
    }
}

/// How much of the whole a part is, in percent; never 0 % of what is there, nor 100 % of less
/// than all.
pub(super) fn percent(part: u64, whole: u64) -> String {
    let (part, whole) = (u128::from(part), u128::from(whole.max(1)));
    match (part * 100 + whole / 2) / whole {
        0 if part > 0 => "<1 %".to_owned(),
        100 if part < whole => ">99 %".to_owned(),
        percent => format!("{percent} %"),
    }
}

/// The time to the minute, in UTC.
pub(super) fn moment(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M").to_string()
}

/// The time to the second, in UTC.
pub(super) fn second(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        let texts = [0, 999, 1000, 1_234_567].map(number);
        assert_eq!(texts, ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(counted(1, "quest"), "1 quest");
        assert_eq!(counted(1000, "quest"), "1,000 quests");
    }

    #[test]
    fn spans_have_two_units_at_most() {
        let spans = [
            0,
            999,
            1000,
            59_999,
            60_000,
            61_500,
            HOUR,
            HOUR + MINUTE,
            DAY,
            3 * DAY + 5 * HOUR + 1,
        ];
        assert_eq!(
            spans.map(span),
            [
                "0 ms",
                "999 ms",
                "1 s",
                "59 s",
                "1 min",
                "1 min 1 s",
                "1 h",
                "1 h 1 min",
                "1 d",
                "3 d 5 h"
            ]
        );
    }

    #[test]
    fn a_share_is_neither_none_nor_all_unless_it_is() {
        let shares = [(0, 0), (0, 9), (1, 1000), (1, 3), (999, 1000), (9, 9)];
        assert_eq!(
            shares.map(|(part, whole)| percent(part, whole)),
            ["0 %", "0 %", "<1 %", "33 %", ">99 %", "100 %"]
        );
    }

    #[test]
    fn times_are_told_in_utc() {
        let at = "2026-03-01T09:05:59.5+09:00".parse().unwrap();
        assert_eq!(moment(at), "2026-03-01 00:05");
        assert_eq!(second(at), "2026-03-01 00:05:59");
    }
}
