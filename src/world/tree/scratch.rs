//! A copy of a snapshot for commands to run in.

use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::path::Path;

use cap_fs_ext::DirExt;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};

use super::entry::Entry;
use super::error::TreeError;
use super::links::stays_inside;
use super::path::TreePath;
use super::snapshot::{Load, Snapshot};

impl Snapshot {
    /// Writes the snapshot into an empty folder; returns the links that lead out of it, which are
    /// left out.
    ///
    /// Files can be read by all, and run by all where their owner may.
    pub fn write_to(&self, dir: &Path, load: &Load<'_>) -> Result<Vec<TreePath>, TreeError> {
        let mut copy = Copy {
            root: Dir::open_ambient_dir(dir, ambient_authority())
                .map_err(TreeError::io(dir.display(), "open the folder"))?,
            folders: BTreeSet::new(),
        };
        let mut left_out = Vec::new();
        for (path, entry) in self.listing.entries() {
            let written = match entry {
                Entry::File {
                    sha256, executable, ..
                } => {
                    let contents = self.contents(path, *sha256, load)?;
                    copy.file(path, &contents, *executable)
                }
                Entry::Link { to } if stays_inside(&self.listing, path, to) => copy.link(path, to),
                Entry::Link { .. } => {
                    left_out.push(path.clone());
                    Ok(())
                }
            };
            written.map_err(TreeError::io(path, "write the copy"))?;
        }
        Ok(left_out)
    }
}

/// A copy under way.
struct Copy {
    root: Dir,
    folders: BTreeSet<TreePath>,
}

impl Copy {
    fn file(&mut self, path: &TreePath, contents: &[u8], executable: bool) -> io::Result<()> {
        self.make_folder(path)?;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        let mut file = self.root.open_with(path.as_str(), &options)?;
        file.write_all(contents)?;
        set_mode(&file, executable)
    }

    fn link(&mut self, path: &TreePath, to: &str) -> io::Result<()> {
        self.make_folder(path)?;
        DirExt::symlink(&self.root, to, path.as_str())
    }

    /// Makes the folder that the path lies in.
    fn make_folder(&mut self, path: &TreePath) -> io::Result<()> {
        match path.parent() {
            Some(folder) if !self.folders.contains(&folder) => {
                self.root.create_dir_all(folder.as_str())?;
                self.folders.insert(folder);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// Sets the mode whatever the process masks, so that every copy is the same.
#[cfg(unix)]
fn set_mode(file: &cap_std::fs::File, executable: bool) -> io::Result<()> {
    use cap_std::fs::{Permissions, PermissionsExt as _};
    let mode = if executable { 0o755 } else { 0o644 };
    file.set_permissions(Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_: &cap_std::fs::File, _: bool) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests;
