//! Runs checks, cheapest first, and stops the dearer ones after a FAIL.

#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use super::{Cause, CheckOutcome, CheckReport, Fact, Judgement, Level, Levels, Rule};

/// The checks of a gate, in order, and the levels that the operator set.
pub struct Cascade<C> {
    /// Each with what it costs to reach it: no less than the checks that it needs.
    checks: Vec<(Cost, Box<dyn Check<C>>)>,
    levels: Levels,
}

/// Checks that wait for each other, or for one that there is not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the check `{check}` needs `{needed}`, which {}", if *there { "needs it in turn" } else { "is none of this gate's" })]
pub struct BadNeed {
    /// The check that needs.
    pub check: String,
    /// What it needs.
    pub needed: String,
    /// Whether there is such a check.
    pub there: bool,
}

impl<C> Cascade<C> {
    /// A cascade of `checks`, which must stand in order of cost and need nothing.
    #[must_use]
    pub fn new(checks: Vec<Box<dyn Check<C>>>, levels: Levels) -> Self {
        debug_assert!(checks.is_sorted_by_key(|check| check.cost()));
        debug_assert!(checks.iter().all(|check| check.needs().is_empty()));
        let checks = checks.into_iter().map(|check| (check.cost(), check));
        Self {
            checks: checks.collect(),
            levels,
        }
    }

    /// A cascade of `checks` in any order: the cheapest first, and none before those that it
    /// needs.
    pub fn ordered(checks: Vec<Box<dyn Check<C>>>, levels: Levels) -> Result<Self, BadNeed> {
        let costs = costs(&checks)?;
        let mut waiting: Vec<_> = costs.into_iter().zip(checks).collect();
        waiting.sort_by_key(|(cost, _)| *cost);
        let mut placed: Vec<(Cost, Box<dyn Check<C>>)> = Vec::with_capacity(waiting.len());
        while !waiting.is_empty() {
            let ready = waiting.iter().position(|(_, check)| {
                let mut needs = check.needs().iter();
                needs.all(|need| placed.iter().any(|(_, done)| done.name() == need))
            });
            // There is one always: `costs` refuses needs that go round.
            placed.push(waiting.remove(ready.unwrap_or(0)));
        }
        Ok(Self {
            checks: placed,
            levels,
        })
    }

    /// Every rule of every check, with the level in force.
    #[must_use]
    pub fn rules(&self) -> Vec<Rule> {
        let known = self.checks.iter().flat_map(|(_, check)| check.rules());
        known
            .map(|rule| Rule {
                level: self.level_of(rule),
                ..rule.clone()
            })
            .collect()
    }

    /// Runs the checks on `context`.
    ///
    /// All checks of one cost run; those of a higher cost run only when none of a lower cost
    /// failed, and none runs of which a needed one has failed or was not run.
    #[must_use]
    pub fn run(&self, context: &C) -> Judgement {
        self.run_up_to(context, Cost::Heavy)
    }

    /// The same, by the checks alone that cost no more than `most`; the others are not run.
    #[must_use]
    pub fn run_up_to(&self, context: &C, most: Cost) -> Judgement {
        let mut facts: Vec<Fact> = Vec::new();
        let mut reports: Vec<CheckReport> = Vec::with_capacity(self.checks.len());
        let mut failed_at = None;
        for (cost, check) in &self.checks {
            let stopped = *cost > failed_at.unwrap_or(most);
            let outcome = if stopped || !stands(&reports, check.needs()) {
                CheckOutcome::NotRun
            } else {
                let found = self.facts(check.as_ref(), context);
                let outcome = outcome(&found);
                facts.extend(found);
                outcome
            };
            if outcome == CheckOutcome::Failed {
                failed_at = failed_at.or(Some(*cost));
            }
            reports.push(CheckReport {
                check: check.name().to_owned(),
                outcome,
            });
        }
        Judgement::from_facts(facts, reports)
    }

