//! Holding a session against itself: whether everything that it says follows from what it keeps.
//!
//! What follows from what is decided by functions of values ([`fields`], [`held`], [`lists`],
//! [`replayed`], [`seals`]); [`walk`] reads the ledger for them and judges again in as many threads as the
//! machine has, and [`live`] asks the world.

pub mod damage;
mod doubted;
pub mod fields;
pub mod finding;
pub mod forgotten;
pub mod held;
pub mod judged;
pub mod lists;
pub mod live;
pub mod outside;
pub mod replayed;
mod rested;
pub mod seals;
pub mod walk;

mod examine;

pub use finding::{Finding, Kind, Place};
pub use live::Live;
pub use rested::Rested;
pub use walk::{Audited, NotedHead, Onlooker, Plan, Proven, walk};
