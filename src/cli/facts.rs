//! How facts are shown to an agent: where, what was expected, what is so, what would pass.

use super::escape::Plain;
use super::output::{Paper, Tone};
use crate::gate::{Fact, Level, Rule};

/// Writes one block a fact. `rules` is the catalogue that says what would flip the verdict.
pub fn write(paper: &mut Paper, facts: &[Fact], rules: &[Rule]) {
    for fact in facts {
        let tone = match fact.level {
            Level::Fail => Tone::Bad,
            Level::Review => Tone::Doubt,
        };
        let level = paper.tint(tone, &fact.level.to_string());
        let mut head = format!("{level} {}", Plain(fact.rule.as_str()));
        if let Some(field) = &fact.field {
            head.push_str(&format!("  field {}", Plain(field.as_str())));
        }
        if let Some(location) = &fact.location {
            head.push_str(&format!("  at {}", Plain(location)));
        }
        if fact.count > 1 {
            head.push_str(&format!("  ({} of its kind)", fact.count));
        }
        paper.line(format!("  {head}"));
        paper.line(format!("    expected: {}", Plain(&fact.expected)));
        paper.line(format!("    actual:   {}", Plain(&fact.actual)));
        if let Some(rule) = rules.iter().find(|rule| rule.id == fact.rule) {
            paper.line(format!("    to pass:  {}", rule.remedy));
        }
    }
}
