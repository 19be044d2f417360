//! The checks that a quest file is made of.
//!
//! [`kinds`] lists the kinds, and [`kind`] says what a kind is; [`FileGate`] is the gate that a
//! quest file makes.

pub mod context;
pub mod kind;
pub mod kinds;
pub mod outside;
pub mod schema;
pub mod takes;

mod canary;
mod cascade;
mod citation;
mod command;
mod command_plan;
mod contains;
mod controls;
mod count;
mod coverage;
mod email_step;
mod field_usage;
mod fields;
mod file_gate;
mod grammar;
mod http;
mod json;
mod matches;
mod mutants;
mod mutation;
mod only_changed;
mod own_lines;
mod page;
mod passing_control;
mod script;
mod subject;
mod trial;

#[cfg(test)]
mod tests;

pub use command_plan::nobodys;
pub use context::Context;
pub use controls::reviewers_hold;
pub use file_gate::FileGate;
pub use kind::{CheckHead, OnFail, UNCONFIRMED};
pub use passing_control::control_of_runs;
