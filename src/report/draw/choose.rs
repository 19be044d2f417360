//! Which quests a page shows where there are very many.

use crate::quest::QuestId;
use crate::session::{Effective, Standing, State};

/// How much a quest needs eyes: the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Need {
    /// A REVIEW that a person is to settle.
    Settling,
    /// Its tries are used up.
    Ended,
    /// The world contradicted it.
    Disputed,
    /// It was tried, and goes on.
    Tried,
    /// It is settled.
    Settled,
    /// Nobody has worked on it: there is nothing to see.
    Untouched,
}

impl Need {
    fn of(standing: &Standing) -> Self {
        match Effective::of(standing) {
            Effective::Open | Effective::Refuted => Self::Settling,
            Effective::Done => Self::Ended,
            _ if standing.dispute.is_some() => Self::Disputed,
            Effective::Todo if standing.attempts > 0 => Self::Tried,
            Effective::Todo => Self::Untouched,
            Effective::Pass | Effective::Accepted | Effective::Confirmed | Effective::Rejected => {
                Self::Settled
            }
        }
    }
}

/// At most `most` of `quests` in the states of `only`, or in any where it names none: those that
/// need eyes first, then in order.
#[must_use]
pub(super) fn chosen(quests: &[Standing], only: &[State], most: usize) -> Vec<QuestId> {
    let wanted = quests
        .iter()
        .filter(|it| only.is_empty() || only.contains(&it.progress.state));
    let mut ranked: Vec<(Need, QuestId)> = wanted.map(|it| (Need::of(it), it.id)).collect();
    ranked.sort_unstable();
    ranked.truncate(most);
    ranked.into_iter().map(|(_, id)| id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::draw::bench::{id, standing};

    #[test]
    fn those_that_need_eyes_come_first() {
        let mut quests = vec![
            standing(1, State::Todo),
            standing(2, State::Pass),
            standing(3, State::Done),
            standing(4, State::Todo),
            standing(5, State::Pass),
            standing(6, State::Review),
        ];
        quests[3].attempts = 1;
        quests[4].dispute = Some(quests[4].quest_line);
        let order = |only: &[State], most| {
            let chosen = chosen(&quests, only, most).into_iter();
            chosen.map(|id| id.index() + 1).collect::<Vec<_>>()
        };
        assert_eq!(order(&[], 10), [6, 3, 5, 4, 2, 1]);
        assert_eq!(order(&[], 2), [6, 3]);
        assert_eq!(order(&[State::Pass], 10), [5, 2]);
        assert_eq!(chosen(&quests, &[], 1), [id(6)]);
    }
}
