//! What a tree contains, path by path.
//!
//! As JSON, with its keys in the order of their bytes, so that one tree has one text:
//!
//! ```json
//! {"entries": {"run.sh": {"file": {"sha256": "…", "bytes": 12, "executable": true}},
//!              "src/now": {"link": {"to": "a.py"}}},
//!  "odd": [{"place": "server.sock", "why": "socket"}]}
//! ```
//!
//! `odd` lists what is in the folder but cannot be part of a tree; it is left out when empty. A
//! listing's digest is that of this text without white space.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use serde::{Deserialize, Serialize};

use super::path::TreePath;
use crate::base::Digest;

/// What a tree contains. No entry is below another: a file contains no entries, nor does a link.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Listing {
    entries: BTreeMap<TreePath, Entry>,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    odd: BTreeSet<Odd>,
}

#[derive(Deserialize)]
struct Unchecked {
    entries: BTreeMap<TreePath, Entry>,
    #[serde(default)]
    odd: BTreeSet<Odd>,
}

/// Two entries that cannot be in the same tree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{beneath} cannot be in a tree where {above} is a file or a link")]
pub struct Clash {
    pub beneath: TreePath,
    pub above: TreePath,
}

impl Listing {
    pub fn new(entries: BTreeMap<TreePath, Entry>, odd: BTreeSet<Odd>) -> Result<Self, Clash> {
        let listing = Self { entries, odd };
        match listing.entries.keys().find_map(|path| listing.clash(path)) {
            Some(clash) => Err(clash),
            None => Ok(listing),
        }
    }

    pub fn get(&self, path: &TreePath) -> Option<&Entry> {
        self.entries.get(path)
    }

    pub fn entries(&self) -> &BTreeMap<TreePath, Entry> {
        &self.entries
    }

    pub fn odd(&self) -> &BTreeSet<Odd> {
        &self.odd
    }

    pub fn is_folder(&self, path: &TreePath) -> bool {
        self.first_beneath(path).is_some()
    }

    #[expect(
        clippy::missing_panics_doc,
        reason = "paths, texts and numbers can always be written"
    )]
    pub fn digest(&self) -> Digest {
        let text = serde_json::to_vec(self).expect("texts and numbers can be written");
        Digest::of(&text)
    }

    fn clash(&self, path: &TreePath) -> Option<Clash> {
        let mut folders = path.folders();
        if let Some(above) = folders.find(|folder| self.entries.contains_key(folder)) {
            let beneath = path.clone();
            return Some(Clash { beneath, above });
        }
        let beneath = self.first_beneath(path)?.clone();
        let above = path.clone();
        Some(Clash { beneath, above })
    }

    pub(super) fn put(&mut self, path: TreePath, entry: Entry) -> Result<(), Clash> {
        if let Some(clash) = self.clash(&path) {
            return Err(clash);
        }
        self.entries.insert(path, entry);
        Ok(())
    }

    /// The same tree with nothing odd in it, and without these paths.
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

impl TryFrom<Unchecked> for Listing {
    type Error = Clash;

    fn try_from(read: Unchecked) -> Result<Self, Clash> {
        Self::new(read.entries, read.odd)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Entry {
    File {
        sha256: Digest,
        bytes: u64,
        /// Whether its owner may run it.
        executable: bool,
    },
    /// A symbolic link; it is never followed.
    Link { to: String },
}

/// Something that cannot be part of a tree, and why.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Odd {
    /// Its path, or that of its folder with the escaped name if no path can express the name.
    pub place: String,
    pub why: Oddity,
}

#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, thiserror::Error,
)]
#[serde(rename_all = "kebab-case")]
pub enum Oddity {
    /// No path can express the name: it is not UTF-8, has a control character, or is too deep.
    #[error("has a name that cannot be written down, or is nested too deeply")]
    Name,
    #[error("is a named pipe")]
    Pipe,
    #[error("is a socket")]
    Socket,
    #[error("is a device")]
    Device,
    #[error("is a link to a name that is not UTF-8")]
    Target,
    #[error("may not be read")]
    Unreadable,
    #[error("is too large")]
    TooLarge,
    /// All changed files together would be larger than a snapshot may be.
    #[error("is more than is kept of changed files")]
    TooMuch,
    #[error("changed while it was read")]
    Changing,
}

/// A path at which the working tree differs from the baseline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Changed {
    /// Text, because what is odd may have a name that no tree path can express.
    pub path: String,
    /// `added`, `changed`, `removed`, `mode` or `odd`; after `odd` a reason may follow.
    pub how: String,
    /// Whether the agent may write there.
    pub inside: bool,
}

pub(super) fn difference(before: Option<&Entry>, now: &Entry) -> Option<&'static str> {
    match (before, now) {
        (None, _) => Some("added"),
        (Some(before), now) if before == now => None,
        (Some(Entry::File { sha256: old, .. }), Entry::File { sha256: new, .. }) if old == new => {
            Some("mode")
        }
        (Some(_), _) => Some("changed"),
    }
}
