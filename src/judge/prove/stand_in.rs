//! A control's stand-in for the tree: a directory in place of it, and the agent's files over it.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::base::Digest;
use crate::world::sandbox::Contents;
use crate::world::tree::{Entry, Ignored, Listing, Snapshot, TreeError, TreePath, baseline};

pub(super) struct StandIn {
    pub(super) listing: Listing,
    files: BTreeMap<Digest, PathBuf>,
    working: TempDir,
}

impl StandIn {
    pub(super) fn of(
        root: &Path,
        ignored: &Ignored,
        writes: Option<&Path>,
        scratch: &Path,
    ) -> Result<Self, TreeError> {
        let listing = baseline::take(root, ignored, &mut |_, _| Ok(()))?;
        let files = listing
            .entries()
            .iter()
            .filter_map(|(path, entry)| match entry {
                Entry::File { sha256, .. } => Some((*sha256, path.join_to(root))),
                Entry::Link { .. } => None,
            });
        let files: BTreeMap<_, _> = files.collect();
        let failed = |error: io::Error| TreeError::io(scratch.display(), "copy the tree")(error);
        let working = tempfile::Builder::new()
            .prefix("comail-control-")
            .tempdir_in(scratch)
            .map_err(failed)?;
        let load = |digest: Digest| read(&files, digest);
        Snapshot::of(&listing).write_to(working.path(), &load)?;
        if let Some(writes) = writes {
            let every = Ignored::none();
            let written = baseline::take(writes, &every, &mut |_, _| Ok(()))?;
            for path in written.entries().keys() {
                lay(path, writes, working.path()).map_err(failed)?;
            }
        }
        Ok(Self {
            listing,
            files,
            working,
        })
    }

    pub(super) fn root(&self) -> &Path {
        self.working.path()
    }

    pub(super) fn load(&self) -> Box<Contents> {
        let files = self.files.clone();
        Box::new(move |digest| read(&files, digest))
    }
}

fn read(files: &BTreeMap<Digest, PathBuf>, digest: Digest) -> io::Result<Option<Vec<u8>>> {
    files.get(&digest).map(fs::read).transpose()
}

fn lay(path: &TreePath, from: &Path, to: &Path) -> io::Result<()> {
    let place = path.join_to(to);
    if let Some(folder) = place.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::copy(path.join_to(from), place).map(drop)
}
