//! What a tree has, path by path.
//!
//! As JSON, with its keys in the order of their bytes, so that one tree has one text:
//!
//! ```json
//! {"entries": {"run.sh": {"file": {"sha256": "…", "bytes": 12, "executable": true}},
//!              "src/now": {"link": {"to": "a.py"}}},
//!  "odd": [{"place": "server.sock", "why": "socket"}]}
//! ```
//!
//! `odd` is what is no part of the tree and stands in it all the same; it is not there when there
//! is none. A listing's digest is that of this text without white space.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::error::TreeError;
use super::look::{BOUNDS, Bounds, Found, Met, Unopened, walk};
use super::path::TreePath;
use super::snapshot::{Gathered, Store};
use super::zones::Ignored;
use crate::base::Digest;

/// What a tree has. No entry lies beneath another: a file has nothing in it, nor has a link.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written")]
pub struct Listing {
    entries: BTreeMap<TreePath, Entry>,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    odd: BTreeSet<Odd>,
}

/// A listing as it was written, before its paths are held against each other.
#[derive(Deserialize)]
struct Written {
    entries: BTreeMap<TreePath, Entry>,
    #[serde(default)]
    odd: BTreeSet<Odd>,
}

/// Two entries that no tree can have both.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{beneath} cannot be in a tree where {above} is a file or a link")]
pub struct Clash {
    /// The one beneath.
    pub beneath: TreePath,
    /// What stands in its way.
    pub above: TreePath,
}

impl Listing {
    /// The tree with these entries.
    pub fn new(entries: BTreeMap<TreePath, Entry>, odd: BTreeSet<Odd>) -> Result<Self, Clash> {
        let listing = Self { entries, odd };
        match listing.entries.keys().find_map(|path| listing.clash(path)) {
            Some(clash) => Err(clash),
            None => Ok(listing),
        }
    }

    /// What it has at a path.
    #[must_use]
    pub fn get(&self, path: &TreePath) -> Option<&Entry> {
        self.entries.get(path)
    }

    /// All that it has, in the order of their paths.
    #[must_use]
    pub fn entries(&self) -> &BTreeMap<TreePath, Entry> {
        &self.entries
    }

    /// What stands in it and is no part of it.
    #[must_use]
    pub fn odd(&self) -> &BTreeSet<Odd> {
        &self.odd
    }

    /// Whether something lies beneath a path.
    #[must_use]
    pub fn is_folder(&self, path: &TreePath) -> bool {
        self.first_beneath(path).is_some()
    }

    /// The digest of its text.
    #[must_use]
    #[expect(
        clippy::missing_panics_doc,
        reason = "paths, texts and numbers can always be written"
    )]
    pub fn digest(&self) -> Digest {
        let text = serde_json::to_vec(self).expect("texts and numbers can be written");
        Digest::of(&text)
    }

    /// What could not stand with an entry at this path, were there one.
    #[must_use]
    pub fn clash(&self, path: &TreePath) -> Option<Clash> {
        let above = path
            .folders()
            .find(|folder| self.entries.contains_key(folder));
        match (above, self.first_beneath(path)) {
            (Some(above), _) => Some(Clash {
                beneath: path.clone(),
                above,
            }),
            (None, Some(beneath)) => Some(Clash {
                beneath: beneath.clone(),
                above: path.clone(),
            }),
            (None, None) => None,
        }
    }

    /// Puts an entry at a path, in place of what is there.
    pub(super) fn put(&mut self, path: TreePath, entry: Entry) -> Result<(), Clash> {
        if let Some(clash) = self.clash(&path) {
            return Err(clash);
        }
        self.entries.insert(path, entry);
        Ok(())
    }

    /// The same tree with nothing odd in it, less what is at these paths.
    pub(super) fn without<'a>(&self, paths: impl IntoIterator<Item = &'a TreePath>) -> Self {
        let mut entries = self.entries.clone();
        for path in paths {
            entries.remove(path);
        }
        Self {
            entries,
            odd: BTreeSet::new(),
        }
    }

    fn first_beneath(&self, path: &TreePath) -> Option<&TreePath> {
        let folder = format!("{path}/");
        let after = (Bound::Excluded(folder.as_str()), Bound::Unbounded);
        let (next, _) = self.entries.range::<str, _>(after).next()?;
        next.as_str().starts_with(&folder).then_some(next)
    }
}

impl TryFrom<Written> for Listing {
    type Error = Clash;

    fn try_from(written: Written) -> Result<Self, Clash> {
        Self::new(written.entries, written.odd)
    }
}

