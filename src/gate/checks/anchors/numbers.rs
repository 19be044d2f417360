//! The numbers that a text says, however it writes them.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;

use super::dates::dates_of;
use super::digits::plain_digits;
use super::readings::{Written, readings};
use crate::base::text::visible;

/// What stands for a percent sign, after a number.
const PERCENT: [&str; 12] = [
    "%",
    "percent",
    "per cent",
    "prozent",
    "procent",
    "pour cent",
    "por ciento",
    "por cento",
    "per cento",
    "procento",
    "パーセント",
    "퍼센트",
];

/// How many characters tell whether one of these stands there, and goes on as another word.
const MOST_OF_PERCENT: usize = 16;

/// All numbers of a text.
#[derive(Debug, Default)]
pub(in crate::gate::checks) struct Numbers {
    /// Each of them, in the order of the text.
    pub(in crate::gate::checks) all: Vec<Stated>,
    dates: BTreeSet<Date>,
    /// The values that any reading of a number has, dates left out.
    plain: BTreeSet<String>,
    /// The same, line by line.
    lines: BTreeMap<usize, BTreeSet<String>>,
}

/// A number of a text, or a date in full.
#[derive(Debug)]
pub(in crate::gate::checks) struct Stated {
    /// It as it is written.
    pub(in crate::gate::checks) text: String,
    /// The line, from 1.
    pub(in crate::gate::checks) line: usize,
    means: Means,
}

#[derive(Debug)]
enum Means {
    Date(Date),
    /// The values, by each of the ways of reading it.
    Values(Vec<Vec<String>>),
}

impl Numbers {
    /// The numbers of `text`.
    pub(in crate::gate::checks) fn of(text: &str) -> Self {
        let mut numbers = Self::default();
        for (line, said) in (1..).zip(text.lines()) {
            numbers.read(&plain_digits(&visible(said)), line);
        }
        numbers
    }

    fn read(&mut self, said: &str, line: usize) {
        let mut from = 0;
        for (at, date) in dates_of(said) {
            self.read_plain(&said[from..at.start], line);
            from = at.end;
            self.dates.insert(date);
            self.all.push(Stated {
                text: said[at].to_owned(),
                line,
                means: Means::Date(date),
            });
        }
        self.read_plain(&said[from..], line);
    }

    fn read_plain(&mut self, said: &str, line: usize) {
        let mut from = 0;
        while let Some(start) = said[from..].find(|c: char| c.is_ascii_digit()) {
            let start = from + start;
            let (written, end) = written(said, start);
            let is_negative = is_negative(said, start);
            let is_percent = is_percent(&said[end..]);
            let mut ways = readings(&written);
            for way in &mut ways {
                if let Some(first) = way.first_mut().filter(|_| is_negative) {
                    first.insert(0, '-');
                }
                if let Some(last) = way.last_mut().filter(|_| is_percent) {
                    last.push('%');
                }
            }
            let values = ways.iter().flatten();
            self.plain.extend(values.clone().cloned());
            let of_line = self.lines.entry(line).or_default();
            of_line.extend(values.cloned());
            let sign = if is_negative { "-" } else { "" };
            let unit = if is_percent { "%" } else { "" };
            self.all.push(Stated {
                text: format!("{sign}{}{unit}", &said[start..end]),
                line,
                means: Means::Values(ways),
            });
            from = end;
        }
    }

    /// Whether this is a date of another text that these have too, wherever they name its month.
    pub(in crate::gate::checks) fn have_date(&self, stated: &Stated) -> bool {
        matches!(&stated.means, Means::Date(date) if self.dates.contains(date))
    }

    /// The numbers that `other` has not.
    ///
    /// A date in full is there too where its year and day stand on one line: not every language's
    /// names of months are known.
    pub(in crate::gate::checks) fn not_in<'a>(
        &'a self,
        other: &'a Self,
    ) -> impl Iterator<Item = &'a Stated> {
        self.all.iter().filter(|stated| match &stated.means {
            Means::Date(date) => {
                let mut lines = other.lines.values();
                !other.dates.contains(date) && !lines.any(|line| names(line, *date))
            }
            Means::Values(ways) => !ways.iter().any(|way| {
                let is_there = |value| other.plain.contains(value);
                way.iter()
                    .all(|it| is_there(it) || self.is_of_date(it, stated.line, other))
            }),
        })
    }

    /// Whether a value is a year of the other's dates, or a day or month whose year stands with it.
    fn is_of_date(&self, value: &str, line: usize, other: &Self) -> bool {
        other.dates.iter().any(|date| {
            let year = date.year().to_string();
            let line = self.lines.get(&line);
            value == year
                || (line.is_some_and(|line| line.contains(&year))
                    && [date.month(), date.day()]
                        .iter()
                        .any(|it| it.to_string() == value))
        })
    }
}

