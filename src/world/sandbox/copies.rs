//! The copies of a tree in which commands run.
//!
//! A tree is written once, into memory if it fits. Each command sees it under an empty directory of its
//! own, as an overlay, or where the kernel has none, as a copy that the confined child makes. Where
//! another process changed the tree in the meantime, the judgement does not count.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::path::Path;

use nix::fcntl::OFlag;
use nix::unistd::getuid;
use tempfile::TempDir;

use super::run::{Base, Files};
use crate::base::{Digest, files};
use crate::world::tree::{Entry, Load, Snapshot, TreeError};

#[derive(Debug, thiserror::Error)]
pub(super) enum CopyError {
    #[error("no scratch copy can be made: {0}")]
    NoDirectory(#[source] io::Error),
    #[error(transparent)]
    Tree(#[from] TreeError),
    #[error(
        "the copy of the tree that commands see was changed by another process: judge again while \
         nothing writes to the directory for temporary files"
    )]
    Changed,
    #[error("the copy of the tree that commands see cannot be read: {0}")]
    Unreadable(#[source] io::Error),
}

/// A tree that no command may change.
#[derive(Debug)]
pub(super) struct TreeCopy {
    dir: TempDir,
    stamp: Digest,
    /// Held while the copy is used, if it is in memory.
    _lock: Option<File>,
}

impl TreeCopy {
    /// Written into memory, or if there is none or it is too small, into the scratch directory.
    pub(super) fn write(
        snapshot: &Snapshot,
        memory: Option<&Path>,
        scratch: &Path,
        load: &Load<'_>,
    ) -> Result<Self, CopyError> {
        let in_memory = memory.and_then(|memory| {
            let (dir, lock) = locked(memory)?;
            snapshot.write_to(dir.path(), load).ok()?;
            Some((dir, Some(lock)))
        });
        let (dir, lock) = match in_memory {
            Some(found) => found,
            None => (written(snapshot, scratch, load)?, None),
        };
        let stamp = stamp(dir.path()).map_err(CopyError::Unreadable)?;
        Ok(Self {
            dir,
            stamp,
            _lock: lock,
        })
    }

    #[cfg(test)]
    pub(super) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Fails if a file was written, added or removed since.
    pub(super) fn check(&self) -> Result<(), CopyError> {
        let now = stamp(self.dir.path()).map_err(CopyError::Unreadable)?;
        (now == self.stamp).then_some(()).ok_or(CopyError::Changed)
    }
}

/// The files of one command. They are removed with it, even if the command removed the owner's
/// permissions.
#[derive(Debug)]
pub(super) struct Copy {
    files: Files,
    dirs: Vec<TempDir>,
}

impl Copy {
    /// A copy of all files.
    pub(super) fn whole(
        snapshot: &Snapshot,
        scratch: &Path,
        load: &Load<'_>,
    ) -> Result<Self, CopyError> {
        let dir = written(snapshot, scratch, load)?;
        Ok(Self {
            files: Files::in_dir(dir.path()),
            dirs: vec![dir],
        })
    }

    /// These files over a tree.
    pub(super) fn over(
        tree: &TreeCopy,
        edited: &Snapshot,
        scratch: &Path,
        load: &Load<'_>,
    ) -> Result<Self, CopyError> {
        let dir = written(edited, scratch, load)?;
        let work = private_dir(scratch)?;
        Ok(Self {
            files: Files {
                dir: dir.path().to_owned(),
                base: Some(Base {
                    dir: tree.dir.path().to_owned(),
                    work: work.path().to_owned(),
                }),
            },
            dirs: vec![dir, work],
        })
    }

