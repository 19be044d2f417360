//! What a quest comes to: its state and, of a REVIEW, what became of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::resolution::Outcome;
use super::settlement::Decision;
use super::standing::Standing;
use super::state::State;

/// What a quest comes to. Whatever becomes of a REVIEW, it is never a PASS.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Effective {
    /// Proven.
    Pass,
    /// A REVIEW that a person accepted.
    Accepted,
    /// A REVIEW that the gate passed when it looked again.
    Confirmed,
    /// A REVIEW that nobody has settled.
    Open,
    /// A REVIEW that the gate failed when it looked again, and that a person is to settle.
    Refuted,
    /// A REVIEW that a person rejected.
    Rejected,
    /// The tries are used up.
    Done,
    /// To be worked on.
    Todo,
}

impl Effective {
    /// Every one, in the order in which people are shown them.
    pub const ALL: [Self; 8] = [
        Self::Pass,
        Self::Accepted,
        Self::Confirmed,
        Self::Open,
        Self::Refuted,
        Self::Rejected,
        Self::Done,
        Self::Todo,
    ];

    /// What `standing` comes to.
    #[must_use]
    pub fn of(standing: &Standing) -> Self {
        match standing.progress.state {
            State::Todo => Self::Todo,
            State::Pass => Self::Pass,
            State::Done => Self::Done,
            State::Review => {
                let decision = standing.settled.map(|settled| settled.decision);
                let outcome = standing.resolution.map(|resolved| resolved.outcome);
                Self::of_review(decision, outcome)
            }
        }
    }

    /// A person's decision goes before what the gate saw when it looked again.
    fn of_review(decision: Option<Decision>, outcome: Option<Outcome>) -> Self {
        match (decision, outcome) {
            (Some(Decision::Accepted), _) => Self::Accepted,
            (Some(Decision::Rejected), _) => Self::Rejected,
            (_, Some(Outcome::Confirmed)) => Self::Confirmed,
            (_, Some(Outcome::Refuted)) => Self::Refuted,
            (_, Some(Outcome::Open) | None) => Self::Open,
        }
    }

    /// Its name, as JSON spells it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Accepted => "accepted",
            Self::Confirmed => "confirmed",
            Self::Open => "open",
            Self::Refuted => "refuted",
            Self::Rejected => "rejected",
            Self::Done => "done",
            Self::Todo => "todo",
        }
    }

    /// Whether the answer counts as right: proven, confirmed, or accepted by a person.
    #[must_use]
    pub fn holds(self) -> bool {
        matches!(self, Self::Pass | Self::Accepted | Self::Confirmed)
    }

    /// Whether its answer is shown as one. What failed, or what a person rejected, is nobody's
    /// address: it must not stand where somebody would mail to it.
    #[must_use]
    pub fn stands(self) -> bool {
        self.holds() || self == Self::Open
    }

    /// Whether it waits for a person.
    #[must_use]
    pub fn is_open(self) -> bool {
        matches!(self, Self::Open | Self::Refuted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_goes_before_the_gate_and_a_reopened_review_is_the_gates_again() {
        use Decision::{Accepted, Rejected, Reopened};
        use Outcome::{Confirmed, Open, Refuted};
        let cases = [
            (None, None, Effective::Open),
            (None, Some(Open), Effective::Open),
            (None, Some(Confirmed), Effective::Confirmed),
            (None, Some(Refuted), Effective::Refuted),
            (Some(Accepted), Some(Refuted), Effective::Accepted),
            (Some(Rejected), Some(Confirmed), Effective::Rejected),
            (Some(Reopened), None, Effective::Open),
            (Some(Reopened), Some(Refuted), Effective::Refuted),
        ];
        for (decision, outcome, expected) in cases {
            let found = Effective::of_review(decision, outcome);
            assert_eq!(found, expected, "{decision:?} {outcome:?}");
            assert_ne!(found, Effective::Pass);
        }
    }

    #[test]
    fn what_was_refuted_or_rejected_does_not_stand() {
        let standing = Effective::ALL.into_iter().filter(|it| it.stands());
        let names: Vec<_> = standing.map(Effective::name).collect();
        assert_eq!(names, ["pass", "accepted", "confirmed", "open"]);
    }

    #[test]
    fn is_named_as_json_spells_it() {
        for effective in Effective::ALL {
            let json = serde_json::to_string(&effective).unwrap();
            assert_eq!(json, format!("{:?}", effective.name()));
        }
    }
}
