//! What the votes on one question come to.

use crate::gate::Vote;
use crate::quest::file::{PanelTable, Threshold};

/// What the votes on one question come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    /// They doubt.
    Doubted,
    /// They do not.
    Cleared,
    /// So few answered, and that is too few.
    Unsettled(u32),
}

/// Weighs the votes of reviewers who count; an error is no vote.
pub(super) fn weigh<'v>(head: PanelTable, votes: impl IntoIterator<Item = &'v Vote>) -> Weight {
    let (mut answered, mut doubting) = (0_u32, 0_u32);
    for vote in votes {
        answered += u32::from(vote.is_answer());
        doubting += u32::from(vote.doubt().is_some());
    }
    let enough = match head.threshold {
        Threshold::Any => 1,
        // Half of them is enough: a tie is a doubt.
        Threshold::Majority => answered.div_ceil(2).max(1),
    };
    if answered < head.quorum {
        Weight::Unsettled(answered)
    } else if doubting >= enough {
        Weight::Doubted
    } else {
        Weight::Cleared
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::gate::Passage;

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

    fn weighed(threshold: Threshold, quorum: u32, kinds: &str) -> Weight {
        let head = PanelTable {
            threshold,
            quorum,
            revisions: 0,
        };
        let votes: Vec<_> = kinds.chars().map(vote).collect();
        weigh(head, &votes)
    }

    #[test]
    fn a_tie_is_a_doubt_and_an_error_is_no_vote() {
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
            (Majority, "de", Unsettled(1)),
            (Any, "de", Unsettled(1)),
            (Majority, "ee", Unsettled(0)),
            (Majority, "", Unsettled(0)),
        ] {
            assert_eq!(weighed(threshold, 2, kinds), weight, "{kinds}");
        }
    }

    proptest! {
        #[test]
        fn an_error_never_clears_and_a_doubt_never_lessens_doubt(
            kinds in "[dufce]{0,9}",
            quorum in 2_u32..5,
            any in proptest::bool::ANY,
        ) {
            let threshold = if any { Threshold::Any } else { Threshold::Majority };
            let before = weighed(threshold, quorum, &kinds);
            let with = |kind: char| weighed(threshold, quorum, &format!("{kinds}{kind}"));
            prop_assert_eq!(with('e'), before);
            if before == Weight::Doubted {
                prop_assert_eq!(with('d'), Weight::Doubted);
            }
            if before == Weight::Cleared {
                prop_assert_eq!(with('c'), Weight::Cleared);
            }
            // Whoever is silenced cannot turn doubt or silence into a clearance by it.
            for (at, _) in kinds.char_indices().filter(|(_, kind)| *kind == 'c') {
                let mut less = kinds.clone();
                less.replace_range(at..=at, "e");
                if before != Weight::Cleared {
                    prop_assert_ne!(weighed(threshold, quorum, &less), Weight::Cleared);
                }
            }
        }
    }
}
