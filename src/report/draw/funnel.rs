//! What each step of the gate stopped.

use serde::Deserialize;

use crate::gate::{CheckOutcome, CheckReport};
use crate::report::picture::FunnelStep;

/// The first step: whether there is an answer, and one that was not judged before.
const HOUSE: &str = "house";

/// What each step of the gate stopped, line by line.
///
/// Whatever did not stop at a step came to the next one.
#[derive(Debug)]
pub(super) struct Funnel {
    steps: Vec<FunnelStep>,
}

/// What is read of a judgement.
#[derive(Deserialize)]
struct Checked {
    checks: Vec<CheckReport>,
}

impl Default for Funnel {
    fn default() -> Self {
        Self {
            steps: vec![step(HOUSE)],
        }
    }
}

impl Funnel {
    /// Takes in a judgement, as the gate wrote it; one that does not read is `audit`'s to tell of.
    pub(super) fn take(&mut self, judgement: &str) {
        let Ok(Checked { checks }) = serde_json::from_str(judgement) else {
            return;
        };
        self.steps[0].reached += 1;
        // Only the house judges without checks, and only to refuse.
        let mut stopped = checks.is_empty();
        self.steps[0].stopped += u32::from(stopped);
        let mut next = 1;
        for report in checks {
            let place = self.place(&report.check, next);
            next = next.max(place + 1);
            if stopped {
                continue;
            }
            let step = &mut self.steps[place];
            step.reached += 1;
            stopped = report.outcome == CheckOutcome::Failed;
            step.stopped += u32::from(stopped);
        }
    }

    /// The steps, in the order in which they run.
    #[must_use]
    pub(super) fn steps(self) -> Vec<FunnelStep> {
        self.steps
    }

    /// Where the check of this name stands; a new one comes to stand at `next`.
    fn place(&mut self, name: &str, next: usize) -> usize {
        let known = self.steps.iter().skip(1).position(|it| it.name == name);
        known.map_or_else(
            || {
                self.steps.insert(next, step(name));
                next
            },
            |place| place + 1,
        )
    }
}

fn step(name: &str) -> FunnelStep {
    FunnelStep {
        name: name.to_owned(),
        reached: 0,
        stopped: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A judgement whose checks came out so: `p`assed, `f`ailed, `r`eview, `n`ot run.
    fn judged(checks: &[(&str, char)]) -> String {
        let outcome = |letter| match letter {
            'p' => CheckOutcome::Passed,
            'f' => CheckOutcome::Failed,
            'r' => CheckOutcome::NotConfirmed,
            _ => CheckOutcome::NotRun,
        };
        let reports = checks.iter().map(|(check, letter)| CheckReport {
            check: (*check).to_owned(),
            outcome: outcome(*letter),
        });
        let judgement = crate::gate::Judgement::from_facts(Vec::new(), reports.collect());
        serde_json::to_string(&judgement).unwrap()
    }

    fn drawn(judgements: &[String]) -> Vec<(String, u32, u32)> {
        let mut funnel = Funnel::default();
        for judgement in judgements {
            funnel.take(judgement);
        }
        let steps = funnel.steps().into_iter();
        steps.map(|it| (it.name, it.reached, it.stopped)).collect()
    }

    #[test]
    fn a_submission_is_stopped_once_at_the_first_step_that_fails() {
        let judgements = [
            judged(&[]),
            judged(&[("format", 'f'), ("domain", 'f'), ("source", 'n')]),
            judged(&[("format", 'p'), ("domain", 'r'), ("source", 'f')]),
            judged(&[("format", 'p'), ("domain", 'p'), ("source", 'p')]),
            "null".to_owned(),
        ];
        let expected = [
            ("house", 4, 1),
            ("format", 3, 1),
            ("domain", 2, 0),
            ("source", 2, 1),
        ];
        let expected = expected.map(|(name, reached, stopped)| (name.to_owned(), reached, stopped));
        assert_eq!(drawn(&judgements), expected);
    }

    #[test]
    fn whatever_does_not_stop_comes_to_the_next_step() {
        let judgements: Vec<String> = (0..30_u8)
            .map(|number| {
                let at = |bit: u8| if number >> bit & 1 == 1 { 'f' } else { 'p' };
                judged(&[("a", at(0)), ("b", at(1)), ("c", at(2)), ("d", at(3))])
            })
            .collect();
        for pair in drawn(&judgements).windows(2) {
            assert_eq!(pair[0].1 - pair[0].2, pair[1].1, "{pair:?}");
        }
    }

    #[test]
    fn steps_that_some_judgements_lack_stand_where_others_have_them() {
        let judgements = [
            judged(&[("a", 'p'), ("c", 'p')]),
            judged(&[("a", 'p'), ("b", 'p'), ("c", 'p'), ("panel", 'r')]),
        ];
        let names: Vec<String> = drawn(&judgements).into_iter().map(|it| it.0).collect();
        assert_eq!(names, ["house", "a", "b", "c", "panel"]);
        assert_eq!(drawn(&[]), [("house".to_owned(), 0, 0)]);
    }
}
