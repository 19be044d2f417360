//! One request at a time to one host, and a pause between two of them, across processes.
//!
//! There is one file per host, named by the SHA-256 of the host: an advisory lock on it is held while
//! a request to the host is under way, and its content is the time of the last request, in
//! milliseconds since 1970 as 20 decimal digits. If the shared directory cannot be used, the files are
//! in a private directory, so that the threads of this process still take turns. Judges on several
//! machines take turns through [`SharedTurns`] instead.

use std::fmt;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::base::files;

const POLL: Duration = Duration::from_millis(10);

/// Turns at hosts that judges on several machines share.
pub trait SharedTurns: fmt::Debug + Send + Sync {
    /// Asks for a turn that ends after `keep`, if the last request began `gap` ago. Returns how long
    /// to wait at least before asking again, zero for a turn, and when the last request began.
    ///
    /// # Errors
    ///
    /// Why nobody can be asked.
    fn ask(
        &self,
        host: &str,
        gap: Duration,
        keep: Duration,
    ) -> Result<(Duration, SystemTime), String>;

    fn end(&self, host: &str);
}

/// Who takes turns at hosts with each other.
#[derive(Debug, Default)]
pub enum TurnPlace {
    /// The threads of this process.
    #[default]
    Process,
    /// The processes with the same directory, which is created if needed.
    Directory(PathBuf),
    Shared(Arc<dyn SharedTurns>),
}

#[derive(Debug, Default)]
pub struct Politeness {
    place: TurnPlace,
    own: OnceLock<Option<TempDir>>,
}

/// The right to make one request to a host; dropping it lets the next one in.
#[derive(Debug)]
pub enum Turn {
    /// None if no file can be kept at all. Then requests do not wait for each other.
    Local(Option<File>),
    Shared(Arc<dyn SharedTurns>, String),
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let Self::Shared(turns, host) = self {
            turns.end(host);
        }
    }
}

impl Politeness {
    pub fn new(place: TurnPlace) -> Self {
        Self {
            place,
            own: OnceLock::new(),
        }
    }

    /// Waits for a turn at `host`: no other request is in progress, and the last one began at least
    /// `gap` ago. There is no time limit as long as the queue moves.
    ///
    /// # Errors
    ///
    /// The process that holds the lock began no request for `patience`, or nobody can say whose turn it
    /// is.
    pub fn turn(&self, host: &str, gap: Duration, patience: Duration) -> Result<Turn, NoTurn> {
        if let TurnPlace::Shared(turns) = &self.place {
            return shared_turn(turns, host, gap, patience);
        }
        let mut queue = Queue::default();
        let turn = loop {
            let (path, begun) = match self.take(host) {
                Ok(file) => break Turn::Local(Some(file)),
                Err(NoLock::Unusable) => break Turn::Local(None),
                Err(NoLock::Held { path, begun }) => (path, begun),
            };
            if queue.still_for(begun, Instant::now()) >= patience {
                let (host, seconds) = (host.to_owned(), patience.as_secs_f64());
                return Err(NoTurn::Held {
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
        if let TurnPlace::Directory(dir) = &self.place {
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

/// How long to wait for another judge's request, whose end nobody announces.
const SHARED_POLL: Duration = Duration::from_millis(50);

fn shared_turn(
    turns: &Arc<dyn SharedTurns>,
    host: &str,
    gap: Duration,
    patience: Duration,
) -> Result<Turn, NoTurn> {
    let mut queue = Queue::default();
    loop {
        let asked = turns.ask(host, gap, patience);
        let (wait, begun) = asked.map_err(|why| NoTurn::Unknown {
            host: host.to_owned(),
            why,
        })?;
        if wait.is_zero() {
            return Ok(Turn::Shared(Arc::clone(turns), host.to_owned()));
        }
        // A turn that was never ended is over after `patience`, so the queue moves again.
        if queue.still_for(Some(begun), Instant::now()) >= patience * 2 {
            return Err(NoTurn::Unknown {
                host: host.to_owned(),
                why: "another judge keeps it".to_owned(),
            });
        }
        thread::sleep(wait.min(SHARED_POLL));
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

#[derive(Debug, thiserror::Error)]
pub enum NoTurn {
    /// Another process holds the lock of a host without sending a request.
    #[error("another process has held the lock of {host} for {seconds} s without a request: {}", path.display())]
    Held {
        host: String,
        seconds: f64,
        path: PathBuf,
    },
    #[error("no turn at {host}: {why}")]
    Unknown { host: String, why: String },
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
        let Self::Local(Some(file)) = self else {
            return None;
        };
        let last = read_time(file).ok()?;
        Some(last.elapsed().unwrap_or_default())
    }

    fn begin(&self) {
        if let Self::Local(Some(file)) = self {
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
