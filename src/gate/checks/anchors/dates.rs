//! The calendar dates that a text says in full.

use std::ops::Range;
use std::sync::LazyLock;

use jiff::civil::Date;
use regex::{Captures, Regex};

/// The months as English texts have them; other languages often write them alike.
const MONTH: &str = "(?P<name>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|\
    aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)";
const NAMES: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];
const DAY: &str = r"(?P<day>\d{1,2})";
const YEAR: &str = r"(?P<year>\d{4})";

static FORMS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        format!(r"{YEAR}(?P<one>[-/.]) ?(?P<month>\d{{1,2}})(?P<two>[-/.]) ?{DAY}"),
        format!(r"{YEAR} ?[년年] ?(?P<month>\d{{1,2}}) ?[월月] ?{DAY} ?[일日]"),
        format!(r"{DAY}\. ?(?P<month>\d{{1,2}})\. ?{YEAR}"),
        format!(r"(?i){DAY}(?:st|nd|rd|th|\.)?[ -](?:of )?{MONTH}\.?,?[ -]{YEAR}"),
        format!(r"(?i)\b{MONTH}\.? {DAY}(?:st|nd|rd|th)?,? {YEAR}"),
    ]
    .iter()
    .filter_map(|form| Regex::new(form).ok())
    .collect()
});

/// The dates on a line, and the bytes at which each stands.
pub(in crate::gate::checks) fn dates_of(line: &str) -> Vec<(Range<usize>, Date)> {
    let mut all: Vec<(Range<usize>, Date)> = Vec::new();
    for form in FORMS.iter() {
        for found in form.captures_iter(line) {
            let Some(at) = found.get(0).map(|whole| whole.range()) else {
                continue;
            };
            let meets = |other: &Range<usize>| other.start < at.end && at.start < other.end;
            if !stands_alone(line, &at) || all.iter().any(|(other, _)| meets(other)) {
                continue;
            }
            all.extend(date(&found).map(|date| (at, date)));
        }
    }
    all.sort_by_key(|(at, _)| at.start);
    all
}

fn stands_alone(line: &str, at: &Range<usize>) -> bool {
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let before = line
        .get(..at.start)
        .and_then(|text| text.chars().next_back());
    let after = line.get(at.end..).and_then(|text| text.chars().next());
    !is_digit(before) && !is_digit(after)
}

fn date(found: &Captures<'_>) -> Option<Date> {
    let text = |name: &str| found.name(name).map(|it| it.as_str());
    if text("one") != text("two") {
        return None;
    }
    let month = match text("name") {
        Some(name) => {
            let name = name.get(..3)?.to_ascii_lowercase();
            let place = NAMES.iter().position(|known| *known == name)?;
            i8::try_from(place + 1).ok()?
        }
        None => text("month")?.parse().ok()?,
    };
    Date::new(
        text("year")?.parse().ok()?,
        month,
        text("day")?.parse().ok()?,
    )
    .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_dates_in_full_however_they_are_written() {
        for text in [
            "on 2026-11-02.",
            "2026/11/2",
            "(2026. 11. 2.)",
            "2026년 11월 2일에",
            "2026年11月2日",
            "am 2.11.2026",
            "2 November 2026",
            "2. November 2026",
            "the 2nd of Nov. 2026",
            "November 2, 2026",
        ] {
            let dates: Vec<_> = dates_of(text).into_iter().map(|(_, date)| date).collect();
            assert_eq!(dates, [jiff::civil::date(2026, 11, 2)], "{text}");
        }
        for text in [
            "11/02/2026",
            "2026-13-02",
            "12026-11-02",
            "2026-11/02",
            "May 2026",
        ] {
            assert_eq!(dates_of(text), [], "{text}");
        }
        assert_eq!(dates_of("2026-11-02, 3 May 2027").len(), 2);
    }
}
