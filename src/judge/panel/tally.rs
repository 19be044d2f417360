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

/// The texts in which an earlier quotation is looked for.
///
/// Which mailboxes a reviewer is shown depends on what is submitted, so that words next to one would
/// come and go with the submission. So a quotation is looked for in the whole text, and once more
/// with every mailbox masked on both sides.
pub(super) struct QuotedTexts {
    whole: Vec<String>,
    masked: Vec<String>,
}

impl QuotedTexts {
    pub(super) fn new(inputs: &[(ReviewInput, String)]) -> Self {
        let texts = inputs.iter().map(|(_, text)| text);
        Self {
            whole: texts.clone().map(|text| visible(text)).collect(),
            masked: texts.map(|text| without_mailboxes(text)).collect(),
        }
    }

    fn holds(&self, quotation: &str) -> bool {
        let within = |sought: &str, texts: &[String]| {
            !sought.is_empty() && texts.iter().any(|text| text.contains(sought))
        };
        within(&visible(quotation), &self.whole)
            || within(&without_mailboxes(quotation), &self.masked)
    }
}

fn without_mailboxes(text: &str) -> String {
    visible(&masked(text, &[]))
}

/// Adds the reviewer's earlier doubts to its votes if the text that it sees still contains what
/// they quote, even if the reviewer's votes do not count this time. So a doubt is answered by
/// changing what it quotes, and not by asking until the reviewer misses it.
pub(super) fn keep_doubts(
    report: &mut ReviewerReport,
    earlier: &[EarlierDoubt],
    questions: &[QuestionTable],
    texts: &QuotedTexts,
) {
    for question in questions {
        let mut doubts = earlier.iter().rev();
        let doubt = doubts.find(|doubt| {
            doubt.reviewer == report.name
                && doubt.question == question.id
                && texts.holds(&doubt.quotation)
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
        let texts = QuotedTexts::new(&[(ReviewInput::Key, text.to_owned())]);
        keep_doubts(&mut report, &earlier, &questions, &texts);
        report
    }

    #[test]
    fn what_was_quoted_stands_whatever_is_put_beside_it() {
        let texts = |text: &str| QuotedTexts::new(&[(ReviewInput::Key, text.to_owned())]);
        assert!(texts("exit 0 #").holds("exit 0") && texts("exit 0").holds("exit 0"));
        assert!(!texts("exit 1 #").holds("exit 0"));
        for nothing in ["", " ", "\u{200b}"] {
            assert!(!texts("exit 0").holds(nothing), "{nothing:?}");
        }
    }

    #[test]
    fn what_was_quoted_stands_whichever_mailbox_is_shown() {
        let page = "Write to sales@acme.kr, which Bolt reads, or jo@acme.kr.";
        let texts = QuotedTexts::new(&[(ReviewInput::Key, page.to_owned())]);
        for quotation in [
            "sales@acme.kr, which Bolt",
            "xxxxx@acme.kr, which Bolt",
            "Write to sal",
            "xx@acme.kr, which Bolt",
            "sales@acme.kr, which Bolt reads, or xx@acme.kr",
        ] {
            assert!(texts.holds(quotation), "{quotation}");
        }
        assert!(!texts.holds("sales@acme.kr, which nobody reads"));
        assert!(!texts.holds("xxxxx@bolt.kr, which Bolt"));
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
