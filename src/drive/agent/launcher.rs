//! What starts the supervisors of agents.

use std::io;
use std::path::PathBuf;

/// What starts the supervisors of agents: a program that has [`supervised`](super::supervised()) in
/// its `main`.
#[derive(Debug, Clone)]
pub struct AgentLauncher {
    program: PathBuf,
}

impl AgentLauncher {
    /// This program itself, whatever has become of its file where the system knows.
    pub fn this() -> io::Result<Self> {
        if cfg!(target_os = "linux") {
            return Ok(Self::new("/proc/self/exe".into()));
        }
        std::env::current_exe().map(Self::new)
    }

    /// The program of this absolute path.
    #[must_use]
    pub fn new(program: PathBuf) -> Self {
        Self { program }
    }

    /// What is started.
    pub(super) fn program(&self) -> &PathBuf {
        &self.program
    }
}
