//! Commands that run over a copy of the tree, confined, and what came of them.

mod ask;
mod order;
mod pinned;
mod ran;

pub use ask::{Call, CallAnswer, Called, Changed, FileSeen, NoWorkshop, Started, Workshop};
pub use order::{Edit, Network, Order};
pub use pinned::Pinned;
pub use ran::{Confinement, End, Ran};

#[cfg(test)]
pub use ask::MockWorkshop;
