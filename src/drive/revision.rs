//! Whether the doubts of reviewers go back to the agent, for it to mend what they quote.

use crate::gate::doubts::REVIEWERS_DOUBT;
use crate::gate::{Gate, Judgement};
use crate::quest::Verdict;

/// Whether a judgement goes back to the agent that has been sent back so often before.
///
/// That only a person can settle it otherwise is no reason: the reviewers quote what they doubt.
pub(super) fn revises(gate: &dyn Gate, judgement: &Judgement, before: u32) -> bool {
    is_doubted(judgement) && before < gate.revisions()
}

/// Whether reviewers brought about the REVIEW by doubting.
pub(super) fn is_doubted(judgement: &Judgement) -> bool {
    let mut facts = judgement.facts.iter();
    judgement.verdict == Verdict::Review && facts.any(|fact| fact.rule == REVIEWERS_DOUBT.id)
}
