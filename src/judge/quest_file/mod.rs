//! A quest file on its way into a session, and out of it.

mod definition;
mod freeze;

pub(crate) use definition::confinement;
pub use definition::{BenchError, Definition, Faulty, FixerPlan, FrozenTree};
pub(in crate::judge) use definition::{fixer, frozen_env, frozen_listing, services};
pub use freeze::{FreezeError, Freezing, Frozen, Gathering};
