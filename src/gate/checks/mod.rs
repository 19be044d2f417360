//! The checks that a quest file is made of: one file per kind.
//!
//! [`kind`] lists the kinds; [`FileGate`] is the gate that a quest file makes.

pub mod context;
pub mod email_step;
pub mod kind;
pub mod outside;
pub mod schema;
pub mod settings;
pub mod unique;

mod citation;
mod command;
mod contains;
mod controls;
mod count;
mod coverage;
mod field_usage;
mod fields;
mod file_gate;
mod http;
mod matches;
mod mutation;
mod orders;
mod own_lines;
mod script;
mod subject;

#[cfg(test)]
mod bench;
mod domain;
mod json;
mod page;
mod tool_facts;
mod tree_files;
#[cfg(test)]
mod workbench;

pub use context::Context;
pub use controls::reviewers_hold;
pub use file_gate::FileGate;
pub use kind::{CheckHead, OnFail, UNCONFIRMED};
pub use orders::nobodys;
