//! The fields of a line, held against its judgement.

use std::fmt;

use crate::gate::{Case, Gate, Judgement, house};
use crate::judge::accepted::marks;
use crate::judge::anchored::anchored;
use crate::judge::revision::revises;
use crate::judge::ruling::Ruling;
use crate::privacy::is_masked;
use crate::quest::{Quest, Submission};
use crate::session::Grounds;
use crate::world::evidence::{Evidence, Recording};

use super::judged::Judged;

/// A field that does not follow from the rest of its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Misfit {
    /// The judgement is none.
    Unreadable,
    /// The house itself judges the submission, and otherwise.
    House,
    Field(&'static str),
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable => f.write_str("its judgement does not read"),
            Self::House => f.write_str(
                "it says nothing or repeats an earlier submission, and is judged as if it did not",
            ),
            Self::Field(name) => write!(f, "its {name:?} does not follow from its judgement"),
        }
    }
}

/// The fields of `judged` that do not follow from its judgement, its evidence and its quest.
///
/// `repeats`: the number of the earlier attempt that sent the same, if the world was heard on it.
#[must_use]
pub fn misfits(
    gate: &dyn Gate,
    quest: &Quest,
    judged: &Judged<'_>,
    evidence: &Evidence,
    repeats: Option<u32>,
) -> Vec<Misfit> {
    let Ok(judgement) = serde_json::from_str::<Judgement>(judged.judgement.get()) else {
        return vec![Misfit::Unreadable];
    };
    let sums_up = Judgement::from_facts(judgement.facts.clone(), Vec::new()).verdict;
    let by_house = by_house(&judgement, judged.submission, repeats);
    let other = by_house
        .as_ref()
        .is_some_and(|(expected, _)| *expected != judgement);
    let ruling = match by_house {
        Some((_, grounds)) => Ruling::unseen(judgement, grounds),
        None => Ruling::seen(gate, judgement, without_bodies(evidence)),
    };
    let verdict = ruling.judgement.verdict;
    let holds = if judged.proves() {
        let submission = judged.submission;
        marks(gate, Case { quest, submission })
    } else {
        Vec::new()
    };
    let may_revise = revises(gate, &ruling.judgement, 0);
    let digest = judged.submission.digest();
    let fields = [
        ("verdict", verdict == judged.verdict && verdict == sums_up),
        ("rules", ruling.fired() == judged.rules),
        ("grounds", ruling.grounds == judged.grounds),
        ("holds", holds == judged.holds),
        ("revision", !judged.revision || may_revise),
        ("submitted", judged.submitted.is_none_or(|it| it == digest)),
        (
            "anchored",
            judged.anchored.is_none_or(|it| it == anchored(quest)),
        ),
    ];
    let wrong = fields.into_iter().filter(|(_, fits)| !fits);
    let wrong = wrong.map(|(name, _)| Misfit::Field(name));
    other
        .then_some(Misfit::House)
        .into_iter()
        .chain(wrong)
        .collect()
}

/// The judgement on a submission that no gate is asked about.
///
/// What held a forgotten address cannot be known from what is left of it: the house says so, of
/// a submission from which something was blotted out, and that is a FAIL.
fn by_house(
    judgement: &Judgement,
    submission: &Submission,
    repeats: Option<u32>,
) -> Option<(Judgement, Grounds)> {
    let forgotten = house::forgotten_address();
    if is_masked(submission) && *judgement == forgotten {
        return Some((forgotten, Grounds::Submission));
    }
    match submission {
        Submission::None(why) => Some((house::no_result(why), Grounds::NoResult)),
        Submission::Fields(_) => {
            let earlier = repeats?;
            Some((house::repeated_submission(earlier), Grounds::Repeat))
        }
    }
}

/// A recording of which nobody will ask for the bodies.
fn without_bodies(evidence: &Evidence) -> Recording {
    Recording {
        evidence: evidence.clone(),
        ..Recording::default()
    }
}
