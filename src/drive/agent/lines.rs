//! The lines of what comes in pieces.

/// A longer line is passed over.
const LONGEST: usize = 4 << 20;

/// What has come of a line that has not ended.
#[derive(Debug, Default)]
pub(super) struct Lines {
    line: Vec<u8>,
    too_long: bool,
}

impl Lines {
    /// Takes a piece, and hands on the lines that end in it.
    pub(super) fn take(&mut self, mut piece: &[u8], mut each: impl FnMut(&[u8])) {
        while let Some(at) = piece.iter().position(|byte| *byte == b'\n') {
            self.grow(&piece[..at]);
            self.end(&mut each);
            piece = &piece[at + 1..];
        }
        self.grow(piece);
    }

    /// Hands on the line that nothing more follows.
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
