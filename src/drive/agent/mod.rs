//! The process of an agent: how it is started, what its output tells, and how it is ended.
//!
//! An agent is started through this program started once more (`supervised`), which adopts
//! whatever the agent leaves behind, and ends all of it when it is told to or when whoever asked is
//! no more. The agent is confined by nothing: it works with the rights of the operator.

mod command_line;
mod end;
mod event;
mod order;
mod preset;

#[cfg(unix)]
mod handle;
#[cfg(unix)]
mod launcher;

pub use command_line::{AgentCommand, BadCommandLine, CommandLine, Given, command_line};
pub use end::{AgentEnd, AgentError, CpuTime, Vital};
pub use event::{AgentEvent, ToolCall};
pub use order::{AgentOrder, Stream, StreamForm};
pub use preset::Preset;
#[cfg(unix)]
pub use {handle::Agent, launcher::AgentLauncher};
