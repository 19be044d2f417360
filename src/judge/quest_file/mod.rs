//! Freezes quest files into sessions, and loads them from there.

mod control;
mod definition;
mod freeze;

pub(super) use control::{ControlTree, Files, read};
pub use definition::FixerPlan;
pub(crate) use definition::confinement;
pub use definition::{Definition, FrozenTree, email_record};
pub(super) use definition::{
    confined_order, fixer, frozen_control, frozen_listing, frozen_runtime, services,
};
pub use freeze::{FreezeError, Freezing, FreezingPanel, Frozen, FrozenPanel};

pub use crate::judge::error::Faulty;
