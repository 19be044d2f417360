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
mod file_exists;
mod file_gate;
mod final_gate;
mod from_command;
mod host_of;
mod http;
mod json_schema;
mod json_text;
mod json_valid;
mod made_up;
mod matches;
mod mutation;
mod mx;
mod only_changed;
mod open_ended;
mod orders;
mod own_lines;
mod page_seen;
mod page_template;
mod pointer;
mod same_domain;
mod script;
mod script_answer;
mod standing;
mod subject;

#[cfg(test)]
mod bench;
#[cfg(test)]
mod workbench;

pub use context::Context;
pub use file_gate::FileGate;
pub use kind::{CheckHead, OnFail, UNCONFIRMED};
pub use orders::nobodys;
