//! Fact the place that a line of output names.

use std::str::FromStr;
use std::sync::LazyLock;

use regex::{Captures, Regex, RegexBuilder};

use super::{Complaints, complaint, constant, lines_of, printed};
use crate::gate::Fact;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Located<'a> {
    file: &'a str,
    line: &'a str,
    column: Option<&'a str>,
    pub message: &'a str,
}

/// `file:line[:column]: message`, or `file(line,column): message`.
static LINE: LazyLock<Regex> = LazyLock::new(|| {
    constant(
        r"(?x)^\s*(?<file>[^:()\s](?:[^:(]*[^:(\s])?)
        (?: : (?<line>[0-9]{1,9}) (?: [:.] (?<column>[0-9]{1,9}) )? (?:-[0-9:.]+)?
          | \( (?<l>[0-9]{1,9}) (?: , \s* (?<c>[0-9]{1,9}) )? (?:,[0-9,\s]+)? \) )
        \s* : (?: \s+ (?<message>.*) )? $",
    )
});

/// A path may hold spaces only where it ends like a file's name.
static SUFFIXED: LazyLock<Regex> = LazyLock::new(|| constant(r"\.[A-Za-z][A-Za-z0-9_+-]{0,9}$"));

impl<'a> Located<'a> {
    pub(super) fn read(line: &'a str) -> Option<Self> {
        let found = LINE.captures(line)?;
        let part = |name: &str| found.name(name).map(|part| part.as_str());
        let file = part("file")?;
        let spaced = file.contains(char::is_whitespace);
        let is_path = file.contains(char::is_alphabetic) && (!spaced || SUFFIXED.is_match(file));
        is_path.then_some(Self {
            file,
            line: part("line").or(part("l"))?,
            column: part("column").or(part("c")),
            message: part("message").unwrap_or_default().trim(),
        })
    }

    /// Looks for the place that a trace names: the first that is not of some absolute path, else
    /// the first of all.
    pub(super) fn in_trace(text: &'a str) -> Option<Self> {
        let mut absolute = None;
        for found in lines_of(text).filter_map(Self::read) {
            if !found.file.starts_with('/') {
                return Some(found);
            }
            absolute.get_or_insert(found);
        }
        absolute
    }

    /// The place alone, such as `src/a.py:12:5`.
    pub(super) fn place(&self) -> String {
        match self.column {
            Some(column) => format!("{}:{}:{column}", self.file, self.line),
            None => format!("{}:{}", self.file, self.line),
        }
    }
}

/// The rule that a message names: before it (`E501 …`, `error TS2322: …`) or after it
/// (`… [no-untyped-def]`).
static RULE: LazyLock<Regex> = LazyLock::new(|| {
    constant(
        r"(?x)^(?:(?:fatal\ )?error\ |warning\ )?(?<before>[A-Z]{1,5}[0-9]{1,5})\b
        | [\[(] (?: (?:error|warning)/ )? (?<after>[A-Za-z@][\w@/.-]*) [\])] $",
    )
});

pub(super) fn read(bytes: &[u8]) -> Complaints {
    let mut all = Complaints::default();
    for found in lines_of(&printed(bytes)).filter_map(Located::read) {
        // A note belongs to the complaint before it.
        if found.message.starts_with("note:") {
            continue;
        }
        let rule = RULE.captures(found.message);
        let rule = rule.and_then(|rule| rule.name("before").or(rule.name("after")));
        let rule = rule.map_or("", |rule| rule.as_str());
        all.push(complaint(
            "no complaint",
            rule,
            found.message,
            &found.place(),
        ));
    }
    all
}

const GROUPS: [&str; 7] = [
    "file", "line", "column", "message", "expected", "actual", "name",
];

const MAX_BYTES: usize = 1 << 20;

/// A regular expression whose named groups say what a match means.
///
/// The groups are `file`, `line`, `column`, `message`, `expected`, `actual` and `name`; `actual`
/// goes before `message`. Lines are told apart: `^` and `$` are a line's begin and end.
#[derive(Debug, Clone)]
pub struct Pattern(Regex);

