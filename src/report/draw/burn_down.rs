//! How many quests were left when.

use jiff::Timestamp;

use super::thin::thinned;
use crate::report::picture::Remaining;
use crate::session::{Event, State};

/// The most points that a page shows.
const MOST_SHOWN: usize = 400;

/// The most points that are held while a ledger is read, and how many of them stay then.
const MOST_HELD: usize = 8 * KEPT;
const KEPT: usize = 2048;

/// How many quests are left, line by line.
#[derive(Debug, Default)]
pub(super) struct BurnDown {
    left: u32,
    points: Vec<Remaining>,
    /// Whether the line before told of a quest.
    listing: bool,
    /// Whether the quests that follow are those of a newer list.
    extended: bool,
}

impl BurnDown {
    /// Takes in the event of the next line.
    pub(super) fn take(&mut self, at: Timestamp, event: &Event) {
        match event {
            Event::Quest(_) => return self.grow(at),
            Event::Extended(_) => {
                self.extended = true;
                self.listing = false;
                return;
            }
            Event::Attempt(attempt) if attempt.state != State::Todo => self.fall(at),
            Event::Carried(_) => self.fall(at),
            _ => {}
        }
        self.listing = false;
        self.extended = false;
    }

    /// The points that show the shape of it.
    #[must_use]
    pub(super) fn points(&self) -> Vec<Remaining> {
        thinned(&self.points, MOST_SHOWN)
    }

    fn grow(&mut self, at: Timestamp) {
        self.left += 1;
        match self.points.last_mut().filter(|_| self.listing) {
            Some(last) => last.left = self.left,
            None => self.push(at, self.extended),
        }
        self.listing = true;
    }

    fn fall(&mut self, at: Timestamp) {
        self.left = self.left.saturating_sub(1);
        let several = self.points.len() > 1;
        let last = self.points.last_mut();
        match last.filter(|last| several && !last.grew && last.at == at) {
            Some(last) => last.left = self.left,
            None => self.push(at, false),
        }
    }

    fn push(&mut self, at: Timestamp, grew: bool) {
        // A clock that was set back does not turn the curve around.
        let at = self.points.last().map_or(at, |last| last.at.max(at));
        self.points.push(Remaining {
            at,
            left: self.left,
            grew,
        });
        if self.points.len() > MOST_HELD {
            self.points = thinned(&self.points, KEPT);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::quest::Verdict;
    use crate::report::draw::bench::{at, attempt, extended, quest};

    fn drawn(events: &[(i64, Event)]) -> Vec<(i64, u32, bool)> {
        let mut burn = BurnDown::default();
        for (second, event) in events {
            burn.take(at(*second), event);
        }
        let points = burn.points().into_iter();
        points
            .map(|it| (it.at.as_second(), it.left, it.grew))
            .collect()
    }

    #[test]
    fn falls_with_each_quest_that_is_settled_and_grows_with_a_newer_list() {
        let events = [
            (0, quest(1)),
            (0, quest(2)),
            (10, attempt(1, 1, Verdict::Fail, State::Todo)),
            (20, attempt(1, 2, Verdict::Review, State::Review)),
            (30, extended(2)),
            (30, quest(3)),
            (30, quest(4)),
            (40, attempt(2, 1, Verdict::Fail, State::Done)),
            (40, attempt(3, 1, Verdict::Pass, State::Pass)),
            (35, attempt(4, 1, Verdict::Pass, State::Pass)),
        ];
        let expected = [
            (0, 2, false),
            (20, 1, false),
            (30, 3, true),
            (40, 1, false),
            (40, 0, false),
        ];
        assert_eq!(drawn(&events), expected);
    }

    #[test]
    fn a_newer_list_without_new_quests_is_no_rise() {
        let events = [(0, quest(1)), (5, extended(0)), (9, quest(2))];
        // No such ledger is written; what is told must hold all the same.
        assert_eq!(drawn(&events), [(0, 1, false), (9, 2, true)]);
        assert_eq!(drawn(&[]), []);
    }

    proptest! {
        #[test]
        fn never_rises_unless_a_list_grew(
            steps in proptest::collection::vec((0..5_i64, 0..4_u8), 0..200),
        ) {
            let mut burn = BurnDown::default();
            burn.take(at(0), &quest(1));
            let mut second = 0;
            for (later, what) in steps {
                second += later;
                if what == 0 {
                    burn.take(at(second), &extended(1));
                    burn.take(at(second), &quest(2));
                } else {
                    burn.take(at(second), &attempt(1, 1, Verdict::Pass, State::Pass));
                }
            }
            let points = burn.points();
            prop_assert!(!points.is_empty() && points.len() <= MOST_SHOWN);
            for pair in points.windows(2) {
                prop_assert!(pair[1].grew || pair[1].left <= pair[0].left);
            }
        }
    }
}
