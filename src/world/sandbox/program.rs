//! Programs that must not change.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::base::Digest;

/// A program as it was when it was found. What it loads is not part of it; [`Runtime`](super::Runtime)
/// holds what is known of that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pinned {
    /// Where it was found. This path is run, because the Python of a virtual environment is a link and
    /// finds its environment by the place of the link.
    pub path: PathBuf,
    /// The file to which the path leads.
    pub target: PathBuf,
    pub sha256: Digest,
}

#[derive(Debug, thiserror::Error)]
pub enum NotFound {
    #[error("there is no program {name:?} in PATH")]
    InPath { name: String },
    #[error("{} is not a file that can be run", path.display())]
    NotExecutable { path: PathBuf },
    #[error("{} cannot be read", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
}

impl Pinned {
    /// Finds a program: relative to `base_dir` if its name contains a slash, otherwise in the
    /// absolute directories of `path_var`.
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

    /// How the program has changed, for people.
    pub fn changed(&self) -> Option<String> {
        match Self::at(self.path.clone()) {
            Err(error) => Some(error.to_string()),
            Ok(now) if now.target != self.target => {
                Some(format!("it now leads to {}", now.target.display()))
            }
            Ok(now) if now.sha256 != self.sha256 => {
                Some(format!("its digest is now {}", now.sha256))
            }
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

pub fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}
