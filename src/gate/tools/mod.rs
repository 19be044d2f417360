//! Reads what tools print: test reports and coverage, as plain values.
//!
//! Everything here is a function from bytes to values. What a tool prints may have been written
//! by the author of the code that it ran, so every reader bounds what it keeps and none trusts a
//! total that it can count itself.

mod coverage;
mod junit;
mod libtest;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use super::Fact;
use crate::base::text::truncate;

pub use coverage::{Coverage, Lines, line_runs};
pub use junit::read as read_junit;
pub use libtest::read as read_libtest;

/// How many failed tests are kept; all are counted.
const MAX_KEPT: usize = 20;

/// What a runner says of tests, counted one by one.
///
/// An exit code of 0 proves nothing if the runner was configured to skip everything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TestReport {
    /// The first failed tests, at most 20; the last of them counts for those that are not kept.
    pub facts: Vec<Fact>,
    pub passed: u32,
    pub failed: u32,
    pub skipped: u32,
}

impl TestReport {
    pub fn all(&self) -> u32 {
        let counts = [self.passed, self.failed, self.skipped];
        counts.into_iter().fold(0, u32::saturating_add)
    }

    fn push(&mut self, failure: Fact) {
        match self.facts.get_mut(MAX_KEPT - 1) {
            Some(last) => last.count = last.count.saturating_add(1),
            None => self.facts.push(failure),
        }
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
#[error("{0}")]
pub struct Unread(String);

impl Unread {
    fn nothing(format: &str) -> Self {
        Self(format!("no {format} in it"))
    }

    /// `why`: what is wrong, with its place where that is known.
    fn damaged(format: &str, why: &(impl ToString + ?Sized)) -> Self {
        Self(format!(
            "the {format} is damaged: {}",
            brief(&why.to_string())
        ))
    }
}

const MAX_CHARS: usize = 300;

/// The text of `bytes`: by its byte order mark, else as UTF-8, and what is neither as U+FFFD.
fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    encoding_rs::UTF_8.decode(bytes).0
}

/// `text` on one line, its white space and control characters folded, cut after
/// [`MAX_CHARS`] characters.
fn brief(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    truncate(&words.join(" "), MAX_CHARS).into_owned()
}

/// The lines of `text`, without what ends them.
fn lines_of(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').map(|line| line.trim_end_matches('\r'))
}
