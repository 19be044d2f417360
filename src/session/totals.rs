//! What a ledger adds up to, whatever the number of its quests.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::attempt::Attempt;
use super::effective::Effective;
use super::forgotten::Forgetting;
use super::manifest::SourceRecord;
use super::resolution::Outcome;
use super::run_line::{RunId, RunProcess};
use super::settled_times::SettledTimes;
use super::state::{State, Tally};
use super::streak::Streak;

/// What a ledger adds up to.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Totals {
    /// How many quests stand where.
    pub tally: Tally,
    /// How many quests come to what.
    pub effective: EffectiveTally,
    /// What all attempts add up to.
    pub counts: Counts,
    /// The unproven streak.
    pub streak: Streak,
    /// When quests were settled of late.
    pub settled: SettledTimes,
    /// The lists that `scan --update` read, in order.
    pub extensions: Vec<SourceRecord>,
    /// What was forgotten.
    #[serde(default, skip_serializing_if = "Forgetting::is_empty")]
    pub forgetting: Forgetting,
    /// The runs that began and have not ended, with their processes where they are known.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub runs: BTreeMap<RunId, Option<RunProcess>>,
}

/// What all attempts add up to.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// Submissions judged.
    pub attempts: u32,
    /// Tries that they used up.
    pub tries: u32,
    /// PASSes that were held against nothing known beforehand.
    pub unanchored: u32,
    /// PASSes that an earlier session brought.
    pub carried: u32,
    /// REVIEWs that were looked at again, by what became of them.
    pub resolutions: BTreeMap<Outcome, u32>,
    /// Quests of which somebody said that the world contradicted them.
    pub disputed: u32,
    /// Decisions that lack the operator's seal, and changed nothing.
    pub unsealed: u32,
    /// In how many attempts each rule fired.
    pub rules: BTreeMap<String, u32>,
}

/// How many quests come to what; those to which none comes are not named.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EffectiveTally(BTreeMap<Effective, u32>);

impl EffectiveTally {
    /// How many come to `effective`.
    #[must_use]
    pub fn of(&self, effective: Effective) -> u32 {
        self.0.get(&effective).copied().unwrap_or(0)
    }

    pub(super) fn add(&mut self, effective: Effective) {
        *self.0.entry(effective).or_default() += 1;
    }

    pub(super) fn shift(&mut self, from: Effective, to: Effective) {
        if let Some(left) = self.0.get_mut(&from) {
            *left = left.saturating_sub(1);
        }
        self.0.retain(|_, count| *count > 0);
        self.add(to);
    }
}

impl Counts {
    pub(super) fn add_attempt(&mut self, attempt: &Attempt) {
        self.attempts += 1;
        self.add_pass(attempt);
        for rule in &attempt.rules {
            match self.rules.get_mut(rule) {
                Some(count) => *count += 1,
                None => {
                    self.rules.insert(rule.clone(), 1);
                }
            }
        }
    }

    pub(super) fn add_carried(&mut self, attempt: &Attempt) {
        self.carried += 1;
        self.add_pass(attempt);
    }

    pub(super) fn add_resolution(&mut self, outcome: Outcome) {
        *self.resolutions.entry(outcome).or_default() += 1;
    }

    fn add_pass(&mut self, attempt: &Attempt) {
        self.unanchored += u32::from(attempt.state == State::Pass && !attempt.anchored);
    }
}
