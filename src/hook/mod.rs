//! What hooks of coding agents are answered: whether an agent may stop, and what it may run and
//! edit.
//!
//! A hook is no wall: an agent that may write a program may write one that does what no rule
//! names. It keeps an honest agent at its work and a careless one from harm; what counts is judged
//! by the gate.

mod agent;
mod call;
mod command;
mod entries;
mod fetchers;
mod git;
mod git_files;
mod ground;
mod leading;
mod memory;
mod moves;
mod net;
mod options;
mod own;
mod own_files;
mod patience;
mod places;
mod real_path;
mod reply;
mod rules;
mod ruling;
mod sed_script;
mod settings;
mod shell;
mod steering;
#[cfg(test)]
mod tests;
mod wrapper;
mod writer_table;
mod writers;
mod written;

pub use agent::{HookAgent, HookEvent, UnknownAgent};
pub use call::{Act, BadCall, MOST_CALL_BYTES, StopCall, ToolCall};
pub use command::judge_line;
pub use ground::{Ground, Leads, Shared, WriteZone};
pub use memory::Memory;
pub use patience::{MOST_REFUSALS, Patience, Progress, Refused};
pub use places::{judge_call, zone_of};
pub use real_path::{Unresolved, has_further_names, real_path};
pub use reply::StopReply;
pub use rules::{BadRules, Rules};
pub use ruling::{Decision, Ruled, Ruling};
pub use settings::{BadSettings, Caller, with_hooks};
