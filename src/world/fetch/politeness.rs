//! One request at a time to one host, and a pause between two of them, across processes.
//!
//! There is one file per host, named by the SHA-256 of the host: an advisory lock on it is held while
//! a request to the host is under way, and its content is the time of the last request, in
//! milliseconds since 1970 as 20 decimal digits. If the shared directory cannot be used, the files are
//! in a private directory, so that the threads of this process still take turns.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::base::files;

const POLL: Duration = Duration::from_millis(10);

#[derive(Debug, Default)]
pub struct Politeness {
    shared: Option<PathBuf>,
    own: OnceLock<Option<TempDir>>,
}

/// The right to make one request to a host; dropping it lets the next one in.
#[derive(Debug)]
pub struct Turn {
    /// None if no file can be kept at all. Then requests do not wait for each other.
    file: Option<File>,
}

impl Politeness {
    /// Turns that are shared between processes with the same directory, which is created if needed.
    /// Without a directory, only the threads of this process share them.
    pub fn new(shared: Option<PathBuf>) -> Self {
        Self {
            shared,
            own: OnceLock::new(),
        }
    }

    /// Waits for a turn at `host`: no other request is in progress, and the last one began at least
    /// `gap` ago. There is no time limit as long as the queue moves.
    ///
    /// # Errors
    ///
    /// The process that holds the lock began no request for `patience`.
    pub fn turn(&self, host: &str, gap: Duration, patience: Duration) -> Result<Turn, Held> {
        let mut queue = Queue::default();
        let turn = loop {
            let (path, begun) = match self.take(host) {
                Ok(file) => break Turn { file: Some(file) },
                Err(NoLock::Unusable) => break Turn { file: None },
                Err(NoLock::Held { path, begun }) => (path, begun),
            };
            if queue.still_for(begun, Instant::now()) >= patience {
                let (host, seconds) = (host.to_owned(), patience.as_secs_f64());
                return Err(Held {
                    host,
                    seconds,
                    path,
                });
            }
            thread::sleep(POLL);
        };
        thread::sleep(gap.saturating_sub(turn.since_last().unwrap_or(gap)));
        turn.begin();
        Ok(turn)
    }

    fn take(&self, host: &str) -> Result<File, NoLock> {
        let name = hex::encode(Sha256::digest(host.as_bytes()));
        if let Some(dir) = &self.shared {
            match locked(dir, &name) {
                // The directory cannot be used, or its file system knows no locks.
                Err(NoLock::Unusable) => {}
                taken => return taken,
            }
        }
        let own = self
            .own
            .get_or_init(|| files::private_dir("comail-", &std::env::temp_dir()).ok());
        own.as_ref()
            .map_or(Err(NoLock::Unusable), |dir| locked(dir.path(), &name))
    }
}

/// The processes that hold the lock of a host one after the other, as seen by a waiting one.
#[derive(Debug, Default)]
struct Queue {
    /// The time of the last request, and since when it has been the last one.
    last: Option<(Option<SystemTime>, Instant)>,
}

impl Queue {
    fn still_for(&mut self, begun: Option<SystemTime>, now: Instant) -> Duration {
        let since = match self.last {
            Some((last, since)) if last == begun => since,
            _ => now,
        };
        self.last = Some((begun, since));
        now.saturating_duration_since(since)
    }
}

/// Another process holds the lock of a host without sending a request.
#[derive(Debug, thiserror::Error)]
#[error("another process has held the lock of {host} for {seconds} s without a request: {}", path.display())]
pub struct Held {
    host: String,
    seconds: f64,
    path: PathBuf,
}

/// Why a lock was not taken.
enum NoLock {
    /// Another process has it, and began its last request at this time.
    Held {
        path: PathBuf,
        begun: Option<SystemTime>,
    },
    Unusable,
}

fn locked(dir: &Path, name: &str) -> Result<File, NoLock> {
    let path = dir.join(name);
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    let opened = fs::create_dir_all(dir).and_then(|()| files::open_with(&mut options, &path));
    let file = opened.map_err(|_| NoLock::Unusable)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let begun = read_time(&file).ok();
            Err(NoLock::Held { path, begun })
        }
        Err(TryLockError::Error(_)) => Err(NoLock::Unusable),
    }
}

impl Turn {
    /// The time since the last request; none if there was none or it is unknown. Zero if the clock was
    /// set back.
    fn since_last(&self) -> Option<Duration> {
        let last = read_time(self.file.as_ref()?).ok()?;
        Some(last.elapsed().unwrap_or_default())
    }

    fn begin(&self) {
        if let Some(file) = &self.file {
            // Without the time the next request may come too early, but this one need not fail.
            let _ = write_time(file, SystemTime::now());
        }
    }
}

fn read_time(mut file: &File) -> io::Result<SystemTime> {
    let mut text = String::new();
    file.rewind()?;
    file.take(20).read_to_string(&mut text)?;
    let millis = text.parse().map_err(io::Error::other)?;
    let time = UNIX_EPOCH.checked_add(Duration::from_millis(millis));
    time.ok_or_else(|| io::ErrorKind::InvalidData.into())
}

fn write_time(mut file: &File, time: SystemTime) -> io::Result<()> {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    file.rewind()?;
    file.write_all(format!("{:020}", since.as_millis()).as_bytes())
}

#[cfg(test)]
mod tests;
