//! The command line: one file per subcommand, holding its arguments and its `run`.

pub mod context;
pub mod exit;
pub mod output;
pub mod schema;

mod agent_block;
mod agent_words;
mod answer_lines;
mod audit;
mod audit_report;
mod beside;
mod calibration_report;
mod claims;
mod command;
mod completing;
mod completions;
mod config;
mod defaults;
mod demo;
mod destination;
mod dispute;
mod doctor;
mod exit_codes;
mod export;
mod export_page;
mod export_rows;
mod export_target;
mod export_write;
mod facts;
mod forget;
mod gate_args;
mod handed;
mod help;
mod help_groups;
mod hook;
mod insights;
mod interrupt;
mod list_args;
mod list_file;
mod list_plan;
mod log;
mod log_words;
mod man;
mod network_args;
mod next;
#[cfg(unix)]
mod noted;
mod operator;
mod person;
mod progress;
mod prompt;
mod prove;
mod prove_report;
mod quest;
mod quest_choice;
mod reader;
mod recheck;
mod release;
mod report;
mod report_made;
mod resume;
mod review;
mod rules;
#[cfg(unix)]
mod run;
#[cfg(unix)]
mod run_args;
#[cfg(unix)]
mod run_budget;
#[cfg(unix)]
mod run_check;
#[cfg(unix)]
mod run_prompt;
#[cfg(unix)]
mod run_shown;
#[cfg(unix)]
mod run_watch;
mod scan;
mod scan_carry;
mod scan_kind;
mod scan_summary;
mod scan_update;
mod session_kind;
mod shell_line;
mod status;
mod submit;
mod submit_flags;
mod telling;
mod terminal;
mod tint;
mod waits;
mod whole_result;

pub use command::run;
