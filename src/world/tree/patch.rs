//! The files of the write zones as a client sends them, for a judge that cannot read the client's
//! directory.
//!
//! A patch names the frozen tree that it changes. The client gathers it from a [`PatchBase`], and
//! [`Snapshot::receive`] makes of it what [`Snapshot::take`] makes of a working directory.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ignored::{Gitignores, Ignored};
use super::listing::{Changed, Clash, Entry, Listing, Oddity, TreeError, TreePath, difference};
use super::snapshot::Snapshot;
use super::walk::{BOUNDS, Found, Met, Unopened, walk};
use super::zones::{BadGlob, Zones};
use crate::base::Digest;

pub const MAX_PATCH_FILES: usize = 10_000;

/// The most bytes that the files of a patch may have together.
pub const MAX_PATCH_BYTES: u64 = 16 << 20;

/// What a client has to know of the frozen tree to send a patch.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PatchBase {
    /// The digest that a patch names as its base.
    pub digest: Digest,
    /// Where the agent may write, as globs.
    pub write: Vec<String>,
    /// What does not belong to the tree, as globs.
    pub ignore: Vec<String>,
    /// The rules of the tree's `.gitignore` files.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, String>")]
    pub gitignore: Gitignores,
    /// What the tree has in the write zones.
    #[schemars(with = "BTreeMap<String, Entry>")]
    pub files: BTreeMap<TreePath, Entry>,
}

/// How the files of the write zones differ from the frozen tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TreePatch {
    /// The digest of the frozen tree.
    pub base: Digest,
    /// The files that are new or changed, by their paths.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, PatchFile>")]
    pub files: BTreeMap<TreePath, PatchFile>,
    /// The paths of the files that are gone.
    #[serde(default)]
    #[schemars(with = "BTreeSet<String>")]
    pub removed: BTreeSet<TreePath>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PatchFile {
    pub contents: PatchContents,
    /// Whether its owner may run it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub executable: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PatchContents {
    Text(String),
    /// Of a file that is not UTF-8.
    Base64(String),
}

/// Why a directory cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum GatherError {
    #[error(transparent)]
    Glob(#[from] BadGlob),
    #[error(transparent)]
    Tree(#[from] TreeError),
    #[error("{0} is a link, and links are not sent: replace it with a file, or remove it")]
    Link(TreePath),
    #[error("{path} {why}, and cannot be sent: remove it, or replace it with a file")]
    Odd { path: TreePath, why: Oddity },
    #[error(
        "with {path}, the changed files of the write zones are more than {MAX_PATCH_FILES} files \
         or {} MiB: remove what the quest does not need", MAX_PATCH_BYTES >> 20
    )]
    TooMuch { path: TreePath },
    #[error("{0} contains no file that the session's tree has in its write zones")]
    Elsewhere(String),
}

/// Why a patch is not judged.
#[derive(Debug, thiserror::Error)]
pub enum BadPatch {
    #[error(
        "the files are changes to the tree {sent}, but this session is about the tree {base}; \
         nothing was recorded, and no try was used"
    )]
    OtherBase { sent: Digest, base: Digest },
    #[error(
        "{0} has other contents in the tree than when the session was made: another accepted \
         answer wrote or removed it; leave this path as it was, and use another one; nothing was \
         recorded, and no try was used"
    )]
    Taken(TreePath),
    #[error("the session's tree has no file {0} that could be removed; nothing changed")]
    NotThere(TreePath),
    #[error("quests of this kind are about no files; nothing changed")]
    NoTree,
    #[error("{0} is outside the write zones; nothing changed")]
    OutsideZones(TreePath),
    #[error("{path} does not belong to the tree, because {rule} ignores it; nothing changed")]
    Ignored { path: TreePath, rule: String },
    #[error("the contents of {0} are not Base64; nothing changed")]
    NotBase64(TreePath),
    #[error(
        "a patch may have {MAX_PATCH_FILES} files and {} MiB, and this one has more; nothing \
         changed", MAX_PATCH_BYTES >> 20
    )]
    TooMuch,
    #[error("{0}; nothing changed")]
    Clash(#[from] Clash),
}