    fn facts(&self, check: &dyn Check<C>, context: &C) -> Vec<Fact> {
        let began = Instant::now();
        let mut facts = check.run(context);
        let rules = || facts.iter().map(|fact| fact.rule.as_str());
        tracing::info!(
            check = check.name(),
            fired = ?rules().collect::<Vec<_>>(),
            ms = millis(began.elapsed()),
            "checked"
        );
        for fact in &mut facts {
            let rule = check.rules().iter().find(|rule| rule.id == fact.rule);
            debug_assert!(rule.is_some(), "{} is not a rule of its check", fact.rule);
            // A rule that is missing from the catalogue must not let anything through.
            fact.level = rule.map_or(Level::Fail, |rule| self.level_of(rule));
            fact.cause = rule.map_or(Cause::Wrong, |rule| rule.cause);
        }
        facts
    }

    fn level_of(&self, rule: &Rule) -> Level {
        self.levels.get(&rule.id).copied().unwrap_or(rule.level)
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// What it costs to reach each check: the most of its own cost and that of what it needs.
fn costs<C>(checks: &[Box<dyn Check<C>>]) -> Result<Vec<Cost>, BadNeed> {
    let mut costs: Vec<Cost> = checks.iter().map(|check| check.cost()).collect();
    // A chain of needs is no longer than the checks; a cost that still rises then goes round.
    for round in 0..=checks.len() {
        let mut settled = true;
        for (place, check) in checks.iter().enumerate() {
            for need in check.needs() {
                let wrong = |there| BadNeed {
                    check: check.name().to_owned(),
                    needed: need.clone(),
                    there,
                };
                let needed = checks.iter().position(|other| other.name() == need);
                let needed = needed.ok_or_else(|| wrong(false))?;
                if needed == place || (round == 0 && reaches(checks, needed, place)) {
                    return Err(wrong(true));
                }
                if costs[needed] > costs[place] {
                    costs[place] = costs[needed];
                    settled = false;
                }
            }
        }
        if settled {
            break;
        }
    }
    Ok(costs)
}

/// Whether the check at `from` needs, by whatever way, the one at `to`.
fn reaches<C>(checks: &[Box<dyn Check<C>>], from: usize, to: usize) -> bool {
    let mut open = vec![from];
    let mut seen = vec![false; checks.len()];
    while let Some(place) = open.pop() {
        if std::mem::replace(&mut seen[place], true) {
            continue;
        }
        let needs = checks[place].needs().iter();
        open.extend(needs.filter_map(|need| checks.iter().position(|other| other.name() == need)));
    }
    seen[to]
}

/// Whether each of the checks that are needed was run and has not failed.
///
/// One that is not confirmed must not keep others from failing: whoever brings its doubt about on
/// purpose would have a REVIEW where a FAIL belongs.
fn stands(reports: &[CheckReport], needs: &[String]) -> bool {
    let ran = |outcome| matches!(outcome, CheckOutcome::Passed | CheckOutcome::NotConfirmed);
    needs.iter().all(|need| {
        let mut reports = reports.iter();
        reports.any(|report| report.check == *need && ran(report.outcome))
    })
}

fn outcome(facts: &[Fact]) -> CheckOutcome {
    match facts.iter().map(|fact| fact.level).max() {
        None => CheckOutcome::Passed,
        Some(Level::Review) => CheckOutcome::NotConfirmed,
        Some(Level::Fail) => CheckOutcome::Failed,
    }
}

/// What a check costs; dearer checks run only when no cheaper one failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cost {
    /// Looks at the submission alone.
    Local,
    /// Looks at files of the tree.
    Tree,
    /// Reads pages.
    Page,
    /// Asks DNS.
    Dns,
    /// Reads further pages, or what the session knows.
    Wide,
    /// Runs a command.
    Command,
    /// Runs commands again and again.
    Heavy,
}

/// One step of a gate. `C` is what the gate's steps share about the case in hand.
pub trait Check<C> {
    /// The step's name, in kebab-case.
    fn name(&self) -> &str;

    /// What running it costs.
    fn cost(&self) -> Cost;

    /// Every rule that it can fire.
    fn rules(&self) -> &[Rule];

    /// The checks that come before it; where one has failed or was not run, it is not run.
    fn needs(&self) -> &[String] {
        &[]
    }

    /// Runs the step and returns what fired; nothing fired means that it passed.
    ///
    /// A step whose input an earlier step could not parse returns nothing: the earlier step
    /// has said why.
    fn run(&self, context: &C) -> Vec<Fact>;
}
