//! A quest file on its way into a session, and out of it.

mod definition;
mod freeze;

pub use definition::FixerPlan;
pub(crate) use definition::confinement;
pub use definition::{Definition, FrozenTree, email_record};
pub(super) use definition::{bare_sandbox, confined_order, fixer, frozen_listing, services};
pub use freeze::{FreezeError, Freezing, Frozen, Gathering};

pub use crate::judge::error::{Faulty, SandboxError};