    pub(super) fn files(&self) -> &Files {
        &self.files
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        self.dirs.drain(..).for_each(remove);
    }
}

/// What a tree takes of memory, in bytes: whole pages for each file.
pub(super) fn pages(snapshot: &Snapshot) -> u64 {
    let entries = snapshot.listing.entries().values();
    let bytes = entries.map(|entry| match entry {
        Entry::File { bytes, .. } => *bytes,
        Entry::Link { .. } => 0,
    });
    bytes.map(|bytes| (bytes / PAGE + 1) * PAGE).sum()
}

const PAGE: u64 = 4096;

const IN_MEMORY: &str = "comail-tree-";

/// A directory that is this process's own while the file is open. Those of killed processes are removed,
/// because memory is not a disk.
fn locked(memory: &Path) -> Option<(TempDir, File)> {
    let open = |path: &Path| {
        let mut options = File::options();
        let flags = OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW;
        options.read(true).custom_flags(flags.bits()).open(path)
    };
    for entry in fs::read_dir(memory).ok()?.flatten() {
        let name = entry.file_name();
        if name.as_encoded_bytes().starts_with(IN_MEMORY.as_bytes())
            && let Ok(left) = open(&entry.path())
            && left
                .metadata()
                .is_ok_and(|it| it.uid() == getuid().as_raw())
            && left.try_lock().is_ok()
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    let dir = files::private_dir(IN_MEMORY, memory).ok()?;
    let lock = open(dir.path()).ok()?;
    lock.lock().ok()?;
    // Before it was locked, another process may have removed it.
    dir.path().exists().then_some((dir, lock))
}

fn written(snapshot: &Snapshot, scratch: &Path, load: &Load<'_>) -> Result<TempDir, CopyError> {
    let dir = private_dir(scratch)?;
    snapshot.write_to(dir.path(), load)?;
    Ok(dir)
}

fn private_dir(scratch: &Path) -> Result<TempDir, CopyError> {
    files::private_dir("comail-", scratch).map_err(CopyError::NoDirectory)
}

fn remove(dir: TempDir) {
    let path = dir.path().to_owned();
    if dir.close().is_ok() {
        return;
    }
    let mut open = vec![path.clone()];
    while let Some(dir) = open.pop() {
        let _ = fs::set_permissions(&dir, Permissions::from_mode(0o700));
        let entries = fs::read_dir(&dir).into_iter().flatten().flatten();
        let dirs = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        open.extend(dirs.map(|entry| entry.path()));
    }
    // If it fails again, the copy is left in a directory for temporary files.
    let _ = fs::remove_dir_all(&path);
}

/// What changes when anything below a directory is written, added, removed or replaced. The time of
/// change is the kernel's, and no program can set it.
fn stamp(root: &Path) -> io::Result<Digest> {
    let mut text = Vec::new();
    add_stamp(root, &mut text)?;
    Ok(Digest::of(&text))
}

fn add_stamp(path: &Path, text: &mut Vec<u8>) -> io::Result<()> {
    let found = fs::symlink_metadata(path)?;
    text.extend_from_slice(path.as_os_str().as_encoded_bytes());
    let changed = [found.ctime(), found.ctime_nsec()];
    text.extend(changed.map(i64::to_ne_bytes).concat());
    text.extend([found.ino(), found.len()].map(u64::to_ne_bytes).concat());
    if !found.is_dir() {
        return Ok(());
    }
    let entries = fs::read_dir(path)?.collect::<io::Result<Vec<_>>>()?;
    let mut paths: Vec<_> = entries.into_iter().map(|entry| entry.path()).collect();
    paths.sort();
    paths.iter().try_for_each(|path| add_stamp(path, text))
}

/// Adds what is in one folder to another, unless it is there already. The file system may share the
/// contents, but a change of one is none of the other.
pub(super) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let is_there = fs::symlink_metadata(&target).is_ok();
        let kind = entry.file_type()?;
        if kind.is_dir() {
            if !is_there {
                fs::create_dir(&target)?;
            }
            copy(&source, &target)?;
        } else if kind.is_symlink() && !is_there {
            symlink(fs::read_link(&source)?, &target)?;
        } else if !is_there {
            fs::copy(&source, &target)?;
            let modified = entry.metadata()?.modified()?;
            File::options()
                .write(true)
                .open(&target)?
                .set_modified(modified)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use itertools::Itertools as _;

    use super::*;
    use crate::world::tree::TreePath;

    fn snapshot() -> Snapshot {
        let mut snapshot = Snapshot::default();
        for name in ["a", "dir/b"] {
            let path = TreePath::parse(name).unwrap();
            snapshot.edit(&path, b"text").unwrap();
        }
        snapshot
    }

    #[test]
    fn memory_keeps_what_is_used_and_loses_what_a_killed_process_left() {
        let place = tempfile::tempdir().unwrap();
        let left = place.path().join("comail-tree-left");
        let other = place.path().join("other");
        for dir in [&left, &other] {
            fs::create_dir_all(dir.join("deep")).unwrap();
        }
        symlink(&other, place.path().join("comail-tree-link")).unwrap();
        let (used, _lock) = locked(place.path()).unwrap();
        let (_, _) = locked(place.path()).unwrap();
        assert!(used.path().exists() && other.join("deep").exists());
        assert!(!left.exists());
    }

    #[test]
    fn a_copy_that_another_process_changed_is_noticed() {
        let snapshot = snapshot();
        let changes: [fn(&Path) -> io::Result<()>; 5] = [
            |root| fs::write(root.join("a"), "text"),
            |root| fs::write(root.join("dir/c"), "text"),
            |root| fs::remove_file(root.join("dir/b")),
            |root| fs::rename(root.join("a"), root.join("z")),
            |root| fs::set_permissions(root.join("a"), Permissions::from_mode(0o600)),
        ];
        let place = tempfile::tempdir().unwrap();
        let memories = [None, Some(place.path())];
        for (change, memory) in changes.into_iter().cartesian_product(memories) {
            let tree = TreeCopy::write(&snapshot, memory, place.path(), &|_| Ok(None)).unwrap();
            assert_eq!(
                fs::read_to_string(tree.path().join("dir/b")).unwrap(),
                "text"
            );
            tree.check().unwrap();
            change(tree.path()).unwrap();
            assert!(matches!(tree.check(), Err(CopyError::Changed)));
        }
    }
}
