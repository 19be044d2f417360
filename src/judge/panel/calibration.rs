//! Measures how well reviewers tell what is wrong from what is right, by labelled cases.
//!
//! A case is a question about a plant. Where the plant must be doubted by it, no doubt is a false
//! pass; where nothing is wrong with the plant, a doubt is a false doubt.

use schemars::JsonSchema;
use serde::Serialize;

use crate::gate::Vote;
use crate::world::sandbox::Usage;

/// What somebody says to a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Opinion {
    /// That something is wrong.
    Doubt,
    /// That nothing is.
    Clear,
    /// Nothing that holds.
    Nothing,
}

/// What came of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LabelledCase {
    pub plant: String,
    pub question: String,
    /// Whether it must be doubted.
    pub must_doubt: bool,
    /// What each reviewer said, in the order of the reviewers.
    pub said: Vec<Opinion>,
    /// What the panel made of it.
    pub panel: Opinion,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Share {
    pub part: u32,
    pub whole: u32,
}

/// How well somebody tells what is wrong from what is not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Score {
    /// The answers that are as labelled, of all answers.
    pub right: Share,
    /// Those that are no doubt, of the answers to what must be doubted.
    pub false_pass: Share,
    /// Those that are a doubt, of the answers to what is not wrong.
    pub false_doubt: Share,
    /// The cases without an answer that holds, of all cases.
    pub unanswered: Share,
}

/// A reviewer that was asked about every case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TriedReviewer {
    pub name: String,
    pub model: String,
    /// What all its answers took, where it says so.
    pub usage: Usage,
    /// Why it has no answer to some of the cases.
    pub errors: Vec<String>,
    #[serde(flatten)]
    pub score: Score,
}

/// What the labelled cases show of a panel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Calibration {
    pub reviewers: Vec<TriedReviewer>,
    /// How well they do together.
    pub panel: Score,
    /// The cases in which all that answered say the same, of those that several answered.
    pub agreement: Share,
    pub cases: Vec<LabelledCase>,
}

impl Share {
    fn count(&mut self, is_part: bool) {
        self.part += u32::from(is_part);
        self.whole += 1;
    }
}

impl Score {
    fn of(cases: &[LabelledCase], said: impl Fn(&LabelledCase) -> Opinion) -> Self {
        let mut score = Self::default();
        for case in cases {
            let said = said(case);
            score.unanswered.count(said == Opinion::Nothing);
            if said == Opinion::Nothing {
                continue;
            }
            let doubts = said == Opinion::Doubt;
            score.right.count(doubts == case.must_doubt);
            if case.must_doubt {
                score.false_pass.count(!doubts);
            } else {
                score.false_doubt.count(doubts);
            }
        }
        score
    }

    pub fn is_clean(&self) -> bool {
        self.unanswered.part == 0 && self.right.part == self.right.whole
    }
}

impl Calibration {
    /// Whether the panel is right in every case, and no reviewer of it was silent in any: a panel
    /// that is right without one of them is another panel.
    pub fn is_clean(&self) -> bool {
        let mut reviewers = self.reviewers.iter();
        self.panel.is_clean() && reviewers.all(|it| it.score.unanswered.part == 0)
    }

    pub fn of(mut reviewers: Vec<TriedReviewer>, cases: Vec<LabelledCase>) -> Self {
        let mut agreement = Share::default();
        for case in &cases {
            let answers = case.said.iter().filter(|said| **said != Opinion::Nothing);
            let answers: Vec<_> = answers.collect();
            if answers.len() > 1 {
                agreement.count(answers.windows(2).all(|pair| pair[0] == pair[1]));
            }
        }
        for (index, reviewer) in reviewers.iter_mut().enumerate() {
            reviewer.score = Score::of(&cases, |case| case.said[index]);
        }
        Self {
            reviewers,
            panel: Score::of(&cases, |case| case.panel),
            agreement,
            cases,
        }
    }
}

impl Opinion {
    pub(super) fn of(vote: Option<&Vote>) -> Self {
        match vote {
            None | Some(Vote::Error(_)) => Self::Nothing,
            Some(Vote::Doubt(_)) => Self::Doubt,
            Some(Vote::Unsure(_) | Vote::Faint(_) | Vote::Cleared(_)) => Self::Clear,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Opinion::{Clear, Doubt, Nothing};
    use super::*;

    fn case(must_doubt: bool, said: [Opinion; 3], panel: Opinion) -> LabelledCase {
        LabelledCase {
            plant: "plant".to_owned(),
            question: "faithful".to_owned(),
            must_doubt,
            said: said.to_vec(),
            panel,
        }
    }

    fn of(cases: Vec<LabelledCase>) -> Calibration {
        let reviewers = ["one", "two", "three"].map(|name| TriedReviewer {
            name: name.to_owned(),
            model: name.to_owned(),
            usage: Usage::default(),
            errors: Vec::new(),
            score: Score::default(),
        });
        Calibration::of(reviewers.into(), cases)
    }

    fn share(part: u32, whole: u32) -> Share {
        Share { part, whole }
    }

    #[test]
    fn each_error_is_counted_where_it_belongs() {
        let cases = vec![
            case(true, [Doubt, Clear, Nothing], Doubt),
            case(true, [Doubt, Clear, Doubt], Doubt),
            case(true, [Clear, Clear, Doubt], Clear),
            case(false, [Clear, Clear, Nothing], Clear),
            case(false, [Doubt, Clear, Doubt], Doubt),
        ];
        let found = of(cases);
        let first = Score {
            right: share(3, 5),
            false_pass: share(1, 3),
            false_doubt: share(1, 2),
            unanswered: share(0, 5),
        };
        let blind = Score {
            right: share(2, 5),
            false_pass: share(3, 3),
            false_doubt: share(0, 2),
            unanswered: share(0, 5),
        };
        let rare = Score {
            right: share(2, 3),
            false_pass: share(0, 2),
            false_doubt: share(1, 1),
            unanswered: share(2, 5),
        };
        let scores: Vec<_> = found.reviewers.iter().map(|it| it.score).collect();
        assert_eq!(scores, [first, blind, rare]);
        assert_eq!(found.panel, first);
        assert_eq!(found.agreement, share(1, 5));
        assert!(!found.panel.is_clean());
    }

    #[test]
    fn silence_is_neither_right_nor_agreed_upon() {
        let found = of(vec![case(true, [Nothing, Nothing, Doubt], Nothing)]);
        assert_eq!(found.agreement, share(0, 0));
        assert_eq!(found.panel.right, share(0, 0));
        assert!(!found.panel.is_clean());
        assert!(found.reviewers[2].score.is_clean());
    }

    #[test]
    fn a_panel_with_a_reviewer_who_is_silent_is_not_right() {
        let cases = |dead| {
            of(vec![
                case(true, [Doubt, Doubt, dead], Doubt),
                case(false, [Clear, Clear, Clear], Clear),
            ])
        };
        assert!(cases(Doubt).is_clean() && cases(Clear).is_clean());
        assert!(cases(Nothing).panel.is_clean() && !cases(Nothing).is_clean());
    }
}
