//! The doubts by which an answer was sent back, and that stand until what they quote is gone.
//!
//! Who sends the same again would otherwise ask the reviewers until they say something else.

use crate::gate::checks::folded::seen;
use crate::gate::{Passage, ReviewerReport, Vote, VoteOn};
use crate::quest::Sight;
use crate::quest::file::QuestionTable;
use crate::world::EarlierDoubt;
use crate::world::evidence::prune::masked;

/// What an earlier quotation is looked for in.
///
/// Which mailboxes a reviewer is shown goes by what is submitted, so that words beside one would
/// come and go with the submission: they are held against the whole text, and with every mailbox
/// masked on both sides.
pub(super) struct Ground {
    whole: Vec<String>,
    masked: Vec<String>,
}

impl Ground {
    pub(super) fn new(inputs: &[(Sight, String)]) -> Self {
        let texts = inputs.iter().map(|(_, text)| text);
        Self {
            whole: texts.clone().map(|text| seen(text)).collect(),
            masked: texts.map(|text| neutral(text)).collect(),
        }
    }

    fn holds(&self, quotation: &str) -> bool {
        let stands = |sought: &str, texts: &[String]| {
            !sought.is_empty() && texts.iter().any(|text| text.contains(sought))
        };
        stands(&seen(quotation), &self.whole) || stands(&neutral(quotation), &self.masked)
    }
}

fn neutral(text: &str) -> String {
    seen(&masked(text, &[]))
}

/// Puts the reviewer's earlier doubts whose quotation still stands in what it sees among its
/// votes, also where it is not heard this time.
pub(super) fn stand(
    report: &mut ReviewerReport,
    earlier: &[EarlierDoubt],
    questions: &[QuestionTable],
    ground: &Ground,
) {
    for question in questions {
        let mut doubts = earlier.iter().rev();
        let standing = doubts.find(|doubt| {
            doubt.reviewer == report.name
                && doubt.question == question.id
                && ground.holds(&doubt.quotation)
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
    use crate::world::sandbox::Usage;

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
        let ground = Ground::new(&[(Sight::Key, text.to_owned())]);
        stand(&mut report, &earlier, &questions, &ground);
        report
    }

    #[test]
    fn what_was_quoted_stands_whatever_is_put_beside_it() {
        let ground = |text: &str| Ground::new(&[(Sight::Key, text.to_owned())]);
        assert!(ground("exit 0 #").holds("exit 0") && ground("exit 0").holds("exit 0"));
        assert!(!ground("exit 1 #").holds("exit 0"));
        for nothing in ["", " ", "\u{200b}"] {
            assert!(!ground("exit 0").holds(nothing), "{nothing:?}");
        }
    }

    #[test]
    fn what_was_quoted_stands_whichever_mailbox_is_shown() {
        let page = "Write to sales@acme.kr, which Bolt reads, or jo@acme.kr.";
        let ground = Ground::new(&[(Sight::Key, page.to_owned())]);
        for quotation in [
            "sales@acme.kr, which Bolt",
            "xxxxx@acme.kr, which Bolt",
            "Write to sal",
            "xx@acme.kr, which Bolt",
            "sales@acme.kr, which Bolt reads, or xx@acme.kr",
        ] {
            assert!(ground.holds(quotation), "{quotation}");
        }
        assert!(!ground.holds("sales@acme.kr, which nobody reads"));
        assert!(!ground.holds("xxxxx@bolt.kr, which Bolt"));
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
