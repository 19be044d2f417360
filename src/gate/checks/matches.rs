//! `matches`: a text matches a pattern, or does not.

use crate::gate::Fact;
use regex::Regex;
use schemars::JsonSchema;
use serde::Deserialize;

use super::context::Context;
use super::fields::shown;
use super::kind::Probe;
use super::kind::{Flaw, Shows, Source, Spec};
use crate::base::text::visible;
use crate::gate::Cost;
use crate::quest::FieldName;

/// `kind = "matches"`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MatchesSpec {
    /// The field that is looked at.
    field: String,
    /// What is looked for, anywhere in it.
    pattern: String,
    /// Whether the pattern must not be there: neither in the text as it came, nor in compatibility
    /// forms (NFKC) without invisible characters, as its reader sees it.
    #[serde(default)]
    never: bool,
}

#[derive(Debug)]
struct Matches {
    field: FieldName,
    pattern: Regex,
    never: bool,
}

impl Spec for MatchesSpec {
    const KIND: &'static str = "matches";
    const SHOWS: Shows = Shows::Form;

    fn build(self, source: &Source<'_>) -> Result<Box<dyn Probe>, Flaw> {
        Ok(Box::new(Matches {
            field: source.field("field", &self.field)?,
            pattern: source.pattern("pattern", &self.pattern)?,
            never: self.never,
        }))
    }
}

impl Matches {
    /// What of the text matches. What must not be there is not hidden by how it is written.
    fn found(&self, text: &str) -> Option<String> {
        let find = |text: &str| self.pattern.find(text).map(|it| it.as_str().to_owned());
        let by_line = || text.lines().map(visible).collect::<Vec<_>>().join("\n");
        match (find(text), self.never) {
            (None, true) => find(&visible(text)).or_else(|| find(&by_line())),
            (found, _) => found,
        }
    }
}

impl Probe for Matches {
    fn cost(&self) -> Cost {
        Cost::Local
    }

    fn run(&self, context: &Context<'_>) -> Vec<Fact> {
        let Some(text) = context.field(&self.field) else {
            return Vec::new();
        };
        let (expected, actual) = match (self.found(text), self.never) {
            (None, false) => (format!("a text that matches {}", self.pattern), shown(text)),
            (Some(found), true) => (
                format!("a text in which nothing matches {}", self.pattern),
                shown(&found),
            ),
            _ => return Vec::new(),
        };
        vec![Fact::wrong(expected, actual).on(&self.field)]
    }
}

#[cfg(test)]
mod tests {
    use crate::gate::checks::bench::Bench;

    #[test]
    fn what_must_not_be_there_is_not_hidden_by_how_it_is_written() {
        let check = "kind = \"matches\"\nfield = \"value\"\npattern = '(?m)^TODO'\n";
        let never = Bench::of(&format!("{check}never = true"));
        for text in ["TODO", "TO\u{200b}DO", "ＴＯＤＯ", "a\n\u{200b}TODO"] {
            assert_eq!(
                never.clone().submit("value", text).fired(),
                ["it"],
                "{text}"
            );
        }
        let over_lines = check.replace("(?m)^TODO", "I think");
        let over_lines = Bench::of(&format!("{over_lines}never = true"));
        let broken = over_lines.submit("value", "so I\u{200b}\n ｔhink");
        assert_eq!(broken.fired(), ["it"]);
        assert_eq!(never.submit("value", "done").fired(), [""; 0]);
        let must = Bench::of(check).submit("value", "TO\u{200b}DO");
        assert_eq!(must.fired(), ["it"]);
    }
}
