//! What falls to this program once nobody supervises it, and how that is ended.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;

use crate::world::sandbox::{adopt_strays, descendants, fallen};

/// How long it is tried to end what may start itself again and again.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long is waited before those that were killed are looked for again.
const AGAIN: Duration = Duration::from_millis(1);

/// Whatever agents leave behind whose supervisor was killed: it falls to this program.
#[derive(Debug)]
pub struct Strays {
    /// What was there before the first agent.
    spared: Vec<Pid>,
}

impl Strays {
    /// Has strays fall to this program from now on.
    pub fn adopt() -> io::Result<Self> {
        adopt_strays()?;
        Ok(Self { spared: fallen() })
    }

    /// Kills and buries all that has fallen to this program.
    pub fn end(&self) {
        let began = Instant::now();
        loop {
            let mut strays = fallen();
            strays.retain(|pid| !self.spared.contains(pid));
            if strays.is_empty() || began.elapsed() >= PATIENCE {
                return;
            }
            for stray in strays {
                for pid in descendants(stray).into_iter().chain([stray]) {
                    let _ = kill(pid, Signal::SIGKILL);
                }
                let _ = waitpid(stray, Some(WaitPidFlag::WNOHANG));
            }
            thread::sleep(AGAIN);
        }
    }
}
