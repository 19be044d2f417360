//! What is judged: the baseline, and over it the agent's files of the zones.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::{fmt, io};

use cap_fs_ext::DirExt;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};
use serde::{Deserialize, Serialize};

use super::error::TreeError;
use super::listing::{Changes, Clash, Entry, Listing, Odd, Oddity};
use super::look::{BOUNDS, Bounds, Tally, look, stays_inside};
use super::path::TreePath;
use super::zones::{Ignored, Zones};
use crate::base::Digest;

/// Finds contents by their digest; none when they are not there.
pub type Load<'a> = dyn Fn(Digest) -> io::Result<Option<Vec<u8>>> + 'a;

/// The baseline, and over it the agent's files of the zones.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    /// What it has.
    pub listing: Listing,
    /// The contents of the files that are not the baseline's.
    pub taken: BTreeMap<Digest, Arc<[u8]>>,
    /// What is changed in the zones and is not in it, nor is what was there before.
    pub left_out: BTreeMap<TreePath, LeftOut>,
}

/// Why something in a zone is not in a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeftOut {
    /// It is a link: what it names may be anywhere, and another thing tomorrow.
    Link,
    /// It is no file that can be read.
    Odd(Oddity),
    /// What stands outside the zones is in its way.
    Clash {
        /// A file or link where it needs a folder, or a file in the folder that it replaces.
        with: TreePath,
    },
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Link => f.write_str("a link, which is not followed"),
            Self::Odd(why) => write!(f, "something that {why}"),
            Self::Clash { with } => write!(f, "in the way of {with}"),
        }
    }
}

/// An edit that makes no tree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadEdit {
    /// A link is not written through.
    #[error("{0} is a link, and is not edited")]
    Link(TreePath),
    /// Something is in its way.
    #[error(transparent)]
    Clash(#[from] Clash),
}

impl Snapshot {
    /// The tree of a listing whose contents are all in the store.
    #[must_use]
    pub fn of(listing: &Listing) -> Self {
        Self {
            listing: listing.without([]),
            ..Self::default()
        }
    }

    /// The same without any file of these zones: nothing of it is an agent's to write.
    #[must_use]
    pub fn beyond(listing: &Listing, zones: &Zones) -> Self {
        let paths = listing.entries().keys();
        Self {
            listing: listing.without(paths.filter(|path| zones.contains(path))),
            ..Self::default()
        }
    }

    /// Takes the working tree's zones over the baseline, and tells what differs, in one look.
    pub fn take(
        root: &Path,
        baseline: &Listing,
        zones: &Zones,
        ignored: &Ignored,
    ) -> Result<(Self, Changes), TreeError> {
        Self::take_within(BOUNDS, root, baseline, zones, ignored)
    }

    fn take_within(
        bounds: Bounds,
        root: &Path,
        baseline: &Listing,
        zones: &Zones,
        ignored: &Ignored,
    ) -> Result<(Self, Changes), TreeError> {
        let look = look(bounds, root, baseline, zones, ignored)?;
        let changed = look.changes.inside.iter().map(|change| &change.path);
        let mut listing = baseline.without(changed);
        let mut left_out: BTreeMap<_, _> = look
            .untaken
            .into_iter()
            .map(|(path, why)| (path, why.map_or(LeftOut::Link, LeftOut::Odd)))
            .collect();
        for (path, entry) in look.files {
            if let Err(clash) = listing.put(path.clone(), entry) {
                let with = if clash.above == path {
                    clash.beneath
                } else {
                    clash.above
                };
                left_out.insert(path, LeftOut::Clash { with });
            }
        }
        let snapshot = Self {
            listing,
            taken: look.taken,
            left_out,
        };
        Ok((snapshot, look.changes))
    }

    /// The identity of what is judged.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.listing.digest()
    }

    /// The contents of the file at a path; none when there is none, or a link.
    pub fn read(&self, path: &TreePath, load: &Load<'_>) -> Result<Option<Arc<[u8]>>, TreeError> {
        match self.listing.get(path) {
            Some(Entry::File { sha256, .. }) => self.contents(path, *sha256, load).map(Some),
            Some(Entry::Link { .. }) | None => Ok(None),
        }
    }

    /// Replaces a file's contents, or adds a file; a link or a folder is not replaced.
    pub fn edit(&mut self, path: &TreePath, contents: &[u8]) -> Result<(), BadEdit> {
        let executable = match self.listing.get(path) {
            Some(Entry::File { executable, .. }) => *executable,
            Some(Entry::Link { .. }) => {
                return Err(BadEdit::Link(path.clone()));
            }
            None => false,
        };
        let sha256 = Digest::of(contents);
        let entry = Entry::File {
            sha256,
            bytes: contents.len() as u64,
            executable,
        };
        self.listing.put(path.clone(), entry)?;
        self.taken.insert(sha256, contents.into());
        Ok(())
    }

    /// Takes away what stands at a path.
    pub fn remove(&mut self, path: &TreePath) {
        self.left_out.remove(path);
        self.listing = self.listing.without([path]);
    }

    /// A file's contents, which are those that its digest says.
    pub(super) fn contents(
        &self,
        path: &TreePath,
        sha256: Digest,
        load: &Load<'_>,
    ) -> Result<Arc<[u8]>, TreeError> {
        if let Some(contents) = self.taken.get(&sha256) {
            return Ok(Arc::clone(contents));
        }
        let path = || path.clone();
        let loaded = load(sha256).map_err(|source| TreeError::Load {
            path: path(),
            sha256,
            source,
        })?;
        match loaded {
            Some(contents) if Digest::of(&contents) == sha256 => Ok(contents.into()),
            Some(_) => Err(TreeError::Altered {
                path: path(),
                sha256,
            }),
            None => Err(TreeError::Missing {
                path: path(),
                sha256,
            }),
        }
    }
}

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
