//! A tree on disk for tests, with a store beside it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{Changes, Ignored, Listing, Snapshot, TreeError, TreePath, Zones, listing};
use crate::base::Digest;

pub(super) fn path(text: &str) -> TreePath {
    TreePath::parse(text).unwrap()
}

pub(super) fn zones(globs: &[&str]) -> Zones {
    let globs: Vec<_> = globs.iter().map(|&glob| glob.to_owned()).collect();
    Zones::new(&globs).unwrap()
}

pub(super) fn ignored(globs: &[&str]) -> Ignored {
    let globs: Vec<_> = globs.iter().map(|&glob| glob.to_owned()).collect();
    Ignored::new(&globs).unwrap()
}

/// A tree on disk, and the contents that were stored of it.
pub(super) struct TestTree {
    dir: tempfile::TempDir,
    pub(super) store: RefCell<BTreeMap<Digest, Vec<u8>>>,
}

impl TestTree {
    /// A tree with these files, each of which holds its own path.
    pub(super) fn of(files: &[&str]) -> Self {
        let tree = Self {
            dir: tempfile::tempdir().unwrap(),
            store: RefCell::default(),
        };
        fs::create_dir(tree.root()).unwrap();
        for file in files {
            tree.write(file, file);
        }
        tree
    }

    /// The tree's root; what lies beside it is outside of the tree.
    pub(super) fn root(&self) -> PathBuf {
        self.dir.path().join("root")
    }

    pub(super) fn at(&self, file: &str) -> PathBuf {
        self.root().join(file)
    }

    pub(super) fn write(&self, file: &str, text: impl AsRef<[u8]>) {
        fs::create_dir_all(self.at(file).parent().unwrap()).unwrap();
        fs::write(self.at(file), text).unwrap();
    }

    #[expect(clippy::unnecessary_wraps, reason = "a store may fail")]
    pub(super) fn keep(&self, digest: Digest, contents: &[u8]) -> io::Result<()> {
        let before = self.store.borrow_mut().insert(digest, contents.to_owned());
        assert!(before.is_none(), "stored twice: {digest}");
        Ok(())
    }

    #[expect(clippy::unnecessary_wraps, reason = "a store may fail")]
    pub(super) fn load(&self, digest: Digest) -> io::Result<Option<Vec<u8>>> {
        Ok(self.store.borrow().get(&digest).cloned())
    }

    pub(super) fn baseline(&self) -> Result<Listing, TreeError> {
        self.baseline_without(&[])
    }

    pub(super) fn baseline_without(&self, globs: &[&str]) -> Result<Listing, TreeError> {
        self.store.borrow_mut().clear();
        listing::take(&self.root(), &ignored(globs), &mut |digest, contents| {
            self.keep(digest, contents)
        })
    }

    pub(super) fn snapshot(&self, baseline: &Listing, globs: &[&str]) -> (Snapshot, Changes) {
        let all = ignored(&[]);
        let taken = Snapshot::take(&self.root(), baseline, &zones(globs), &all).unwrap();
        let changes = super::changes(&self.root(), baseline, &zones(globs), &all).unwrap();
        assert_eq!(changes, taken.1);
        taken
    }

    /// The text of a snapshot's file.
    pub(super) fn text(&self, snapshot: &Snapshot, file: &str) -> Option<String> {
        let contents = snapshot.read(&path(file), &|digest| self.load(digest));
        let contents = contents.unwrap()?;
        Some(String::from_utf8(contents.to_vec()).unwrap())
    }
}

/// The paths of a listing.
pub(super) fn paths(listing: &Listing) -> Vec<&str> {
    listing.entries().keys().map(TreePath::as_str).collect()
}

/// Each change as `kind path`.
pub(super) fn said(changes: &[super::Change]) -> Vec<String> {
    let said = changes
        .iter()
        .map(|change| format!("{:?} {}", change.kind, change.path));
    said.collect()
}

#[cfg(unix)]
pub(super) fn link(to: impl AsRef<Path>, at: impl AsRef<Path>) {
    std::os::unix::fs::symlink(to, at).unwrap();
}

#[cfg(unix)]
pub(super) fn make_pipe(at: &Path) {
    use std::process::Command;
    assert!(Command::new("mkfifo").arg(at).status().unwrap().success());
}

#[cfg(unix)]
pub(super) fn set_mode(at: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(at, fs::Permissions::from_mode(mode)).unwrap();
}
