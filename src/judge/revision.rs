//! Whether the doubts of reviewers go back to the agent, for it to mend what they quote.

use crate::gate::doubts::REVIEWERS_DOUBT;
use crate::gate::{Gate, Judgement};
use crate::quest::Verdict;
use crate::session::Attempt;
use crate::world::EarlierDoubt;

/// Whether a judgement goes back to the agent that has been sent back so often before: reviewers
/// have doubted it, and quote what they doubt it by.
pub(super) fn revises(gate: &dyn Gate, judgement: &Judgement, before: u32) -> bool {
    let mut facts = judgement.facts.iter();
    judgement.verdict == Verdict::Review
        && facts.any(|fact| fact.rule == REVIEWERS_DOUBT.id)
        && before < gate.revisions()
}

pub(super) fn doubts_of(attempt: &Attempt) -> Vec<EarlierDoubt> {
    let judgement = serde_json::from_str::<Judgement>(attempt.judgement.get());
    let panel = judgement.ok().and_then(|judgement| judgement.panel);
    let reviewers = panel.into_iter().flat_map(|panel| panel.reviewers);
    let doubts = reviewers.flat_map(|reviewer| {
        let doubted = reviewer.votes.into_iter().filter_map(|on| {
            let passage = on.vote.doubt()?;
            Some((on.question, passage.quotation.clone()))
        });
        let doubted: Vec<_> = doubted.collect();
        let name = reviewer.name;
        doubted
            .into_iter()
            .map(move |(question, quotation)| EarlierDoubt {
                reviewer: name.clone(),
                question,
                quotation,
            })
    });
    doubts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::{Case, Doubts, PanelReport, Rule};
    use crate::world::{Taken, World};

    struct Sends(u32);

    impl Gate for Sends {
        fn rules(&self) -> Vec<Rule> {
            Vec::new()
        }

        fn judge(&self, _case: Case<'_>, _world: &World<'_>) -> Judgement {
            passed()
        }

        fn takes(&self, _case: Case<'_>) -> Vec<Taken> {
            Vec::new()
        }

        fn revisions(&self) -> u32 {
            self.0
        }

        fn confirming(&self) -> Vec<&str> {
            Vec::new()
        }
    }

    fn passed() -> Judgement {
        Judgement::from_facts(Vec::new(), Vec::new())
    }

    fn doubts() -> Doubts {
        Doubts::new(PanelReport {
            plant: None,
            reviewers: Vec::new(),
        })
    }

    #[test]
    fn doubts_alone_go_back_and_no_more_often_than_is_said() {
        let mut doubted = doubts();
        doubted.doubt("Is it so?", "it is not", String::from("reader"));
        let doubted = passed().doubted(doubted);
        assert!(revises(&Sends(2), &doubted, 0) && revises(&Sends(2), &doubted, 1));
        assert!(!revises(&Sends(2), &doubted, 2) && !revises(&Sends(0), &doubted, 0));
        let mut unsettled = doubts();
        unsettled.unsettled("two answers", "one");
        assert!(!revises(&Sends(2), &passed().doubted(unsettled), 0));
        assert!(!revises(&Sends(2), &passed().doubted(doubts()), 0));
    }
}
