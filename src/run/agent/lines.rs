//! The lines of what comes in pieces.

use std::io::BufRead as _;

const LONGEST: usize = 4 << 20;

#[derive(Debug, Default)]
pub(super) struct Lines {
    line: Vec<u8>,
    too_long: bool,
}

impl Lines {
    // Lines without a brace or a colon carry no event, so they are handed on together: an agent
    // that prints a gigabyte of progress dots must not cost a call per line.
    pub(super) fn take(&mut self, mut piece: &[u8], mut each: impl FnMut(&[u8])) {
        let telling = piece.contains(&b'{') || piece.contains(&b':');
        if !telling && piece.contains(&b'\n') {
            let last = piece.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
            let (together, rest) = piece.split_at(last);
            if let Some((line, more)) = first_line(together) {
                self.grow(line);
                self.end(&mut each);
                if !more.is_empty() {
                    each(more);
                }
                piece = rest.get(1..).unwrap_or_default();
            }
        }
        while let Some((line, more)) = first_line(piece) {
            self.grow(line);
            self.end(&mut each);
            piece = more;
        }
        self.grow(piece);
    }

    pub(super) fn end(&mut self, mut each: impl FnMut(&[u8])) {
        if !self.too_long && !self.line.is_empty() {
            each(&self.line);
        }
        self.line.clear();
        // What one long line took is not kept for the short ones.
        self.line.shrink_to(64 << 10);
        self.too_long = false;
    }

    fn grow(&mut self, piece: &[u8]) {
        self.too_long |= self.line.len() + piece.len() > LONGEST;
        if self.too_long {
            self.line.clear();
        } else {
            self.line.extend_from_slice(piece);
        }
    }
}

fn first_line(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut rest = text;
    // The library looks at many bytes at once.
    let length = rest.skip_until(b'\n').ok()?;
    Some((text[..length].strip_suffix(b"\n")?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pieces: &[&[u8]]) -> Vec<usize> {
        let (mut lines, mut lengths) = (Lines::default(), Vec::new());
        for piece in pieces {
            lines.take(piece, |line| lengths.push(line.len()));
        }
        lines.end(|line| lengths.push(line.len()));
        lengths
    }

    #[test]
    fn pieces_end_where_they_like() {
        assert_eq!(of(&[b"a\nbc", b"d\n\n", b"ef"]), [1, 3, 2]);
        assert_eq!(of(&[b"\n\n"]), [0; 0]);
    }

    #[test]
    fn lines_that_tell_nothing_come_together() {
        assert_eq!(of(&[b"a\nb\nc\nd", b"e\n"]), [1, 3, 2]);
        assert_eq!(of(&[b"{\nb\nc\n"]), [1, 1, 1]);
        assert_eq!(of(&[b"{", b"b\nc\nd\n"]), [2, 3]);
        assert_eq!(of(&[b"a\nb: c\nd\n"]), [1, 4, 1]);
    }

    #[test]
    fn a_line_that_is_too_long_is_passed_over_and_not_kept() {
        let half = vec![b'x'; LONGEST / 2 + 1];
        assert_eq!(of(&[b"a\n", &half, &half, b"b\nc"]), [1, 1]);
        assert_eq!(of(&[&half[1..], &half[1..], b"\nc"]), [LONGEST, 1]);
        let mut lines = Lines::default();
        for _ in 0..8 {
            lines.take(&half, |_| unreachable!());
        }
        assert!(lines.line.capacity() <= 2 * LONGEST);
    }
}
