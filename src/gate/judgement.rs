//! What a gate says of one submission.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::doubts::PANEL;
use super::{Doubts, Fact, Level, PanelReport};
use crate::quest::Verdict;

/// A verdict with everything that it rests on.
///
/// The same case and the same answers of the world give the same value, byte for byte when
/// serialised.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Judgement {
    /// What the facts add up to.
    pub verdict: Verdict,
    /// Every rule that fired, in the order of the checks.
    pub facts: Vec<Fact>,
    /// Every check of the gate, in order, run or not.
    pub checks: Vec<CheckReport>,
    /// What reviewers said, where any were asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub panel: Option<Box<PanelReport>>,
}

/// What became of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckReport {
    /// The check's name.
    pub check: String,
    /// What became of it.
    pub outcome: CheckOutcome,
}

/// What may become of a check. Not run is not passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CheckOutcome {
    /// It ran and nothing fired.
    Passed,
    /// A rule of level FAIL fired.
    Failed,
    /// A rule of level REVIEW fired, and none of level FAIL.
    NotConfirmed,
    /// A cheaper check had failed.
    NotRun,
}

impl Judgement {
    /// The judgement that `facts` and `checks` add up to.
    ///
    /// Any FAIL fact makes it FAIL, else any REVIEW fact makes it REVIEW, else it is PASS.
    #[must_use]
    pub fn from_facts(facts: Vec<Fact>, checks: Vec<CheckReport>) -> Self {
        let verdict = match facts.iter().map(|fact| fact.level).max() {
            None => Verdict::Pass,
            Some(Level::Review) => Verdict::Review,
            Some(Level::Fail) => Verdict::Fail,
        };
        Self {
            verdict,
            facts,
            checks,
            panel: None,
        }
    }

    /// The same with what reviewers hold against it: a PASS becomes REVIEW where they doubt, and
    /// nothing else changes the verdict.
    #[must_use]
    pub fn doubted(self, doubts: Doubts) -> Self {
        let (found, report) = doubts.into_parts();
        let verdict = match self.verdict {
            Verdict::Pass if !found.is_empty() => Verdict::Review,
            verdict => verdict,
        };
        let outcome = if found.is_empty() {
            CheckOutcome::Passed
        } else {
            CheckOutcome::NotConfirmed
        };
        let (mut facts, mut checks) = (self.facts, self.checks);
        facts.extend(found);
        checks.push(CheckReport {
            check: PANEL.to_owned(),
            outcome,
        });
        Self {
            verdict,
            facts,
            checks,
            panel: Some(Box::new(report)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::RuleId;
    use crate::quest::FieldName;

    fn fact(level: Level) -> Fact {
        Fact {
            cause: crate::gate::Cause::Wrong,
            rule: RuleId::known("some-rule"),
            level,
            field: Some(FieldName::known("email")),
            location: None,
            expected: "this".to_owned(),
            actual: "that".to_owned(),
            count: 1,
        }
    }

    fn verdict(levels: &[Level]) -> Verdict {
        let facts = levels.iter().copied().map(fact).collect();
        Judgement::from_facts(facts, Vec::new()).verdict
    }

    #[test]
    fn the_gravest_fact_decides_wherever_it_stands() {
        use Level::{Fail, Review};
        assert_eq!(verdict(&[]), Verdict::Pass);
        assert_eq!(verdict(&[Review, Review]), Verdict::Review);
        assert_eq!(verdict(&[Review, Fail, Review]), Verdict::Fail);
        assert_eq!(verdict(&[Fail]), Verdict::Fail);
    }

    fn doubts(count: usize) -> Doubts {
        let mut doubts = Doubts::new(PanelReport {
            plant: None,
            reviewers: Vec::new(),
        });
        for _ in 0..count {
            doubts.doubt("Is it so?", "it is", String::from("reader"));
        }
        doubts
    }

    #[test]
    fn doubts_turn_a_pass_into_a_review_and_nothing_else_into_anything() {
        use Level::{Fail, Review};
        for levels in [&[][..], &[Review], &[Fail], &[Review, Fail]] {
            let facts: Vec<_> = levels.iter().copied().map(fact).collect();
            let before = Judgement::from_facts(facts, Vec::new());
            assert_eq!(before.clone().doubted(doubts(0)).verdict, before.verdict);
            let after = before.clone().doubted(doubts(2));
            let summed = Judgement::from_facts(after.facts.clone(), Vec::new());
            assert_eq!(after.verdict, summed.verdict);
            let same = after.verdict == before.verdict;
            assert_eq!(same, before.verdict != Verdict::Pass);
        }
    }

    #[test]
    fn is_written_in_one_way_and_read_back() {
        let report = CheckReport {
            check: "source".to_owned(),
            outcome: CheckOutcome::NotRun,
        };
        let judgement = Judgement::from_facts(vec![fact(Level::Fail)], vec![report]);
        let written = serde_json::to_string(&judgement).unwrap();
        assert_eq!(
            written,
            concat!(
                r#"{"verdict":"FAIL","facts":[{"rule":"some-rule","level":"FAIL","#,
                r#""field":"email","expected":"this","actual":"that","count":1}],"#,
                r#""checks":[{"check":"source","outcome":"not-run"}]}"#
            )
        );
        assert_eq!(
            serde_json::from_str::<Judgement>(&written).unwrap(),
            judgement
        );
    }
}
