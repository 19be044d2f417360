//! How much a run may use up, and which of its bounds ends it.
//!
//! Some bounds are always on: how often the agent is started for a quest, and what tokens and time
//! a quest may take. All of it is decided from values; nobody's clock is read here.

mod amount;
mod bounds;
mod diminishing;
mod money;
mod order;
mod period;
mod used;

pub use amount::{BadAmount, Percent, Times, Tokens};
pub use bounds::{Limits, OfQuest, OfRun};
pub use diminishing::{Diminishing, Trickle};
pub use money::{BadMoney, Money};
pub use order::{ORDER, foremost};
pub use period::{BadPeriod, Period};
pub use used::{Bill, Used, UsedByQuest};
