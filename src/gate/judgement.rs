//! What a gate says of one submission.

use serde::{Deserialize, Serialize};

use super::{Fact, Level};
use crate::quest::Verdict;

/// A verdict with everything that it rests on.
///
/// The same case and the same answers of the world give the same value, byte for byte when
/// serialised.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    /// What the facts add up to.
    pub verdict: Verdict,
    /// Every rule that fired, in the order of the checks.
    pub facts: Vec<Fact>,
    /// Every check of the gate, in order, run or not.
    pub checks: Vec<CheckReport>,
}

/// What became of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckReport {
    /// The check's name.
    pub check: String,
    /// What became of it.
    pub outcome: CheckOutcome,
}

/// What may become of a check. Not run is not passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
