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
pub mod shaped;
pub mod spec;
pub mod unique;

mod anchors;
mod basis;
mod blacklist;
mod changes;
mod citation;
mod command;
mod command_policy;
mod contains;
mod controls;
mod count;
mod coverage;
mod fields;
mod file_exists;
mod file_gate;
mod final_gate;
mod first_facts;
mod from_command;
mod git_clean;
mod held_against;
mod host_of;
mod http;
mod json_schema;
mod json_text;
mod json_valid;
mod leakage;
mod made_up;
mod matches;
mod mutation;
mod mx;
mod numbers;
mod only_changed;
mod open_ended;
mod orders;
mod origin;
mod outline;
mod own_lines;
mod page_seen;
mod page_template;
mod patch;
mod pointer;
mod prose;
mod quest_check;
mod round_trip;
mod same_domain;
mod script;
mod script_answer;
mod similar;
mod standing;
mod subject;
mod terms;

#[cfg(test)]
mod bench;
#[cfg(test)]
mod workbench;

pub use citation::cites_commits;
pub use context::Context;
pub use file_gate::FileGate;
pub use orders::nobodys;
pub use quest_check::{CheckHead, OnFail, UNCONFIRMED};
