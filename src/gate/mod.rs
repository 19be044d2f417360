//! Judges a submission: checks, the rules that they fire, and the facts that they find.
//!
//! A gate is a pure function of its case and of what the [`World`]
//! answers; it builds no connection, reads no clock and keeps nothing.

pub mod checks;
pub mod common_rules;
pub mod doubts;
pub mod email;
mod judgement;
mod rule;
pub mod tools;

#[cfg(test)]
mod tests;

pub use checks::outside::GateSettings;
pub use doubts::Doubts;
pub use judgement::{
    CheckOutcome, CheckReport, Fact, Judgement, PanelReport, Passage, ReviewerReport, Vote, VoteOn,
    add_remedies,
};
pub use rule::{Cause, Cost, Level, Levels, Rule, RuleId};

use crate::quest::{Quest, Submission};
use crate::world::{UniqueValue, World};

/// Judges submissions of one quest kind.
pub trait Gate {
    /// The catalogue: every rule that can fire, with the level in force here.
    fn rules(&self) -> Vec<Rule>;

    /// Judges one submission by what the world answers.
    fn judge(&self, case: Case<'_>, world: &World<'_>) -> Judgement;

    /// What a PASS on the submission takes for its quest alone.
    fn takes(&self, case: Case<'_>) -> Vec<UniqueValue>;

    /// Whether an answer that was sent before is judged again, since what the gate looks at may
    /// be the agent's to change: files of a tree.
    fn accepts_repeats(&self) -> bool {
        false
    }

    /// How often a REVIEW that reviewers brought about goes back to the agent first.
    fn revisions(&self) -> u32 {
        0
    }

    /// The checks that verify a fact; when all of them pass, they confirm the submission.
    fn fact_checks(&self) -> Vec<&str>;
}

/// Whether submissions for `quest` are compared with what the operator knows: a site, or cells that
/// checks use.
pub fn is_anchored(quest: &Quest) -> bool {
    email::site::is_anchored(quest) || !quest.known.is_empty()
}

/// A submission and the quest that it is for.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    pub quest: &'a Quest,
    /// What the agent proposes.
    pub submission: &'a Submission,
}

impl<'a> Case<'a> {
    pub fn new(quest: &'a Quest, submission: &'a Submission) -> Self {
        Self { quest, submission }
    }
}
