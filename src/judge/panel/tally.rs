//! Counts the votes on one question.
//!
//! A question is cleared only if it would be cleared even when every silent reviewer had doubted:
//! an agent that can make a reviewer fail gains nothing by it.

use crate::gate::{Passage, ReviewerReport, Vote, VoteOn};
use crate::judge::panel::answer::ShownInputs;
use crate::quest::file::{PanelTable, QuestionTable, Threshold};
use crate::world::EarlierDoubt;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tally {
    Doubted,
    Cleared,
    Unsettled(Lack),
}

/// Why a question is not settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lack {
    /// Only so many answered.
    Quorum(u32),
    /// So many are silent that their doubts would be enough.
    Silent(u32),
    /// Nobody answered who sees anything but the agent's own words.
    OtherInput,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ballot<'v> {
    /// None if the reviewer's votes do not count.
    pub(super) vote: Option<&'v Vote>,
    /// Whether the reviewer sees anything but the agent's own words.
    pub(super) differs: bool,
}

pub(super) fn tally<'v>(head: PanelTable, panel: impl IntoIterator<Item = Ballot<'v>>) -> Tally {
    let (mut answered, mut doubting, mut silent) = (0_u32, 0_u32, 0_u32);
    let mut differs = false;
    for ballot in panel {
        match ballot.vote.filter(|vote| vote.is_answer()) {
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
        Tally::Unsettled(Lack::Quorum(answered))
    } else if doubting >= enough(answered) {
        Tally::Doubted
    } else if doubting + silent >= enough(answered + silent) {
        Tally::Unsettled(Lack::Silent(silent))
    } else if !differs {
        Tally::Unsettled(Lack::OtherInput)
    } else {
        Tally::Cleared
    }
}

/// Adds the reviewer's earlier doubts to its votes if the text that it sees still contains what
/// they quote, even if the reviewer's votes do not count this time. So a doubt is answered by
/// changing what it quotes, and not by asking until the reviewer misses it.
pub(super) fn keep_doubts(
    report: &mut ReviewerReport,
    earlier: &[EarlierDoubt],
    questions: &[QuestionTable],
    texts: &ShownInputs,
) {
    for question in questions {
        let mut doubts = earlier.iter().rev();
        let doubt = doubts.find(|doubt| {
            doubt.reviewer == report.name
                && doubt.question == question.id
                && texts.still_hold(&doubt.quotation)
        });
        let Some(doubt) = doubt else {
            continue;
        };
        report.counts = true;
        let mut votes = report.votes.iter_mut();
        let on = votes.find(|on| on.question == doubt.question);
        if on.as_ref().is_some_and(|on| on.vote.doubt().is_some()) {
            continue;
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quest::ReviewInput;
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

    fn tallied(threshold: Threshold, quorum: u32, kinds: &str, differs: &[bool]) -> Tally {
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
        tally(head, panel)
    }

    #[test]
    fn a_tie_is_a_doubt_and_silence_is_one_before_it_is_a_clearance() {
        use Lack::{Quorum, Silent};
        use Tally::{Cleared, Doubted, Unsettled};
        use Threshold::{Any, Majority};
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
            assert_eq!(tallied(threshold, 2, kinds, &[]), weight, "{kinds}");
        }
    }

    #[test]
    fn somebody_answers_who_sees_what_the_agent_has_not_written() {
        let weight = |kinds| tallied(Threshold::Majority, 2, kinds, &[true, false, false]);
        assert_eq!(weight("ccc"), Tally::Cleared);
        assert_eq!(weight("ecc"), Tally::Unsettled(Lack::OtherInput));
        assert_eq!(weight("scc"), Tally::Unsettled(Lack::OtherInput));
        assert_eq!(weight("cec"), Tally::Cleared);
        assert_eq!(weight("edd"), Tally::Doubted);
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
            let of = |kinds: &str| tallied(threshold, quorum, kinds, &differs);
            let before = of(&kinds);
            let with = |kind: char| of(&format!("{kinds}{kind}"));
            if before != Tally::Cleared {
                prop_assert_ne!(with('e'), Tally::Cleared);
            }
            if before == Tally::Doubted {
                prop_assert_eq!(with('d'), Tally::Doubted);
                prop_assert_eq!(with('e'), Tally::Doubted);
            }
            if before == Tally::Cleared {
                prop_assert_eq!(with('c'), Tally::Cleared);
            }
            // Whoever is silenced, that never turns a REVIEW into a PASS.
            for (at, silence) in kinds.char_indices().zip("es".chars().cycle()) {
                let mut less = kinds.clone();
                less.replace_range(at.0..=at.0, &silence.to_string());
                if before != Tally::Cleared {
                    prop_assert_ne!(of(&less), Tally::Cleared);
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
        let texts = ShownInputs::new(vec![(ReviewInput::Key, text.to_owned())]);
        keep_doubts(&mut report, &earlier, &questions, &texts);
        report
    }

    #[test]
    fn an_earlier_quotation_is_found_whatever_surrounds_it_and_whichever_mailbox_is_shown() {
        let mail = "Write to sales@acme.kr, which Bolt reads, or jo@acme.kr.";
        for (text, quotation, expected) in [
            ("exit 0 #", "exit 0", true),
            ("exit 0", "exit 0", true),
            ("exit 1 #", "exit 0", false),
            ("exit 0", "", false),
            ("exit 0", " ", false),
            ("exit 0", "\u{200b}", false),
            (mail, "sales@acme.kr, which Bolt", true),
            (mail, "xxxxx@acme.kr, which Bolt", true),
            (mail, "Write to sal", true),
            (mail, "xx@acme.kr, which Bolt", true),
            (mail, "sales@acme.kr, which Bolt reads, or xx@acme.kr", true),
            (mail, "sales@acme.kr, which nobody reads", false),
            (mail, "xxxxx@bolt.kr, which Bolt", false),
        ] {
            let texts = ShownInputs::new(vec![(ReviewInput::Key, text.to_owned())]);
            assert_eq!(texts.still_hold(quotation), expected, "{text}: {quotation:?}");
        }
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
