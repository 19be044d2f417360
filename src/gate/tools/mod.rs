//! Reads what tools print: complaints and coverage, as plain values.
//!
//! Everything here is a function from bytes to values. What a tool prints may have been written
//! by whoever wrote the code that it ran, so every reader bounds what it keeps and none trusts a
//! total that it can count itself.

mod coverage;
mod json;
mod junit;
mod lines;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;
use schemars::JsonSchema;
use serde::Deserialize;

use super::Fact;

pub use coverage::{Coverage, LineCover, LineRuns, Lines};

/// A format that facts are read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// `JUnit`'s XML, which most test runners write.
    Junit,
    /// The Static Analysis Results Interchange Format.
    Sarif,
    /// Lines such as `file:line:column: message`.
    Lines,
    /// The JSON lines of `cargo --message-format=json`.
    Cargo,
}

impl Format {
    pub fn read(self, bytes: &[u8]) -> Result<Complaints, Unread> {
        match self {
            Self::Junit => junit::read(bytes),
            Self::Sarif => json::read_sarif(bytes),
            Self::Lines => Ok(lines::read(bytes)),
            Self::Cargo => json::read_cargo(bytes),
        }
    }

    /// Whether it tells how many tests there were.
    pub fn counts_tests(self) -> bool {
        self == Self::Junit
    }
}

/// How many complaints are kept; all are counted.
const MAX_KEPT: usize = 20;

/// What a tool complains of, and how many tests it says that it ran.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Complaints {
    /// The first ones, at most 20.
    pub first: Vec<Fact>,
    /// How many there are.
    pub count: u32,
    pub seen: Option<Seen>,
}

/// How many tests there were.
///
/// An exit code of 0 says nothing of a runner that was told to skip everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Seen {
    pub passed: u32,
    pub failed: u32,
    pub skipped: u32,
}

impl Complaints {
    fn push(&mut self, complaint: Fact) {
        if self.first.len() < MAX_KEPT {
            self.first.push(complaint);
        }
        self.count = self.count.saturating_add(1);
    }
}

/// A complaint of what has this name, at this place; each may be empty.
fn complaint(expected: &str, name: &str, actual: &str, place: &str) -> Fact {
    let (name, actual, place) = (brief(name), brief(actual), brief(place));
    let actual = if name.is_empty() {
        actual
    } else {
        format!("{name}: {actual}")
    };
    Fact {
        location: (!place.is_empty()).then(|| place.into()),
        ..Fact::wrong(brief(expected), actual)
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
    fn damaged(format: &'static str, why: &(impl ToString + ?Sized)) -> Self {
        let why = brief(&why.to_string());
        Self::Damaged { format, why }
    }
}

const MAX_CHARS: usize = 300;

static COLOURS: LazyLock<Regex> =
    LazyLock::new(|| constant(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"));

/// The text of `bytes`: by its byte order mark, else as UTF-8, and what is neither as U+FFFD.
fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    encoding_rs::UTF_8.decode(bytes).0
}

/// The text of `bytes` as a terminal shows it, without colours.
fn printed(bytes: &[u8]) -> String {
    COLOURS.replace_all(&decoded(bytes), "").into_owned()
}

/// `text` on one line, its white space and control characters folded, cut after
/// [`MAX_CHARS`] characters.
fn brief(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    let mut line = String::new();
    let mut left = MAX_CHARS;
    for word in words.filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
            left = left.saturating_sub(1);
        }
        if let Some((end, _)) = word.char_indices().nth(left) {
            line.push_str(&word[..end]);
            line.push('…');
            break;
        }
        left -= word.chars().count();
        line.push_str(word);
    }
    line
}

/// The lines of `text`, without what ends them.
fn lines_of(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').map(|line| line.trim_end_matches('\r'))
}

fn constant(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is a constant")
}
