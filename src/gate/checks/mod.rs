//! The checks that a quest file is made of: one file per kind.
//!
//! A kind is a [`Spec`](spec::Spec), what its `[[check]]` table may say, and a
//! [`Probe`](probe::Probe), which looks. [`kinds`] lists them all; [`FileGate`] is the gate that
//! a quest file makes of its own.

pub mod built;
pub mod context;
pub mod email_step;
pub mod kinds;
pub mod outside;
pub mod probe;
pub mod schema;
pub mod settings;
pub mod spec;

mod fields;
mod file_gate;
mod matches;
mod open_ended;
mod quest_check;
pub mod unique;

pub use context::Context;
pub use file_gate::FileGate;
pub use quest_check::UNCONFIRMED;
