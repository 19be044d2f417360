//! `evidence/`: what pages said, named by content hash.
//!
//! A body lies at `evidence/ab/cdef….gz`, where `abcdef…` is the SHA-256 of the body before
//! packing. How a body is packed is its writer's to choose.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::error::SessionError;
use crate::quest::Digest;

/// The bodies of a session.
#[derive(Debug, Clone)]
pub struct EvidenceStore {
    dir: PathBuf,
}

impl EvidenceStore {
    /// The store of the session in `session_dir`.
    #[must_use]
    pub fn new(session_dir: &Path) -> Self {
        Self {
            dir: session_dir.join("evidence"),
        }
    }

    /// Keeps a packed body; it is on disk when this returns.
    pub fn keep(&self, digest: Digest, packed: &[u8]) -> Result<(), SessionError> {
        let path = self.path(digest);
        if path.exists() {
            return Ok(());
        }
        let folder = path.parent().unwrap_or(&self.dir);
        fs::create_dir_all(folder).map_err(SessionError::io(folder, "make the folder"))?;
        let write = || -> std::io::Result<()> {
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            file.write_all(packed)?;
            file.as_file().sync_all()?;
            file.persist(&path)?;
            sync_dir(folder)?;
            sync_dir(&self.dir)
        };
        write().map_err(SessionError::io(&path, "write evidence"))
    }

    /// The packed body with this digest; none when there is none.
    pub fn load(&self, digest: Digest) -> Result<Option<Vec<u8>>, SessionError> {
        let path = self.path(digest);
        match fs::read(&path) {
            Ok(packed) => Ok(Some(packed)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(SessionError::io(&path, "read evidence")(error)),
        }
    }

    fn path(&self, digest: Digest) -> PathBuf {
        let name = digest.to_string();
        let (folder, file) = name.split_at(2);
        self.dir.join(folder).join(format!("{file}.gz"))
    }
}

/// Makes sure that the names in `dir` are on disk.
pub(super) fn sync_dir(dir: &Path) -> std::io::Result<()> {
    // Windows cannot open a directory as a file, and keeps names by itself.
    if cfg!(unix) {
        fs::File::open(dir)?.sync_all()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_once_and_finds_again() {
        let dir = tempfile::tempdir().unwrap();
        let store = EvidenceStore::new(dir.path());
        let digest = Digest::of(b"page");
        assert_eq!(store.load(digest).unwrap(), None);
        store.keep(digest, b"packed").unwrap();
        store
            .keep(digest, b"other bytes do not replace it")
            .unwrap();
        assert_eq!(store.load(digest).unwrap().unwrap(), b"packed");
    }
}
