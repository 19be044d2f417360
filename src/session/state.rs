//! The ratchet: how verdicts change a quest's state.
//!
//! ```text
//! TODO ─► PASS    verdict PASS
//! TODO ─► REVIEW  verdict REVIEW
//! TODO ─► TODO    verdict FAIL, tries + 1
//! TODO ─► DONE    verdict FAIL, and tries reached the most
//! TODO ─► TODO    verdict REVIEW sent back for a revision, tries + 1, never the last
//! ```

use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use crate::quest::Verdict;

pub(super) type IllegalEvent = &'static str;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[derive(strum::Display, IntoStaticStr)]
#[strum(serialize_all = "UPPERCASE")]
pub enum State {
    Todo,
    /// Proven; locked.
    Pass,
    /// For a person; locked for the agent.
    Review,
    /// The tries are used up; locked.
    Done,
}

impl State {
    /// Every state, in the order of display.
    pub const ALL: [Self; 4] = [Self::Pass, Self::Review, Self::Done, Self::Todo];

    pub fn name(self) -> &'static str {
        self.into()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    pub state: State,
    pub tries: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the quest is locked in {0}")]
pub struct Locked(pub State);

impl Progress {
    pub const NEW: Self = Self {
        state: State::Todo,
        tries: 0,
    };

    /// The progress after `verdict`. Only a quest in TODO can change.
    pub fn judged(self, verdict: Verdict, max_tries: NonZeroU32) -> Result<Self, Locked> {
        if self.state != State::Todo {
            return Err(Locked(self.state));
        }
        let tries = match verdict {
            Verdict::Fail => self.tries.saturating_add(1),
            Verdict::Pass | Verdict::Review => self.tries,
        };
        let state = match verdict {
            Verdict::Pass => State::Pass,
            Verdict::Review => State::Review,
            Verdict::Fail if tries >= max_tries.get() => State::Done,
            Verdict::Fail => State::Todo,
        };
        Ok(Self { state, tries })
    }

    /// The progress after a REVIEW that is sent back for a revision. `None` if that is impossible:
    /// outside TODO, or on the last try.
    pub fn revised(self, max_tries: NonZeroU32) -> Option<Self> {
        let tries = self.tries.saturating_add(1);
        let may = self.state == State::Todo && tries < max_tries.get();
        may.then_some(Self { tries, ..self })
    }
}

/// How many quests are in each state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Tally {
    /// To be worked on.
    pub todo: u32,
    /// Proven.
    pub pass: u32,
    /// For a person.
    pub review: u32,
    /// Tries used up.
    pub done: u32,
}

impl Tally {
    pub fn total(&self) -> u32 {
        self.todo + self.pass + self.review + self.done
    }

    pub fn of(mut self, state: State) -> u32 {
        *self.slot(state)
    }

    pub fn add(&mut self, state: State) {
        let slot = self.slot(state);
        *slot = slot.saturating_add(1);
    }

    pub fn shift(&mut self, from: State, to: State) {
        let left = self.slot(from);
        *left = left.saturating_sub(1);
        self.add(to);
    }

    fn slot(&mut self, state: State) -> &mut u32 {
        match state {
            State::Todo => &mut self.todo,
            State::Pass => &mut self.pass,
            State::Review => &mut self.review,
            State::Done => &mut self.done,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum VerdictBasis {
    /// There was no answer to judge.
    NoResult,
    /// The submission equals an earlier one.
    Repeat,
    /// The submission alone; nothing was looked up.
    Submission,
    /// What the world answered.
    World,
    /// What the world answered, and it bears out what was submitted.
    Confirmed,
    /// A page that may not or cannot be read.
    Unread,
    /// A lookup that was not answered.
    Unanswered,
}

impl VerdictBasis {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    WithResult,
    /// The quest was given up, answered wrongly, or left to a person without confirmation.
    WithoutResult,
}

impl Ending {
    /// How an attempt on these `grounds` ended its quest in `state`. `None` while it is in TODO.
    pub fn of(state: State, grounds: VerdictBasis) -> Option<Self> {
        match state {
            State::Todo => None,
            State::Pass => Some(Self::WithResult),
            State::Review if grounds == VerdictBasis::Confirmed => Some(Self::WithResult),
            State::Review | State::Done => Some(Self::WithoutResult),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const THREE: NonZeroU32 = NonZeroU32::new(3).unwrap();

    fn any_verdict() -> impl Strategy<Value = Verdict> {
        prop_oneof![
            4 => Just(Verdict::Fail),
            1 => Just(Verdict::Pass),
            1 => Just(Verdict::Review),
        ]
    }

    proptest! {
        #[test]
        fn locked_states_never_change_and_only_fail_adds_tries(
            most in 1u32..6,
            verdicts in prop::collection::vec(any_verdict(), 0..12),
        ) {
            let most = NonZeroU32::new(most).unwrap();
            let mut at = Progress::NEW;
            for verdict in verdicts {
                match at.judged(verdict, most) {
                    Err(Locked(state)) => {
                        prop_assert_eq!(state, at.state);
                        prop_assert_ne!(state, State::Todo);
                    }
                    Ok(next) => {
                        prop_assert_eq!(at.state, State::Todo);
                        prop_assert_eq!(next.tries, at.tries + u32::from(verdict == Verdict::Fail));
                        prop_assert_eq!(next.state == State::Done, next.tries >= most.get());
                        prop_assert_eq!(next.state == State::Pass, verdict == Verdict::Pass);
                        prop_assert_eq!(next.state == State::Review, verdict == Verdict::Review);
                        at = next;
                    }
                }
            }
        }

        #[test]
        fn remaining_never_grows(
            steps in prop::collection::vec((0usize..5, any_verdict()), 0..60),
        ) {
            let mut quests = [Progress::NEW; 5];
            let mut tally = Tally { todo: 5, ..Tally::default() };
            for (which, verdict) in steps {
                let before = tally;
                if let Ok(next) = quests[which].judged(verdict, THREE) {
                    tally.shift(quests[which].state, next.state);
                    quests[which] = next;
                }
                prop_assert!(tally.todo <= before.todo);
                prop_assert!(tally.pass >= before.pass);
                prop_assert!(tally.review >= before.review);
                prop_assert!(tally.done >= before.done);
                prop_assert_eq!(tally.total(), 5);
            }
        }
    }

    const EVERY_GROUND: [VerdictBasis; 7] = [
        VerdictBasis::NoResult,
        VerdictBasis::Repeat,
        VerdictBasis::Submission,
        VerdictBasis::World,
        VerdictBasis::Confirmed,
        VerdictBasis::Unread,
        VerdictBasis::Unanswered,
    ];

    #[test]
    fn a_review_has_a_result_only_if_confirmed() {
        for grounds in EVERY_GROUND {
            let review = match grounds {
                VerdictBasis::Confirmed => Ending::WithResult,
                _ => Ending::WithoutResult,
            };
            assert_eq!(Ending::of(State::Todo, grounds), None);
            assert_eq!(Ending::of(State::Pass, grounds), Some(Ending::WithResult));
            assert_eq!(Ending::of(State::Review, grounds), Some(review));
            assert_eq!(
                Ending::of(State::Done, grounds),
                Some(Ending::WithoutResult)
            );
        }
    }
}
