//! `citation`: what is cited is in the tree as it was at the scan, and says what is quoted.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::context::Context;
use super::fields::shown;
use super::json::{json_of, places, pointer};
use super::kind::{Check, CheckConfig, Flaw, Source, default_number};
use super::subject::{State, Subject, Text, file_text, whole_words};
use crate::base::text::visible;
use crate::gate::{Cost, Fact};
use crate::world::tree::TreePath;

/// `kind = "citation"`.
///
/// A citation is one line: `src/a.rs:12: "fn main"` for a line, or `src/a.rs:12-14: "…"` for a
/// text that goes over lines.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CitationConfig {
    /// The field that holds the citations, one a line.
    field: Option<String>,
    /// Instead of `field`: the path of the file that holds them, as a template.
    path: Option<String>,
    /// Where they are if the text is JSON: a JSON pointer (RFC 6901), in which `*` matches every
    /// item or member. Each is one string.
    pointer: Option<String>,
    /// The fewest citations; one that is repeated counts once.
    #[serde(default = "default_number::<1>")]
    min: usize,
    /// The fewest visible characters that a quotation has.
    #[serde(default = "default_number::<3>")]
    min_chars: usize,
    /// The most lines that one citation names.
    #[serde(default = "default_number::<50>")]
    max_lines: usize,
}

impl CheckConfig for CitationConfig {
    fn build(self, source: &Source<'_>) -> Result<Check, Flaw> {
        source.needs_tree("field", "citations name files of a tree: add [tree]")?;
        let pointer = pointer("pointer", self.pointer.clone())?;
        let subject = Subject::new(source, self.field.as_ref(), self.path.as_ref())?;
        Ok(source.check(Cost::Tree, move |context| {
            let Some(text) = subject.read(context)? else {
                return Ok(Vec::new());
            };
            let listed = listed(&text, pointer.as_deref())?;
            let count = distinct(&listed);
            if count < self.min {
                let expected = format!("at least {} different citations", self.min);
                return Err(text.detail(Fact::wrong(expected, count.to_string()), ""));
            }
            let misfits = listed
                .into_iter()
                .filter_map(|(place, citation)| match citation {
                    Some(citation) => self.fits(context, &citation).err(),
                    None => Some(text.detail(Fact::wrong("a citation", "none"), &place)),
                });
            Ok(misfits.collect())
        }))
    }
}

/// The citations of a text, each with its place in it.
fn listed(text: &Text, pointer: Option<&str>) -> Result<Vec<(String, Option<String>)>, Fact> {
    let Some(pointer) = pointer else {
        let lines = text.said.lines().enumerate();
        let said = lines.filter(|(_, line)| !line.trim().is_empty());
        let placed = said.map(|(at, line)| ((at + 1).to_string(), Some(line.to_owned())));
        return Ok(placed.collect());
    };
    let value = json_of(text)?;
    let string = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let found = places(&value, pointer).into_iter();
    Ok(found.map(|(place, value)| (place, string(value))).collect())
}

impl CitationConfig {
    /// That the tree says what `citation` quotes.
    fn fits(&self, context: &Context<'_>, citation: &str) -> Result<(), Fact> {
        let Some(cited) = Cited::parse(citation) else {
            let expected = "a citation such as `src/a.rs:12: \"fn main\"`";
            return Err(Fact::wrong(expected, shown(citation)));
        };
        let path = TreePath::parse(&cited.path)
            .map_err(|bad| Fact::wrong("a path inside the tree", bad.to_string()))?;
        let text = file_text(context, &path, State::Pinned)?.said;
        let (first, last, quote) = (cited.first, cited.last, &cited.quote);
        let place = format!("{path}:{first}");
        let wrong =
            |expected: String, actual: String| Err(Fact::wrong(expected, actual).at(&*place));
        if last - first >= self.max_lines {
            let expected = format!("at most {} lines", self.max_lines);
            return wrong(expected, format!("{} lines", last - first + 1));
        }
        let letters = visible(quote);
        let letters = letters.chars().filter(|c| !c.is_whitespace()).count();
        if letters < self.min_chars.max(1) {
            let expected = format!("a quotation of at least {} characters", self.min_chars);
            return wrong(expected, shown(quote));
        }
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
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Cited {
    path: String,
    first: usize,
    last: usize,
    quote: String,
}

impl Cited {
    fn parse(line: &str) -> Option<Self> {
        let (head, quoted) = line.trim().split_once('"')?;
        let quote = quoted.strip_suffix('"')?.to_owned();
        let head = head.trim_end().strip_suffix(':')?;
        let (path, lines) = head.rsplit_once(':')?;
        let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
        let (first, last) = (number(first)?, number(last)?);
        (first <= last).then(|| Self {
            path: path.to_owned(),
            first,
            last,
            quote,
        })
    }

    /// The same, in the one spelling by which citations are compared.
    fn plain(mut self) -> Self {
        if let Ok(path) = TreePath::parse(&self.path) {
            self.path = path.to_string();
        }
        self.quote = visible(&self.quote);
        self
    }
}

fn number(text: &str) -> Option<usize> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| plain && *number > 0)
}

/// How many different citations there are, by what they cite and not by how they are written.
fn distinct(listed: &[(String, Option<String>)]) -> usize {
    let known = listed.iter().map(|item| {
        let cited = item.1.as_deref().and_then(Cited::parse);
        cited.map(Cited::plain).ok_or(item)
    });
    known.collect::<BTreeSet<_>>().len()
}

/// Whether the lines say `quote`, white space folded; of several lines it takes the first and the
/// last to say it.
fn says(lines: &[&str], quote: &str) -> bool {
    let quote = visible(quote);
    let whole = |lines: &[&str]| {
        let text = visible(&lines.join("\n"));
        whole_words(&text, &quote).next().is_some()
    };
    let Some((_, but_first)) = lines.split_first() else {
        return false;
    };
    let but_last = &lines[..lines.len() - 1];
    let narrow = but_first.is_empty() || !(whole(but_first) || whole(but_last));
    whole(lines) && narrow
}
