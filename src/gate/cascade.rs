//! Runs checks, cheapest first, and stops the dearer ones after a FAIL.

use super::{Check, CheckOutcome, CheckReport, Fact, Finding, Judgement, Level, Levels, Rule};

/// The checks of a gate, in order, and the levels that the operator set.
pub struct Cascade<C> {
    checks: Vec<Box<dyn Check<C>>>,
    levels: Levels,
}

impl<C> Cascade<C> {
    /// A cascade of `checks`, which must stand in order of cost.
    #[must_use]
    pub fn new(checks: Vec<Box<dyn Check<C>>>, levels: Levels) -> Self {
        debug_assert!(checks.is_sorted_by_key(|check| check.cost()));
        Self { checks, levels }
    }

    /// Every rule of every check, with the level in force.
    #[must_use]
    pub fn rules(&self) -> Vec<Rule> {
        let known = self.checks.iter().flat_map(|check| check.rules()).cloned();
        known
            .map(|rule| Rule {
                level: self.level_of(&rule),
                ..rule
            })
            .collect()
    }

    /// Runs the checks on `context`.
    ///
    /// All checks of one cost run; those of a higher cost run only when none of a lower cost
    /// failed.
    #[must_use]
    pub fn run(&self, context: &C) -> Judgement {
        let mut facts: Vec<Fact> = Vec::new();
        let mut reports = Vec::with_capacity(self.checks.len());
        let mut failed_at = None;
        for check in &self.checks {
            let stopped = failed_at.is_some_and(|cost| check.cost() > cost);
            let outcome = if stopped {
                CheckOutcome::NotRun
            } else {
                let found = self.facts(check.as_ref(), context);
                let outcome = outcome(&found);
                facts.extend(found);
                outcome
            };
            if outcome == CheckOutcome::Failed {
                failed_at = failed_at.or(Some(check.cost()));
            }
            reports.push(CheckReport {
                check: check.name().to_owned(),
                outcome,
            });
        }
        Judgement::from_facts(facts, reports)
    }

    fn facts(&self, check: &dyn Check<C>, context: &C) -> Vec<Fact> {
        let findings = check.run(context);
        findings
            .into_iter()
            .map(|finding| self.fact(check.rules(), finding))
            .collect()
    }

    fn fact(&self, rules: &[Rule], finding: Finding) -> Fact {
        let rule = rules.iter().find(|rule| rule.id == finding.rule);
        debug_assert!(
            rule.is_some(),
            "{} is not a rule of its check",
            finding.rule
        );
        Fact {
            // A rule that is missing from the catalogue must not let anything through.
            level: rule.map_or(Level::Fail, |rule| self.level_of(rule)),
            rule: finding.rule,
            field: finding.field,
            location: finding.location,
            expected: finding.expected,
            actual: finding.actual,
            count: finding.count,
        }
    }

    fn level_of(&self, rule: &Rule) -> Level {
        self.levels.get(&rule.id).copied().unwrap_or(rule.level)
    }
}

fn outcome(facts: &[Fact]) -> CheckOutcome {
    match facts.iter().map(|fact| fact.level).max() {
        None => CheckOutcome::Passed,
        Some(Level::Review) => CheckOutcome::NotConfirmed,
        Some(Level::Fail) => CheckOutcome::Failed,
    }
}

#[cfg(test)]
mod tests;
