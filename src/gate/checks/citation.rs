//! `citation`: what is cited is in the tree as it was at the scan, and says what is quoted.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use regex::Regex;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::context::Context;
use super::fields::shown;
use super::json::{Pointer, json_of};
use super::kind::{Flaw, Probe, Shows, Source, Spec, first_facts};
use super::subject::{State, Subject, Text, file_text, standing};
use crate::base::text::visible;
use crate::gate::{Cost, Fact};
use crate::world::tree::TreePath;

/// `kind = "citation"`.
///
/// A citation is one line: `src/a.rs:12: "fn main"` for a line, `src/a.rs:12-14: "…"` for a text
/// that goes over lines, or `tests/test_a.py::test_adds` for a test.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CitationSpec {
    /// The field that holds the citations, one a line.
    field: Option<String>,
    /// In its place: the path of the file that holds them, as a template.
    path: Option<String>,
    /// Where they stand if the text is JSON, by RFC 6901; `*` stands for every item or member.
    /// Each is one string.
    pointer: Option<String>,
    /// The fewest citations; one that is repeated counts once.
    #[serde(default = "one")]
    min: usize,
    /// The fewest visible characters that a quotation has.
    #[serde(default = "three")]
    min_chars: usize,
    /// The most lines that one citation names.
    #[serde(default = "fifty")]
    max_lines: usize,
}

fn one() -> usize {
    1
}

fn three() -> usize {
    3
}

fn fifty() -> usize {
    50
}

#[derive(Debug)]
struct Citation {
    subject: Subject,
    pointer: Option<Pointer>,
    min: usize,
    min_chars: usize,
    max_lines: usize,
}

impl Spec for CitationSpec {
    const KIND: &'static str = "citation";
    const SHOWS: Shows = Shows::Fact;

    fn build(self, source: &Source<'_>) -> Result<Box<dyn Probe>, Flaw> {
        if source.file.tree.is_none() {
            return Err(Flaw::new("field", "files are cited of a tree: say [tree]"));
        }
        let pointer = self.pointer.as_deref();
        let pointer = pointer.map(|text| Pointer::parse("pointer", text));
        Ok(Box::new(Citation {
            subject: Subject::new(source, self.field.as_deref(), self.path.as_deref())?,
            pointer: pointer.transpose()?,
            min: self.min,
            min_chars: self.min_chars,
            max_lines: self.max_lines,
        }))
    }
}

impl Citation {
    /// The citations of a text: where each stands in it, and its text.
    fn listed(&self, text: &Text) -> Result<Vec<(String, Option<String>)>, Fact> {
        let Some(pointer) = &self.pointer else {
            let lines = text.said.lines().enumerate();
            let said = lines.filter(|(_, line)| !line.trim().is_empty());
            let placed = said.map(|(at, line)| ((at + 1).to_string(), Some(line.to_owned())));
            return Ok(placed.collect());
        };
        let value = json_of(text)?;
        let found = pointer.find(&value).into_iter();
        let string = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        Ok(found.map(|at| (at.place, string(at.value))).collect())
    }

    fn misfit(&self, context: &Context<'_>, citation: &str) -> Result<(), Fact> {
        if let Some(cited) = Cited::parse(citation) {
            self.misfit_of_file(context, &cited.path, &cited.what)
        } else {
            let expected = "a citation such as `src/a.rs:12: \"fn main\"` or \
                            `tests/a.py::test_x`";
            Err(Fact::wrong(expected, shown(citation)))
        }
    }

    fn misfit_of_file(&self, context: &Context<'_>, path: &str, what: &What) -> Result<(), Fact> {
        let path = TreePath::parse(path)
            .map_err(|bad| Fact::wrong("a path inside the tree", bad.to_string()))?;
        let text = file_text(context, &path, State::Pinned)?.said;
        let (first, last, quote) = match what {
            What::Lines { first, last, quote } => (first, *last, quote),
            What::Test(names) => {
                let missing = names.iter().find(|name| !says_test(&text, name));
                return missing.map_or(Ok(()), |name| {
                    let detail = Fact::wrong(format!("a test {name}"), "none of that name");
                    Err(detail.at(path.as_str()))
                });
            }
        };
        let place = format!("{path}:{first}");
        let wrong =
            |expected: String, actual: String| Err(Fact::wrong(expected, actual).at(&*place));
        if last - first >= self.max_lines {
            let expected = format!("at most {} lines", self.max_lines);
            return wrong(expected, format!("{} lines", last - first + 1));
        }
        self.is_long_enough(quote, &place)?;
        let lines: Vec<&str> = text.lines().collect();
        match lines.get(first - 1..last) {
            None => wrong(
                format!("a file of {last} lines"),
                format!("{} lines", lines.len()),
            ),
            Some(lines) if says(lines, quote) => Ok(()),
            Some(lines) => wrong(shown(quote), shown(lines.join(" ").trim())),
        }
    }

    fn is_long_enough(&self, quote: &str, place: &str) -> Result<(), Fact> {
        let visible = visible(quote)
            .chars()
            .filter(|c| !c.is_whitespace())
            .count();
        if visible >= self.min_chars.max(1) {
            return Ok(());
        }
        let expected = format!("a quotation of at least {} characters", self.min_chars);
        Err(Fact::wrong(expected, shown(quote)).at(place))
    }
}

impl Probe for Citation {
    fn cost(&self) -> Cost {
        Cost::Tree
    }

    fn run(&self, context: &Context<'_>) -> Vec<Fact> {
        let text = match self.subject.read(context) {
            Ok(Some(text)) => text,
            Ok(None) => return Vec::new(),
            Err(found) => return vec![found],
        };
        let listed = match self.listed(&text) {
            Ok(listed) => listed,
            Err(found) => return vec![found],
        };
        let count = distinct(&listed);
        if count < self.min {
            let expected = format!("at least {} different citations", self.min);
            let detail = Fact::wrong(expected, count.to_string());
            return vec![text.detail(detail, "")];
        }
        let misfits = listed
            .into_iter()
            .filter_map(|(place, citation)| match citation {
                Some(citation) => self.misfit(context, &citation).err(),
                None => Some(text.detail(Fact::wrong("a citation", "none"), &place)),
            });
        first_facts(misfits.collect())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cited {
    pub(super) path: String,
    pub(super) what: What,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum What {
    /// The names of a test, the outermost first.
    Test(Vec<String>),
    Lines {
        /// The first, from 1.
        first: usize,
        /// The last, no less than the first.
        last: usize,
        quote: String,
    },
}

impl Cited {
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

pub(super) fn says_test(text: &str, name: &str) -> bool {
    let name = regex::escape(name);
    let pattern = format!(
        r#"(?m)^\s*(?:[\w()]+\s+)*(?:def|fn|func|function|class|mod|describe)\s+{name}\b|\b(?:test|it|describe)\(\s*["'`]{name}["'`]"#
    );
    // What is put in is escaped; a name that is too long for a pattern names no test.
    Regex::new(&pattern).is_ok_and(|it| it.is_match(text))
}
