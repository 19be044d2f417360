//! The process of an agent: how it is started, what its output tells, and how it is ended.
//!
//! An agent is started through this program started once more ([`supervised`]), which adopts
//! whatever the agent leaves behind, and ends all of it when it is told to or when whoever asked is
//! no more. The agent is confined by nothing: it works with the rights of the operator.

mod command;
#[cfg(unix)]
mod cpu;
#[cfg(unix)]
mod handle;
#[cfg(unix)]
mod heard;
#[cfg(unix)]
mod last_object;
#[cfg(unix)]
mod launcher;
mod orphans;
#[cfg(unix)]
mod output;
#[cfg(unix)]
mod stream;
#[cfg(unix)]
mod supervisor;
#[cfg(unix)]
mod transcript;
#[cfg(unix)]
mod usage;
#[cfg(unix)]
mod wire;

pub use command::Preset;
pub use command::{AgentCommand, BadCommandLine, CommandLine, Given, command_line};
pub use output::{AgentEnd, AgentError, CpuTime, ProcessVitals};
pub use transcript::{AgentEvent, ToolCall};
pub use transcript::{AgentOrder, Stream, StreamForm};
#[cfg(unix)]
pub use {handle::Agent, launcher::AgentLauncher, supervisor::supervised};
