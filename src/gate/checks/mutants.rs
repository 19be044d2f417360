//! Changes of a piece of source code: those that its tests must notice, and one that they must not.
//!
//! What is changed is data: a query of tree-sitter for each language, in `mutants/*.scm`. A capture
//! with an [`Operator`]'s name, such as `@arithmetic`, is replaced. `(#set! OLD NEW)` says what OLD
//! becomes; `_` stands for any text, and `@name` in NEW for the text of another capture, here or of
//! the innermost `@within` around it. Of a capture that matches twice, all between counts as well.
//! Nothing in `@leave` is changed.
//!
//! For the neutral change, `_` is what can follow each `@end` of a statement, a comment of `@letters`.
//! A `@local` can be renamed in its `@scope`, where it is nowhere `@fixed`.
//!
//! A `@reach` is the last statement of a block, and `_` stops the program there with the message
//! `@head` and `@tail`, which only code that runs puts together. Nothing that stops is `@caught`.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};

use itertools::Itertools as _;
use strum::{EnumString, IntoStaticStr};
use tree_sitter::{Node, Query, QueryCursor, StreamingIterator as _, Tree};

use super::grammar::{Language, errors, walk};
use crate::base::Digest;

/// The source file with one change in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mutant {
    pub line: u32,
    pub operator: Operator,
    /// The line, as it is now.
    pub put: String,
    /// The whole file.
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, EnumString, IntoStaticStr)]
#[cfg_attr(test, derive(strum::EnumIter))]
#[strum(serialize_all = "kebab-case")]
pub enum Operator {
    Arithmetic,
    Comparison,
    Boolean,
    Boundary,
    ReturnValue,
    CallRemoved,
    ArgumentDropped,
}

/// The source file with changes that change nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Neutral {
    pub line: u32,
    /// What was changed.
    pub what: String,
    /// The whole file.
    pub text: String,
}

/// The source file with a statement that stops the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    pub line: u32,
    /// The whole file.
    pub text: String,
}

/// At most `bound` mutants of these lines, in an order that `seed` decides. Each can be parsed.
pub fn mutants(
    language: Language,
    source: &str,
    lines: &RangeInclusive<u32>,
    seed: &Digest,
    bound: usize,
) -> Vec<Mutant> {
    let Some(code) = Code::parse(language, source, lines) else {
        return Vec::new();
    };
    let mut changes = code.changes();
    changes.sort_by_cached_key(|change| {
        let at = [change.at.start.to_be_bytes(), change.at.end.to_be_bytes()];
        let parts = [seed.as_bytes(), at.as_flattened(), change.new.as_bytes()];
        Digest::of_parts(parts)
    });
    let made = changes.into_iter().filter_map(|change| code.mutant(change));
    // Of two calls in a row, the removal of either leaves the same text.
    made.unique_by(|mutant| Digest::of(mutant.text.as_bytes()))
        .take(bound)
        .collect()
}

/// The file that stops at the end of a block in these lines, for each block. The message is
/// `letters`, which the file itself does not contain.
pub fn stops(
    language: Language,
    source: &str,
    lines: &RangeInclusive<u32>,
    letters: &str,
) -> Vec<Stop> {
    let code = Code::parse(language, source, lines);
    code.map_or_else(Vec::new, |code| code.stops(letters))
}

/// A comment and an empty line between two of these lines, wider spaces in them, and a local variable
/// of another name. `seed` decides the comment and the name, so that no code can look for them.
pub fn neutral(
    language: Language,
    source: &str,
    lines: &RangeInclusive<u32>,
    seed: &Digest,
) -> Option<Neutral> {
    let code = Code::parse(language, source, lines)?;
    let seed = seed.to_string();
    let letters = &seed[..LETTERS];
    let mut line = *lines.start();
    let mut what = String::from("its spaces are wider");
    let mut edits = code.wider_spaces();
    if let Some((at, after)) = code.statement_end(letters) {
        line = line_of(source, at.saturating_sub(1));
        what = format!("{what}, a comment and an empty line follow its line {line}");
        edits.push((at..at, after));
    }
    if let Some((name, new, places)) = code.renamed_local(letters) {
        what = format!("{what}, and its variable `{name}` is called `{new}`");
        edits.extend(places.into_iter().map(|place| (place, new.clone())));
    }
    edits.sort_by_key(|(place, _)| place.start);
    let mut text = source.to_owned();
    for (place, new) in edits.into_iter().rev() {
        text.replace_range(place, &new);
    }
    let is_fit = text != source && code.still_parses(&text);
    is_fit.then_some(Neutral { line, what, text })
}

/// How many letters of the seed are in the neutral change.
const LETTERS: usize = 8;

/// A parsed file, and what its query finds in it.
struct Code<'a> {
    language: Language,
    source: &'a str,
    tree: Tree,
    /// The bytes of the lines that may be changed.
    lines: Range<usize>,
    found: Vec<Match>,
}

