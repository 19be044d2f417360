//! Counts the votes on one question.
//!
//! A question is cleared only if it would be cleared even when every silent reviewer had doubted:
//! an agent that can make a reviewer fail gains nothing by it.

use crate::base::text::visible;
use crate::gate::{Passage, ReviewerReport, Vote, VoteOn};
use crate::quest::ReviewInput;
use crate::quest::file::{PanelTable, QuestionTable, Threshold};
use crate::world::EarlierDoubt;
use crate::world::evidence::prune::masked;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    Doubted,
    /// They do not.
    Cleared,
    Unsettled(Lack),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lack {
    /// So few answered, fewer than must.
    Quorum(u32),
    Silent(u32),
    /// Nobody answered who sees anything that the agent has not written itself.
    Sight,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ballot<'v> {
    /// Its vote; none where it is not heard.
    pub(super) vote: Option<&'v Vote>,
    /// Whether it sees anything that the agent has not written itself.
    pub(super) differs: bool,
}

impl<'v> Ballot<'v> {
    fn answer(&self) -> Option<&'v Vote> {
        self.vote.filter(|vote| vote.is_answer())
    }
}

pub(super) fn weigh<'v>(head: PanelTable, panel: impl IntoIterator<Item = Ballot<'v>>) -> Weight {
    let (mut answered, mut doubting, mut silent) = (0_u32, 0_u32, 0_u32);
    let mut differs = false;
    for ballot in panel {
        match ballot.answer() {
            Some(vote) => {
                answered += 1;
                doubting += u32::from(vote.doubt().is_some());
                differs |= ballot.differs;
            }
            None => silent += 1,
        }
    }
    let enough = |of: u32| match head.threshold {
        Threshold::Any => 1,
        // Half of them is enough: a tie is a doubt.
        Threshold::Majority => of.div_ceil(2).max(1),
    };
    if answered < head.quorum {
        Weight::Unsettled(Lack::Quorum(answered))
    } else if doubting >= enough(answered) {
        Weight::Doubted
    } else if doubting + silent >= enough(answered + silent) {
        Weight::Unsettled(Lack::Silent(silent))
    } else if !differs {
        Weight::Unsettled(Lack::Sight)
    } else {
        Weight::Cleared
    }
}

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
    pub(super) fn new(inputs: &[(ReviewInput, String)]) -> Self {
        let texts = inputs.iter().map(|(_, text)| text);
        Self {
            whole: texts.clone().map(|text| visible(text)).collect(),
            masked: texts.map(|text| neutral(text)).collect(),
        }
    }

    fn holds(&self, quotation: &str) -> bool {
        let stands = |sought: &str, texts: &[String]| {
            !sought.is_empty() && texts.iter().any(|text| text.contains(sought))
        };
        stands(&visible(quotation), &self.whole) || stands(&neutral(quotation), &self.masked)
    }
}

