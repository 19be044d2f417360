//! The tree of a control: the files that `scan` finds, overlaid with what the agent wrote.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::definition::FrozenTree;
use crate::base::Digest;
use crate::quest::file::ControlTable;
use crate::world::tree::{
    Entry, Ignored, Listing, Store, TreeError, read_gitignores, take_baseline,
};

/// Where each file of a tree is, by the digest of its content.
pub(in crate::judge) type Files = BTreeMap<Digest, PathBuf>;

/// The directories of a control.
#[derive(Debug, Clone)]
pub(in crate::judge) struct ControlTree {
    pub root: PathBuf,
    pub ignored: Ignored,
    pub writes: Option<PathBuf>,
}

impl ControlTree {
    /// `here` is the directory of the quest file, `tree` that of controls that name none.
    pub fn of(
        control: &ControlTable,
        here: &Path,
        tree: &FrozenTree,
        session: &Path,
    ) -> Result<Self, Box<dyn Error + Send + Sync>> {
        let own = control.tree.as_ref().map(|dir| here.join(dir));
        let ignored = match (&own, &tree.gitignore) {
            (Some(own), Some(_)) => {
                let ignored = Ignored::new(&tree.ignore)?;
                let files = read_gitignores(own, &ignored)?;
                ignored.and_gitignores(&files)
            }
            _ => tree.ignored()?.and_folder(session),
        };
        Ok(Self {
            root: own.unwrap_or_else(|| tree.root.clone()),
            ignored,
            writes: control.writes.as_ref().map(|dir| here.join(dir)),
        })
    }

    /// Lists the tree with what the agent wrote, and passes the content of each file to the store.
    pub fn listing(&self, store: &mut Store<'_>) -> Result<Listing, TreeError> {
        let before = take_baseline(&self.root, &self.ignored, store)?;
        let Some(writes) = &self.writes else {
            return Ok(before);
        };
        let written = take_baseline(writes, &Ignored::default(), store)?;
        Ok(before.beneath(&written)?)
    }

    /// Where the files of such a listing are.
    pub fn files(&self, listing: &Listing) -> Files {
        let entries = listing.entries().iter();
        let files = entries.filter_map(|(path, entry)| match entry {
            Entry::File { sha256, .. } => {
                let written = self.writes.as_ref().map(|dir| path.join_to(dir));
                let written = written.filter(|place| place.is_file());
                Some((*sha256, written.unwrap_or_else(|| path.join_to(&self.root))))
            }
            Entry::Link { .. } => None,
        });
        files.collect()
    }
}

pub(in crate::judge) fn read(files: &Files, digest: Digest) -> io::Result<Option<Vec<u8>>> {
    files.get(&digest).map(fs::read).transpose()
}
