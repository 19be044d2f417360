//! One request at a time to one host, and a pause between two of them, across processes.
//!
//! On disk, one file per host, named by the SHA-256 of the host: an advisory lock on it is
//! held while a request to the host is under way, and its content is the time of the last
//! request, in milliseconds since 1970 as 20 decimal digits. Where no such file can be kept,
//! the same holds within this process alone.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use sha2::{Digest, Sha256};

const POLL: Duration = Duration::from_millis(10);

#[derive(Debug, Default)]
pub struct Politeness {
    dir: Option<PathBuf>,
    here: Mutex<HashMap<String, Here>>,
}

#[derive(Debug, Default)]
struct Here {
    busy: bool,
    last: Option<Instant>,
}

/// The right to make one request to a host; dropping it lets the next one in.
#[derive(Debug)]
pub struct Turn<'a> {
    politeness: &'a Politeness,
    host: String,
    file: Option<File>,
}

impl Politeness {
    /// Turns that are shared with every process that names the same `dir`, which is made at
    /// need; without one they are this process's own.
    pub fn new(dir: Option<PathBuf>) -> Self {
        Self {
            dir,
            here: Mutex::default(),
        }
    }

    /// Waits for a turn at `host`: nobody else's request is under way, and the last one
    /// began at least `gap` ago. `None` when that is not so before `deadline`.
    pub fn turn(&self, host: &str, gap: Duration, deadline: Instant) -> Option<Turn<'_>> {
        let turn = loop {
            if let Some(turn) = self.take(host) {
                break turn;
            }
            if Instant::now() + POLL >= deadline {
                return None;
            }
            thread::sleep(POLL);
        };
        let pause = gap.saturating_sub(turn.since_last().unwrap_or(gap));
        if pause >= deadline.saturating_duration_since(Instant::now()) {
            return None;
        }
        thread::sleep(pause);
        turn.begin();
        Some(turn)
    }

    fn take(&self, host: &str) -> Option<Turn<'_>> {
        let mut here = self.here();
        let slot = here.entry(host.to_owned()).or_default();
        if slot.busy {
            return None;
        }
        let file = match self.file(host).map(|file| (file.try_lock(), file)) {
            Ok((Ok(()), file)) => Some(file),
            Ok((Err(fs::TryLockError::WouldBlock), _)) => return None,
            // No directory, or one that cannot be used: this process's own record must do.
            Ok((Err(fs::TryLockError::Error(_)), _)) | Err(_) => None,
        };
        slot.busy = true;
        Some(Turn {
            politeness: self,
            host: host.to_owned(),
            file,
        })
    }

    fn file(&self, host: &str) -> io::Result<File> {
        let dir = self.dir.as_ref().ok_or(io::ErrorKind::NotFound)?;
        fs::create_dir_all(dir)?;
        let name = hex::encode(Sha256::digest(host.as_bytes()));
        File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(dir.join(name))
    }

    fn here(&self) -> std::sync::MutexGuard<'_, HashMap<String, Here>> {
        // Each change of the map is one assignment: a panic elsewhere leaves it whole.
        self.here.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn<'_> {
    /// The time since the last request; none when there was none. A clock that was set back
    /// counts as no time at all.
    fn since_last(&self) -> Option<Duration> {
        let here = self.politeness.here();
        let here = here.get(&self.host).and_then(|slot| slot.last);
        let here = here.map(|last| last.elapsed());
        let shared = self.file.as_ref().and_then(|file| read_time(file).ok());
        let shared = shared.map(|last| last.elapsed().unwrap_or_default());
        match (here, shared) {
            (Some(here), Some(shared)) => Some(here.min(shared)),
            (here, shared) => here.or(shared),
        }
    }

    fn begin(&self) {
        let mut here = self.politeness.here();
        if let Some(slot) = here.get_mut(&self.host) {
            slot.last = Some(Instant::now());
        }
        if let Some(file) = &self.file {
            // Without it only other processes are less well informed.
            let _ = write_time(file, SystemTime::now());
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.file = None;
        if let Some(slot) = self.politeness.here().get_mut(&self.host) {
            slot.busy = false;
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
