//! Measures how well reviewers tell what is wrong from what is right, by labelled cases.
//!
//! A case is a question about a plant. Where the plant must be doubted by it, no doubt is a false
//! pass; where nothing is wrong with the plant, a doubt is a false doubt. A question that a plant
//! does not speak of is no case: it may rightly be doubted or not.

use schemars::JsonSchema;
use serde::Serialize;

use crate::world::sandbox::Usage;

/// What somebody says to a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Said {
    /// That something is wrong.
    Doubt,
    /// That nothing is.
    Clear,
    /// Nothing that holds.
    Nothing,
}

/// What came of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Labelled {
    /// The plant.
    pub plant: String,
    /// The question.
    pub question: String,
    /// Whether it must be doubted.
    pub must_doubt: bool,
    /// What each reviewer said, in the order of the reviewers.
    pub said: Vec<Said>,
    /// What the panel made of it.
    pub panel: Said,
}

/// So many of so many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Share {
    /// How many.
    pub part: u32,
    /// Of how many.
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
pub struct Tried {
    /// Its name.
    pub name: String,
    /// The model that it is.
    pub model: String,
    /// What all its answers took, where it says so.
    pub usage: Usage,
    /// Why it has no answer to some of the cases.
    pub errors: Vec<String>,
}

/// How well a reviewer tells what is wrong from what is not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Scored {
    /// The reviewer.
    #[serde(flatten)]
    pub reviewer: Tried,
    /// Its score.
    #[serde(flatten)]
    pub score: Score,
}

/// What the labelled cases show of a panel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Calibration {
    /// The reviewers, in the order of the file.
    pub reviewers: Vec<Scored>,
    /// How well they do together.
    pub panel: Score,
    /// The cases in which all that answered say the same, of those that several answered.
    pub agreement: Share,
    /// The cases.
    pub cases: Vec<Labelled>,
}

impl Share {
    fn count(&mut self, is_part: bool) {
        self.part += u32::from(is_part);
        self.whole += 1;
    }
}

impl std::fmt::Display for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.whole == 0 {
            return f.write_str("none to tell by");
        }
        let percent = 100.0 * f64::from(self.part) / f64::from(self.whole);
        write!(f, "{} of {} ({percent:.0} %)", self.part, self.whole)
    }
}

impl Score {
    fn count(&mut self, must_doubt: bool, said: Said) {
        self.unanswered.count(said == Said::Nothing);
        if said == Said::Nothing {
            return;
        }
        let doubts = said == Said::Doubt;
        self.right.count(doubts == must_doubt);
        if must_doubt {
            self.false_pass.count(!doubts);
        } else {
            self.false_doubt.count(doubts);
        }
    }

    fn of(cases: &[Labelled], said: impl Fn(&Labelled) -> Said) -> Self {
        let mut score = Self::default();
        for case in cases {
            score.count(case.must_doubt, said(case));
        }
        score
    }

    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.unanswered.part == 0 && self.right.part == self.right.whole
    }
}

impl Calibration {
    /// Whether the panel is right in every case, and no reviewer of it was silent in any: a panel
    /// that is right without one of them is another panel.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        let mut reviewers = self.reviewers.iter();
        self.panel.is_clean() && reviewers.all(|it| it.score.unanswered.part == 0)
    }

    #[must_use]
    pub fn of(reviewers: Vec<Tried>, cases: Vec<Labelled>) -> Self {
        let mut agreement = Share::default();
        for case in &cases {
            let answers = case.said.iter().filter(|said| **said != Said::Nothing);
            let answers: Vec<_> = answers.collect();
            if answers.len() > 1 {
                agreement.count(answers.windows(2).all(|pair| pair[0] == pair[1]));
            }
        }
        let scored = reviewers.into_iter().enumerate();
        let scored = scored.map(|(index, reviewer)| Scored {
            reviewer,
            score: Score::of(&cases, |case| said_by(case, index)),
        });
        Self {
            reviewers: scored.collect(),
            panel: Score::of(&cases, |case| case.panel),
            agreement,
            cases,
        }
    }
}

fn said_by(case: &Labelled, reviewer: usize) -> Said {
    case.said.get(reviewer).copied().unwrap_or(Said::Nothing)
}

#[cfg(test)]
mod tests {
    use super::Said::{Clear, Doubt, Nothing};
    use super::*;

    fn case(must_doubt: bool, said: [Said; 3], panel: Said) -> Labelled {
        Labelled {
            plant: "plant".to_owned(),
            question: "faithful".to_owned(),
            must_doubt,
            said: said.to_vec(),
            panel,
        }
    }

    fn of(cases: Vec<Labelled>) -> Calibration {
        let reviewers = ["one", "two", "three"].map(|name| Tried {
            name: name.to_owned(),
            model: name.to_owned(),
            usage: Usage::default(),
            errors: Vec::new(),
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

    #[test]
    fn a_share_of_nothing_has_no_percentage() {
        assert_eq!(share(1, 8).to_string(), "1 of 8 (12 %)");
        assert_eq!(share(0, 0).to_string(), "none to tell by");
    }
}
