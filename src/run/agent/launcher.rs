//! What starts the supervisors of agents.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use super::strays::Strays;

/// What starts the supervisors of agents: a program that has [`supervised`](super::supervised()) in
/// its `main`.
#[derive(Debug, Clone)]
pub struct AgentLauncher {
    program: PathBuf,
    /// What falls to this program, where it is made to.
    strays: Option<Arc<Strays>>,
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
        Self {
            program,
            strays: None,
        }
    }

    /// The same, to which falls what an agent leaves behind that has killed its supervisor.
    pub fn adopting(mut self) -> io::Result<Self> {
        self.strays = Some(Arc::new(Strays::adopt()?));
        Ok(self)
    }

    /// Ends all that has fallen to this program.
    pub fn end_strays(&self) {
        if let Some(strays) = &self.strays {
            strays.end();
        }
    }

    /// What is started.
    pub(super) fn program(&self) -> &PathBuf {
        &self.program
    }
}
