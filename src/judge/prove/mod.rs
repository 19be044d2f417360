//! Tests a gate by its controls: each must get its verdict, and every rule must be able to fire.

mod control;
mod email;

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use crate::gate::{Judgement, Level, Rule};
use crate::quest::Verdict;
use crate::quest::file::ControlTable;

pub use control::{ProveError, Tree, TrialError, prove, trial};
pub use email::prove_email;

/// What the controls of a quest file show of its gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Proof {
    /// What came of each control, in the order of the file.
    pub controls: Vec<Outcome>,
    /// What no control shows, and one must.
    pub lacking: Vec<Lacking>,
    /// The rules of level REVIEW that no control ever fired.
    pub unfired: Vec<String>,
}

/// What came of one control.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Outcome {
    /// Its name.
    pub name: String,
    /// The verdict that it must get.
    pub expected: Verdict,
    /// The rules that must fire, where they are named.
    pub fires: Option<Vec<String>>,
    /// What the gate said.
    pub judgement: Judgement,
    /// Whether that is what it must say.
    pub fits: bool,
}

/// What no control shows, and one must.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Lacking {
    /// That a right submission gets through.
    Pass,
    /// That a wrong one is refused.
    Fail,
    /// That this rule of level FAIL can fire.
    Rule(String),
    /// That this rule of level FAIL of the final gate can fire.
    FinalRule(String),
}

impl Outcome {
    #[must_use]
    pub fn of(control: &ControlTable, judgement: Judgement) -> Self {
        let fired: BTreeSet<&str> = judgement.facts.iter().map(|it| it.rule.as_str()).collect();
        let fits = judgement.verdict == control.verdict
            && control.fires.as_ref().is_none_or(|rules| {
                let rules: BTreeSet<&str> = rules.iter().map(String::as_str).collect();
                rules == fired
            });
        Self {
            name: control.name.clone(),
            expected: control.verdict,
            fires: control.fires.clone(),
            fits,
            judgement,
        }
    }
}

/// The rule that fires for a field's shape: the program's own, which needs no control.
const OWN_RULES: &[&str] = &["field-format", "open-ended"];

impl Proof {
    /// What these outcomes show of a gate with these rules.
    ///
    /// `open`: no machine can decide, so that a right submission gets REVIEW.
    #[must_use]
    pub fn of(controls: Vec<Outcome>, rules: &[Rule], open: bool) -> Self {
        let fitting = || controls.iter().filter(|outcome| outcome.fits);
        let best = if open { Verdict::Review } else { Verdict::Pass };
        let shows = |verdict| fitting().any(|outcome| outcome.expected == verdict);
        let pass = (!shows(best)).then_some(Lacking::Pass);
        let fail = (!shows(Verdict::Fail)).then_some(Lacking::Fail);
        let failing = unfired(&controls, rules, Level::Fail);
        let failing = failing.into_iter().map(Lacking::Rule);
        Self {
            lacking: pass.into_iter().chain(fail).chain(failing).collect(),
            unfired: unfired(&controls, rules, Level::Review),
            controls,
        }
    }

    /// Whether every control got what it must, and nothing is lacking.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.lacking.is_empty() && self.controls.iter().all(|outcome| outcome.fits)
    }
}

/// The rules of this level that no control fired which got what it must.
pub(super) fn unfired(controls: &[Outcome], rules: &[Rule], level: Level) -> Vec<String> {
    let fitting = controls.iter().filter(|outcome| outcome.fits);
    let fired: BTreeSet<&str> = fitting
        .flat_map(|outcome| outcome.judgement.facts.iter())
        .map(|fact| fact.rule.as_str())
        .collect();
    let rules = rules.iter().filter(|rule| rule.level == level);
    let ids = rules.map(|rule| rule.id.as_str());
    let left = ids.filter(|id| !fired.contains(id) && !OWN_RULES.contains(id));
    left.map(str::to_owned).collect()
}

impl std::fmt::Display for Lacking {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Pass => f.write_str("no control shows that a right submission gets through"),
            Self::Fail => f.write_str("no control shows that a wrong submission is refused"),
            Self::Rule(rule) => write!(f, "no control ever fired `{rule}`"),
            Self::FinalRule(rule) => write!(
                f,
                "no [[final.control]] ever fired `{rule}`, and there is no [final.negative]"
            ),
        }
    }
}
