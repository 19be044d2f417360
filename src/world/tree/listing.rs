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

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use serde::{Deserialize, Serialize};

use super::entry::{Entry, Odd};
use super::path::TreePath;
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

#[cfg(test)]
mod tests {
    use super::super::entry::Oddity;
    use super::*;

    fn path(text: &str) -> TreePath {
        TreePath::parse(text).unwrap()
    }

    fn link(to: &str) -> Entry {
        Entry::Link { to: to.to_owned() }
    }

    fn of(paths: &[&str]) -> Result<Listing, Clash> {
        let entries = paths.iter().map(|text| (path(text), link("x"))).collect();
        Listing::new(entries, BTreeSet::new())
    }

    #[test]
    fn nothing_lies_beneath_a_file_or_a_link() {
        assert!(of(&["a", "a-b", "a.c"]).is_ok());
        let clash = of(&["a", "a-b", "a/b"]).unwrap_err();
        assert_eq!((clash.beneath, clash.above), (path("a/b"), path("a")));
        assert!(of(&["a", "a/b/c/d"]).is_err());
        let mut listing = of(&["a/b", "c"]).unwrap();
        assert!(listing.put(path("a"), link("y")).is_err());
        assert!(listing.put(path("c/d"), link("y")).is_err());
        assert!(listing.put(path("c"), link("y")).is_ok());
        assert!(listing.is_folder(&path("a")) && !listing.is_folder(&path("c")));
    }

    #[test]
    fn one_tree_has_one_text() {
        let file = Entry::File {
            sha256: Digest::of(b""),
            bytes: 0,
            executable: true,
        };
        let odd = Odd {
            place: "s".to_owned(),
            why: Oddity::Socket,
        };
        let entries = [(path("b"), link("é")), (path("a/b"), file)];
        let listing = Listing::new(entries.into(), [odd].into()).unwrap();
        let text = serde_json::to_string(&listing).unwrap();
        let empty = Digest::of(b"");
        assert_eq!(
            text,
            format!(
                r#"{{"entries":{{"a/b":{{"file":{{"sha256":"{empty}","bytes":0,"executable":true}}}},"b":{{"link":{{"to":"é"}}}}}},"odd":[{{"place":"s","why":"socket"}}]}}"#
            )
        );
        assert_eq!(serde_json::from_str::<Listing>(&text).unwrap(), listing);
        assert_eq!(listing.digest(), Digest::of(text.as_bytes()));
        assert_eq!(
            serde_json::to_string(&Listing::default()).unwrap(),
            r#"{"entries":{}}"#
        );
    }

    #[test]
    fn a_text_that_is_no_tree_is_refused() {
        for paths in [r#""a","a/b""#, r#""../a","b""#, r#""a//b","b""#] {
            let entries = paths.replace(',', r#":{"link":{"to":"x"}},"#);
            let text = format!(r#"{{"entries":{{{entries}:{{"link":{{"to":"x"}}}}}}}}"#);
            assert!(serde_json::from_str::<Listing>(&text).is_err(), "{text}");
        }
    }
}
