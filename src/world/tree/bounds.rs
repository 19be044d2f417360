//! How much a tree may have.

use super::error::TreeError;
use super::path::TreePath;

/// What a tree may have at most.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Files and links.
    pub files: usize,
    /// Bytes of all files.
    pub bytes: u64,
    /// Bytes of one file.
    pub file_bytes: u64,
    /// Names in all folders that are looked into, in the tree or not.
    pub names: usize,
    /// Bytes of the changed files that a snapshot holds.
    pub taken_bytes: u64,
}

/// The bounds of every tree.
pub const BOUNDS: Bounds = Bounds {
    files: 100_000,
    bytes: 1 << 30,
    file_bytes: 64 << 20,
    names: 500_000,
    taken_bytes: 256 << 20,
};

/// What a baseline has so far.
#[derive(Debug)]
pub(super) struct Tally {
    bounds: Bounds,
    files: usize,
    bytes: u64,
}

impl Tally {
    pub(super) fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            files: 0,
            bytes: 0,
        }
    }

    /// Lets a file in, or says which bound it is over; its contents need not be read before.
    pub(super) fn admit(&mut self, path: &TreePath, bytes: u64) -> Result<(), TreeError> {
        if bytes > self.bounds.file_bytes {
            return Err(TreeError::TooLarge {
                path: path.clone(),
                bytes,
                limit: self.bounds.file_bytes,
            });
        }
        self.files += 1;
        if self.files > self.bounds.files {
            return Err(TreeError::TooMany {
                path: path.clone(),
                limit: self.bounds.files,
            });
        }
        self.bytes += bytes;
        if self.bytes > self.bounds.bytes {
            return Err(TreeError::TooMuch {
                path: path.clone(),
                limit: self.bounds.bytes,
            });
        }
        Ok(())
    }
}