/// What a tree has at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Entry {
    /// A file.
    File {
        /// The digest of its contents.
        sha256: Digest,
        /// Its length.
        bytes: u64,
        /// Whether its owner may run it.
        executable: bool,
    },
    /// A symbolic link; it is never followed.
    Link {
        /// What it says.
        to: String,
    },
}

/// Something that is no part of a tree, and why.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Odd {
    /// Where it stands: its path, or its folder's with the name escaped where no path names it.
    pub place: String,
    /// Why.
    pub why: Oddity,
}

/// Why something is no part of a tree.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, thiserror::Error,
)]
#[serde(rename_all = "kebab-case")]
pub enum Oddity {
    /// No path can name it: a name that is not UTF-8, a control character, too deep.
    #[error("has a name that cannot be written down, or lies too deep")]
    Name,
    /// A named pipe.
    #[error("is a named pipe")]
    Pipe,
    /// A socket.
    #[error("is a socket")]
    Socket,
    /// A device, or what else the system has.
    #[error("is a device")]
    Device,
    /// A link to something that is not UTF-8.
    #[error("is a link to a name that is not UTF-8")]
    Target,
    /// The system does not let it be read.
    #[error("may not be read")]
    Unreadable,
    /// A file larger than a tree may have.
    #[error("is too large")]
    TooLarge,
    /// A file that would make its writer's files more than is kept.
    #[error("is more than is kept of changed files")]
    TooMuch,
    /// It became something else while it was looked at.
    #[error("changed while it was read")]
    Changing,
}

/// What differs, in the order of the paths.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// In the zones in which may be written.
    pub inside: Vec<Change>,
    /// Outside of them.
    pub outside: Vec<Change>,
    /// What no path can name, and was not there before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub odd: Vec<Odd>,
}

/// One path at which the working tree is not the baseline.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Change {
    /// The path.
    pub path: TreePath,
    /// How it differs.
    pub kind: ChangeKind,
}

/// How a path differs from the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeKind {
    /// A file or a link that was not there.
    Added,
    /// Other contents, another place that a link names, or a link for a file.
    Changed,
    /// It is gone.
    Removed,
    /// The same contents, which may be run now, or may not any more.
    Mode,
    /// What stands there is neither a file that can be read nor a link.
    Odd,
}

impl Changes {
    /// Whether the working tree is the baseline.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.inside.is_empty() && self.outside.is_empty() && self.odd.is_empty()
    }
}

impl ChangeKind {
    /// How `now` differs from what was there before; none when it does not.
    #[must_use]
    pub fn between(before: Option<&Entry>, now: &Entry) -> Option<Self> {
        match (before, now) {
            (None, _) => Some(Self::Added),
            (Some(before), now) if before == now => None,
            (Some(Entry::File { sha256: old, .. }), Entry::File { sha256: new, .. })
                if old == new =>
            {
                Some(Self::Mode)
            }
            (Some(_), _) => Some(Self::Changed),
        }
    }
}

/// Lists a tree, and hands each file's contents on to be stored, equal ones once.
pub fn take(root: &Path, ignored: &Ignored, store: &mut Store<'_>) -> Result<Listing, TreeError> {
    take_within(BOUNDS, root, ignored, store)
}

fn take_within(
    bounds: Bounds,
    root: &Path,
    ignored: &Ignored,
    store: &mut Store<'_>,
) -> Result<Listing, TreeError> {
    let mut gathered = Gathered::new(bounds, store);
    let unnamed = walk(root, ignored, bounds, &mut |path, found| match found {
        Found::File(file) => read(&mut gathered, path, file),
        Found::Link(to) => gathered.link(path, to),
        Found::Odd(why) => gathered.odd(path, why),
    })?;
    gathered.unnamed(unnamed);
    Ok(gathered.finish()?)
}

/// Takes a file whose length is one before and after.
fn read(gathered: &mut Gathered<'_>, path: TreePath, file: Unopened<'_>) -> Result<(), TreeError> {
    let opened = match file.open().map_err(TreeError::io(&path, "open the file"))? {
        Met::There(opened) => opened,
        Met::Odd(why) => return gathered.odd(path, why),
        Met::Gone => return gathered.odd(path, Oddity::Changing),
    };
    let (bytes, executable) = (opened.bytes, opened.executable);
    gathered.admit(&path, bytes)?;
    match opened
        .read(bytes)
        .map_err(TreeError::io(&path, "read the file"))?
    {
        Some(contents) if contents.len() as u64 == bytes => {
            gathered.file(path, &contents, executable)
        }
        _ => gathered.odd(path, Oddity::Changing),
    }
}
