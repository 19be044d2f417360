//! The unproven streak: quests in a row that ended with nothing proven.
//!
//! Either the network is down or the agent is dumping; in both cases going on wastes the list.
//! A quest ended with something proven by a PASS, or by a REVIEW of what the world confirms.
//! Nothing else counts as work, however much was looked up for it: a made-up address brings
//! any quest to DONE, and one address of a free provider any number of them to REVIEW.

use serde::{Deserialize, Serialize};

use super::attempt::Grounds;
use super::state::State;

/// How a quest ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The world bears out what was submitted last.
    Proven,
    /// It does not: the quest was given up, answered wrongly, or left to a person on no more
    /// than somebody's word.
    Unproven,
}

impl Ending {
    /// How a quest ended that an attempt on these `grounds` brought to `state`; none while it is
    /// in TODO.
    #[must_use]
    pub fn of(state: State, grounds: Grounds) -> Option<Self> {
        match state {
            State::Todo => None,
            State::Pass => Some(Self::Proven),
            State::Review if grounds == Grounds::Confirmed => Some(Self::Proven),
            State::Review | State::Done => Some(Self::Unproven),
        }
    }
}

/// How many quests in a row have ended with nothing proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Streak(u32);

impl Streak {
    /// The streak after one more quest has ended.
    #[must_use]
    pub fn after(self, ending: Ending) -> Self {
        match ending {
            Ending::Proven => Self(0),
            Ending::Unproven => Self(self.0.saturating_add(1)),
        }
    }

    /// Its length, in quests.
    #[must_use]
    pub fn length(self) -> u32 {
        self.0
    }

    /// Whether it pauses a session that pauses after `pause_after` quests; 0 for never.
    #[must_use]
    pub fn pauses(self, pause_after: u32) -> bool {
        pause_after > 0 && self.0 >= pause_after
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVERY_GROUND: [Grounds; 7] = [
        Grounds::NoResult,
        Grounds::Repeat,
        Grounds::Submission,
        Grounds::World,
        Grounds::Confirmed,
        Grounds::Unread,
        Grounds::Silence,
    ];

    #[test]
    fn a_review_is_proven_only_where_the_world_confirms_it() {
        for grounds in EVERY_GROUND {
            let proven = grounds == Grounds::Confirmed;
            let expected = if proven {
                Ending::Proven
            } else {
                Ending::Unproven
            };
            assert_eq!(Ending::of(State::Review, grounds), Some(expected));
        }
    }

    #[test]
    fn a_pass_is_proven_and_nothing_that_is_done_is() {
        for grounds in EVERY_GROUND {
            assert_eq!(Ending::of(State::Todo, grounds), None);
            assert_eq!(Ending::of(State::Pass, grounds), Some(Ending::Proven));
            assert_eq!(Ending::of(State::Done, grounds), Some(Ending::Unproven));
        }
    }

    #[test]
    fn one_proven_quest_clears_it() {
        let two = Streak::default()
            .after(Ending::Unproven)
            .after(Ending::Unproven);
        assert!(two.pauses(2) && !two.pauses(3) && !two.pauses(0));
        assert_eq!(two.after(Ending::Proven).length(), 0);
    }
}
