//! One look at the working tree, held against the baseline.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use super::bounds::{BOUNDS, Bounds};
use super::change::{Change, ChangeKind, Changes};
use super::entry::{Entry, Odd, Oddity};
use super::error::TreeError;
use super::listing::Listing;
use super::met::{Met, Opened, Unopened};
use super::path::TreePath;
use super::walk::{Found, walk};
use super::zones::{Ignored, Zones};
use crate::base::Digest;

/// What stands in the working tree now and did not in the baseline.
///
/// A file's contents are read only where they can matter: in the zones, and outside of them where
/// a file is as long as it was.
pub fn changes(
    root: &Path,
    baseline: &Listing,
    zones: &Zones,
    ignored: &Ignored,
) -> Result<Changes, TreeError> {
    Ok(look(BOUNDS, root, baseline, zones, ignored)?.changes)
}

/// What one look saw.
pub(super) struct Look {
    pub(super) changes: Changes,
    /// The changed files of the zones, as they were read.
    pub(super) files: BTreeMap<TreePath, Entry>,
    pub(super) taken: BTreeMap<Digest, Arc<[u8]>>,
    /// What is changed in the zones and cannot be taken, and why; a link has no reason.
    pub(super) untaken: BTreeMap<TreePath, Option<Oddity>>,
}

/// Looks at each file once: what is said of it is what was read of it.
pub(super) fn look(
    bounds: Bounds,
    root: &Path,
    baseline: &Listing,
    zones: &Zones,
    ignored: &Ignored,
) -> Result<Look, TreeError> {
    let mut looking = Looking {
        bounds,
        baseline,
        zones,
        seen: BTreeSet::new(),
        changed: BTreeMap::new(),
        taken_bytes: 0,
        files: BTreeMap::new(),
        taken: BTreeMap::new(),
        untaken: BTreeMap::new(),
    };
    let unnamed = walk(root, ignored, bounds, &mut |path, found| {
        looking.take(path, found)
    })?;
    looking.miss();
    Ok(looking.finish(&unnamed))
}

struct Looking<'a> {
    bounds: Bounds,
    baseline: &'a Listing,
    zones: &'a Zones,
    seen: BTreeSet<TreePath>,
    changed: BTreeMap<TreePath, ChangeKind>,
    taken_bytes: u64,
    files: BTreeMap<TreePath, Entry>,
    taken: BTreeMap<Digest, Arc<[u8]>>,
    untaken: BTreeMap<TreePath, Option<Oddity>>,
}

impl Looking<'_> {
    fn take(&mut self, path: TreePath, found: Found<'_>) -> Result<(), TreeError> {
        match found {
            Found::File(file) if self.zones.contains(&path) => self.inside(path, file)?,
            Found::File(file) => self.outside(path, file)?,
            Found::Link(to) => self.link(path, to),
            Found::Odd(why) => self.odd(path, why),
        }
        Ok(())
    }

    /// Reads a file of the zones, and keeps it where it differs.
    fn inside(&mut self, path: TreePath, file: Unopened<'_>) -> Result<(), TreeError> {
        let Some(opened) = self.opened(&path, file)? else {
            return Ok(());
        };
        let executable = opened.executable;
        let read = opened.read(self.bounds.file_bytes);
        let Some(contents) = read.map_err(TreeError::io(&path, "read the file"))? else {
            self.odd(path, Oddity::TooLarge);
            return Ok(());
        };
        let bytes = contents.len() as u64;
        let sha256 = Digest::of(&contents);
        let now = Entry::File {
            sha256,
            bytes,
            executable,
        };
        let Some(kind) = ChangeKind::between(self.baseline.get(&path), &now) else {
            self.seen.insert(path);
            return Ok(());
        };
        if kind != ChangeKind::Mode && !self.taken.contains_key(&sha256) {
            if self.taken_bytes + bytes > self.bounds.taken_bytes {
                self.odd(path, Oddity::TooMuch);
                return Ok(());
            }
            self.taken_bytes += bytes;
            self.taken.insert(sha256, contents.into());
        }
        self.files.insert(path.clone(), now);
        self.saw(path, Some(kind));
        Ok(())
    }

    /// Holds a file outside the zones against the baseline.
    fn outside(&mut self, path: TreePath, file: Unopened<'_>) -> Result<(), TreeError> {
        let baseline = self.baseline;
        let before = baseline.get(&path);
        let Some(Entry::File { bytes, .. }) = before else {
            let kind = before.map_or(ChangeKind::Added, |_| ChangeKind::Changed);
            self.saw(path, Some(kind));
            return Ok(());
        };
        let Some(opened) = self.opened(&path, file)? else {
            return Ok(());
        };
        let executable = opened.executable;
        let read = if opened.bytes == *bytes {
            let read = opened.read(*bytes);
            read.map_err(TreeError::io(&path, "read the file"))?
        } else {
            None
        };
        let kind = match read {
            None => Some(ChangeKind::Changed),
            Some(contents) => ChangeKind::between(
                before,
                &Entry::File {
                    sha256: Digest::of(&contents),
                    bytes: contents.len() as u64,
                    executable,
                },
            ),
        };
        self.saw(path, kind);
        Ok(())
    }

    /// Opens a file; what cannot be opened is told of here.
    fn opened(&mut self, path: &TreePath, file: Unopened<'_>) -> Result<Option<Opened>, TreeError> {
        match file.open().map_err(TreeError::io(path, "open the file"))? {
            Met::There(opened) => return Ok(Some(opened)),
            Met::Odd(why) => self.odd(path.clone(), why),
            Met::Gone => {}
        }
        Ok(None)
    }

    fn link(&mut self, path: TreePath, to: String) {
        let kind = ChangeKind::between(self.baseline.get(&path), &Entry::Link { to });
        if kind.is_some() && self.zones.contains(&path) {
            self.untaken.insert(path.clone(), None);
        }
        self.saw(path, kind);
    }

    fn odd(&mut self, path: TreePath, why: Oddity) {
        let odd = Odd {
            place: path.to_string(),
            why,
        };
        if self.baseline.odd().contains(&odd) {
            return;
        }
        if self.zones.contains(&path) {
            self.untaken.insert(path.clone(), Some(why));
        }
        self.saw(path, Some(ChangeKind::Odd));
    }

    fn saw(&mut self, path: TreePath, kind: Option<ChangeKind>) {
        if let Some(kind) = kind {
            self.changed.insert(path.clone(), kind);
        }
        self.seen.insert(path);
    }

    /// Tells of what the baseline has and nobody saw.
    fn miss(&mut self) {
        for path in self.baseline.entries().keys() {
            if !self.seen.contains(path) {
                self.changed.insert(path.clone(), ChangeKind::Removed);
            }
        }
    }

    fn finish(self, unnamed: &BTreeSet<Odd>) -> Look {
        let changes = self.changed.into_iter();
        let (inside, outside) = changes
            .map(|(path, kind)| Change { path, kind })
            .partition(|change| self.zones.contains(&change.path));
        Look {
            changes: Changes {
                inside,
                outside,
                odd: unnamed.difference(self.baseline.odd()).cloned().collect(),
            },
            files: self.files,
            taken: self.taken,
            untaken: self.untaken,
        }
    }
}
