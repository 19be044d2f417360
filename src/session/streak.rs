//! The unproven streak: quests in a row that ended with nothing proven.
//!
//! Either the network is down or the agent is dumping; in both cases going on wastes the list.

use super::event::Grounds;
use super::state::State;

/// How a quest ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Something was found out about it.
    Proven,
    /// Nothing was: it was given up, never tried against the world, or the world was silent.
    Unproven,
}

impl Ending {
    /// How a quest ended that an attempt on these `grounds` brought to `state`; none while it is
    /// in TODO.
    ///
    /// `gave_up`: one of its attempts was no answer at all. `looked`: one of its attempts was
    /// judged by what the world answered.
    #[must_use]
    pub fn of(state: State, grounds: Grounds, gave_up: bool, looked: bool) -> Option<Self> {
        let unproven = match state {
            State::Todo => return None,
            State::Pass => false,
            State::Review => matches!(grounds, Grounds::Silence | Grounds::Unread),
            State::Done => gave_up || !looked,
        };
        Some(if unproven {
            Self::Unproven
        } else {
            Self::Proven
        })
    }
}

/// How many quests in a row have ended with nothing proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
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

    #[test]
    fn an_ending_is_unproven_when_given_up_untried_or_unheard() {
        use Ending::{Proven, Unproven};
        let of = Ending::of;
        assert_eq!(of(State::Todo, Grounds::NoResult, true, false), None);
        assert_eq!(of(State::Pass, Grounds::World, true, true), Some(Proven));
        assert_eq!(of(State::Review, Grounds::World, false, true), Some(Proven));
        assert_eq!(
            of(State::Review, Grounds::Silence, false, false),
            Some(Unproven)
        );
        assert_eq!(
            of(State::Review, Grounds::Unread, false, false),
            Some(Unproven)
        );
        assert_eq!(of(State::Done, Grounds::World, false, true), Some(Proven));
        assert_eq!(
            of(State::Done, Grounds::NoResult, true, true),
            Some(Unproven)
        );
        // Giving up first and dumping rubbish as the last try does not hide the giving up.
        assert_eq!(of(State::Done, Grounds::World, true, true), Some(Unproven));
        // Rubbish that never reached the world is no work either.
        assert_eq!(
            of(State::Done, Grounds::Submission, false, false),
            Some(Unproven)
        );
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
