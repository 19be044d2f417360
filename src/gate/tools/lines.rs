//! Finds the place that a line of output names.

use std::sync::LazyLock;

use regex::Regex;

use super::{Complaints, complaint, constant, lines_of, printed};

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

pub(super) fn read(bytes: &[u8]) -> Complaints {
    let mut all = Complaints::default();
    for found in lines_of(&printed(bytes)).filter_map(Located::read) {
        // A note belongs to the complaint before it.
        if found.message.starts_with("note:") {
            continue;
        }
        all.push(complaint("no complaint", "", found.message, &found.place()));
    }
    all
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
            .map(|one| (one.location.as_deref(), one.actual.as_str()))
            .collect();
        assert_eq!(
            seen,
            [
                (Some("src/shop.py:3:80"), "E501 Line too long (93 > 79)"),
                (
                    Some("src/shop.py:7"),
                    "error: Function is missing a type annotation [no-untyped-def]"
                ),
                (
                    Some("web/a.ts:3:5"),
                    "error TS2322: Type 'string' is not assignable"
                ),
            ]
        );
        assert_eq!(all.count, 3);
        assert_eq!(all.seen, None);
    }

    #[test]
    fn keeps_the_first_and_counts_all() {
        let many = "a.py:1: x\n".repeat(500);
        let all = read(many.as_bytes());
        assert_eq!((all.first.len(), all.count), (20, 500));
    }
}
