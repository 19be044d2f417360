//! Programs that must stay what they were.

use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::base::Digest;

/// A program as it was when it was found.
///
/// What a script is read by, and the libraries that a program loads, are not part of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pinned {
    /// Where it was found, which is what is run: a virtual environment's Python is a link, and
    /// knows its environment by the link's place.
    pub path: PathBuf,
    /// The file behind it, with every link followed.
    pub target: PathBuf,
    /// The digest of that file.
    pub sha256: Digest,
}

/// A program that is not there.
#[derive(Debug, thiserror::Error)]
pub enum NotFound {
    /// No directory has it.
    #[error("no program {name:?} in the directories of PATH")]
    InPath {
        /// Its name.
        name: String,
    },
    /// What its path leads to is not a program.
    #[error("{} is not a file that can be run", path.display())]
    NotExecutable {
        /// Where it should be.
        path: PathBuf,
    },
    /// It cannot be read.
    #[error("{} cannot be read", path.display())]
    Unreadable {
        /// Where it is.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// How a program is no longer what it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// It can no longer be found, read or run.
    Gone(String),
    /// Its path leads to another file.
    Target(PathBuf),
    /// The file holds something else.
    Content(Digest),
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gone(why) => write!(f, "it cannot be had any more: {why}"),
            Self::Target(now) => write!(f, "it leads to {} now", now.display()),
            Self::Content(now) => write!(f, "its digest is {now} now"),
        }
    }
}

impl Pinned {
    /// Finds a program: one with a slash in its name from `base_dir`, any other in the absolute
    /// directories of `path_var`.
    pub fn find(name: &str, path_var: &OsStr, base_dir: &Path) -> Result<Self, NotFound> {
        if name.contains('/') {
            let path = base_dir.join(name);
            return Self::at(std::path::absolute(&path).unwrap_or(path));
        }
        let found = std::env::split_paths(path_var)
            .filter(|dir| dir.is_absolute() && !name.is_empty())
            .map(|dir| dir.join(name))
            .find(|path| is_executable(path));
        let name = name.to_owned();
        Self::at(found.ok_or(NotFound::InPath { name })?)
    }

    /// How it is no longer what it was, if so.
    #[must_use]
    pub fn changed(&self) -> Option<Change> {
        match Self::at(self.path.clone()) {
            Err(error) => Some(Change::Gone(error.to_string())),
            Ok(now) if now.target != self.target => Some(Change::Target(now.target)),
            Ok(now) if now.sha256 != self.sha256 => Some(Change::Content(now.sha256)),
            Ok(_) => None,
        }
    }

    fn at(path: PathBuf) -> Result<Self, NotFound> {
        if !is_executable(&path) {
            return Err(NotFound::NotExecutable { path });
        }
        let read = || {
            let target = fs::canonicalize(&path)?;
            let sha256 = Digest::of_reader(&mut File::open(&target)?)?;
            Ok((target, sha256))
        };
        match read() {
            Ok((target, sha256)) => Ok(Self {
                path,
                target,
                sha256,
            }),
            Err(source) => Err(NotFound::Unreadable { path, source }),
        }
    }
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;

    fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}
