//! The command line: one file per subcommand, holding its arguments and its `run`.

pub mod context;
pub mod exit;
pub mod output;
pub mod schema;

mod answer_form;
mod audit;
mod claims;
mod command;
mod completions;
mod config;
mod demo;
mod dispute;
mod doctor;
mod export;
mod forget;
mod gate_args;
mod help;
mod hook;
mod insights;
mod list;
mod log;
mod logging;
mod man;
mod next;
mod output_file;
mod pager;
mod person;
mod progress;
mod prompt;
mod prove;
mod quest;
mod recheck;
mod release;
mod report;
mod resume;
mod review;
mod rules;
mod run;
mod scan;
mod screen;
mod shell_line;
mod status;
mod submit;

pub use command::run;
