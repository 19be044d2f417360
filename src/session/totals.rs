//! The totals of a ledger, whose size does not depend on the number of quests.

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::decision::{DecisionPolicy, OperatorKey};
use super::event::{Attempt, Outcome, SourceRecord};
use super::quest_record::Effective;
use super::redaction::Forgetting;
use super::run_event::{RunId, RunProcess};
use super::sample::Sample;
use super::state::{State, Tally};
use crate::base::Digest;
use crate::quest::Seen;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Totals {
    pub tally: Tally,
    pub effective: EffectiveTally,
    pub counts: Counts,
    /// How many quests in a row have ended with nothing proven.
    pub streak: u32,
    pub settled: SettledTimes,
    pub extensions: Vec<SourceRecord>,
    /// The key that was added to a session that froze none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator_key: Option<OperatorKey>,
    #[serde(default, skip_serializing_if = "Forgetting::is_empty")]
    pub forgetting: Forgetting,
    /// The PASSes that were drawn for a person to check; none before the first draw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<Sample>,
    /// The runs that began and have not ended, with their processes where they are known.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub runs: BTreeMap<RunId, Option<RunProcess>>,
    /// The last change of the accepted tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<Digest>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    pub attempts: u32,
    pub tries: u32,
    pub unanchored: u32,
    /// PASSes whose pages a browser showed, and those that rest only on markup.
    #[serde(default)]
    pub rendered: u32,
    #[serde(default)]
    pub from_markup: u32,
    pub carried: u32,
    /// REVIEWs that were looked at again, by what became of them.
    pub resolutions: BTreeMap<Outcome, u32>,
    /// Quests that somebody disputed.
    pub disputed: u32,
    pub unsealed: u32,
    pub rules: BTreeMap<String, u32>,
}

/// The number of quests with each outcome. Outcomes without quests are absent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EffectiveTally(BTreeMap<Effective, u32>);

impl EffectiveTally {
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

/// What is settled, and neither proven nor decided by a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct NotProven {
    /// REVIEWs that wait for a person.
    pub open: u32,
    /// Quests whose tries are used up.
    pub done: u32,
}

impl fmt::Display for NotProven {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.open, self.done) {
            (open, 0) => write!(f, "{open} REVIEW open"),
            (0, done) => write!(f, "{done} DONE"),
            (open, done) => write!(f, "{open} REVIEW open, {done} DONE"),
        }
    }
}

impl Totals {
    /// Whether anything was judged. Then no setting can be added.
    pub fn has_judged(&self) -> bool {
        self.counts.attempts > 0 || self.counts.carried > 0
    }

    /// The frozen policy with the key that was added since.
    pub(super) fn policy(&self, frozen: DecisionPolicy) -> DecisionPolicy {
        DecisionPolicy {
            key: frozen.key.or(self.operator_key),
            ..frozen
        }
    }

    pub fn not_proven(&self) -> NotProven {
        let open = [Effective::Open, Effective::Refuted].map(|it| self.effective.of(it));
        NotProven {
            open: open.iter().sum(),
            done: self.tally.done,
        }
    }
}

impl Counts {
    pub(super) fn add_attempt(&mut self, attempt: &Attempt) {
        self.attempts += 1;
        self.add_pass(attempt);
        for rule in &attempt.rules {
            *self.rules.entry(rule.clone()).or_default() += 1;
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
        let passed = attempt.state == State::Pass;
        self.unanchored += u32::from(passed && !attempt.anchored);
        self.rendered += u32::from(passed && attempt.seen == Some(Seen::Rendered));
        self.from_markup += u32::from(passed && attempt.seen == Some(Seen::Markup));
    }
}

/// The times at which the latest quests were settled, in the order of the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SettledTimes(Vec<i64>);

/// How many are kept. Every submission writes all of them.
const KEPT: usize = 50;

impl SettledTimes {
    pub(super) fn add(&mut self, at: Timestamp) {
        let over = (self.0.len() + 1).saturating_sub(KEPT);
        self.0.drain(..over);
        self.0.push(at.as_millisecond());
    }

    pub fn times(&self) -> impl Iterator<Item = Timestamp> {
        let times = self.0.iter();
        times.filter_map(|at| Timestamp::from_millisecond(*at).ok())
    }
}

impl FromIterator<Timestamp> for SettledTimes {
    fn from_iter<I: IntoIterator<Item = Timestamp>>(times: I) -> Self {
        let mut settled = Self::default();
        times.into_iter().for_each(|at| settled.add(at));
        settled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_only_the_latest_times() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let few: SettledTimes = (0..3).map(at).collect();
        assert_eq!(few.times().collect::<Vec<_>>(), [at(0), at(1), at(2)]);
        let many: SettledTimes = (0..120).map(at).collect();
        let kept: Vec<_> = many.times().collect();
        assert_eq!((kept.len(), kept[0], kept[49]), (50, at(70), at(119)));
    }
}
