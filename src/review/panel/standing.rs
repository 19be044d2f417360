//! The doubts by which an answer was sent back, and that stand until what they quote is gone.
//!
//! Who sends the same again would otherwise ask the reviewers until they say something else.

use super::quotation::Seen;
use crate::gate::{Passage, ReviewerReport, Vote, VoteOn};
use crate::quest::file::QuestionTable;
use crate::world::EarlierDoubt;

/// Puts the reviewer's earlier doubts whose quotation still stands in what it sees among its
/// votes, also where it is not heard this time.
pub(super) fn stand(
    report: &mut ReviewerReport,
    earlier: &[EarlierDoubt],
    questions: &[QuestionTable],
    seen: &Seen,
) {
    for question in questions {
        let mut doubts = earlier.iter().rev();
        let standing = doubts.find(|doubt| {
            doubt.reviewer == report.name
                && doubt.question == question.id
                && seen.holds(&doubt.quotation).is_ok()
        });
        if let Some(doubt) = standing {
            raise(report, doubt);
        }
    }
}

fn raise(report: &mut ReviewerReport, doubt: &EarlierDoubt) {
    report.counts = true;
    let mut votes = report.votes.iter_mut();
    let on = votes.find(|on| on.question == doubt.question);
    if on.as_ref().is_some_and(|on| on.vote.doubt().is_some()) {
        return;
    }
    let vote = Vote::Doubt(Passage {
        quotation: doubt.quotation.clone(),
        file: None,
        line: None,
        confidence: None,
    });
    match on {
        Some(on) => on.vote = vote,
        None => report.votes.push(VoteOn {
            question: doubt.question.clone(),
            vote,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quest::Sight;
    use crate::world::workshop::Usage;

    fn said(votes: Vec<Vote>) -> ReviewerReport {
        ReviewerReport {
            name: String::from("reader"),
            model: String::from("small-1"),
            counts: !votes.is_empty(),
            votes: votes
                .into_iter()
                .map(|vote| VoteOn {
                    question: String::from("faithful"),
                    vote,
                })
                .collect(),
            errors: Vec::new(),
            usage: Usage::default(),
        }
    }

    /// What this report comes to where `reviewer` doubted before, and `text` is shown now.
    fn after(mut report: ReviewerReport, reviewer: &str, text: &str) -> ReviewerReport {
        let earlier = [EarlierDoubt {
            reviewer: reviewer.to_owned(),
            question: String::from("faithful"),
            quotation: String::from("founded on Mars"),
        }];
        let questions = [QuestionTable {
            id: String::from("faithful"),
            ask: String::from("Is it so?"),
            checked: None,
        }];
        let seen = Seen::new(vec![(Sight::Key, text.to_owned())]);
        stand(&mut report, &earlier, &questions, &seen);
        report
    }

    #[test]
    fn a_doubt_stands_until_what_it_quotes_is_gone() {
        let clear = || Vote::Cleared(String::from("all"));
        let still = "It was\u{200b} founded  on Mars.";
        for votes in [vec![clear()], vec![Vote::Error(String::new())], Vec::new()] {
            let report = after(said(votes.clone()), "reader", still);
            assert!(report.counts);
            let passage = report.votes[0].vote.doubt().unwrap();
            assert_eq!(passage.quotation, "founded on Mars");
            for (reviewer, text) in [("reader", "It was founded in Seoul."), ("other", still)] {
                assert_eq!(
                    after(said(votes.clone()), reviewer, text),
                    said(votes.clone())
                );
            }
        }
    }
}
