//! Text as a reader sees it: no invisible characters, white space folded.

use crate::base::text::invisible;

/// A text that grows piece by piece and is normalised at all times.
#[derive(Debug, Clone, Default)]
pub(super) struct Run {
    text: String,
    gap: bool,
    edges: Vec<usize>,
}

impl Run {
    pub(super) fn push(&mut self, piece: &str) {
        for c in piece.chars() {
            if c.is_whitespace() {
                self.part();
            } else if !invisible(c) {
                if self.gap {
                    self.text.push(' ');
                    self.gap = false;
                }
                self.text.push(c);
            }
        }
    }

    /// Parts what comes next from what came before.
    pub(super) fn part(&mut self) {
        self.gap = !self.text.is_empty();
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    pub(super) fn edge(&mut self) {
        let here = self.text.len();
        if here > 0 && self.edges.last() != Some(&here) {
            self.edges.push(here);
        }
    }

    /// The edges of elements in what has grown so far, in bytes, in order; forgets them.
    pub(super) fn take_edges(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.edges)
    }

    pub(super) fn take(&mut self) -> String {
        self.gap = false;
        self.edges.clear();
        std::mem::take(&mut self.text)
    }
}

pub(super) fn head(text: &str, most: usize) -> &str {
    text.char_indices()
        .nth(most)
        .map_or(text, |(end, _)| &text[..end])
}

pub(super) fn boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_counts_characters() {
        assert_eq!(head("가나다", 2), "가나");
        assert_eq!(head("ab", 2), "ab");
        assert_eq!([0, 2, 3, 9].map(|at| boundary("가", at)), [0, 0, 3, 3]);
    }
}
