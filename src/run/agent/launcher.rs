//! What starts the supervisors of agents.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use super::orphans::OrphanReaper;

#[derive(Debug, Clone)]
pub struct AgentLauncher {
    program: PathBuf,
    orphans: Option<Arc<OrphanReaper>>,
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
            orphans: None,
        }
    }

    pub fn adopting(mut self) -> io::Result<Self> {
        self.orphans = Some(Arc::new(OrphanReaper::adopt()?));
        Ok(self)
    }

    pub fn reap_orphans(&self) {
        if let Some(orphans) = &self.orphans {
            orphans.end();
        }
    }

    pub(super) fn program(&self) -> &PathBuf {
        &self.program
    }
}
