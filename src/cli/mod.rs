//! The command line: one file per subcommand, holding its arguments and its `run`.

pub mod context;
pub mod escape;
pub mod exit;
pub mod output;

mod audit;
mod audit_report;
mod claims;
mod command;
mod counted;
mod demo;
mod export;
mod export_rows;
mod export_target;
mod export_write;
mod facts;
mod gate_args;
mod interrupt;
mod list_args;
mod list_file;
mod list_plan;
mod log;
mod log_words;
mod network_args;
mod next;
mod operator;
mod progress;
mod prove;
mod prove_report;
mod quest;
mod quest_choice;
mod recheck;
mod release;
mod resume;
mod rules;
mod scan;
mod scan_carry;
mod scan_kind;
mod scan_summary;
mod scan_update;
mod session_kind;
mod shell_line;
mod status;
mod submit;
mod waits;

pub use command::run;
