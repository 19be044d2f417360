//! `evidence/`: recorded content, named by hash.
//!
//! A body is stored at `evidence/ab/cdef….gz`, where `abcdef…` is the SHA-256 of the body before
//! packing. The writer chooses how to pack it.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::error::SessionError;
use super::mirror::Mirror;
use crate::base::Digest;
use crate::base::files::flush_directory;

#[derive(Debug, Clone)]
pub struct EvidenceStore {
    dir: PathBuf,
    session: PathBuf,
}

impl EvidenceStore {
    pub fn new(session_dir: &Path) -> Self {
        Self {
            dir: session_dir.join("evidence"),
            session: session_dir.to_owned(),
        }
    }

    /// Writes a packed body to disk, and returns whether it is new.
    ///
    /// A file of that name with other bytes is replaced. Otherwise somebody could forge evidence in
    /// advance.
    pub fn keep(&self, digest: Digest, packed: &[u8]) -> Result<bool, SessionError> {
        let path = self.path(digest);
        // First, so that what is here is there too.
        if let Some(mirror) = Mirror::at(&self.session)?
            && !mirror.has_body(digest)?
        {
            mirror.keep_body(digest, packed)?;
        }
        if holds(&path, packed).map_err(SessionError::io(&path, "read evidence"))? {
            return Ok(false);
        }
        self.write(&path, packed)?;
        Ok(true)
    }

    fn write(&self, path: &Path, packed: &[u8]) -> Result<(), SessionError> {
        let folder = path.parent().unwrap_or(&self.dir);
        fs::create_dir_all(folder).map_err(SessionError::io(folder, "make the folder"))?;
        let write = || -> std::io::Result<()> {
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            file.write_all(packed)?;
            file.as_file().sync_all()?;
            file.persist(path)?;
            flush_directory(folder)?;
            flush_directory(&self.dir)
        };
        write().map_err(SessionError::io(path, "write evidence"))
    }

    /// Removes a body that nothing names. Only under the session's lock.
    pub fn remove(&self, digest: Digest) {
        // If this fails, an unused body is left.
        let _ = fs::remove_file(self.path(digest));
    }

    /// Writes a packed body to a store that nobody reads yet. [`EvidenceStore::sync`] brings it to disk.
    pub fn stock(&self, digest: Digest, packed: &[u8]) -> Result<(), SessionError> {
        let path = self.path(digest);
        let folder = path.parent().unwrap_or(&self.dir);
        fs::create_dir_all(folder).map_err(SessionError::io(folder, "make the folder"))?;
        fs::write(&path, packed).map_err(SessionError::io(&path, "write evidence"))
    }

    /// Brings all bodies to disk, which is cheaper than syncing each one.
    pub(super) fn sync(&self) -> Result<(), SessionError> {
        let sync = || -> std::io::Result<()> {
            for folder in fs::read_dir(&self.dir)? {
                let folder = folder?.path();
                for file in fs::read_dir(&folder)? {
                    fs::File::open(file?.path())?.sync_all()?;
                }
                flush_directory(&folder)?;
            }
            flush_directory(&self.dir)
        };
        sync().map_err(SessionError::io(&self.dir, "write evidence"))
    }

    pub fn load(&self, digest: Digest) -> Result<Option<Vec<u8>>, SessionError> {
        let path = self.path(digest);
        match read_file(&path) {
            Ok(packed) => Ok(Some(packed)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => self.fetch(digest),
            Err(error) => Err(SessionError::io(&path, "read evidence")(error)),
        }
    }

    /// Brings a body from the database, if the session is in one.
    fn fetch(&self, digest: Digest) -> Result<Option<Vec<u8>>, SessionError> {
        let Some(mirror) = Mirror::at(&self.session)? else {
            return Ok(None);
        };
        let packed = mirror.body(digest)?;
        if let Some(packed) = &packed {
            let path = self.path(digest);
            self.write(&path, packed)?;
            // An address may have been removed from the evidence since it was read.
            if !mirror.is_current()? {
                fs::remove_file(&path).map_err(SessionError::io(&path, "remove evidence"))?;
            }
        }
        Ok(packed)
    }

    /// Brings all bodies from the database, if the session is in one.
    pub fn complete(&self) -> Result<(), SessionError> {
        let Some(mirror) = Mirror::at(&self.session)? else {
            return Ok(());
        };
        for digest in mirror.bodies()? {
            self.load(digest)?;
        }
        Ok(())
    }

    fn path(&self, digest: Digest) -> PathBuf {
        let name = digest.to_string();
        let (folder, file) = name.split_at(2);
        self.dir.join(folder).join(format!("{file}.gz"))
    }
}

/// Reads a file that [`EvidenceStore::keep`] wrote, never a link or a pipe, which may be endless.
fn read_file(path: &Path) -> std::io::Result<Vec<u8>> {
    if fs::symlink_metadata(path)?.is_file() {
        fs::read(path)
    } else {
        Err(std::io::Error::other("it is not a file of its own"))
    }
}

fn holds(path: &Path, bytes: &[u8]) -> std::io::Result<bool> {
    // A link or a pipe is not read: it may be endless, or lead to another file later.
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_file() && found.len() == bytes.len() as u64 => {
            Ok(fs::read(path)? == bytes)
        }
        Ok(_) => Ok(false),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stores_and_loads_a_body() {
        let dir = tempfile::tempdir().unwrap();
        let store = EvidenceStore::new(dir.path());
        let digest = Digest::of(b"page");
        assert_eq!(store.load(digest).unwrap(), None);
        for new in [true, false] {
            assert_eq!(store.keep(digest, b"packed").unwrap(), new);
            assert_eq!(store.load(digest).unwrap().unwrap(), b"packed");
        }
        store.remove(digest);
        assert_eq!(store.load(digest).unwrap(), None);
    }

    #[test]
    fn replaces_a_link_but_not_its_target() {
        let dir = tempfile::tempdir().unwrap();
        let store = EvidenceStore::new(dir.path());
        let digest = Digest::of(b"page");
        let path = store.path(digest);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let elsewhere = dir.path().join("elsewhere");
        fs::write(&elsewhere, "packed").unwrap();
        std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
        store.keep(digest, b"packed").unwrap();
        fs::write(&elsewhere, "changed").unwrap();
        assert_eq!(store.load(digest).unwrap().unwrap(), b"packed");
    }
}
