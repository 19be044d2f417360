//! The agent as a process: its command line, its output, its end.

mod command;
mod formats;
mod grants;
mod output;
mod process;
mod provider;
mod transcript;
mod usage;

pub use command::{
    AgentCommand, AgentShell, BadCommandLine, CommandLine, Given, Preset, command_line,
};
pub use formats::Stream;
pub use grants::{Surroundings, Unconfined, grants};
pub use output::AgentEnd;
pub use process::{Agent, AgentError, AgentLauncher, AgentOrder, supervised};
pub use provider::ProviderError;
pub use transcript::{AgentEvent, Totals};
pub(super) use transcript::{BYTES_OF_A_TOKEN, end_of};
