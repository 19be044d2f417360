//! Runs checks, cheapest first, and stops the dearer ones after a FAIL.

#[cfg(test)]
mod tests;

use std::time::Instant;

use super::kind::Check;
use crate::gate::{Cause, CheckOutcome, CheckReport, Cost, Fact, Judgement, Level, Levels, Rule};

#[derive(Clone)]
pub(super) struct Cascade {
    /// Each with what it costs to reach it: no less than the checks that it needs.
    checks: Vec<(Cost, Check)>,
}

/// Checks that wait for each other, or for one that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the check `{check}` needs `{needed}`, which {}", if *there { "can never run: their needs form a circle" } else { "is not a check of this gate" })]
pub(super) struct BadNeed {
    pub(super) check: String,
    pub(super) needed: String,
    pub(super) there: bool,
}

impl Cascade {
    /// Orders `checks`: the cheapest first, and none before those that it needs.
    pub(super) fn ordered(checks: Vec<Check>) -> Result<Self, BadNeed> {
        for check in &checks {
            let known = |need: &&String| checks.iter().any(|other| other.name == **need);
            if let Some(need) = check.needs.iter().find(|need| !known(need)) {
                return Err(BadNeed {
                    check: check.name.clone(),
                    needed: need.clone(),
                    there: false,
                });
            }
        }
        let mut waiting = checks;
        let mut placed: Vec<(Cost, Check)> = Vec::with_capacity(waiting.len());
        while !waiting.is_empty() {
            let ready = waiting.iter().enumerate().filter_map(|(place, check)| {
                let needed = check.needs.iter().map(|need| {
                    let mut done = placed.iter();
                    done.find(|(_, done)| done.name == *need)
                        .map(|(cost, _)| *cost)
                });
                let needed: Option<Vec<Cost>> = needed.collect();
                // A cheap check that needs a dear one costs as much as that one.
                let cost = needed?.into_iter().fold(check.cost, Cost::max);
                Some((cost, place))
            });
            let Some((cost, place)) = ready.min() else {
                // Every check that waits is in a circle, or behind one.
                let is_waiting = |need: &&String| waiting.iter().any(|it| it.name == **need);
                let needed = waiting[0].needs.iter().find(is_waiting);
                return Err(BadNeed {
                    check: waiting[0].name.clone(),
                    needed: needed.cloned().unwrap_or_default(),
                    there: true,
                });
            };
            placed.push((cost, waiting.remove(place)));
        }
        Ok(Self { checks: placed })
    }

    /// Whether any check costs this much by itself.
    pub(super) fn has(&self, cost: Cost) -> bool {
        self.checks.iter().any(|(_, check)| check.cost == cost)
    }

    /// Every rule of every check, once, with the level in force.
    pub(super) fn rules(&self, levels: &Levels) -> Vec<Rule> {
        let mut rules: Vec<Rule> = Vec::new();
        for rule in self.checks.iter().flat_map(|(_, check)| &check.rules) {
            if !rules.iter().any(|known| known.id == rule.id) {
                let level = level_of(rule, levels);
                rules.push(Rule {
                    level,
                    ..rule.clone()
                });
            }
        }
        rules
    }

    /// Runs the checks that cost no more than `most`; the others count as not run.
    ///
    /// All checks of one cost run; those of a higher cost run only when none of a lower cost
    /// failed. A check is not run when one that it needs has failed or was not run. `before_dearer`
    /// is asked before the first check that looks beyond the submission; what it finds stops these
    /// checks too.
    pub(super) fn run(
        &self,
        levels: &Levels,
        most: Cost,
        before_dearer: impl Fn() -> Vec<Fact>,
        run: impl Fn(&Check) -> Vec<Fact>,
    ) -> Judgement {
        let mut facts: Vec<Fact> = Vec::new();
        let mut reports: Vec<CheckReport> = Vec::with_capacity(self.checks.len());
        let mut most = most;
        let mut is_asked = false;
        for (cost, check) in &self.checks {
            if !is_asked && *cost > Cost::Local && *cost <= most {
                is_asked = true;
                let found = before_dearer();
                if !found.is_empty() {
                    facts.extend(found);
                    most = Cost::Local;
                }
            }
            let outcome = if *cost > most || !has_needs(&reports, &check.needs) {
                CheckOutcome::NotRun
            } else {
                let found = run_check(check, &run, levels);
                let outcome = match found.iter().map(|fact| fact.level).max() {
                    None => CheckOutcome::Passed,
                    Some(Level::Review) => CheckOutcome::NotConfirmed,
                    Some(Level::Fail) => CheckOutcome::Failed,
                };
                facts.extend(found);
                outcome
            };
            if outcome == CheckOutcome::Failed {
                // Checks of the same cost still run; dearer ones do not.
                most = *cost;
            }
            reports.push(CheckReport {
                check: check.name.clone(),
                outcome,
            });
        }
        Judgement::from_facts(facts, reports)
    }
}

/// Runs a check, and gives its facts the level and the cause that its rules have in this session.
fn run_check(check: &Check, run: impl Fn(&Check) -> Vec<Fact>, levels: &Levels) -> Vec<Fact> {
    let _span = tracing::debug_span!("check", otel.name = check.name).entered();
    let began = Instant::now();
    let mut facts = run(check);
    let fired: Vec<_> = facts.iter().map(|fact| fact.rule.as_str()).collect();
    let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    tracing::info!(check = check.name, ?fired, ms, "checked");
    for fact in &mut facts {
        let rule = check.rules.iter().find(|rule| rule.id == fact.rule);
        debug_assert!(rule.is_some(), "{} is not a rule of its check", fact.rule);
        // A rule that is missing from the catalogue must not let anything through.
        fact.level = rule.map_or(Level::Fail, |rule| level_of(rule, levels));
        fact.cause = rule.map_or(Cause::Wrong, |rule| rule.cause);
    }
    facts
}

fn level_of(rule: &Rule, levels: &Levels) -> Level {
    levels.get(&rule.id).copied().unwrap_or(rule.level)
}

/// Whether each of the checks that are needed was run and has not failed.
///
/// A check that is not confirmed must not keep others from failing. Otherwise an agent could cause
/// doubt on purpose, and turn a FAIL into a REVIEW.
fn has_needs(reports: &[CheckReport], needs: &[String]) -> bool {
    let ran = |outcome| matches!(outcome, CheckOutcome::Passed | CheckOutcome::NotConfirmed);
    needs.iter().all(|need| {
        let mut reports = reports.iter();
        reports.any(|report| report.check == *need && ran(report.outcome))
    })
}