/// One match of a pattern: where each of its captures is, and what becomes of which text.
struct Match {
    spans: BTreeMap<&'static str, Range<usize>>,
    new: Vec<(&'static str, &'static str)>,
}

struct Change {
    at: Range<usize>,
    operator: Operator,
    new: String,
}

impl<'a> Code<'a> {
    fn parse(language: Language, source: &'a str, lines: &RangeInclusive<u32>) -> Option<Self> {
        let tree = language.parse(source)?;
        let found = matches(language.query()?, tree.root_node(), source);
        Some(Self {
            language,
            source,
            tree,
            lines: bytes_of(source, lines),
            found,
        })
    }

    fn changes(&self) -> Vec<Change> {
        let changes = self.found.iter().filter_map(|found| self.change(found));
        changes.collect()
    }

    fn change(&self, found: &Match) -> Option<Change> {
        let mut spans = found.spans.iter();
        let (operator, at) = spans.find_map(|(name, at)| Some((name.parse().ok()?, at)))?;
        let is_left = self.spans("leave").any(|span| is_in(at, span));
        if is_left || !is_in(at, &self.lines) {
            return None;
        }
        let old = &self.source[at.clone()];
        let new = rendered(found.becomes(old)?, |name| self.captured(name, found, at))?;
        let at = at.clone();
        (new != old).then_some(Change { at, operator, new })
    }

    /// The text of a capture of this match, or of the innermost one around it.
    fn captured(&self, name: &str, found: &Match, at: &Range<usize>) -> Option<&'a str> {
        let around = || {
            let around = self
                .found
                .iter()
                .filter_map(|it| Some((it, it.spans.get("within")?)));
            let around: Vec<_> = around.filter(|(_, span)| is_in(at, span)).collect();
            let innermost = around.iter().map(|(_, span)| span.len()).min()?;
            let mut around = around.iter().filter(|(_, span)| span.len() == innermost);
            around.find_map(|(it, _)| it.spans.get(name))
        };
        let span = found.spans.get(name).or_else(around)?;
        Some(&self.source[span.clone()])
    }

    /// The file with this change, where that can still be parsed.
    fn mutant(&self, change: Change) -> Option<Mutant> {
        let Change { at, operator, new } = change;
        let line = line_of(self.source, at.start);
        let text = [&self.source[..at.start], &new, &self.source[at.end..]].concat();
        let put = text[..at.start].rfind('\n').map_or(0, |end| end + 1);
        let put = text[put..].lines().next().unwrap_or_default().trim();
        self.still_parses(&text).then(|| Mutant {
            line,
            operator,
            put: put.to_owned(),
            text: text.clone(),
        })
    }

    fn stops(&self, letters: &str) -> Vec<Stop> {
        let (head, tail) = letters.split_at(letters.len() / 2);
        let stop = |found: &Match| {
            let at = found.spans.get("reach")?;
            let old = &self.source[at.clone()];
            let new = rendered(found.becomes("")?, |name| match name {
                "head" => Some(head),
                "tail" => Some(tail),
                _ => Some(old),
            })?;
            let is_caught = self.spans("caught").any(|span| is_in(at, span));
            let text = [&self.source[..at.start], &new, &self.source[at.end..]].concat();
            let is_fit = !is_caught && is_in(at, &self.lines) && self.still_parses(&text);
            let line = line_of(self.source, at.start);
            is_fit.then_some(Stop { line, text })
        };
        self.found.iter().filter_map(stop).collect()
    }

    /// Each single space between two words of the code, which becomes two: not one in a text, nor in a
    /// macro, which may show it.
    fn wider_spaces(&self) -> Vec<(Range<usize>, String)> {
        let shows = [
            "string",
            "template",
            "macro",
            "jsx",
            "attribute",
            "comment",
            "regex",
        ];
        let mut ends = Vec::new();
        walk(&self.tree, |node| {
            let is_word =
                node.child_count() == 0 || shows.iter().any(|it| node.kind().contains(it));
            if is_word {
                ends.push(node.byte_range());
            }
            !is_word
        });
        ends.sort_by_key(|at| at.start);
        let gaps = ends
            .iter()
            .tuple_windows()
            .map(|(one, next)| one.end..next.start);
        let gaps =
            gaps.filter(|gap| is_in(gap, &self.lines) && self.source.get(gap.clone()) == Some(" "));
        gaps.map(|gap| (gap, String::from("  "))).collect()
    }

    fn still_parses(&self, text: &str) -> bool {
        let tree = self.language.parse(text);
        tree.is_some_and(|tree| errors(&tree) <= errors(&self.tree))
    }

    fn spans(&self, name: &str) -> impl Iterator<Item = &Range<usize>> {
        self.found.iter().filter_map(move |it| it.spans.get(name))
    }

    /// The first end of a statement after which its line is empty, and what can follow there.
    fn statement_end(&self, letters: &str) -> Option<(usize, String)> {
        let ends = self.found.iter().filter_map(|found| {
            let at = found.spans.get("end").filter(|at| is_in(at, &self.lines))?;
            let rest = self.source[at.end..].lines().next().unwrap_or_default();
            let after = rendered(found.becomes("")?, |_| Some(letters))?;
            rest.trim().is_empty().then_some((at.end, after))
        });
        ends.min()
    }

    /// The first local variable that can be renamed, its new name, and each of its places.
    fn renamed_local(&self, letters: &str) -> Option<(&'a str, String, Vec<Range<usize>>)> {
        self.found.iter().find_map(|found| {
            let local = found
                .spans
                .get("local")
                .filter(|at| is_in(at, &self.lines))?;
            let name = &self.source[local.clone()];
            let new = format!("{name}_{letters}");
            let places = self.places_of(name, local, found)?;
            let is_free = !name.starts_with('_') && !self.source.contains(&new);
            is_free.then_some((name, new, places))
        })
    }

    /// Every place of a name in its scope, where each is known to be this variable: the first is its
    /// declaration, which does not use it, and each is an identifier. A comment, a text or a field
    /// that has the name as well might be read as the variable.
    fn places_of(
        &self,
        name: &str,
        local: &Range<usize>,
        found: &Match,
    ) -> Option<Vec<Range<usize>>> {
        let scope = found.spans.get("scope")?;
        let declaration = found.spans.get("declaration")?;
        let fixed: Vec<_> = self.spans("fixed").filter(|it| is_in(it, scope)).collect();
        let places = words(self.source, name, scope);
        let is_variable = |at: &Range<usize>| {
            let root = self.tree.root_node();
            let node = root.descendant_for_byte_range(at.start, at.end);
            node.is_some_and(|node| node.kind() == "identifier" && node.byte_range() == *at)
                && !fixed.iter().any(|span| is_in(at, span))
                && (at == local || !is_in(at, declaration))
        };
        let is_known = places.first() == Some(local) && places.iter().all(is_variable);
        is_known.then_some(places)
    }
}

