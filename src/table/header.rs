//! The heading row of a list: whether there is one, and which.

use std::collections::HashSet;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization as _;

use crate::base::text::single_spaced;

/// How many rows above the headings may hold a title.
const TITLE_ROWS: usize = 5;

/// Whether a list has a row of headings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum HeaderChoice {
    /// Detect it
    #[default]
    Auto,
    /// The list has one: the row that looks like headings, or else the first row with text
    Yes,
    /// Every row is data
    No,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    pub row: u32,
    /// The headings, by column; blank where a column has none.
    pub cells: Vec<String>,
}

/// Finds the heading row among the first rows of a list.
///
/// A row is one of headings if it holds a known heading word (company, website, 회사명, 会社名,
/// …) and no address; or if all columns in use have a text, no two the same, none a figure or
/// an address, while the rows below hold nothing but figures and addresses in some column.
///
/// That row is the first one that is not blank; there may be titles above it, in up to five rows
/// of one cell each. Rows above the headings are not data. With [`HeaderChoice::Yes`], if no row
/// looks like headings, it is the first that is not blank.
pub(super) fn find_header(choice: HeaderChoice, rows: &[Header]) -> Option<Header> {
    let found = match choice {
        HeaderChoice::No => None,
        HeaderChoice::Auto => detect(rows),
        HeaderChoice::Yes => detect(rows).or_else(|| rows.first()),
    };
    found.map(|first| Header {
        row: first.row,
        cells: first
            .cells
            .iter()
            .map(|cell| single_spaced(cell).into_owned())
            .collect(),
    })
}

fn detect(rows: &[Header]) -> Option<&Header> {
    for (index, first) in rows.iter().take(TITLE_ROWS + 1).enumerate() {
        let below = &rows[index + 1..];
        if has_heading_word(&first.cells) || differs_in_kind(&first.cells, below) {
            return Some(first);
        }
        let is_title = texts(&first.cells).count() == 1;
        if !is_title {
            return None;
        }
    }
    None
}

fn texts(cells: &[String]) -> impl Iterator<Item = &str> {
    cells
        .iter()
        .map(|cell| cell.trim())
        .filter(|cell| !cell.is_empty())
}

fn has_heading_word(cells: &[String]) -> bool {
    texts(cells).any(is_heading_word)
        && texts(cells).all(|cell| is_heading_word(cell) || !is_address(cell))
}

fn differs_in_kind(cells: &[String], below: &[Header]) -> bool {
    let width = below.iter().map(|row| row.cells.len()).max().unwrap_or(0);
    let used = |column: usize| {
        below
            .iter()
            .any(|row| !text_at(&row.cells, column).is_empty())
    };
    let headed = (0..width).all(|column| !used(column) || !text_at(cells, column).is_empty());
    let mut seen = HashSet::new();
    let plain =
        texts(cells).all(|cell| !is_datum(cell) && seen.insert(single_spaced(cell).into_owned()));
    headed
        && plain
        && (0..width).any(|column| {
            used(column)
                && below
                    .iter()
                    .map(|row| text_at(&row.cells, column))
                    .all(|cell| cell.is_empty() || is_datum(cell))
        })
}

fn text_at(cells: &[String], column: usize) -> &str {
    cells.get(column).map_or("", |cell| cell.trim())
}

fn is_datum(text: &str) -> bool {
    is_address(text) || is_figure(text) || is_filler(text)
}

fn is_address(text: &str) -> bool {
    let domain = || {
        let (start, end) = text.rsplit_once('.').unwrap_or_default();
        !start.is_empty()
            && end.len() >= 2
            && end.bytes().all(|byte| byte.is_ascii_alphabetic())
            && !text.contains(char::is_whitespace)
    };
    text.contains('@') || text.contains("://") || text.starts_with("www.") || domain()
}

/// A number, date, telephone number or code: at least half of its letters and digits are digits.
fn is_figure(text: &str) -> bool {
    let digits = text.chars().filter(|letter| letter.is_numeric()).count();
    let letters = text.chars().filter(|letter| letter.is_alphabetic()).count();
    digits >= letters
}

fn is_filler(text: &str) -> bool {
    matches!(
        text.to_lowercase().as_str(),
        "n/a" | "na" | "none" | "null" | "tbd" | "unknown" | "없음" | "미정" | "なし" | "不明"
    )
}

/// Common headings of company lists in several languages: one per line, in lower case, letters and
/// digits only.
const WORDS: &str = include_str!("heading_words.txt");

/// Whether `text` is a heading: a known word, or made only of known words.
///
/// Text in brackets does not count: `기업명(국문)` is `기업명`.
fn is_heading_word(text: &str) -> bool {
    let lower: String = text.nfkc().flat_map(char::to_lowercase).collect();
    let outside = match lower.split_once(['(', '[', '<']) {
        Some((before, _)) if !before.trim().is_empty() => before,
        _ => &lower,
    };
    let known = |word: &str| WORDS.lines().any(|known| known == word);
    let joined: String = outside.chars().filter(|c| c.is_alphanumeric()).collect();
    let mut words = outside
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .peekable();
    known(&joined) || (words.peek().is_some() && words.all(known))
}

#[cfg(test)]
mod tests;
