//! What a tool complains of, and how many tests it says that it ran.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};

/// How many complaints are kept; all are counted.
pub const MOST_KEPT: usize = 20;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Complaint {
    /// Where it is, such as `tests/test_a.py:12:5`.
    pub location: Option<String>,
    pub expected: String,
    pub actual: String,
    pub name: Option<String>,
}

impl Complaint {
    pub(super) fn test(name: &str, actual: &str) -> Self {
        Self::new("the test passes", actual).named(name)
    }

    /// A complaint of what should not be there.
    pub(super) fn rule(actual: &str) -> Self {
        Self::new("no complaint", actual)
    }

    pub(super) fn new(expected: &str, actual: &str) -> Self {
        Self {
            location: None,
            expected: brief(expected),
            actual: brief(actual),
            name: None,
        }
    }

    pub(super) fn named(self, name: &str) -> Self {
        let name = Some(brief(name)).filter(|name| !name.is_empty());
        Self { name, ..self }
    }

    pub(super) fn at(self, location: Option<&str>) -> Self {
        let location = location.map(brief).filter(|text| !text.is_empty());
        Self { location, ..self }
    }
}

/// How many tests there were.
///
/// An exit code of 0 says nothing of a runner that was told to skip everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Seen {
    pub passed: u32,
    pub failed: u32,
    pub skipped: u32,
}

impl Seen {
    pub(super) fn pass(&mut self) {
        self.passed = self.passed.saturating_add(1);
    }

    pub(super) fn fail(&mut self) {
        self.failed = self.failed.saturating_add(1);
    }

    pub(super) fn skip(&mut self) {
        self.skipped = self.skipped.saturating_add(1);
    }

    /// How many tests ran.
    #[must_use]
    pub fn ran(self) -> u32 {
        self.passed.saturating_add(self.failed)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Complaints {
    /// The first ones, at most [`MOST_KEPT`].
    pub first: Vec<Complaint>,
    /// How many there are.
    pub count: u32,
    pub seen: Option<Seen>,
}

impl Complaints {
    pub(super) fn push(&mut self, complaint: Complaint) {
        if self.first.len() < MOST_KEPT {
            self.first.push(complaint);
        }
        self.count = self.count.saturating_add(1);
    }

    pub(super) fn seeing(self, seen: Seen) -> Self {
        Self {
            seen: Some(seen),
            ..self
        }
    }
}

/// Bytes that are not what they were said to be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unread {
    #[error("no {format} in it")]
    Nothing { format: &'static str },
    #[error("the {format} is damaged: {why}")]
    Damaged {
        format: &'static str,
        /// What is wrong, with its place where that is known.
        why: String,
    },
}

impl Unread {
    pub(super) fn damaged(format: &'static str, why: &(impl ToString + ?Sized)) -> Self {
        let why = brief(&why.to_string());
        Self::Damaged { format, why }
    }
}

pub(super) const MOST_CHARS: usize = 300;

static COLOURS: LazyLock<Regex> =
    LazyLock::new(|| constant(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"));

/// The text of `bytes`: by its byte order mark, else as UTF-8, and what is neither as U+FFFD.
pub(super) fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    encoding_rs::UTF_8.decode(bytes).0
}

/// The text of `bytes` as a terminal shows it, without colours.
pub(super) fn printed(bytes: &[u8]) -> String {
    COLOURS.replace_all(&decoded(bytes), "").into_owned()
}

/// `text` on one line, its white space and control characters folded, cut after
/// [`MOST_CHARS`] characters.
pub(super) fn brief(text: &str) -> String {
    let mut line = String::new();
    let mut left = MOST_CHARS;
    let mut space = false;
    for letter in text.chars() {
        if letter.is_whitespace() || letter.is_control() {
            space = !line.is_empty();
            continue;
        }
        let needed = 1 + usize::from(space);
        if left < needed {
            line.push('…');
            break;
        }
        left -= needed;
        if space {
            line.push(' ');
            space = false;
        }
        line.push(letter);
    }
    line
}

/// The lines of `text`, without what ends them.
pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').map(|line| line.trim_end_matches('\r'))
}

pub(super) fn constant(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is a constant")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_one_short_line() {
        assert_eq!(brief("  a\r\n\tb\u{0}c  "), "a b c");
        let long = brief(&"가 ".repeat(1000));
        assert!(long.ends_with('…'), "{long}");
        assert!(long.chars().count() <= MOST_CHARS + 1, "{long}");
        assert_eq!(brief(&"x".repeat(MOST_CHARS)), "x".repeat(MOST_CHARS));
    }

    #[test]
    fn drops_colours_and_reads_byte_order_marks() {
        assert_eq!(printed(b"\x1b[1;31mFAILED\x1b[0m x"), "FAILED x");
        assert_eq!(printed(b"\x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\"), "link");
        assert_eq!(printed(b"\xff\xfea\0b\0"), "ab");
        assert_eq!(printed(b"\xef\xbb\xbf<a/>"), "<a/>");
    }
}
