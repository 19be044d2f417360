//! The session's advisory lock, held for appends alone, never during a lookup.

use std::fs::{File, OpenOptions};
use std::path::Path;

use super::error::SessionError;

/// The lock, held until dropped.
#[derive(Debug)]
pub struct LockGuard {
    // Closing the file gives the lock up, also when the process dies.
    _file: File,
}

impl LockGuard {
    /// Waits for the lock of the session in `dir`.
    pub fn acquire(dir: &Path) -> Result<Self, SessionError> {
        let path = dir.join("lock");
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(SessionError::io(&path, "open the lock"))?;
        file.lock().map_err(SessionError::io(
            &path,
            "lock (is this a network file system without locks?)",
        ))?;
        Ok(Self { _file: file })
    }
}
