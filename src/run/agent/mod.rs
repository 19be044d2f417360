//! The process of an agent: how it is started, what its output tells, and how it is ended.
//!
//! An agent is started through this program started once more ([`supervised`]), which adopts
//! whatever the agent leaves behind, and ends all of it when it is told to or when whoever asked is
//! no more. The agent is confined by nothing: it works with the rights of the operator.

mod command_line;
mod end;
mod event;
mod order;
mod preset;

#[cfg(unix)]
mod cpu;
#[cfg(unix)]
mod failure;
#[cfg(unix)]
mod findings;
#[cfg(unix)]
mod handle;
#[cfg(unix)]
mod heard;
#[cfg(unix)]
mod last_object;
#[cfg(unix)]
mod launcher;
#[cfg(unix)]
mod lines;
#[cfg(unix)]
mod log;
#[cfg(unix)]
mod output;
mod strays;
#[cfg(unix)]
mod stream;
#[cfg(unix)]
mod supervisor;
#[cfg(unix)]
mod tail;
#[cfg(unix)]
mod usage;
#[cfg(unix)]
mod wire;

pub use command_line::{AgentCommand, BadCommandLine, CommandLine, Given, command_line};
pub use end::{AgentEnd, AgentError, CpuTime, Vital};
pub use event::{AgentEvent, ToolCall};
pub use order::{AgentOrder, Stream, StreamForm};
pub use preset::Preset;
#[cfg(unix)]
pub use {handle::Agent, launcher::AgentLauncher, supervisor::supervised};
