//! The line in which a person says why.

use super::key::Key;
use crate::base::text::is_unsafe;

/// The most characters that a note takes.
const LONGEST: usize = 500;

/// What was typed so far.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Note(String);

impl Note {
    /// Takes a key in; whether it was one for the line.
    pub(super) fn press(&mut self, key: &Key) -> bool {
        match key {
            Key::Char(c) => self.push(*c),
            // What ends a line in a pasted text ends no note.
            Key::Paste(text) => text
                .chars()
                .map(|c| if c.is_whitespace() { ' ' } else { c })
                .for_each(|c| self.push(c)),
            Key::Backspace => {
                self.0.pop();
            }
            Key::Clear => self.0.clear(),
            _ => return false,
        }
        true
    }

    /// The text.
    pub(super) fn text(&self) -> &str {
        &self.0
    }

    /// The note, if it says anything.
    pub(super) fn said(&self) -> Option<&str> {
        let text = self.0.trim();
        (!text.is_empty()).then_some(text)
    }

    fn push(&mut self, c: char) {
        if !is_unsafe(c) && self.0.chars().count() < LONGEST {
            self.0.push(c);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_one_line_of_what_is_seen() {
        let mut note = Note::default();
        assert!(note.press(&Key::Char('사')));
        assert!(note.press(&Key::Paste("a\nb\u{1b}[2J\u{202e}".to_owned())));
        assert_eq!(note.text(), "사a b[2J");
        assert!(note.press(&Key::Backspace));
        assert_eq!(note.said(), Some("사a b[2"));
        assert!(note.press(&Key::Clear));
        note.press(&Key::Char(' '));
        assert_eq!(note.said(), None);
        assert!(!note.press(&Key::Up));
    }

    #[test]
    fn has_an_end() {
        let mut note = Note::default();
        note.press(&Key::Paste("한".repeat(LONGEST + 9)));
        assert_eq!(note.text().chars().count(), LONGEST);
    }
}
