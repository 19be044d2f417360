//! A line of text as its words are looked for: folded, with their places.

use std::ops::Range;

use unicode_normalization::char::is_combining_mark;

use super::fold::fold_spelling;

/// A text, folded, with the places of its words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub text: String,
    pub words: Vec<Range<usize>>,
}

impl Line {
    pub fn new(text: &str) -> Self {
        let text = if text.contains(['ⓒ', '®', '™', '℗']) {
            fold_spelling(&text.replace('ⓒ', "©").replace(['®', '™', '℗'], " "))
        } else {
            fold_spelling(text)
        };
        let mut words: Vec<Range<usize>> = Vec::new();
        for (at, c) in text.char_indices() {
            if c.is_alphanumeric() || is_combining_mark(c) {
                let end = at + c.len_utf8();
                match words.last_mut() {
                    Some(last) if last.end == at => last.end = end,
                    _ => words.push(at..end),
                }
            }
        }
        Self { text, words }
    }

    pub fn word(&self, at: usize) -> &str {
        self.words
            .get(at)
            .map_or("", |range| &self.text[range.clone()])
    }

    /// The text between the words before and at `at`; before the first one, the line's beginning.
    pub fn gap(&self, at: usize) -> &str {
        let start = at.checked_sub(1).map_or(0, |before| self.words[before].end);
        let end = self
            .words
            .get(at)
            .map_or(self.text.len(), |range| range.start);
        &self.text[start..end]
    }

    pub fn has_at(&self, at: usize, row: &[String]) -> bool {
        let there = self.words.get(at..at + row.len());
        there.is_some_and(|there| {
            let mut both = there.iter().zip(row);
            both.all(|(range, word)| self.text[range.clone()] == **word)
        })
    }
}
