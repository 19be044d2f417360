//! Which reason is given where more than one holds.

use crate::session::Reason;

/// Every reason, most important first. A settled quest is settled whatever else ran out. Then come
/// a person's or the session's decision, hard budgets (the run's before the quest's), the
/// detectors, the soft budget, and last an agent that simply ended.
pub const ORDER: [Reason; 18] = [
    Reason::Settled,
    Reason::Complete,
    Reason::Interrupted,
    Reason::Paused,
    Reason::Error,
    Reason::PermissionDenied,
    Reason::WallClock,
    Reason::Cost,
    Reason::Quests,
    Reason::QuestTimeout,
    Reason::Tokens,
    Reason::Attempts,
    Reason::Repeat,
    Reason::PingPong,
    Reason::Poll,
    Reason::Breaker,
    Reason::Diminishing,
    Reason::AgentFailed,
];

#[must_use]
pub fn foremost(reasons: impl IntoIterator<Item = Reason>) -> Option<Reason> {
    let place = |reason: &Reason| ORDER.iter().position(|other| other == reason);
    reasons.into_iter().min_by_key(place)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_reason_has_one_place() {
        let places: BTreeSet<_> = ORDER.into_iter().collect();
        assert_eq!(places, Reason::ALL.into_iter().collect());
    }

    #[test]
    fn the_ratchet_comes_before_all_else() {
        for reason in Reason::ALL {
            assert_eq!(foremost([reason, Reason::Settled]), Some(Reason::Settled));
        }
        assert_eq!(foremost([]), None);
    }

    proptest! {
        #[test]
        fn the_order_of_asking_does_not_count(
            picked in proptest::sample::subsequence(ORDER.to_vec(), 1..=18).prop_shuffle()
        ) {
            let first = ORDER.into_iter().find(|reason| picked.contains(reason));
            prop_assert_eq!(foremost(picked), first);
        }
    }
}
