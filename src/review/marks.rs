//! Where in a line stands what was looked for.

use std::ops::Range;

use super::excerpt::{ExcerptLine, SHORTEST};
use crate::report::picture::Piece;
use crate::world::mailbox::Mailbox;
use crate::world::mention::mentions;

/// What is marked in lines.
#[derive(Debug, Default)]
pub(super) struct Marker {
    /// Addresses, in their normal form: marked however they are spelled.
    addresses: Vec<String>,
    /// Other texts, in lower case.
    texts: Vec<String>,
    /// What is marked only in a line in which nothing else is.
    last: Option<String>,
}

impl Marker {
    /// Marks `texts` and, where none of them stands in a line that was found, `last`.
    pub(super) fn new<'a>(texts: impl Iterator<Item = &'a str>, last: &str) -> Self {
        let mut marker = Self {
            last: lowered(last),
            ..Self::default()
        };
        for text in texts {
            match Mailbox::parse(text) {
                Ok(mailbox) => marker.addresses.push(mailbox.to_string()),
                Err(_) => marker.texts.extend(lowered(text)),
            }
        }
        marker
    }

    /// The pieces of a line. One that was found and in which nothing is, as it is spelled in a way
    /// of its own, is marked as a whole.
    #[must_use]
    pub(super) fn pieces(&self, line: &ExcerptLine) -> Vec<Piece> {
        let mut ranges = self.ranges(&line.text);
        if ranges.is_empty() && line.found {
            let last = self.last.iter();
            ranges = last.flat_map(|text| places(&line.text, text)).collect();
            if ranges.is_empty() {
                ranges.push(0..line.text.len());
            }
        }
        cut(&line.text, ranges)
    }

    fn ranges(&self, line: &str) -> Vec<Range<usize>> {
        let wanted = |address: &str| self.addresses.iter().any(|it| it == address);
        let mut ranges = if self.addresses.is_empty() {
            Vec::new()
        } else {
            mentions(line, &wanted)
        };
        ranges.extend(self.texts.iter().flat_map(|text| places(line, text)));
        ranges
    }
}

/// `text` in lower case; none of one that stands everywhere.
fn lowered(text: &str) -> Option<String> {
    let text = text.trim().to_lowercase();
    (text.chars().count() >= SHORTEST).then_some(text)
}

/// Where `line` holds `lower`, whatever its case.
fn places(line: &str, lower: &str) -> Vec<Range<usize>> {
    let (mut low, mut ends) = (String::with_capacity(line.len()), Vec::new());
    // Lower case may be longer: each of its bytes is told where its letter stands.
    for (at, c) in line.char_indices() {
        low.extend(c.to_lowercase());
        ends.resize(low.len(), at..at + c.len_utf8());
    }
    let found = low.match_indices(lower);
    let range = |(at, text): (usize, &str)| {
        let (first, last) = (ends.get(at)?, ends.get(at + text.len() - 1)?);
        Some(first.start..last.end)
    };
    found.filter_map(range).collect()
}

/// `line` cut at the ends of `ranges`, which may overlap.
fn cut(line: &str, mut ranges: Vec<Range<usize>>) -> Vec<Piece> {
    ranges.sort_by_key(|range| (range.start, range.end));
    let mut pieces = Vec::new();
    let mut from = 0;
    let mut push = |range: Range<usize>, marked| {
        let text = line.get(range).unwrap_or_default().to_owned();
        if !text.is_empty() {
            pieces.push(Piece { text, marked });
        }
    };
    for range in ranges {
        let start = range.start.max(from);
        push(from..start, false);
        push(start..range.end.max(start), true);
        from = range.end.max(start);
    }
    push(from..line.len(), false);
    pieces
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The line with `[]` around what is marked.
    fn marked(texts: &[&str], line: &str, found: bool) -> String {
        let marker = Marker::new(texts.iter().copied(), "Acme");
        let line = ExcerptLine {
            text: line.to_owned(),
            found,
        };
        let pieces = marker.pieces(&line).into_iter();
        pieces
            .map(|piece| {
                if piece.marked {
                    format!("[{}]", piece.text)
                } else {
                    piece.text
                }
            })
            .collect()
    }

    #[test]
    fn an_address_is_marked_whole_or_not_at_all() {
        let texts = ["info@acme.com"];
        for (line, expected) in [
            ("Write to Info@Acme.com.", "Write to [Info@Acme.com]."),
            ("x.info@acme.com", "x.info@acme.com"),
            ("info@acme.com.au", "info@acme.com.au"),
            (
                "info@acme.com info@acme.com",
                "[info@acme.com] [info@acme.com]",
            ),
        ] {
            assert_eq!(marked(&texts, line, false), expected);
        }
    }

    #[test]
    fn other_texts_are_marked_whatever_their_case() {
        assert_eq!(
            marked(&["İstanbul"], "in İSTANBUL!", false),
            "in [İSTANBUL]!"
        );
        assert_eq!(marked(&["tanbul"], "in İSTANBUL!", false), "in İS[TANBUL]!");
        assert_eq!(marked(&["abc", "bcd"], "xABCDx", false), "x[ABC][D]x");
        assert_eq!(marked(&["ab"], "abab", false), "abab", "too short");
    }

    #[test]
    fn a_line_that_was_found_has_something_marked() {
        let texts = ["info@acme.com"];
        assert_eq!(marked(&texts, "by Acme", true), "by [Acme]");
        assert_eq!(
            marked(&texts, "by ACME, info@acme.com", true),
            "by ACME, [info@acme.com]"
        );
        assert_eq!(marked(&texts, "mail us", true), "[mail us]");
        assert_eq!(marked(&texts, "by Acme", false), "by Acme");
    }

    proptest! {
        #[test]
        fn nothing_of_a_line_is_lost(line in ".{0,40}", one in ".{0,6}", two in "[a-cİß]{0,4}") {
            let marker = Marker::new([one.as_str(), two.as_str()].into_iter(), "x");
            let whole = ExcerptLine { text: line.clone(), found: true };
            let pieces = marker.pieces(&whole).into_iter().map(|it| it.text);
            prop_assert_eq!(pieces.collect::<String>(), line);
        }
    }
}
