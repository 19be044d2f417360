//! An operator's own pattern for a tool that prints its own format.

use std::fmt;
use std::str::FromStr;

use regex::{Captures, Regex, RegexBuilder};
use serde::{Deserialize, Serialize};

use super::complaint::{Complaint, Complaints};
use super::text::printed;

/// The groups that a pattern may name.
const GROUPS: [&str; 7] = [
    "file", "line", "column", "message", "expected", "actual", "name",
];

/// How large a compiled pattern may be, in bytes.
const MOST_BYTES: usize = 1 << 20;

/// A regular expression whose named groups say what a match means.
///
/// The groups are `file`, `line`, `column`, `message`, `expected`, `actual` and `name`; `actual`
/// goes before `message`. Lines are told apart: `^` and `$` are a line's begin and end.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Pattern(Regex);

/// A text that is no such pattern.
#[derive(Debug, thiserror::Error)]
pub enum BadPattern {
    /// It is no regular expression.
    #[error("the pattern is no regular expression: {0}")]
    Regex(#[from] regex::Error),
    /// It has a group of another name.
    #[error("the pattern names a group {0:?}; those that there are: {known}", known = GROUPS.join(", "))]
    Group(String),
    /// It says nothing about what it finds.
    #[error("the pattern names none of the groups {known}", known = GROUPS.join(", "))]
    NoGroup,
}

impl Pattern {
    pub(super) fn read(&self, bytes: &[u8]) -> Complaints {
        let mut all = Complaints::default();
        for found in self.0.captures_iter(&printed(bytes)) {
            let whole = found.get(0).map_or("", |whole| whole.as_str());
            if !whole.trim().is_empty() {
                all.push(complaint(&found, whole));
            }
        }
        all
    }
}

fn complaint(found: &Captures<'_>, whole: &str) -> Complaint {
    let part = |name| found.name(name).map(|part| part.as_str());
    let place: Vec<&str> = ["file", "line", "column"]
        .into_iter()
        .map_while(part)
        .collect();
    let expected = part("expected").unwrap_or("no complaint");
    let actual = part("actual").or(part("message")).unwrap_or(whole);
    Complaint::new(expected, actual)
        .at(Some(&place.join(":")))
        .named(part("name").unwrap_or_default())
}

impl FromStr for Pattern {
    type Err = BadPattern;

    fn from_str(text: &str) -> Result<Self, BadPattern> {
        let regex = RegexBuilder::new(text)
            .multi_line(true)
            .size_limit(MOST_BYTES)
            .dfa_size_limit(MOST_BYTES)
            .build()?;
        let mut names = regex.capture_names().flatten().peekable();
        if names.peek().is_none() {
            return Err(BadPattern::NoGroup);
        }
        if let Some(other) = names.find(|name| !GROUPS.contains(name)) {
            return Err(BadPattern::Group(other.to_owned()));
        }
        Ok(Self(regex))
    }
}

impl TryFrom<String> for Pattern {
    type Error = BadPattern;

    fn try_from(text: String) -> Result<Self, BadPattern> {
        text.parse()
    }
}

impl From<Pattern> for String {
    fn from(pattern: Pattern) -> Self {
        pattern.0.as_str().to_owned()
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

impl Eq for Pattern {}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_by_its_groups() {
        let pattern: Pattern =
            r"^MISMATCH (?<file>\S+) line (?<line>\d+): want (?<expected>.*), got (?<actual>.*)$"
                .parse()
                .expect("a pattern");
        let all = pattern.read(b"ok\nMISMATCH a.txt line 3: want x, got y\r\nMISMATCH none\n");
        assert_eq!(all.count, 1);
        assert_eq!(all.first[0].location.as_deref(), Some("a.txt:3"));
        assert_eq!(all.first[0].expected, "x");
        assert_eq!(all.first[0].actual, "y");
    }

    #[test]
    fn says_what_is_wrong_with_a_pattern() {
        let why = |text: &str| text.parse::<Pattern>().map(drop).unwrap_err().to_string();
        assert!(why("(").starts_with("the pattern is no regular expression"));
        assert!(why("(?<rule>x)").contains("names a group \"rule\""));
        assert!(why("x(y)").contains("names none of the groups file, line"));
        assert!(why(r"(?<name>(?:\w{1000}){1000})").contains("size limit"));
    }
}
