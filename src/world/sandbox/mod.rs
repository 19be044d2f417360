//! Confined commands and services, and the files that a check may look at.
//!
//! [`run()`] starts this program again with a hidden first argument. That child ([`confined`])
//! enters namespaces, restricts one of its threads by Landlock, starts the command from that
//! thread, and reports how it ended. A [`Service`] is a command that runs in the background. [`Pinned`]
//! is a program that must not change.
//!
//! An agent is confined by [`Grants`], and where the kernel allows it by namespaces ([`Alone`]).
//!
//! On every system: the environment, the standard input, the time and the amount of output are
//! bounded, and no started process is left running. The [`Confinement`] of each run records what else
//! the kernel offered. With Landlock, a command can read only the system and the programs that it
//! needs ([`reading`]). With an old version of Landlock, it can connect to sockets in the file system.

#[cfg_attr(
    test,
    expect(
        clippy::used_underscore_binding,
        reason = "the generated mock uses them"
    )
)]
mod api;
mod confined;
mod copies;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
mod grants;
mod http;
#[cfg(target_os = "linux")]
mod linux;
mod live;
mod program;
mod reading;
mod run;
mod runtime;
mod service;

#[cfg(not(target_os = "linux"))]
use elsewhere as platform;
#[cfg(target_os = "linux")]
use linux as platform;

pub use api::RunPlace;
pub use api::{Call, CallAnswer, Called, FileSeen, NoSandbox, Sandbox, Started};
pub use api::{ChatOrder, Chatted, Cost, Said, Usage, endpoint};
pub use api::{
    CommandResult, CommandSpec, Confinement, Edit, End, Grants, Means, Namespace, Network,
};
pub use confined::confined;
pub use grants::{Alone, granted};
pub use live::run_in_tree;
pub use live::{Alteration, Contents, LiveSandbox, SandboxConfig, ServicePlan, TreeLook};
pub use program::{NotFound, Pinned, is_executable};
pub use reading::{
    TEMPORARY, distrust, installed, interpreter, of_path, prefix, real, system, trusted_path,
    without,
};
pub use run::{Base, Files, Launcher, Stop, run};
pub use runtime::{Runtime, RuntimeError};
pub use service::{Output, Ready, Service, ServiceFailed, free_port, is_taken};

pub use super::tree::Changed;

#[cfg(test)]
pub use api::MockSandbox;
