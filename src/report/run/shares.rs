//! What share of the quests ended how.

use schemars::JsonSchema;
use serde::Serialize;

use crate::session::{Board, Effective, Ending, Standing, State, VerdictBasis};

/// How many quests ended how. Each quest is one of `pass`, `review`, `done` and `todo`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Shares {
    /// All quests.
    pub quests: u32,
    /// Proven.
    pub pass: u32,
    /// For a person.
    pub review: u32,
    /// Tries used up.
    pub done: u32,
    /// To be worked on.
    pub todo: u32,
    /// What became of the REVIEWs.
    pub reviews: Reviews,
    /// Those that ended with nothing proven.
    pub unproven: Unproven,
}

/// What became of the REVIEWs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Reviews {
    /// A person accepted them.
    pub accepted: u32,
    /// The gate passed them when it looked again.
    pub confirmed: u32,
    /// Nobody has settled them.
    pub open: u32,
    /// The gate failed them when it looked again.
    pub refuted: u32,
    /// A person rejected them.
    pub rejected: u32,
}

/// The quests that ended with nothing proven: neither a PASS, nor a REVIEW that somebody accepted or
/// the world confirms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Unproven {
    /// How many.
    pub quests: u32,
    /// Those of them that were given up: nothing was submitted last.
    pub no_result: u32,
    /// Those of them that rest on a lookup that was not answered.
    pub silence: u32,
}

impl Shares {
    /// Counts the quests of `board`.
    #[must_use]
    pub fn of(board: &Board) -> Self {
        let mut shares = Self::default();
        for standing in board.quests() {
            shares.add(standing);
        }
        shares
    }

    /// How many of all quests these are, in percent.
    #[must_use]
    pub fn percent(&self, quests: u32) -> f64 {
        f64::from(quests) * 100.0 / f64::from(self.quests.max(1))
    }

    fn add(&mut self, standing: &Standing) {
        self.quests += 1;
        match standing.progress.state {
            State::Pass => self.pass += 1,
            State::Review => self.review += 1,
            State::Done => self.done += 1,
            State::Todo => self.todo += 1,
        }
        let reviews = &mut self.reviews;
        match Effective::of(standing) {
            Effective::Accepted => reviews.accepted += 1,
            Effective::Confirmed => reviews.confirmed += 1,
            Effective::Open => reviews.open += 1,
            Effective::Refuted => reviews.refuted += 1,
            Effective::Rejected => reviews.rejected += 1,
            Effective::Pass | Effective::Done | Effective::Todo => {}
        }
        if is_unproven(standing) {
            let grounds = standing.last.map(|last| last.grounds);
            self.unproven.quests += 1;
            self.unproven.no_result += u32::from(grounds == Some(VerdictBasis::NoResult));
            self.unproven.silence += u32::from(grounds == Some(VerdictBasis::Unanswered));
        }
    }
}

/// Whether it ended with nothing proven.
#[must_use]
pub fn is_unproven(standing: &Standing) -> bool {
    let effective = Effective::of(standing);
    if effective.holds() || effective == Effective::Todo {
        return false;
    }
    let said_no = matches!(effective, Effective::Refuted | Effective::Rejected);
    let last = standing.last.map(|last| last.grounds);
    let ending = last.and_then(|grounds| Ending::of(standing.progress.state, grounds));
    said_no || ending != Some(Ending::Proven)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quest::{Key, Quest, QuestId};
    use crate::session::{Decision, Last, Settled, Span};

    const SPAN: Span = Span {
        offset: 0,
        length: 0,
    };

    fn standing(state: State, grounds: VerdictBasis, decision: Option<Decision>) -> Standing {
        let quest = Quest {
            id: QuestId::FIRST,
            key: Key::new("Acme").unwrap(),
            anchor: None,
            shown: Vec::new(),
            known: Vec::new(),
            after: Vec::new(),
            rows: vec![1],
        };
        let mut standing = Standing::new(&quest, SPAN);
        standing.progress.state = state;
        standing.last = Some(Last {
            line: SPAN,
            grounds,
        });
        standing.settled = decision.map(|decision| Settled {
            line: SPAN,
            decision,
        });
        standing
    }

    #[test]
    fn nothing_is_proven_by_silence_or_by_giving_up() {
        use Decision::{Accepted, Rejected};
        use State::{Done, Pass, Review, Todo};
        use VerdictBasis::{Confirmed, NoResult, Unanswered, World};
        let cases = [
            (Pass, Confirmed, None, false),
            (Review, Confirmed, None, false),
            (Review, Confirmed, Some(Rejected), true),
            (Review, World, None, true),
            (Review, Unanswered, None, true),
            (Review, Unanswered, Some(Accepted), false),
            (Done, NoResult, None, true),
            (Done, Confirmed, None, true),
            (Todo, World, None, false),
        ];
        for (state, grounds, decision, unproven) in cases {
            let standing = standing(state, grounds, decision);
            let found = is_unproven(&standing);
            assert_eq!(found, unproven, "{state} {grounds:?} {decision:?}");
        }
    }

    #[test]
    fn every_quest_is_counted_once_and_why_it_is_unproven() {
        let mut shares = Shares::default();
        shares.add(&standing(State::Pass, VerdictBasis::Confirmed, None));
        shares.add(&standing(State::Review, VerdictBasis::Unanswered, None));
        shares.add(&standing(State::Done, VerdictBasis::NoResult, None));
        shares.add(&standing(State::Todo, VerdictBasis::World, None));
        let states = [shares.pass, shares.review, shares.done, shares.todo];
        assert_eq!((shares.quests, states), (4, [1; 4]));
        assert_eq!(shares.reviews.open, 1);
        let expected = Unproven {
            quests: 2,
            no_result: 1,
            silence: 1,
        };
        assert_eq!(shares.unproven, expected);
        assert!((shares.percent(1) - 25.0).abs() < 1e-9);
        assert!(Shares::default().percent(0).abs() < 1e-9);
    }
}
