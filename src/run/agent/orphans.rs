//! What falls to this program once nobody supervises it, and how that is ended.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;

use crate::world::sandbox::{adopt_strays, descendants, fallen};

const PATIENCE: Duration = Duration::from_secs(5);

const AGAIN: Duration = Duration::from_millis(1);

/// Kills processes that outlive a killed supervisor: this program adopts them.
#[derive(Debug)]
pub struct OrphanReaper {
    spared: Vec<Pid>,
}

impl OrphanReaper {
    pub fn adopt() -> io::Result<Self> {
        adopt_strays()?;
        Ok(Self { spared: fallen() })
    }

    pub fn end(&self) {
        let began = Instant::now();
        loop {
            let mut orphans = fallen();
            orphans.retain(|pid| !self.spared.contains(pid));
            if orphans.is_empty() || began.elapsed() >= PATIENCE {
                return;
            }
            for stray in orphans {
                for pid in descendants(stray).into_iter().chain([stray]) {
                    let _ = kill(pid, Signal::SIGKILL);
                }
                let _ = waitpid(stray, Some(WaitPidFlag::WNOHANG));
            }
            thread::sleep(AGAIN);
        }
    }
}
