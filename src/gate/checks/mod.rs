//! The checks that a quest file is made of: one file per kind.
//!
//! A kind is a [`Spec`](spec::Spec), what its `[[check]]` table may say, and a
//! [`Probe`](probe::Probe), which looks. [`kinds`] lists them all; [`FileGate`] is the gate that
//! a quest file makes of its own.

pub mod context;
pub mod kinds;
pub mod outside;
pub mod probe;
pub mod schema;
pub mod settings;
pub mod spec;

mod changes;
mod command;
mod controls;
mod coverage;
mod fields;
mod file_gate;
mod from_command;
mod git_clean;
mod matches;
mod mutation;
mod only_changed;
mod open_ended;
mod orders;
mod own_lines;
mod quest_check;
mod script;
mod script_answer;
pub mod unique;

pub use context::Context;
pub use file_gate::FileGate;
#[cfg(test)]
mod bench;

pub use quest_check::{CheckHead, UNCONFIRMED};
