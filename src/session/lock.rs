//! The session's advisory lock, held for appends alone, never during a lookup.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::error::SessionError;
use crate::base::files;

#[derive(Debug)]
pub struct LockGuard {
    // Closing the file gives the lock up, also when the process dies.
    file: File,
    waited: Duration,
    held: Instant,
}

impl Drop for LockGuard {
    fn drop(&mut self) {
        // Unlock first: a slow reader of the log must keep no other process waiting.
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
            // The file may have been removed, or another put in its place, while it was waited for.
            if lock.is_of(dir)? {
                return Ok(lock);
            }
        }
    }

    /// Whether the file that is locked is the one that others find: a lock on a file that was
    /// removed keeps nobody out.
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
    /// Another process holds it, all the time that was waited.
    Held,
    /// There is no file to lock; the next command makes it.
    Missing,
    Refused(String),
}

/// How long is waited between two tries for a lock.
const PAUSE: Duration = Duration::from_millis(20);

/// Tries to get the lock of the session in `dir`, for no longer than `patience`, and gives it up
/// again.
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
    fn a_lock_whose_file_was_removed_is_no_lock() {
        let dir = tempfile::tempdir().unwrap();
        let lock = LockGuard::acquire(dir.path()).unwrap();
        assert!(lock.is_of(dir.path()).unwrap());
        std::fs::remove_file(dir.path().join("lock")).unwrap();
        assert!(!lock.is_of(dir.path()).unwrap());
        let other = LockGuard::acquire(dir.path()).unwrap();
        assert!(other.is_of(dir.path()).unwrap() && !lock.is_of(dir.path()).unwrap());
    }

    #[test]
    fn a_lock_is_free_or_held_or_not_there() {
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
