//! A step of the gate, and the catalogue of its rules.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::context::Context;
use crate::gate::{Cause, Cost, Fact, Level, Rule};

pub struct Step {
    pub name: &'static str,
    pub cost: Cost,
    pub run: fn(&Context<'_>) -> Vec<Fact>,
}

impl Step {
    pub fn rules(&self) -> &'static [Rule] {
        RULES.get(self.name).map_or(&[], Vec::as_slice)
    }
}

static RULES: LazyLock<HashMap<&str, Vec<Rule>>> =
    LazyLock::new(|| parse(include_str!("rules.txt")));

/// Reads `[step]` headings and, below each, three lines a rule: its name with its level and
/// cause, its meaning, and its remedy.
fn parse(catalogue: &'static str) -> HashMap<&'static str, Vec<Rule>> {
    let mut steps: HashMap<&str, Vec<Rule>> = HashMap::new();
    let mut step = "";
    let lines = catalogue.lines();
    let mut lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_prefix('[') {
            step = name.trim_end_matches(']');
            continue;
        }
        let words: Vec<&str> = line.split(' ').collect();
        let level = match words.get(1) {
            Some(&"REVIEW") => Level::Review,
            // A level that cannot be read must not let anything through.
            _ => Level::Fail,
        };
        let mut text = || lines.next().unwrap_or_default().trim();
        let rule = Rule::known(words[0], level, text(), text());
        let rule = match words.get(2) {
            Some(&"unanswered") => rule.because(Cause::Unanswered),
            Some(&"unreadable") => rule.because(Cause::Unreadable),
            _ => rule,
        };
        steps.entry(step).or_default().push(rule);
    }
    steps
}

/// Text from outside in quotes, its control and invisible characters escaped, cut after 120
/// characters.
pub fn quoted(text: &str) -> String {
    const LONGEST: usize = 120;
    match text.char_indices().nth(LONGEST) {
        None => format!("{text:?}"),
        Some((end, _)) => format!("{:?}… ({} bytes)", &text[..end], text.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::email::{domain, format, freemail, identity, mail, placeholder, source};

    #[test]
    fn every_step_has_its_rules_and_every_rule_its_step() {
        let steps = [
            &format::STEP,
            &placeholder::STEP,
            &freemail::STEP,
            &domain::STEP,
            &source::STEP,
            &mail::STEP,
            &identity::STEP,
        ];
        let counts = steps.map(|step| step.rules().len());
        assert_eq!(counts, [3, 4, 2, 4, 13, 4, 7]);
        assert_eq!(RULES.len(), steps.len());
    }
}