#[derive(Debug, thiserror::Error)]
pub enum BadPattern {
    #[error("the pattern is no regular expression: {0}")]
    Regex(#[from] regex::Error),
    #[error("the pattern names a group {0:?}; those that there are: {known}", known = GROUPS.join(", "))]
    Group(String),
    #[error("the pattern names none of the groups {known}", known = GROUPS.join(", "))]
    NoGroup,
}

impl Pattern {
    pub(super) fn read(&self, bytes: &[u8]) -> Complaints {
        let mut all = Complaints::default();
        for found in self.0.captures_iter(&printed(bytes)) {
            let whole = found.get(0).map_or("", |whole| whole.as_str());
            if !whole.trim().is_empty() {
                all.push(matched(&found, whole));
            }
        }
        all
    }
}

fn matched(found: &Captures<'_>, whole: &str) -> Fact {
    let part = |name| found.name(name).map(|part| part.as_str());
    let place = ["file", "line", "column"].into_iter().map_while(part);
    let place: Vec<&str> = place.collect();
    let expected = part("expected").unwrap_or("no complaint");
    let actual = part("actual").or(part("message")).unwrap_or(whole);
    let name = part("name").unwrap_or_default();
    complaint(expected, name, actual, &place.join(":"))
}

impl FromStr for Pattern {
    type Err = BadPattern;

    fn from_str(text: &str) -> Result<Self, BadPattern> {
        let regex = RegexBuilder::new(text)
            .multi_line(true)
            .size_limit(MAX_BYTES)
            .dfa_size_limit(MAX_BYTES)
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

#[cfg(test)]
mod located {
    use super::*;

    fn read(line: &str) -> Option<(String, &str)> {
        Located::read(line).map(|found| (found.place(), found.message))
    }

    #[test]
    fn reads_what_tools_write() {
        let cases = [
            ("a.py:1:5: F401 unused", "a.py:1:5", "F401 unused"),
            ("src/my file.c:3: error: x", "src/my file.c:3", "error: x"),
            (
                "src/a.ts(3,5): error TS1: x",
                "src/a.ts:3:5",
                "error TS1: x",
            ),
            (
                "tests/test_a.py:8: ValueError",
                "tests/test_a.py:8",
                "ValueError",
            ),
            ("    x_test.go:12: got 3", "x_test.go:12", "got 3"),
            ("Makefile:3:", "Makefile:3", ""),
        ];
        for (line, place, message) in cases {
            assert_eq!(read(line), Some((place.to_owned(), message)), "{line}");
        }
    }

    #[test]
    fn reads_no_times_and_no_addresses() {
        for line in [
            "12:30:45: started",
            "INFO 12:30:45: started",
            "http://localhost:80: refused",
            "Error: found 3 problems",
            "a.py",
            "",
        ] {
            assert_eq!(read(line), None, "{line}");
        }
    }

    #[test]
    fn prefers_a_place_in_the_tree() {
        let trace = "/usr/lib/importlib.py:126: in f\ntests/test_b.py:1: in <module>\n";
        let found = Located::in_trace(trace).map(|found| found.place());
        assert_eq!(found.as_deref(), Some("tests/test_b.py:1"));
    }
}

#[cfg(test)]
mod line_list {
    use super::*;

    #[test]
    fn finds_the_complaints_among_other_lines() {
        let printed = b"Checking 3 files\n\
            src/shop.py:3:80: E501 Line too long (93 > 79)\n\
            src/shop.py:7: error: Function is missing a type annotation  [no-untyped-def]\n\
            src/shop.py:7: note: Use \"-> None\" if it returns nothing\n\
            web/a.ts(3,5): error TS2322: Type 'string' is not assignable\r\n\
            Found 3 errors\n";
        let all = read(printed);
        let seen: Vec<_> = all
            .first
            .iter()
            .map(|one| {
                let (name, _) = one.actual.split_once(": ").unwrap_or_default();
                (one.location.as_deref(), Some(name))
            })
            .collect();
        assert_eq!(
            seen,
            [
                (Some("src/shop.py:3:80"), Some("E501")),
                (Some("src/shop.py:7"), Some("no-untyped-def")),
                (Some("web/a.ts:3:5"), Some("TS2322")),
            ]
        );
        assert_eq!(all.count, 3);
        assert_eq!(all.seen, None);
        assert_eq!(all.first[0].actual, "E501: E501 Line too long (93 > 79)");
    }

    #[test]
    fn keeps_the_first_and_counts_all() {
        let many = "a.py:1: x\n".repeat(500);
        let all = read(many.as_bytes());
        assert_eq!((all.first.len(), all.count), (20, 500));
    }
}

#[cfg(test)]
mod pattern {
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
