//! A baseline under way: entries so far, and contents handed on to be stored.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use super::bounds::{Bounds, Tally};
use super::entry::{Entry, Odd, Oddity};
use super::error::TreeError;
use super::listing::{Clash, Listing};
use super::path::TreePath;
use crate::base::Digest;

/// Keeps contents under their digest.
pub type Store<'a> = dyn FnMut(Digest, &[u8]) -> io::Result<()> + 'a;

/// What a baseline has so far.
pub(super) struct Gathered<'a> {
    tally: Tally,
    store: &'a mut Store<'a>,
    stored: BTreeSet<Digest>,
    entries: BTreeMap<TreePath, Entry>,
    odd: BTreeSet<Odd>,
}

impl<'a> Gathered<'a> {
    pub(super) fn new(bounds: Bounds, store: &'a mut Store<'a>) -> Self {
        Self {
            tally: Tally::new(bounds),
            store,
            stored: BTreeSet::new(),
            entries: BTreeMap::new(),
            odd: BTreeSet::new(),
        }
    }

    /// Lets a file of this length in, before it is read.
    pub(super) fn admit(&mut self, path: &TreePath, bytes: u64) -> Result<(), TreeError> {
        self.tally.admit(path, bytes)
    }

    /// Takes a file that was let in.
    pub(super) fn file(
        &mut self,
        path: TreePath,
        contents: &[u8],
        executable: bool,
    ) -> Result<(), TreeError> {
        let sha256 = Digest::of(contents);
        if self.stored.insert(sha256) {
            (self.store)(sha256, contents).map_err(|source| TreeError::Store {
                path: path.clone(),
                source,
            })?;
        }
        let entry = Entry::File {
            sha256,
            bytes: contents.len() as u64,
            executable,
        };
        self.entries.insert(path, entry);
        Ok(())
    }

    /// Takes a link.
    pub(super) fn link(&mut self, path: TreePath, to: String) -> Result<(), TreeError> {
        self.tally.admit(&path, to.len() as u64)?;
        self.entries.insert(path, Entry::Link { to });
        Ok(())
    }

    /// Takes what is known to be no part of any tree; what should have been one is an error.
    pub(super) fn odd(&mut self, path: TreePath, why: Oddity) -> Result<(), TreeError> {
        match why {
            Oddity::Name | Oddity::Pipe | Oddity::Socket | Oddity::Device | Oddity::Target => {
                self.unnamed([Odd {
                    place: path.into(),
                    why,
                }]);
                Ok(())
            }
            Oddity::Unreadable | Oddity::TooLarge | Oddity::TooMuch | Oddity::Changing => {
                Err(TreeError::Odd { path, why })
            }
        }
    }

    /// Takes what no path can name.
    pub(super) fn unnamed(&mut self, odd: impl IntoIterator<Item = Odd>) {
        self.odd.extend(odd);
    }

    /// The baseline.
    pub(super) fn finish(self) -> Result<Listing, Clash> {
        Listing::new(self.entries, self.odd)
    }
}
