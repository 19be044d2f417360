//! The session's advisory lock, held only for appends, never during a lookup.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::error::SessionError;
use crate::base::files;

#[derive(Debug)]
pub struct LockGuard {
    // Closing the file releases the lock, even if the process dies.
    file: File,
    waited: Duration,
    held: Instant,
}

impl Drop for LockGuard {
    fn drop(&mut self) {
        // Unlock first: a slow reader of the log must not block other processes.
        let _ = self.file.unlock();
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let (waited_ms, held_ms) = (ms(self.waited), ms(self.held.elapsed()));
        tracing::debug!(waited_ms, held_ms, "held the session's lock");
    }
}

impl LockGuard {
    pub fn acquire(dir: &Path) -> Result<Self, SessionError> {
        let path = dir.join("lock");
        let began = Instant::now();
        loop {
            let mut options = OpenOptions::new();
            options.create(true).truncate(false).write(true);
            let file = files::open_with(&mut options, &path)
                .map_err(SessionError::io(&path, "open the lock"))?;
            file.lock().map_err(SessionError::io(
                &path,
                "lock (is this a network file system without locks?)",
            ))?;
            let lock = Self {
                file,
                waited: began.elapsed(),
                held: Instant::now(),
            };
            // The file may have been removed or replaced during the wait.
            if lock.is_of(dir)? {
                return Ok(lock);
            }
        }
    }

    /// Whether the locked file is still in place. A lock on a removed file excludes nobody.
    pub(super) fn is_of(&self, dir: &Path) -> Result<bool, SessionError> {
        let path = dir.join("lock");
        let held = self.file.metadata();
        let held = held.map_err(SessionError::io(&path, "look at the lock"))?;
        match std::fs::metadata(&path) {
            Ok(found) => Ok(files::same_inode(&held, &found)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(SessionError::io(&path, "look at the lock")(error)),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LockState {
    Free,
    /// Another process held it during the whole wait.
    Held,
    /// The lock file does not exist. The next command creates it.
    Missing,
    Refused(String),
}

/// The pause between two tries for a lock.
const PAUSE: Duration = Duration::from_millis(20);

/// Tries to acquire the lock of the session in `dir`, for at most `patience`, and releases it again.
pub fn look_at_lock(dir: &Path, patience: Duration) -> LockState {
    let file = match File::options().write(true).open(dir.join("lock")) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return LockState::Missing,
        Err(error) => return LockState::Refused(error.to_string()),
    };
    let began = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return LockState::Free,
            Err(TryLockError::WouldBlock) if began.elapsed() < patience => thread::sleep(PAUSE),
            Err(TryLockError::WouldBlock) => return LockState::Held,
            Err(TryLockError::Error(error)) => return LockState::Refused(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detects_a_removed_lock_file() {
        let dir = tempfile::tempdir().unwrap();
        let lock = LockGuard::acquire(dir.path()).unwrap();
        assert!(lock.is_of(dir.path()).unwrap());
        std::fs::remove_file(dir.path().join("lock")).unwrap();
        assert!(!lock.is_of(dir.path()).unwrap());
        let other = LockGuard::acquire(dir.path()).unwrap();
        assert!(other.is_of(dir.path()).unwrap() && !lock.is_of(dir.path()).unwrap());
    }

    #[test]
    fn reports_a_free_held_or_missing_lock() {
        let dir = tempfile::tempdir().unwrap();
        let look = || look_at_lock(dir.path(), Duration::ZERO);
        assert_eq!(look(), LockState::Missing);
        let other = File::create(dir.path().join("lock")).unwrap();
        assert_eq!(look(), LockState::Free);
        other.lock().unwrap();
        assert_eq!(look(), LockState::Held);
        other.unlock().unwrap();
        assert_eq!(look(), LockState::Free);
    }
}