impl Match {
    fn becomes(&self, old: &str) -> Option<&'static str> {
        let mut known = self.new.iter();
        known.find_map(|(from, to)| (*from == old || *from == "_").then_some(*to))
    }
}

fn matches(query: &'static Query, root: Node<'_>, source: &str) -> Vec<Match> {
    let names = query.capture_names();
    let mut cursor = QueryCursor::new();
    let mut found = cursor.matches(query, root, source.as_bytes());
    let mut all = Vec::new();
    while let Some(it) = found.next() {
        // A comment may be wherever a query asks for any node.
        if it.captures().iter().any(|capture| capture.node.is_extra()) {
            continue;
        }
        let mut spans: BTreeMap<_, Range<usize>> = BTreeMap::new();
        for capture in it.captures() {
            let at = capture.node.byte_range();
            let span = spans
                .entry(names[capture.index as usize])
                .or_insert(at.clone());
            *span = span.start.min(at.start)..span.end.max(at.end);
        }
        let new = query.property_settings(it.pattern_index).iter();
        let new = new.filter_map(|it| Some((&*it.key, it.value.as_deref()?)));
        let new = new.collect();
        all.push(Match { spans, new });
    }
    all
}

/// The text, in which each `@name` is replaced; none where one is not known.
fn rendered<'a>(text: &str, known: impl Fn(&str) -> Option<&'a str>) -> Option<String> {
    let mut parts = text.split('@');
    let mut new = parts.next()?.to_owned();
    for part in parts {
        let is_name = |c: char| c.is_ascii_lowercase() || c == '-';
        let end = part.find(|c| !is_name(c)).unwrap_or(part.len());
        new.push_str(known(&part[..end])?);
        new.push_str(&part[end..]);
    }
    Some(new)
}

/// Where `name` is a word of its own within `scope`.
fn words(source: &str, name: &str, scope: &Range<usize>) -> Vec<Range<usize>> {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    let found = source[scope.clone()].match_indices(name).map(|(at, _)| {
        let start = scope.start + at;
        start..start + name.len()
    });
    let is_whole = |at: &Range<usize>| {
        !source[..at.start].ends_with(is_letter) && !source[at.end..].starts_with(is_letter)
    };
    found.filter(is_whole).collect()
}

fn is_in(inner: &Range<usize>, outer: &Range<usize>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

fn line_of(source: &str, at: usize) -> u32 {
    let before = source.as_bytes()[..at]
        .iter()
        .filter(|byte| **byte == b'\n');
    u32::try_from(before.count()).map_or(u32::MAX, |count| count.saturating_add(1))
}

/// The bytes of these lines, which are counted from 1.
fn bytes_of(source: &str, lines: &RangeInclusive<u32>) -> Range<usize> {
    let mut start = source.len();
    let mut end = 0;
    let mut at = 0;
    for (number, line) in (1..).zip(source.split_inclusive('\n')) {
        if lines.contains(&number) {
            start = start.min(at);
            end = at + line.len();
        }
        at += line.len();
    }
    start..end.max(start)
}
