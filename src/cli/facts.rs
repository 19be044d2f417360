//! How facts are shown to an agent: where, what was expected, what is so, what would pass.

use std::cmp::Reverse;

use super::output::{Paper, Tone};
use crate::base::text::Escaped;
use crate::gate::{Fact, Level, Rule};

/// Writes one block a fact. `rules` is the catalogue that says what would flip the verdict.
pub fn write(paper: &mut Paper, facts: &[Fact], rules: &[Rule]) {
    // What decides the verdict comes first.
    let mut ordered: Vec<&Fact> = facts.iter().collect();
    ordered.sort_by_key(|fact| Reverse(fact.level));
    for fact in ordered {
        let tone = match fact.level {
            Level::Fail => Tone::Bad,
            Level::Review => Tone::Doubt,
        };
        let level = paper.tint(tone, &fact.level.to_string());
        let field = fact.field.as_ref();
        let field = field.map(|field| format!("field {}", Escaped(field.as_str())));
        let location = fact.location.as_ref();
        let location = location.map(|location| format!("at {}", Escaped(location)));
        let count = (fact.count > 1).then(|| format!("({} of its kind)", fact.count));
        let head = [
            Some(format!("{level} {}", Escaped(fact.rule.as_str()))),
            field,
            location,
            count,
        ];
        let head: Vec<String> = head.into_iter().flatten().collect();
        paper.line(format!("  {}", head.join("  ")));
        paper.line(format!("    expected: {}", Escaped(&fact.expected)));
        paper.line(format!("    actual:   {}", Escaped(&fact.actual)));
        if let Some(rule) = rules.iter().find(|rule| rule.id == fact.rule) {
            paper.line(format!("    to pass:  {}", rule.remedy));
        }
    }
}
