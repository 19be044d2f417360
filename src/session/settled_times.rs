//! When quests were settled of late: enough to tell a rate by without reading the ledger.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The times at which the last few quests were settled, in the order of the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SettledTimes(Vec<i64>);

/// How many are kept: they are written anew with every submission.
const KEPT: usize = 50;

impl SettledTimes {
    /// Notes that a quest was settled at `at`, to the millisecond.
    pub(super) fn add(&mut self, at: Timestamp) {
        let over = (self.0.len() + 1).saturating_sub(KEPT);
        self.0.drain(..over);
        self.0.push(at.as_millisecond());
    }

    /// The times.
    pub fn times(&self) -> impl Iterator<Item = Timestamp> {
        let times = self.0.iter();
        times.filter_map(|at| Timestamp::from_millisecond(*at).ok())
    }
}

impl FromIterator<Timestamp> for SettledTimes {
    fn from_iter<I: IntoIterator<Item = Timestamp>>(times: I) -> Self {
        let mut settled = Self::default();
        times.into_iter().for_each(|at| settled.add(at));
        settled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_few_are_kept() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let few: SettledTimes = (0..3).map(at).collect();
        assert_eq!(few.times().collect::<Vec<_>>(), [at(0), at(1), at(2)]);
        let many: SettledTimes = (0..120).map(at).collect();
        let kept: Vec<_> = many.times().collect();
        assert_eq!((kept.len(), kept[0], kept[49]), (50, at(70), at(119)));
    }
}
