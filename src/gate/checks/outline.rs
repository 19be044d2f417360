//! `outline`: a text has the structure of its source: headings, lists, code, links, placeholders.

mod inlines;
mod series;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::inlines::strayed;
use self::series::departed;
use super::context::Context;
use super::held_against::HeldAgainst;
use super::origin::Original;
use super::probe::{Detail, Found, Probe};
use super::prose::{Block, InlineKind, Markup};
use super::spec::{Flaw, Shows, Source, Spec};
use super::subject::Text;
use crate::gate::Cost;

/// `kind = "outline"`.
///
/// Headings have to follow one another as in the source, by their levels. Between two headings
/// items of lists and blocks of code have to follow one another as there; code, links and
/// placeholders in a line have to be as many of each, in any order, but for `%s` and its like.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutlineSpec {
    /// The source, as a template such as `{{ input.text }}`.
    of: Option<String>,
    /// In its place: the path of a file, as a template. It is looked at as it was at the scan.
    of_path: Option<String>,
    /// The field that must have the structure of the source.
    field: Option<String>,
    /// In its place: the path of the file, as a template.
    path: Option<String>,
    /// What of the structure has to be the same.
    #[serde(default = "all")]
    parts: Vec<Part>,
    /// Whether blocks of code need only be as many, in the same languages.
    #[serde(default)]
    code_may_change: bool,
}

/// A part of a structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Part {
    /// Headings, by their levels.
    Headings,
    /// Items of lists: numbered or not, and how deep.
    Items,
    /// Fenced blocks of code: their languages, and what they say.
    CodeBlocks,
    /// Code in a line.
    CodeSpans,
    /// Where links lead.
    Links,
    /// `{name}`, `{{ x }}`, `${VAR}`, `$VAR`, `%s`, `%(name)s`.
    Placeholders,
}

fn all() -> Vec<Part> {
    use Part::{CodeBlocks, CodeSpans, Headings, Items, Links, Placeholders};
    vec![Headings, Items, CodeBlocks, CodeSpans, Links, Placeholders]
}

#[derive(Debug)]
struct Outline {
    texts: HeldAgainst,
    parts: Vec<Part>,
    code_may_change: bool,
}

/// A source and what says it anew, as their facts name them.
struct Pair<'a> {
    original: &'a Original,
    text: &'a Text,
}

impl Spec for OutlineSpec {
    const KIND: &'static str = "outline";
    const SHOWS: Shows = Shows::Form;

    fn build(self, source: &Source<'_>) -> Result<Box<dyn Probe>, Flaw> {
        if self.parts.is_empty() {
            return Err(Flaw::new("parts", "nothing is left to compare"));
        }
        Ok(Box::new(Outline {
            texts: HeldAgainst::new(
                source,
                [self.of.as_deref(), self.of_path.as_deref()],
                [self.field.as_deref(), self.path.as_deref()],
            )?,
            parts: self.parts,
            code_may_change: self.code_may_change,
        }))
    }
}

impl Pair<'_> {
    /// That something of the source is not there.
    fn lost(&self, what: &str, line: usize) -> Found {
        let detail = Detail::new(what, "it is not there");
        let detail = self.text.detail(detail, "");
        detail.at(self.original.line(line)).wrong()
    }

    /// That something else is on a line.
    fn other(&self, expected: &str, actual: &str, line: usize) -> Found {
        let detail = Detail::new(expected, actual);
        self.text.detail(detail, &line.to_string()).wrong()
    }
}

impl Outline {
    fn compare(&self, theirs: &mut Markup, ours: &mut Markup, pair: &Pair<'_>) -> Vec<Found> {
        let mut found = Vec::new();
        let has = |part| self.parts.contains(&part);
        let headings = departed(theirs, ours, pair, |block| match block {
            Block::Heading(_) => Some(block.clone()),
            _ => None,
        });
        if !headings.is_empty() {
            // Nobody can say which section is which.
            theirs.forget_sections();
            ours.forget_sections();
        }
        if has(Part::Headings) {
            found.extend(headings);
        }
        if has(Part::Items) {
            found.extend(departed(theirs, ours, pair, |block| match block {
                Block::Item { .. } => Some(block.clone()),
                _ => None,
            }));
        }
        if has(Part::CodeBlocks) {
            found.extend(departed(theirs, ours, pair, |block| match block {
                Block::Code { language, text } => Some(Block::Code {
                    language: language.clone(),
                    text: if self.code_may_change {
                        String::new()
                    } else {
                        text.clone()
                    },
                }),
                _ => None,
            }));
        }
        for (part, kind) in [
            (Part::CodeSpans, InlineKind::Code),
            (Part::Links, InlineKind::Link),
            (Part::Placeholders, InlineKind::Placeholder),
        ] {
            if has(part) {
                found.extend(strayed(theirs, ours, pair, kind));
            }
        }
        found
    }
}

impl Probe for Outline {
    fn cost(&self) -> Cost {
        self.texts.cost()
    }

    fn look(&self, context: &Context<'_>) -> Vec<Found> {
        self.texts.look(context, |original, text| {
            let mut theirs = Markup::of(&original.said);
            let mut ours = Markup::of(&text.said);
            let pair = Pair { original, text };
            self.compare(&mut theirs, &mut ours, &pair)
        })
    }
}

#[cfg(test)]
mod tests;
