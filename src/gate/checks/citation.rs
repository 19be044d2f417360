//! `citation`: what is cited is in the tree as it was at the scan, and says what is quoted.

mod cited;

#[cfg(test)]
mod tests;

use crate::gate::Fact;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use self::cited::{Cited, What, distinct, says, says_test};
use super::context::Context;
use super::fields::shown;
use super::json_text::json_of;
use super::kind::Probe;
use super::kind::first_facts;
use super::kind::{Flaw, Shows, Source, Spec};
use super::pointer::Pointer;
use super::subject::{State, Subject, Text, file_text};
use crate::base::text::visible;
use crate::gate::Cost;
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

    /// What is wrong with one.
    fn misfit(&self, context: &Context<'_>, citation: &str) -> Result<(), Fact> {
        match Cited::parse(citation) {
            Some(cited) => self.misfit_of_file(context, &cited.path, &cited.what),
            None => {
                let expected = "a citation such as `src/a.rs:12: \"fn main\"` or \
                                `tests/a.py::test_x`";
                Err(Fact::wrong(expected, shown(citation)))
            }
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

    /// That a quotation says something.
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
