//! What the checks over the whole result said.

use crate::drive::quest_file::Definition;
use crate::drive::{DriveError, FinalOutcome};
use crate::gate::Fact;
use crate::session::Manifest;

/// What the checks over the whole result said, as far as completeness goes by it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum FinalSaid {
    /// There are none.
    #[default]
    None,
    /// They passed.
    Passed,
    /// They did not, and what they found.
    Refused(Vec<String>),
    /// They were not judged, and why.
    Unjudged(String),
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

/// Whether a session has checks over its whole result.
pub fn has_final(manifest: &Manifest) -> Result<bool, DriveError> {
    let Some(definition) = Definition::of(manifest)? else {
        return Ok(false);
    };
    Ok(definition.file()?.final_part.is_some())
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
        assert_eq!(FinalSaid::from(FinalOutcome::Passed), FinalSaid::Passed);
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
