//! What the checks over the whole result said.

use schemars::JsonSchema;
use serde::Serialize;

use crate::gate::Fact;
use crate::judge::quest_file::Definition;
use crate::judge::{DriveError, FinalOutcome};
use crate::session::Manifest;

/// What the checks over the whole result said, as far as completeness goes by it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum FinalSaid {
    /// There are none.
    #[default]
    None,
    /// They passed, with no negative control.
    Passed,
    /// They passed, and the negative control failed as it must.
    Proven,
    /// They did not, and what they found.
    Refused(Vec<String>),
    /// They were not judged, and why.
    Unjudged(String),
}

/// What the checks over the whole result said, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FinalWord {
    /// There are none.
    None,
    /// They passed, with no negative control.
    Passed,
    /// They passed, and the negative control failed as it must.
    Proven,
    /// They did not pass.
    Refused,
    /// They were not judged.
    Unjudged,
}

impl FinalSaid {
    #[must_use]
    pub fn word(&self) -> FinalWord {
        match self {
            Self::None => FinalWord::None,
            Self::Passed => FinalWord::Passed,
            Self::Proven => FinalWord::Proven,
            Self::Refused(_) => FinalWord::Refused,
            Self::Unjudged(_) => FinalWord::Unjudged,
        }
    }

    /// The same of checks with a negative control, which they do not pass without.
    #[must_use]
    pub fn under_negative(self) -> Self {
        match self {
            Self::Passed => Self::Proven,
            other => other,
        }
    }
}

impl From<FinalOutcome> for FinalSaid {
    fn from(outcome: FinalOutcome) -> Self {
        let facts = outcome.facts().iter().map(told).collect();
        match outcome {
            FinalOutcome::None => Self::None,
            FinalOutcome::Passed => Self::Passed,
            FinalOutcome::Failed { .. } | FinalOutcome::Unconfirmed { .. } => Self::Refused(facts),
            FinalOutcome::NegativeHeld { verdict, .. } => {
                let what = format!(
                    "its negative control, which is wrong on purpose, did not fail as it must: it \
                     is {verdict}"
                );
                Self::Refused([vec![what], facts].concat())
            }
        }
    }
}

pub fn has_final(manifest: &Manifest) -> Result<bool, DriveError> {
    let Some(definition) = Definition::of(manifest)? else {
        return Ok(false);
    };
    Ok(definition.file()?.final_part.is_some())
}

pub fn has_negative(manifest: &Manifest) -> Result<bool, DriveError> {
    let Some(definition) = Definition::of(manifest)? else {
        return Ok(false);
    };
    let part = definition.file()?.final_part;
    Ok(part.is_some_and(|part| part.negative.is_some()))
}

fn told(fact: &Fact) -> String {
    let place = fact.location.as_ref().map(|place| format!(" at {place}"));
    let place = place.unwrap_or_default();
    let (rule, expected, actual) = (&fact.rule, &fact.expected, &fact.actual);
    format!("{rule}{place}: expected {expected}, found {actual}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::house;
    use crate::quest::Verdict;

    #[test]
    fn only_what_passed_passed() {
        let facts = || house::no_result("why").facts;
        assert_eq!(FinalSaid::from(FinalOutcome::None), FinalSaid::None);
        let passed = FinalSaid::from(FinalOutcome::Passed);
        assert_eq!(passed, FinalSaid::Passed);
        assert_eq!(passed.under_negative(), FinalSaid::Proven);
        let refused = FinalSaid::Unjudged("why".to_owned());
        assert_eq!(refused.clone().under_negative(), refused);
        for outcome in [
            FinalOutcome::Failed { facts: facts() },
            FinalOutcome::Unconfirmed { facts: facts() },
        ] {
            let FinalSaid::Refused(said) = FinalSaid::from(outcome) else {
                panic!("it passed");
            };
            assert!(said[0].starts_with("no-result"), "{said:?}");
        }
        let held = FinalOutcome::NegativeHeld {
            verdict: Verdict::Pass,
            facts: Vec::new(),
        };
        let FinalSaid::Refused(said) = FinalSaid::from(held) else {
            panic!("it passed");
        };
        assert!(said[0].contains("it is PASS"), "{said:?}");
    }
}
