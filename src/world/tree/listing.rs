//! What a tree contains, path by path.
//!
//! As JSON, with its keys in the order of their bytes, so that one tree has one text:
//!
//! ```json
//! {"entries": {"run.sh": {"file": {"sha256": "…", "bytes": 12, "executable": true}},
//!              "src/now": {"link": {"to": "a.py"}}},
//!  "modified": {"run.sh": "2026-01-31T12:00:00Z"},
//!  "odd": [{"place": "server.sock", "why": "socket"}]}
//! ```
//!
//! `modified` has the dates of the files, as far as they are known; they say nothing about what a tree
//! contains. `odd` lists what is in the folder but cannot be part of a tree. Both are left out when
//! empty. A listing's digest is that of this text without white space.

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::{fmt, io};

use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::Digest;
use crate::base::text::invisible;

/// What a tree contains. No entry is below another: a file contains no entries, nor does a link.
///
/// One that is read back is not checked for that again: it counts only if it has the digest of one
/// that was made by [`Listing::new`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listing {
    entries: BTreeMap<TreePath, Entry>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    modified: BTreeMap<TreePath, Timestamp>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
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
        let listing = Self {
            entries,
            modified: BTreeMap::new(),
            odd,
        };
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

    pub(super) fn dated(self, modified: BTreeMap<TreePath, Timestamp>) -> Self {
        Self { modified, ..self }
    }

    pub(super) fn modified(&self, path: &TreePath) -> Option<Timestamp> {
        self.modified.get(path).copied()
    }

    /// A date after those of all files; none where no date is known.
    pub(super) fn later(&self) -> Option<Timestamp> {
        let latest = self.modified.values().max()?;
        latest.checked_add(SignedDuration::from_millis(1)).ok()
    }

    /// What cannot be part of the tree, for people.
    pub fn odd_texts(&self) -> Vec<String> {
        let odd = self.odd.iter();
        odd.map(|odd| format!("{} {}", odd.place, odd.why))
            .collect()
    }

    pub fn odd(&self) -> &BTreeSet<Odd> {
        &self.odd
    }

    /// The paths that are not in both as the same.
    pub fn differing<'a>(&'a self, other: &'a Self) -> Vec<&'a str> {
        let paths = self.entries.keys().chain(other.entries.keys());
        let paths = paths.filter(|path| self.get(path) != other.get(path));
        let odd = self.odd.symmetric_difference(&other.odd);
        let all = paths
            .map(TreePath::as_str)
            .chain(odd.map(|odd| odd.place.as_str()));
        all.collect::<BTreeSet<_>>().into_iter().collect()
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
        self.modified.remove(&path);
        self.entries.insert(path, entry);
        Ok(())
    }

    /// This tree with the entries of another one over it, and with nothing odd in it.
    pub fn beneath(&self, over: &Self) -> Result<Self, Clash> {
        let mut all = self.without(over.entries.keys());
        for (path, entry) in &over.entries {
            all.put(path.clone(), entry.clone())?;
        }
        Ok(all)
    }

    /// The same tree with nothing odd in it, and without these paths.
    pub(super) fn without<'a>(&self, paths: impl IntoIterator<Item = &'a TreePath>) -> Self {
        let mut listing = Self {
            odd: BTreeSet::new(),
            ..self.clone()
        };
        listing.remove(paths);
        listing
    }

    pub(super) fn remove<'a>(&mut self, paths: impl IntoIterator<Item = &'a TreePath>) {
        for path in paths {
            self.entries.remove(path);
            self.modified.remove(path);
        }
    }

    fn first_beneath(&self, path: &TreePath) -> Option<&TreePath> {
        let folder = format!("{path}/");
        let after = (Bound::Excluded(folder.as_str()), Bound::Unbounded);
        let (next, _) = self.entries.range::<str, _>(after).next()?;
        next.as_str().starts_with(&folder).then_some(next)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

impl Changed {
    const UNJUDGED: &str = "odd: ";

    pub(super) fn unjudged(path: TreePath, why: &str) -> Self {
        Self {
            path: path.into(),
            how: format!("{}{why}", Self::UNJUDGED),
            inside: true,
        }
    }

    /// Why it cannot be judged although the agent may write there; none where it is judged.
    pub fn why_unjudged(&self) -> Option<&str> {
        let why = self.how.strip_prefix(Self::UNJUDGED);
        why.filter(|_| self.inside)
    }
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

/// What can go wrong while a tree is read, stored or written.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    #[error("{place}: cannot {doing}: {source}")]
    Io {
        place: String,
        doing: &'static str,
        source: io::Error,
    },
    #[error("{path} {why}: repair it, or add it to .gitignore or to `ignore` in [tree]")]
    Odd { path: TreePath, why: Oddity },
    #[error(
        "{path} has {bytes} bytes, and a file may have {limit}: add it to .gitignore or to \
         `ignore` in [tree]"
    )]
    TooLarge {
        path: TreePath,
        bytes: u64,
        limit: u64,
    },
    #[error(
        "with {place} the tree has more than {limit} {what}: add what the quests do not need to \
         .gitignore or to `ignore` in [tree]"
    )]
    TooMany {
        place: String,
        limit: u64,
        what: &'static str,
    },
    #[error("{path} cannot be stored: {source}")]
    Store { path: TreePath, source: io::Error },
    #[error("the contents of {path} ({sha256}) {why}")]
    Contents {
        path: TreePath,
        sha256: Digest,
        why: String,
    },
    #[error(transparent)]
    Clash(#[from] Clash),
}

