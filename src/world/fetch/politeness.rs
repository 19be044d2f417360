//! One request at a time to one host, and a pause between two of them, across processes.
//!
//! There is one file per host, named by the SHA-256 of the host: an advisory lock on it is held while
//! a request to the host is under way, and its content is the time of the last request, in
//! milliseconds since 1970 as 20 decimal digits. Where the shared directory cannot be used, the files
//! are in a directory of this process, so that its threads still take turns.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use sha2::{Digest, Sha256};
use tempfile::TempDir;

const POLL: Duration = Duration::from_millis(10);

#[derive(Debug, Default)]
pub struct Politeness {
    shared: Option<PathBuf>,
    own: OnceLock<Option<TempDir>>,
}

/// The right to make one request to a host; dropping it lets the next one in.
#[derive(Debug)]
pub struct Turn {
    /// None where no file can be kept at all: then nobody waits for anybody.
    file: Option<File>,
}

impl Politeness {
    /// Turns that are shared with every process that names the same directory, which is made at
    /// need; without one they are this process's own.
    pub fn new(shared: Option<PathBuf>) -> Self {
        Self {
            shared,
            own: OnceLock::new(),
        }
    }

    /// Waits for a turn at `host`: nobody else's request is under way, and the last one
    /// began at least `gap` ago. `None` when that is not so before `deadline`.
    pub fn turn(&self, host: &str, gap: Duration, deadline: Instant) -> Option<Turn> {
        let turn = loop {
            match self.take(host) {
                Ok(file) => break Turn { file: Some(file) },
                Err(TryLockError::Error(_)) => break Turn { file: None },
                Err(TryLockError::WouldBlock) if Instant::now() + POLL >= deadline => return None,
                Err(TryLockError::WouldBlock) => thread::sleep(POLL),
            }
        };
        let pause = gap.saturating_sub(turn.since_last().unwrap_or(gap));
        if pause >= deadline.saturating_duration_since(Instant::now()) {
            return None;
        }
        thread::sleep(pause);
        turn.begin();
        Some(turn)
    }

    fn take(&self, host: &str) -> Result<File, TryLockError> {
        let name = hex::encode(Sha256::digest(host.as_bytes()));
        if let Some(dir) = &self.shared {
            match locked(dir, &name) {
                // The directory cannot be used, or its file system knows no locks.
                Err(TryLockError::Error(_)) => {}
                taken => return taken,
            }
        }
        match self.own.get_or_init(|| tempfile::tempdir().ok()) {
            Some(dir) => locked(dir.path(), &name),
            None => Err(TryLockError::Error(io::ErrorKind::NotFound.into())),
        }
    }
}

fn locked(dir: &Path, name: &str) -> Result<File, TryLockError> {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    let opened = fs::create_dir_all(dir).and_then(|()| options.open(dir.join(name)));
    let file = opened.map_err(TryLockError::Error)?;
    file.try_lock()?;
    Ok(file)
}

impl Turn {
    /// The time since the last request; none when there was none, or nobody can tell. A clock that
    /// was set back counts as no time at all.
    fn since_last(&self) -> Option<Duration> {
        let last = read_time(self.file.as_ref()?).ok()?;
        Some(last.elapsed().unwrap_or_default())
    }

    fn begin(&self) {
        if let Some(file) = &self.file {
            // Without it the next request comes too early, which is no reason not to make this one.
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
