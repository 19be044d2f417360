//! What reviewers had doubted before a line, by the attempts that were sent back for it.

use std::collections::BTreeMap;

use crate::judge::revision::doubts_of;
use crate::quest::QuestId;
use crate::session::Event;
use crate::world::EarlierDoubt;
use crate::world::evidence::Evidence;

#[derive(Debug, Default)]
pub(super) struct DoubtedBefore(BTreeMap<QuestId, Vec<EarlierDoubt>>);

impl DoubtedBefore {
    pub(super) fn take(&mut self, event: &Event) -> Vec<EarlierDoubt> {
        match event {
            Event::Attempt(attempt) if attempt.revision => {
                let doubted = self.0.entry(attempt.quest).or_default();
                let before = doubted.clone();
                doubted.extend(doubts_of(attempt));
                before
            }
            Event::Attempt(attempt) => self.of(attempt.quest),
            Event::Resolution(resolution) => self.of(resolution.quest),
            _ => Vec::new(),
        }
    }

    fn of(&self, quest: QuestId) -> Vec<EarlierDoubt> {
        self.0.get(&quest).cloned().unwrap_or_default()
    }
}

pub(super) fn untold(evidence: &Evidence, doubted: &[EarlierDoubt]) -> Option<String> {
    let told = evidence.doubts()?;
    (told != doubted).then(|| {
        format!(
            "of doubts by which earlier answers were sent back the gate was told {}, and by the \
             ledger there are {}, or others",
            told.len(),
            doubted.len()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::evidence::Exchange;

    fn doubt(quotation: &str) -> EarlierDoubt {
        EarlierDoubt {
            reviewer: String::from("reader"),
            question: String::from("more"),
            quotation: quotation.to_owned(),
        }
    }

    #[test]
    fn doubts_that_were_hidden_or_made_up_are_found() {
        let told = |doubts: &[EarlierDoubt]| Evidence {
            exchanges: vec![Exchange::Doubts(doubts.to_vec())],
        };
        let (one, two) = ([doubt("curl")], [doubt("wget")]);
        assert_eq!(untold(&told(&one), &one), None);
        assert_eq!(untold(&Evidence::default(), &one), None, "nobody asked");
        for (told_of, ledger) in [(&[] as &[_], &one as &[_]), (&one, &[]), (&one, &two)] {
            assert!(untold(&told(told_of), ledger).is_some());
        }
    }
}
