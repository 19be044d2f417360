//! The lock of a run: held as long as its process lives, so that one that died can be told.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use super::error::RunError;
use crate::session::RunId;

#[derive(Debug)]
pub struct RunLock {
    // Closing the file gives the lock up, also when the process dies.
    _file: File,
    path: PathBuf,
    run: RunId,
}

#[must_use]
pub fn runs_dir(session: &Path) -> PathBuf {
    session.join("runs")
}

impl RunLock {
    pub fn take(session: &Path, run: RunId) -> Result<Self, RunError> {
        let dir = runs_dir(session);
        fs::create_dir_all(&dir).map_err(RunError::io("make", &dir))?;
        let (new, path) = (
            dir.join(format!("{run}.new")),
            dir.join(format!("{run}.lock")),
        );
        let file = OpenOptions::new().create_new(true).write(true).open(&new);
        let file = file.map_err(RunError::io("make", &new))?;
        file.lock().map_err(RunError::io("lock", &new))?;
        // Only once it is held may others find it.
        fs::rename(&new, &path).map_err(RunError::io("rename", &new))?;
        Ok(Self {
            _file: file,
            path,
            run,
        })
    }

    pub fn of_the_dead(session: &Path) -> Result<Vec<Self>, RunError> {
        let dir = runs_dir(session);
        let Ok(entries) = fs::read_dir(&dir) else {
            return Ok(Vec::new());
        };
        let mut dead = Vec::new();
        for entry in entries {
            let path = entry.map_err(RunError::io("list", &dir))?.path();
            if let Some(run) = run_of(&path)
                && let Some(lock) = Self::if_free(path, run)?
            {
                dead.push(lock);
            }
        }
        dead.sort_by_key(|lock| lock.run);
        Ok(dead)
    }

    fn if_free(path: PathBuf, run: RunId) -> Result<Option<Self>, RunError> {
        let Ok(file) = OpenOptions::new().write(true).open(&path) else {
            // Its run has ended meanwhile.
            return Ok(None);
        };
        match file.try_lock() {
            Ok(()) if path.exists() => Ok(Some(Self {
                _file: file,
                path,
                run,
            })),
            Ok(()) | Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(RunError::io("lock", &path)(error)),
        }
    }

    #[must_use]
    pub fn run(&self) -> RunId {
        self.run
    }

    pub fn remove(self) {
        // Agents can do the same, or put something else there; the ledger says what counts.
        let _ = fs::remove_file(&self.path);
    }
}

fn run_of(path: &Path) -> Option<RunId> {
    let name = path.file_name()?.to_str()?;
    name.strip_suffix(".lock")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dead(dir: &Path) -> Vec<RunId> {
        let locks = RunLock::of_the_dead(dir).unwrap();
        locks.iter().map(RunLock::run).collect()
    }

    #[test]
    fn a_run_whose_process_ended_is_dead_and_one_that_goes_on_is_not() {
        let dir = tempfile::tempdir().unwrap();
        assert!(dead(dir.path()).is_empty());
        let run = RunId::new(7);
        let lock = RunLock::take(dir.path(), run).unwrap();
        assert!(dead(dir.path()).is_empty(), "it is held");
        drop(lock);
        assert_eq!(dead(dir.path()), [run]);
        let [lock] = <[RunLock; 1]>::try_from(RunLock::of_the_dead(dir.path()).unwrap()).unwrap();
        assert!(dead(dir.path()).is_empty(), "somebody is at it");
        lock.remove();
        assert!(dead(dir.path()).is_empty());
    }
}