fn names(line: &BTreeSet<String>, date: Date) -> bool {
    [date.year(), date.day().into()]
        .iter()
        .all(|value| line.contains(&value.to_string()))
}

impl Stated {
    /// Whether it is a date in full.
    pub(in crate::gate::checks) fn is_date(&self) -> bool {
        matches!(self.means, Means::Date(_))
    }
}

/// The number whose first digit stands at `start`, and where it ends.
fn written(said: &str, start: usize) -> (Written, usize) {
    let run = |from: usize| {
        let rest = &said[from..];
        let length = rest.find(|c: char| !c.is_ascii_digit());
        &rest[..length.unwrap_or(rest.len())]
    };
    let first = run(start).to_owned();
    let mut end = start + first.len();
    let mut rest: Vec<(char, String)> = Vec::new();
    while let Some(mark) = said[end..].chars().next() {
        if !matches!(mark, '.' | ',' | '\'' | ' ') {
            break;
        }
        let digits = run(end + 1);
        let before = rest.last().map_or(&first, |(_, digits)| digits);
        let is_fit = match mark {
            '.' | ',' => !digits.is_empty(),
            // Apart from one another only where thousands are.
            _ => {
                let goes_on = rest.is_empty() || before.len() == 3;
                let alike = rest.iter().all(|(other, _)| *other == mark);
                digits.len() == 3 && before.len() <= 3 && goes_on && alike
            }
        };
        if !is_fit {
            break;
        }
        end += 1 + digits.len();
        rest.push((mark, digits.to_owned()));
    }
    (Written { first, rest }, end)
}

/// Whether a minus stands before the number, and no dash of a word or a span.
fn is_negative(said: &str, start: usize) -> bool {
    let mut before = said[..start].chars().rev();
    let opens = |c: char| c.is_whitespace() || matches!(c, '(' | '[' | '"' | '“' | '„' | '=' | '|');
    before.next() == Some('-') && before.next().is_none_or(opens)
}

fn is_percent(rest: &str) -> bool {
    let rest = rest.strip_prefix([' ', '-']).unwrap_or(rest);
    let near = rest.chars().take(MOST_OF_PERCENT);
    let rest: String = near.flat_map(char::to_lowercase).collect();
    PERCENT.iter().any(|word| {
        let after = rest.strip_prefix(word);
        let is_letter = |c: char| c.is_ascii_alphabetic();
        after.is_some_and(|after| *word == "%" || !after.starts_with(is_letter))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(one: &str, other: &str) -> bool {
        let (one, other) = (Numbers::of(one), Numbers::of(other));
        assert!(!one.all.is_empty());
        one.not_in(&other).next().is_none()
    }

    #[test]
    fn one_number_is_written_in_many_ways() {
        for (one, other) in [
            ("1,000 people", "1.000 Leute"),
            ("1,000", "1 000"),
            ("1000", "1'000"),
            ("12,345,678.90", "12.345.678,9"),
            ("1,00,000", "100000"),
            ("3.5", "3,50"),
            ("1.234", "1,234"),
            ("5%", "5 Prozent"),
            ("5 per cent", "5 %"),
            ("5%", "5\u{202f}%"),
            ("-5 degrees", "\u{2212}5 Grad"),
            ("12 300 people", "12.300"),
            ("12 300 people", "12 and 300"),
            ("2026-11-22", "22. November 2026"),
            ("2026-11-22", "le 22 novembre 2026"),
            ("22 novembre 2026", "2026年11月22日"),
            ("version 1.2.3", "Version 1.2.3"),
            ("٤٢", "42"),
            ("１２", "1\u{200b}2"),
        ] {
            assert!(held(one, other), "{one} | {other}");
            assert!(held(other, one), "{other} | {one}");
        }
    }

    #[test]
    fn many_numbers_in_a_line_are_read_in_one_go() {
        // With the rest of the line read again for each of them this is hours of work.
        let numbers = Numbers::of(&"1 x ".repeat(200_000));
        assert_eq!(numbers.all.len(), 200_000);
    }

    #[test]
    fn and_another_is_another() {
        for (one, other) in [
            ("1,000", "1"),
            ("1,000", "10.000"),
            ("3.5", "35"),
            ("5%", "5"),
            ("-5", "5"),
            ("5", "-5"),
            ("0.125", "125"),
            ("12", "123"),
            ("2026-11-22", "2026-10-22"),
            ("2026-11-22", "2026-11-23"),
            ("version 1.2.3", "version 1.2.4"),
            ("1,234.56", "1234 and 56"),
            ("3 wheels", "since 2026-11-03"),
            ("2026-11-22", "22 of them\nin 2026"),
        ] {
            assert!(!held(one, other), "{one} | {other}");
        }
        let names = Numbers::of("A-17, pages 3-5");
        let texts: Vec<_> = names.all.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(texts, ["17", "3", "5"]);
    }
}
