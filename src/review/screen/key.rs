//! Keys, and what each does while an item is looked at.

use crate::session::Decision;

/// A key, or what a terminal sends as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    /// A character.
    Char(char),
    /// A text that was pasted: never taken for keys.
    Paste(String),
    /// Enter.
    Enter,
    /// Escape.
    Escape,
    /// Takes the last character back.
    Backspace,
    /// Takes the whole line back.
    Clear,
    /// One line up.
    Up,
    /// One line down.
    Down,
    /// One page up.
    PageUp,
    /// One page down.
    PageDown,
    /// To the first line.
    Home,
    /// To the last line.
    End,
    /// Ctrl-C.
    Interrupt,
}

/// What a key does while an item is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    Decide(Decision),
    Open,
    Skip,
    Undo,
    Help,
    Quit,
    Scroll(Scroll),
}

/// How far the text is moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scroll {
    Up,
    Down,
    PageUp,
    PageDown,
    Top,
    Bottom,
}

impl Key {
    /// What it does while an item is looked at.
    pub(super) fn act(&self) -> Option<Act> {
        if let Some(scroll) = self.scroll() {
            return Some(Act::Scroll(scroll));
        }
        Some(match self {
            Self::Char('a') => Act::Decide(Decision::Accepted),
            Self::Char('r') => Act::Decide(Decision::Rejected),
            Self::Char('o') => Act::Open,
            Self::Char('s' | ' ') => Act::Skip,
            Self::Char('u') => Act::Undo,
            Self::Char('?') => Act::Help,
            Self::Char('q') => Act::Quit,
            _ => return None,
        })
    }

    /// How it moves the text.
    pub(super) fn scroll(&self) -> Option<Scroll> {
        Some(match self {
            Self::Up | Self::Char('k') => Scroll::Up,
            Self::Down | Self::Char('j') => Scroll::Down,
            Self::PageUp => Scroll::PageUp,
            Self::PageDown => Scroll::PageDown,
            Self::Home => Scroll::Top,
            Self::End => Scroll::Bottom,
            _ => return None,
        })
    }
}

impl Scroll {
    /// The first line that shows then, of a text that is shown from `top` at most to `last`.
    pub(super) fn from(self, top: usize, last: usize, page: usize) -> usize {
        // One line of the page before stays in sight.
        let page = page.saturating_sub(1).max(1);
        let top = top.min(last);
        let moved = match self {
            Self::Up => top.saturating_sub(1),
            Self::Down => top.saturating_add(1),
            Self::PageUp => top.saturating_sub(page),
            Self::PageDown => top.saturating_add(page),
            Self::Top => 0,
            Self::Bottom => last,
        };
        moved.min(last)
    }
}
