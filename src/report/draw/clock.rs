//! How long quests took, from what a ledger tells of their beginning and their end.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;

use crate::quest::QuestId;
use crate::session::{Event, State};

/// How long quests took, line by line.
///
/// A quest begins with the first line that says that somebody is at it. Of one that nobody claimed
/// and that its first submission settled, no beginning is known.
#[derive(Debug, Default)]
pub(super) struct Clock {
    begun: HashMap<QuestId, Timestamp>,
    took: Vec<u64>,
    shown: HashSet<QuestId>,
    of_shown: HashMap<QuestId, u64>,
}

impl Clock {
    /// A clock that can tell afterwards how long each of `shown` took.
    pub(super) fn new(shown: HashSet<QuestId>) -> Self {
        Self {
            shown,
            ..Self::default()
        }
    }

    /// Takes in the event of the next line.
    pub(super) fn take(&mut self, at: Timestamp, event: &Event) {
        match event {
            Event::Claim(claimed) => self.begin(claimed.quest, at),
            Event::Asked(asked) => self.begin(asked.quest, at),
            Event::Attempt(attempt) if attempt.state == State::Todo => {
                self.begin(attempt.quest, at);
            }
            Event::Attempt(attempt) => self.end(attempt.quest, at),
            _ => {}
        }
    }

    /// How long a quest that is shown took, in milliseconds.
    #[must_use]
    pub(super) fn of(&self, quest: QuestId) -> Option<u64> {
        self.of_shown.get(&quest).copied()
    }

    /// How long all took of which it is known.
    #[must_use]
    pub(super) fn all(self) -> Vec<u64> {
        self.took
    }

    fn begin(&mut self, quest: QuestId, at: Timestamp) {
        self.begun.entry(quest).or_insert(at);
    }

    fn end(&mut self, quest: QuestId, at: Timestamp) {
        let Some(begun) = self.begun.remove(&quest) else {
            return;
        };
        let took = at.duration_since(begun).as_millis();
        let took = u64::try_from(took).unwrap_or(0);
        self.took.push(took);
        if self.shown.contains(&quest) {
            self.of_shown.insert(quest, took);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quest::Verdict;
    use crate::report::draw::bench::{at, attempt, claim, id};

    #[test]
    fn a_quest_begins_when_it_is_claimed_or_first_fails() {
        let mut clock = Clock::new([id(1), id(3)].into());
        let events = [
            (0, claim(1, "kim")),
            (5, attempt(2, 1, Verdict::Fail, State::Todo)),
            (7, claim(1, "lee")),
            (9, attempt(1, 1, Verdict::Pass, State::Pass)),
            (15, attempt(2, 2, Verdict::Fail, State::Done)),
            (20, attempt(3, 1, Verdict::Pass, State::Pass)),
        ];
        for (second, event) in events {
            clock.take(at(second), &event);
        }
        assert_eq!(clock.of(id(1)), Some(9_000));
        assert_eq!(clock.of(id(2)), None, "it is not shown");
        assert_eq!(clock.of(id(3)), None, "nobody knows when it began");
        assert_eq!(clock.all(), [9_000, 10_000]);
    }

    #[test]
    fn a_clock_that_was_set_back_gives_no_time_below_zero() {
        let mut clock = Clock::new([id(1)].into());
        clock.take(at(60), &claim(1, "kim"));
        clock.take(at(0), &attempt(1, 1, Verdict::Pass, State::Pass));
        assert_eq!(clock.all(), [0]);
    }
}
