//! One citation, as it is written, and whether a text says what it says.

use std::collections::BTreeSet;

use regex::Regex;

use super::super::standing::standing;
use crate::base::text::visible;
use crate::world::tree::TreePath;

/// A citation of a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cited {
    pub(super) path: String,
    pub(super) what: What,
}

/// What of a file is cited.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum What {
    /// The names of a test, the outermost first.
    Test(Vec<String>),
    /// Lines, and what they say.
    Lines {
        /// The first, from 1.
        first: usize,
        /// The last, no less than the first.
        last: usize,
        /// What stands there.
        quote: String,
    },
}

impl Cited {
    /// The citation that a line writes.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let line = line.trim();
        if let Some((path, names)) = line.split_once("::").filter(|it| !it.0.contains(':')) {
            // What stands in brackets is a parameter of the test.
            let names = names.split_once('[').map_or(names, |(names, _)| names);
            let names: Vec<String> = names.split("::").map(str::to_owned).collect();
            let is_name = |name: &String| !name.is_empty() && name.chars().all(is_of_name);
            return names.iter().all(is_name).then(|| Self {
                path: path.to_owned(),
                what: What::Test(names),
            });
        }
        let (head, quoted) = line.split_once('"')?;
        let quote = quoted.strip_suffix('"')?.to_owned();
        let head = head.trim_end().strip_suffix(':')?;
        let (path, lines) = head.rsplit_once(':')?;
        let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
        let (first, last) = (number(first)?, number(last)?);
        (first <= last).then(|| Self {
            path: path.to_owned(),
            what: What::Lines { first, last, quote },
        })
    }
}

impl Cited {
    /// The same in the form in which citations are told apart.
    fn plain(self) -> Self {
        let path = TreePath::parse(&self.path).map_or(self.path, |path| path.to_string());
        let what = match self.what {
            What::Lines { first, last, quote } => What::Lines {
                first,
                last,
                quote: visible(&quote),
            },
            what @ What::Test(_) => what,
        };
        Self { path, what }
    }
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// A line's number, from 1.
fn number(text: &str) -> Option<usize> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| plain && *number > 0)
}

/// How many different citations there are, by what they cite and not by how they are written.
pub(super) fn distinct(listed: &[(String, Option<String>)]) -> usize {
    let known = listed.iter().map(|item| {
        let cited = item.1.as_deref().and_then(Cited::parse);
        cited.map(Cited::plain).ok_or(item)
    });
    known.collect::<BTreeSet<_>>().len()
}

/// Whether the lines say `quote`, white space folded; of several lines it takes the first and the
/// last to say it.
pub(super) fn says(lines: &[&str], quote: &str) -> bool {
    let quote = visible(quote);
    let whole = |lines: &[&str]| {
        let text = visible(&lines.join("\n"));
        standing(&text, &quote).next().is_some()
    };
    let Some((_, but_first)) = lines.split_first() else {
        return false;
    };
    let but_last = &lines[..lines.len() - 1];
    let narrow = but_first.is_empty() || !(whole(but_first) || whole(but_last));
    whole(lines) && narrow
}

/// Whether the text defines a test of this name.
pub(super) fn says_test(text: &str, name: &str) -> bool {
    let name = regex::escape(name);
    let pattern = format!(
        r#"(?m)^\s*(?:[\w()]+\s+)*(?:def|fn|func|function|class|mod|describe)\s+{name}\b|\b(?:test|it|describe)\(\s*["'`]{name}["'`]"#
    );
    // What is put in is escaped; a name that is too long for a pattern names no test.
    Regex::new(&pattern).is_ok_and(|it| it.is_match(text))
}