impl TreePatch {
    pub(super) fn empty(base: Digest) -> Self {
        Self {
            base,
            files: BTreeMap::new(),
            removed: BTreeSet::new(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.removed.is_empty()
    }

    /// Fails if it is larger than a client may send.
    pub fn check_size(&self) -> Result<(), BadPatch> {
        let bytes = self.files.values().map(|file| match &file.contents {
            PatchContents::Text(text) | PatchContents::Base64(text) => text.len() as u64,
        });
        let is_large =
            self.paths().count() > MAX_PATCH_FILES || bytes.sum::<u64>() > MAX_PATCH_BYTES;
        if is_large {
            return Err(BadPatch::TooMuch);
        }
        Ok(())
    }

    /// Every path that it writes or removes.
    pub fn paths(&self) -> impl Iterator<Item = &TreePath> {
        self.files.keys().chain(&self.removed)
    }
}

impl PatchFile {
    pub(super) fn of(contents: Vec<u8>, executable: bool) -> Self {
        let contents = match String::from_utf8(contents) {
            Ok(text) => PatchContents::Text(text),
            Err(other) => PatchContents::Base64(STANDARD.encode(other.as_bytes())),
        };
        Self {
            contents,
            executable,
        }
    }

    pub fn bytes(&self, path: &TreePath) -> Result<Vec<u8>, BadPatch> {
        match &self.contents {
            PatchContents::Text(text) => Ok(text.clone().into_bytes()),
            PatchContents::Base64(text) => {
                let bytes = STANDARD.decode(text);
                bytes.map_err(|_| BadPatch::NotBase64(path.clone()))
            }
        }
    }

    pub fn entry(&self, contents: &[u8]) -> Entry {
        Entry::File {
            sha256: Digest::of(contents),
            bytes: contents.len() as u64,
            executable: self.executable,
        }
    }
}

impl PatchBase {
    /// Reads the write zones of a directory, and returns what differs from the frozen tree.
    pub fn gather(&self, root: &Path) -> Result<TreePatch, GatherError> {
        let zones = Zones::new(&self.write)?;
        let ignored = Ignored::new(&self.ignore)?.and_gitignores(&self.gitignore);
        let mut gathered = Gathered {
            base: self,
            patch: TreePatch {
                base: self.digest,
                files: BTreeMap::new(),
                removed: self.files.keys().cloned().collect(),
            },
            bytes: 0,
        };
        let mut refused = None;
        walk(root, &ignored, BOUNDS, &mut |path, found| {
            if refused.is_none() && zones.contains(&path) {
                refused = gathered.take(path, found).err();
            }
            Ok(())
        })?;
        let patch = match refused {
            Some(refused) => return Err(refused),
            None => gathered.patch,
        };
        // Otherwise, a client in a wrong directory would send that directory.
        if !self.files.is_empty() && patch.removed.len() == self.files.len() {
            return Err(GatherError::Elsewhere(root.display().to_string()));
        }
        Ok(patch)
    }
}

struct Gathered<'a> {
    base: &'a PatchBase,
    patch: TreePatch,
    bytes: u64,
}

impl Gathered<'_> {
    fn take(&mut self, path: TreePath, found: Found<'_>) -> Result<(), GatherError> {
        let before = self.base.files.get(&path);
        let file = match found {
            Found::File(file) => file,
            Found::Link(to) if before == Some(&Entry::Link { to: to.clone() }) => {
                self.patch.removed.remove(&path);
                return Ok(());
            }
            Found::Link(_) => return Err(GatherError::Link(path)),
            Found::Odd(why) => return Err(GatherError::Odd { path, why }),
        };
        let Some((entry, contents)) = contents_of(&path, file)? else {
            return Ok(());
        };
        self.patch.removed.remove(&path);
        if before == Some(&entry) {
            return Ok(());
        }
        self.bytes += contents.len() as u64;
        if self.bytes > MAX_PATCH_BYTES || self.patch.files.len() == MAX_PATCH_FILES {
            return Err(GatherError::TooMuch { path });
        }
        let executable = matches!(
            entry,
            Entry::File {
                executable: true,
                ..
            }
        );
        let file = PatchFile::of(contents, executable);
        self.patch.files.insert(path, file);
        Ok(())
    }
}

/// A file and its contents; none if it is gone.
fn contents_of(
    path: &TreePath,
    file: Unopened<'_>,
) -> Result<Option<(Entry, Vec<u8>)>, GatherError> {
    let odd = |why| GatherError::Odd {
        path: path.clone(),
        why,
    };
    let opened = match file.open().map_err(TreeError::io(path, "open the file"))? {
        Met::There(opened) => opened,
        Met::Odd(why) => return Err(odd(why)),
        Met::Gone => return Ok(None),
    };
    let read = opened.read(BOUNDS.file_bytes);
    let read = read.map_err(TreeError::io(path, "read the file"))?;
    let read = read.ok_or_else(|| odd(Oddity::TooLarge))?;
    Ok(Some((read.entry, read.contents)))
}

