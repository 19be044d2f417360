//! What starts the supervisors of agents.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use super::strays::Strays;

#[derive(Debug, Clone)]
pub struct AgentLauncher {
    program: PathBuf,
    strays: Option<Arc<Strays>>,
}

impl AgentLauncher {
    pub fn this() -> io::Result<Self> {
        if cfg!(target_os = "linux") {
            return Ok(Self::new("/proc/self/exe".into()));
        }
        std::env::current_exe().map(Self::new)
    }

    #[must_use]
    pub fn new(program: PathBuf) -> Self {
        Self {
            program,
            strays: None,
        }
    }

    pub fn adopting(mut self) -> io::Result<Self> {
        self.strays = Some(Arc::new(Strays::adopt()?));
        Ok(self)
    }

    pub fn end_strays(&self) {
        if let Some(strays) = &self.strays {
            strays.end();
        }
    }

    pub(super) fn program(&self) -> &PathBuf {
        &self.program
    }
}
