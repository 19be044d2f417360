//! An agent that runs.

use std::io;
use std::time::Duration;

use super::end::{AgentEnd, AgentError, CpuTime, Vital};
use super::event::AgentEvent;
use super::launcher::AgentLauncher;
use super::order::AgentOrder;

/// An agent that runs, with all that it has started; dropped, nothing of it is left.
#[derive(Debug)]
pub struct Agent {
    end: AgentEnd,
}

impl Agent {
    /// Starts an agent.
    pub fn start(order: &AgentOrder, launcher: &AgentLauncher) -> Result<Self, AgentError> {
        let _ = (order, launcher.program());
        Err(AgentError::Supervisor(io::ErrorKind::Unsupported.into()))
    }

    /// What it did since this was last asked.
    pub fn events(&mut self) -> Vec<AgentEvent> {
        Vec::new()
    }

    /// Its signs of life.
    pub fn vital(&mut self) -> Vital {
        Vital {
            cpu: CpuTime::Unknown,
            written: 0,
        }
    }

    /// How it ended, once it has and all that it printed is read.
    pub fn ended(&mut self) -> Option<AgentEnd> {
        None
    }

    /// Asks it to end, kills after `grace` whatever is left of it, and waits for that.
    #[must_use]
    pub fn stop(self, grace: Duration) -> AgentEnd {
        let _ = grace;
        self.end
    }
}