impl Snapshot {
    /// Lays the files that a client sent over the baseline, and reports every difference.
    pub fn receive(
        patch: &TreePatch,
        baseline: &Listing,
        zones: &Zones,
        ignored: &Ignored,
    ) -> Result<(Self, Vec<Changed>), BadPatch> {
        let base = baseline.digest();
        if patch.base != base {
            let sent = patch.base;
            return Err(BadPatch::OtherBase { sent, base });
        }
        let too_many = patch.removed.len() as u64 > BOUNDS.files;
        if too_many || patch.files.len() > MAX_PATCH_FILES {
            return Err(BadPatch::TooMuch);
        }
        for path in patch.paths() {
            if !zones.contains(path) {
                return Err(BadPatch::OutsideZones(path.clone()));
            }
            if let Some(rule) = ignored.rule_of_file(path) {
                return Err(BadPatch::Ignored {
                    path: path.clone(),
                    rule: rule.to_string(),
                });
            }
        }
        let mut removed = patch.removed.iter();
        if let Some(path) = removed.find(|path| baseline.get(path).is_none()) {
            return Err(BadPatch::NotThere(path.clone()));
        }
        let mut snapshot = Self {
            listing: baseline.without(patch.paths()),
            ..Self::default()
        };
        let mut changes = Vec::new();
        let mut note = |path: &TreePath, how: &str| {
            changes.push(Changed {
                path: path.to_string(),
                how: how.to_owned(),
                inside: true,
            });
        };
        let mut total = 0;
        for (path, file) in &patch.files {
            let contents = file.bytes(path)?;
            total += contents.len() as u64;
            if total > MAX_PATCH_BYTES {
                return Err(BadPatch::TooMuch);
            }
            let entry = file.entry(&contents);
            if let Some(how) = difference(baseline.get(path), &entry) {
                note(path, how);
            }
            snapshot.listing.put(path.clone(), entry)?;
            let sha256 = Digest::of(&contents);
            snapshot.new_contents.insert(sha256, contents.into());
        }
        for path in &patch.removed {
            if !patch.files.contains_key(path) {
                note(path, "removed");
            }
        }
        changes.sort_by(|one, two| one.path.cmp(&two.path));
        Ok((snapshot, changes))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::world::tree::snapshot::take_baseline;

    fn put(root: &Path, path: &str, contents: &[u8]) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
    }

    fn path(text: &str) -> TreePath {
        TreePath::parse(text).unwrap()
    }

    /// A tree of which `in` may be written, and its base.
    fn tree() -> (tempfile::TempDir, Listing, PatchBase) {
        let dir = tempfile::tempdir().unwrap();
        for (name, contents) in [("in/a", "a"), ("in/b", "b"), ("own", "own")] {
            put(dir.path(), name, contents.as_bytes());
        }
        let ignored = Ignored::default();
        let listing = take_baseline(dir.path(), &ignored, &mut |_, _| Ok(())).unwrap();
        let entries = listing.entries().iter();
        let inside = entries.filter(|(path, _)| path.as_str() != "own");
        let base = PatchBase {
            digest: listing.digest(),
            write: vec!["in/**".to_owned()],
            ignore: vec!["in/out/**".to_owned()],
            gitignore: Gitignores::new(),
            files: inside
                .map(|(path, it)| (path.clone(), it.clone()))
                .collect(),
        };
        (dir, listing, base)
    }

    #[test]
    fn what_is_gathered_is_received_as_the_working_directory_would_be_read() {
        let (dir, listing, base) = tree();
        let client = tempfile::tempdir().unwrap();
        let ours = client.path();
        for (name, contents) in [
            ("in/a", &b"new"[..]),
            ("in/deep/c", b"\xff\0"),
            ("in/out/built", b"ignored"),
            ("own", b"changed"),
        ] {
            put(ours, name, contents);
            put(dir.path(), name, contents);
        }
        fs::remove_file(dir.path().join("in/b")).unwrap();
        put(dir.path(), "own", b"own");
        let zones = Zones::new(&base.write).unwrap();
        let ignored = Ignored::new(&base.ignore).unwrap();
        assert!(matches!(
            base.gather(&ours.join("in/deep")),
            Err(GatherError::Elsewhere(_))
        ));
        let patch = base.gather(ours).unwrap();
        let text = serde_json::to_string(&patch).unwrap();
        assert_eq!(serde_json::from_str::<TreePatch>(&text).unwrap(), patch);
        let (received, changes) = Snapshot::receive(&patch, &listing, &zones, &ignored).unwrap();
        let (taken, seen) = Snapshot::take(dir.path(), &listing, &zones, &ignored).unwrap();
        assert_eq!(received.listing, taken.listing);
        assert_eq!(changes, seen);
        let listed: Vec<_> = changes.iter().map(|it| (&*it.path, &*it.how)).collect();
        assert_eq!(
            listed,
            [
                ("in/a", "changed"),
                ("in/b", "removed"),
                ("in/deep/c", "added")
            ]
        );
    }

    #[test]
    fn only_files_of_the_base_can_be_removed() {
        let (_dir, listing, base) = tree();
        let zones = Zones::new(&base.write).unwrap();
        let received = |name: &str| {
            let patch = TreePatch {
                base: base.digest,
                files: BTreeMap::new(),
                removed: [path(name)].into(),
            };
            Snapshot::receive(&patch, &listing, &zones, &Ignored::default())
        };
        assert!(received("in/a").is_ok());
        assert!(matches!(received("in/new"), Err(BadPatch::NotThere(_))));
    }
}
