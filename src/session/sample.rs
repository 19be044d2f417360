//! The sample: randomly drawn PASSes that a person checks by hand.
//!
//! ```text
//! {"quests":[3,17,40],"by":"kim"}
//! ```
//!
//! Every draw is from the PASSes before the first draw. So all draws sample one population, to which
//! no agent can add once it sees a draw. A quest is drawn only once, and a draw cannot be withdrawn.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::decision::{Seal, decided};
use crate::base::Digest;
use crate::quest::QuestId;

/// The body of `sampled`: PASSes that a person is to check by hand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sampled {
    /// The quests, in order.
    pub quests: Vec<QuestId>,
    /// Who had them drawn.
    pub by: String,
    /// The operator's seal, where the session froze a key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<Seal>,
}

decided!(Sampled = "sampled");

/// What a person found when checking a sampled PASS by hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    Open,
    Right,
    Wrong,
}

/// The totals of all draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    /// Where the first draw is in the ledger.
    pub first: u64,
    /// How many PASSes were there before it.
    pub passes: u32,
    pub draws: u32,
    pub open: u32,
    pub right: u32,
    pub wrong: u32,
}

impl Sample {
    pub fn drawn(&self) -> u32 {
        self.open + self.right + self.wrong
    }

    pub(super) fn shift(&mut self, from: Option<Check>, to: Option<Check>) {
        if let Some(from) = from {
            let left = self.slot(from);
            *left = left.saturating_sub(1);
        }
        if let Some(to) = to {
            *self.slot(to) += 1;
        }
    }

    fn slot(&mut self, check: Check) -> &mut u32 {
        match check {
            Check::Open => &mut self.open,
            Check::Right => &mut self.right,
            Check::Wrong => &mut self.wrong,
        }
    }
}

/// Randomness for one draw.
#[derive(Debug, Clone, Copy)]
pub struct Seed(pub [u8; 32]);

/// Draws at most `most` quests from `pool`, in order. Each set of that size is equally likely.
pub fn draw(mut pool: Vec<QuestId>, most: usize, seed: Seed) -> Vec<QuestId> {
    pool.sort_by_cached_key(|quest| {
        let number = quest.index().to_be_bytes();
        *Digest::of_parts([&seed.0[..], &number]).as_bytes()
    });
    pool.truncate(most);
    pool.sort_unstable();
    pool
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pool(count: usize) -> Vec<QuestId> {
        let ids = (0..count).filter_map(QuestId::from_index);
        ids.collect()
    }

    proptest! {
        #[test]
        fn a_draw_is_a_subset_decided_by_the_seed(
            count in 0usize..200,
            most in 0usize..220,
            seed in any::<[u8; 32]>(),
        ) {
            let drawn = draw(pool(count), most, Seed(seed));
            prop_assert_eq!(drawn.len(), most.min(count));
            prop_assert!(drawn.is_sorted_by(|one, next| one < next));
            prop_assert!(drawn.iter().all(|quest| quest.index() < count));
            let turned = pool(count).into_iter().rev().collect();
            prop_assert_eq!(draw(turned, most, Seed(seed)), drawn);
        }
    }

    /// Of 2,000 draws of 3 out of 10, each quest is expected in 600, with a deviation of 20.5.
    #[test]
    fn draws_every_quest_equally_often() {
        let mut times = [0_u32; 10];
        for number in 0_u32..2_000 {
            let mut seed = [0; 32];
            seed[..4].copy_from_slice(&number.to_be_bytes());
            for quest in draw(pool(10), 3, Seed(seed)) {
                times[quest.index()] += 1;
            }
        }
        assert!(
            times.iter().all(|count| (500..=700).contains(count)),
            "{times:?}"
        );
    }
}