fn neutral(text: &str) -> String {
    visible(&masked(text, &[]))
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
    use crate::gate::Passage;
    use crate::world::sandbox::Usage;
    use proptest::prelude::*;

    fn vote(kind: char) -> Vote {
        let passage = Passage {
            quotation: String::from("these words"),
            file: None,
            line: None,
            confidence: None,
        };
        match kind {
            'd' => Vote::Doubt(passage),
            'u' => Vote::Unsure(passage),
            'f' => Vote::Faint(passage),
            'c' => Vote::Cleared(String::from("all")),
            _ => Vote::Error(String::from("timed out")),
        }
    }

    fn weighed(threshold: Threshold, quorum: u32, kinds: &str, differs: &[bool]) -> Weight {
        let head = PanelTable {
            threshold,
            quorum,
            revisions: 0,
        };
        let votes: Vec<_> = kinds.chars().map(|kind| (kind, vote(kind))).collect();
        let panel = votes.iter().enumerate().map(|(at, (kind, vote))| Ballot {
            vote: (*kind != 's').then_some(vote),
            differs: differs.get(at).copied().unwrap_or(true),
        });
        weigh(head, panel)
    }

    #[test]
    fn a_tie_is_a_doubt_and_silence_is_one_before_it_is_a_clearance() {
        use Lack::{Quorum, Silent};
        use Threshold::{Any, Majority};
        use Weight::{Cleared, Doubted, Unsettled};
        for (threshold, kinds, weight) in [
            (Majority, "cc", Cleared),
            (Majority, "dc", Doubted),
            (Majority, "dcc", Cleared),
            (Any, "dcc", Doubted),
            (Majority, "dce", Doubted),
            (Majority, "uf", Cleared),
            (Any, "uc", Cleared),
            (Majority, "de", Unsettled(Quorum(1))),
            (Any, "de", Unsettled(Quorum(1))),
            (Majority, "ee", Unsettled(Quorum(0))),
            (Majority, "", Unsettled(Quorum(0))),
            (Any, "ecc", Unsettled(Silent(1))),
            (Any, "scc", Unsettled(Silent(1))),
            (Majority, "ecc", Cleared),
            (Majority, "scc", Cleared),
            (Majority, "secc", Unsettled(Silent(2))),
            (Majority, "dsccc", Cleared),
            (Majority, "dscc", Unsettled(Silent(1))),
        ] {
            assert_eq!(weighed(threshold, 2, kinds, &[]), weight, "{kinds}");
        }
    }

    #[test]
    fn somebody_answers_who_sees_what_the_agent_has_not_written() {
        let weight = |kinds| weighed(Threshold::Majority, 2, kinds, &[true, false, false]);
        assert_eq!(weight("ccc"), Weight::Cleared);
        assert_eq!(weight("ecc"), Weight::Unsettled(Lack::Sight));
        assert_eq!(weight("scc"), Weight::Unsettled(Lack::Sight));
        assert_eq!(weight("cec"), Weight::Cleared);
        assert_eq!(weight("edd"), Weight::Doubted);
    }

    proptest! {
        #[test]
        fn nobody_gains_by_silence_and_a_doubt_never_lessens_doubt(
            kinds in "[dufces]{0,9}",
            quorum in 2_u32..5,
            any in proptest::bool::ANY,
            differs in proptest::collection::vec(proptest::bool::ANY, 10),
        ) {
            let threshold = if any { Threshold::Any } else { Threshold::Majority };
            let of = |kinds: &str| weighed(threshold, quorum, kinds, &differs);
            let before = of(&kinds);
            let with = |kind: char| of(&format!("{kinds}{kind}"));
            if before != Weight::Cleared {
                prop_assert_ne!(with('e'), Weight::Cleared);
            }
            if before == Weight::Doubted {
                prop_assert_eq!(with('d'), Weight::Doubted);
                prop_assert_eq!(with('e'), Weight::Doubted);
            }
            if before == Weight::Cleared {
                prop_assert_eq!(with('c'), Weight::Cleared);
            }
            // Whoever is silenced, that never turns a REVIEW into a PASS.
            for (at, silence) in kinds.char_indices().zip("es".chars().cycle()) {
                let mut less = kinds.clone();
                less.replace_range(at.0..=at.0, &silence.to_string());
                if before != Weight::Cleared {
                    prop_assert_ne!(of(&less), Weight::Cleared);
                }
            }
        }
    }

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
        let ground = Ground::new(&[(ReviewInput::Key, text.to_owned())]);
        stand(&mut report, &earlier, &questions, &ground);
        report
    }

    #[test]
    fn what_was_quoted_stands_whatever_is_put_beside_it() {
        let ground = |text: &str| Ground::new(&[(ReviewInput::Key, text.to_owned())]);
        assert!(ground("exit 0 #").holds("exit 0") && ground("exit 0").holds("exit 0"));
        assert!(!ground("exit 1 #").holds("exit 0"));
        for nothing in ["", " ", "\u{200b}"] {
            assert!(!ground("exit 0").holds(nothing), "{nothing:?}");
        }
    }

    #[test]
    fn what_was_quoted_stands_whichever_mailbox_is_shown() {
        let page = "Write to sales@acme.kr, which Bolt reads, or jo@acme.kr.";
        let ground = Ground::new(&[(ReviewInput::Key, page.to_owned())]);
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