impl TreeError {
    pub(crate) fn io(place: impl ToString, doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io {
            place: place.to_string(),
            doing,
            source,
        }
    }
}

// With the root in front of it, a path of this length can still be opened.
const MAX_PATH_BYTES: usize = 1024;

// No file system of Linux takes a longer one.
const MAX_NAME_BYTES: usize = 255;

// Each folder on the way costs an open handle during a walk.
const MAX_DEPTH: usize = 128;

/// A relative path inside a tree: `/` between names, none of them empty, `.`, `..` or `.git`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TreePath(Box<str>);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a path inside the tree: {flaw}")]
pub struct BadTreePath {
    text: String,
    flaw: String,
}

impl TreePath {
    pub fn parse(text: &str) -> Result<Self, BadTreePath> {
        match flaw_of(text) {
            None => Ok(Self(text.into())),
            Some(flaw) => Err(BadTreePath {
                text: text.chars().take(MAX_PATH_BYTES).collect(),
                flaw,
            }),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn join_to(&self, root: &Path) -> PathBuf {
        let mut path = root.to_owned();
        path.extend(self.names());
        path
    }

    pub fn names(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/')
    }

    pub fn parent(&self) -> Option<Self> {
        let (folder, _) = self.0.rsplit_once('/')?;
        Some(Self(folder.into()))
    }

    pub fn folders(&self) -> impl Iterator<Item = Self> + use<> {
        std::iter::successors(self.parent(), Self::parent)
    }
}

/// Whether some file system takes the name for `.git`, so that git refuses it: without case, on HFS+
/// without characters that are not shown, on NTFS as the short name or with a stream, dots or spaces at
/// its end (gitfaq, `core.protectHFS` and `core.protectNTFS`).
fn is_folder_of_git(name: &str) -> bool {
    let shown = as_shown(name);
    let name = shown.split(':').next().unwrap_or_default();
    let name = name.trim_end_matches(['.', ' ']);
    let number = name.strip_prefix("git~");
    name == ".git" || number.is_some_and(|number| number.parse::<u32>().is_ok())
}

/// Whether git may obey the file, as it does `.gitattributes` and `.gitmodules`.
pub(super) fn is_name_of_git(name: &str) -> bool {
    as_shown(name).starts_with(".git")
}

fn as_shown(name: &str) -> String {
    let shown: String = name.chars().filter(|c| !invisible(*c)).collect();
    shown.to_ascii_lowercase()
}

fn flaw_of(text: &str) -> Option<String> {
    let mut names = text.split('/');
    let flaw = if text.len() > MAX_PATH_BYTES {
        format!("it is longer than {MAX_PATH_BYTES} bytes")
    } else if text.chars().any(char::is_control) {
        "it has a control character; rename the file".to_owned()
    } else if text.starts_with(['/', '\\']) {
        "it begins with `/`; write it relative to the tree's root".to_owned()
    } else if text.contains('\\') || names.any(|name| matches!(name, "" | "." | "..")) {
        respelled(text)
    } else if text.split('/').any(is_folder_of_git) {
        "`.git`, however it is spelled, is never part of a tree".to_owned()
    } else if text.split('/').any(|name| name.len() > MAX_NAME_BYTES) {
        format!("a name in it is longer than {MAX_NAME_BYTES} bytes")
    } else if text.split('/').count() > MAX_DEPTH {
        format!("it is deeper than {MAX_DEPTH} names")
    } else {
        return None;
    };
    Some(flaw)
}

fn respelled(text: &str) -> String {
    let names = text.split(['/', '\\']);
    let names: Vec<_> = names.filter(|name| !matches!(*name, "" | ".")).collect();
    if names.contains(&"..") {
        "`..` is not understood; write the path from the tree's root".to_owned()
    } else if names.is_empty() {
        "it is empty; name a file".to_owned()
    } else {
        format!("write {:?}", names.join("/"))
    }
}

impl fmt::Display for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Borrow<str> for TreePath {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for TreePath {
    type Error = BadTreePath;

    fn try_from(text: String) -> Result<Self, BadTreePath> {
        Self::parse(&text)
    }
}

impl From<TreePath> for String {
    fn from(path: TreePath) -> Self {
        path.0.into()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn said(text: &str) -> String {
        TreePath::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn says_what_to_write() {
        for text in ["./a/b", "a//b", "a/b/", "a/./b", r"a\b"] {
            assert!(said(text).ends_with(r#"write "a/b""#), "{}", said(text));
        }
        assert!(said("").contains("empty"));
        assert!(said(".").contains("empty"));
        assert!(said("/etc/passwd").contains("relative to the tree's root"));
        assert!(said("a/../../b").contains("from the tree's root"));
        assert!(said(r"..\b").contains("from the tree's root"));
        assert!(said(&format!("{}b", "a/".repeat(128))).contains("deeper"));
        assert!(said(&"a".repeat(1025)).contains("longer"));
        assert!(said(&format!("b/{}", "a".repeat(256))).contains("longer than 255 bytes"));
        assert!(TreePath::parse(&format!("b/{}", "a".repeat(255))).is_ok());
    }

    #[test]
    fn git_and_control_characters_are_no_part_of_a_tree() {
        for text in [
            ".git",
            ".git/config",
            "sub/.git/hooks/x",
            "a/.GIT",
            "git~1",
            "GIT~2/x",
            ".git ",
            ".git. /config",
            ".git::$INDEX_ALLOCATION",
            ".g\u{200c}it",
        ] {
            assert!(said(text).contains("`.git`, however"), "{text}");
        }
        for text in ["a\nb", "a\0b", "a\u{7f}", "\u{85}"] {
            assert!(said(text).contains("control character"), "{text:?}");
        }
        for text in [
            ".gitignore",
            "a.git",
            "..a",
            "a b",
            "é/ü",
            "-rf",
            "...",
            "git~",
            "git~x",
            ".git~1",
            "git",
        ] {
            assert_eq!(TreePath::parse(text).unwrap().as_str(), text);
        }
    }

    #[test]
    fn knows_its_folders() {
        let path = TreePath::parse("a/b/c").unwrap();
        let folders: Vec<_> = path.folders().map(String::from).collect();
        assert_eq!(folders, ["a/b", "a"]);
        assert_eq!(path.join_to(Path::new("/r")), Path::new("/r/a/b/c"));
    }

    proptest! {
        #[test]
        fn what_is_taken_stays_inside_and_is_written_back(text in r"([a.]{0,2}|\.git|\PC|[\\\n])(/([a.]{0,2}|\PC))*") {
            if let Ok(path) = TreePath::parse(&text) {
                prop_assert_eq!(path.as_str(), &text);
                let joined = path.join_to(Path::new("/tree"));
                prop_assert!(joined.components().skip(2).all(|part| matches!(part, std::path::Component::Normal(_))));
                prop_assert_eq!(joined.to_str().unwrap(), format!("/tree/{text}"));
                let json = serde_json::to_string(&path).unwrap();
                prop_assert_eq!(serde_json::from_str::<TreePath>(&json).unwrap(), path);
            }
        }

        #[test]
        fn whatever_is_asked_is_answered(text in any::<String>()) {
            let _ = TreePath::parse(&text).map_err(|error| error.to_string());
        }
    }
}
