//! A quest file on its way into a session, and out of it.

pub(super) mod commands;
mod definition;
mod freeze;

pub use commands::FixerPlan;
pub(crate) use definition::confinement;
pub use definition::{Definition, FrozenTree, email_record};
pub(super) use definition::{bare_bench, frozen_listing};
pub use freeze::{FreezeError, Freezing, Frozen, Gathering};

pub use crate::judge::error::{BenchError, Faulty};
