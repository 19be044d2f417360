//! The end of what goes on for longer than can be kept.

use std::collections::VecDeque;

#[derive(Debug)]
pub(super) struct Tail {
    bytes: VecDeque<u8>,
    most: usize,
}

impl Tail {
    pub(super) fn new(most: usize) -> Self {
        let bytes = VecDeque::new();
        Self { bytes, most }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        let bytes = &bytes[bytes.len().saturating_sub(self.most)..];
        let over = (self.bytes.len() + bytes.len()).saturating_sub(self.most);
        self.bytes.drain(..over);
        self.bytes.extend(bytes);
    }

    pub(super) fn text(&self) -> String {
        let (front, back) = self.bytes.as_slices();
        let mut bytes = front.to_vec();
        bytes.extend_from_slice(back);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

pub(super) fn end_of(text: &str, most: usize) -> &str {
    let mut from = text.len().saturating_sub(most);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    &text[from..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_end_and_no_more() {
        let mut tail = Tail::new(4);
        for (more, kept) in [
            ("ab", "ab"),
            ("", "ab"),
            ("cde", "bcde"),
            ("0123456", "3456"),
        ] {
            tail.push(more.as_bytes());
            assert_eq!(tail.text(), kept);
        }
    }

    #[test]
    fn cuts_no_character_in_two() {
        assert_eq!(end_of("aé", 1), "");
        assert_eq!(end_of("aé", 2), "é");
        assert_eq!(end_of("aé", 9), "aé");
    }
}
