//! A *baseline* is what a tree contained when the session was made; a *snapshot* is what one
//! judgement sees: the baseline, and over it the agent's files in the zones.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions, Permissions, PermissionsExt as _};
use jiff::Timestamp;

use super::ignored::Ignored;
use super::listing::{
    Changed, Clash, Entry, Listing, Odd, Oddity, TreeError, TreePath, difference,
};
use super::walk::{BOUNDS, Bounds, FileRead, Found, Met, Opened, Unopened, walk};
use super::zones::Zones;
use crate::base::Digest;

/// Finds contents by their digest.
pub type Load<'a> = dyn Fn(Digest) -> io::Result<Option<Vec<u8>>> + 'a;

/// Keeps contents under their digest.
pub type Store<'a> = dyn FnMut(Digest, &[u8]) -> io::Result<()> + 'a;

/// Lists a tree, and hands the contents of each file to the store, equal ones once.
pub fn take_baseline(
    root: &Path,
    ignored: &Ignored,
    store: &mut Store<'_>,
) -> Result<Listing, TreeError> {
    take_baseline_within(BOUNDS, root, ignored, store)
}

pub(super) fn take_baseline_within(
    bounds: Bounds,
    root: &Path,
    ignored: &Ignored,
    store: &mut Store<'_>,
) -> Result<Listing, TreeError> {
    let mut baseline = Baseline {
        bounds,
        store,
        stored: BTreeSet::new(),
        entries: BTreeMap::new(),
        modified: BTreeMap::new(),
        odd: BTreeSet::new(),
        bytes: 0,
    };
    let unnamed = walk(root, ignored, bounds, &mut |path, found| match found {
        Found::File(file) => baseline.file(path, file),
        Found::Link(to) => {
            baseline.admit(&path, to.len() as u64)?;
            baseline.entries.insert(path, Entry::Link { to });
            Ok(())
        }
        Found::Odd(why) => baseline.odd(path, why),
    })?;
    baseline.odd.extend(unnamed);
    Ok(Listing::new(baseline.entries, baseline.odd)?.dated(baseline.modified))
}

struct Baseline<'a> {
    bounds: Bounds,
    store: &'a mut Store<'a>,
    stored: BTreeSet<Digest>,
    entries: BTreeMap<TreePath, Entry>,
    modified: BTreeMap<TreePath, Timestamp>,
    odd: BTreeSet<Odd>,
    bytes: u64,
}

impl Baseline<'_> {
    /// Refuses what exceeds a bound, before its contents are read.
    fn admit(&mut self, path: &TreePath, bytes: u64) -> Result<(), TreeError> {
        let bounds = self.bounds;
        if bytes > bounds.file_bytes {
            return Err(TreeError::TooLarge {
                path: path.clone(),
                bytes,
                limit: bounds.file_bytes,
            });
        }
        self.bytes += bytes;
        let files = self.entries.len() as u64 + 1;
        for (what, count, limit) in [
            ("files", files, bounds.files),
            ("bytes", self.bytes, bounds.bytes),
        ] {
            if count > limit {
                let place = path.to_string();
                return Err(TreeError::TooMany { place, limit, what });
            }
        }
        Ok(())
    }

    /// Takes a file whose length is the same before and after it is read.
    fn file(&mut self, path: TreePath, file: Unopened<'_>) -> Result<(), TreeError> {
        let opened = match open(&path, file)? {
            Met::There(opened) => opened,
            Met::Odd(why) => return self.odd(path, why),
            Met::Gone => return self.odd(path, Oddity::Changing),
        };
        let bytes = opened.bytes;
        self.admit(&path, bytes)?;
        let read = read(&path, opened, bytes)?;
        let Some(read) = read.filter(|read| read.contents.len() as u64 == bytes) else {
            return self.odd(path, Oddity::Changing);
        };
        if self.stored.insert(read.sha256) {
            (self.store)(read.sha256, &read.contents).map_err(|source| TreeError::Store {
                path: path.clone(),
                source,
            })?;
        }
        self.modified
            .extend(read.modified.map(|at| (path.clone(), at)));
        self.entries.insert(path, read.entry);
        Ok(())
    }

    /// Keeps what can never be part of a tree; what should have been a part of it is an error.
    fn odd(&mut self, path: TreePath, why: Oddity) -> Result<(), TreeError> {
        match why {
            Oddity::Name | Oddity::Pipe | Oddity::Socket | Oddity::Device | Oddity::Target => {
                let place = path.into();
                self.odd.insert(Odd { place, why });
                Ok(())
            }
            Oddity::Unreadable | Oddity::TooLarge | Oddity::TooMuch | Oddity::Changing => {
                Err(TreeError::Odd { path, why })
            }
        }
    }
}

fn open(path: &TreePath, file: Unopened<'_>) -> Result<Met<Opened>, TreeError> {
    file.open().map_err(TreeError::io(path, "open the file"))
}

fn read(path: &TreePath, opened: Opened, limit: u64) -> Result<Option<FileRead>, TreeError> {
    let read = opened.read(limit);
    read.map_err(TreeError::io(path, "read the file"))
}

/// The baseline, and over it the agent's files of the zones.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    pub listing: Listing,
    /// The contents of the files that are not the baseline's.
    pub new_contents: BTreeMap<Digest, Arc<[u8]>>,
    /// What is changed in the zones and cannot be judged, and why; what was there before is gone
    /// too.
    pub left_out: BTreeMap<TreePath, String>,
}

/// A comparison of the working tree with the baseline. Each file is read at most once, so what is
/// reported about it is what was read.
struct Comparison<'a> {
    bounds: Bounds,
    baseline: &'a Listing,
    zones: &'a Zones,
    seen: BTreeSet<TreePath>,
    changed: BTreeMap<TreePath, &'static str>,
    new_bytes: u64,
    /// The changed files of the zones.
    files: BTreeMap<TreePath, Entry>,
    new_contents: BTreeMap<Digest, Arc<[u8]>>,
    left_out: BTreeMap<TreePath, String>,
}

impl Comparison<'_> {
    /// Reads a file of the zones, and keeps it if it differs.
    fn inside(&mut self, path: TreePath, file: Unopened<'_>) -> Result<(), TreeError> {
        let Some(opened) = self.open(&path, file)? else {
            return Ok(());
        };
        let Some(read) = read(&path, opened, self.bounds.file_bytes)? else {
            self.odd(path, Oddity::TooLarge);
            return Ok(());
        };
        let how = difference(self.baseline.get(&path), &read.entry);
        if how.is_some() {
            if how != Some("mode") && !self.new_contents.contains_key(&read.sha256) {
                let new_bytes = self.new_bytes + read.contents.len() as u64;
                if new_bytes > self.bounds.new_bytes {
                    self.odd(path, Oddity::TooMuch);
                    return Ok(());
                }
                self.new_bytes = new_bytes;
                self.new_contents.insert(read.sha256, read.contents.into());
            }
            self.files.insert(path.clone(), read.entry);
        }
        self.saw(path, how);
        Ok(())
    }

    /// Compares a file outside the zones. Its contents matter only if its length is the same.
    fn outside(&mut self, path: TreePath, file: Unopened<'_>) -> Result<(), TreeError> {
        let before = self.baseline.get(&path);
        let Some(Entry::File { bytes, .. }) = before else {
            let how = if before.is_some() { "changed" } else { "added" };
            self.saw(path, Some(how));
            return Ok(());
        };
        let Some(opened) = self.open(&path, file)? else {
            return Ok(());
        };
        let read = if opened.bytes == *bytes {
            read(&path, opened, *bytes)?
        } else {
            None
        };
        let how = read.map_or(Some("changed"), |read| difference(before, &read.entry));
        self.saw(path, how);
        Ok(())
    }

    fn open(&mut self, path: &TreePath, file: Unopened<'_>) -> Result<Option<Opened>, TreeError> {
        match open(path, file)? {
            Met::There(opened) => return Ok(Some(opened)),
            Met::Odd(why) => self.odd(path.clone(), why),
            // It is reported as removed.
            Met::Gone => {}
        }
        Ok(None)
    }

    fn link(&mut self, path: TreePath, to: String) {
        let how = difference(self.baseline.get(&path), &Entry::Link { to });
        if how.is_some() && self.zones.contains(&path) {
            // Its target may be anywhere, and something else tomorrow.
            let why = "a link, which is not followed".to_owned();
            self.left_out.insert(path.clone(), why);
        }
        self.saw(path, how);
    }

    fn odd(&mut self, path: TreePath, why: Oddity) {
        let place = path.to_string();
        if self.baseline.odd().contains(&Odd { place, why }) {
            return;
        }
        if self.zones.contains(&path) {
            let why = format!("something that {why}");
            self.left_out.insert(path.clone(), why);
        }
        self.saw(path, Some("odd"));
    }

    fn saw(&mut self, path: TreePath, how: Option<&'static str>) {
        if let Some(how) = how {
            self.changed.insert(path.clone(), how);
        }
        self.seen.insert(path);
    }

    fn finish(mut self, unnamed: &BTreeSet<Odd>) -> (Snapshot, Vec<Changed>) {
        let known = self.baseline.entries().keys();
        let removed = known.filter(|path| !self.seen.contains(*path));
        self.changed
            .extend(removed.map(|path| (path.clone(), "removed")));
        let zones = self.zones;
        let inside = self.changed.keys().filter(|path| zones.contains(path));
        let mut listing = self.baseline.without(inside);
        for (path, entry) in self.files {
            if let Err(Clash { beneath, above }) = listing.put(path.clone(), entry) {
                let with = if above == path { beneath } else { above };
                // Outside the zones, it is where this needs a folder, or in the folder that this
                // replaces.
                self.left_out.insert(path, format!("in the way of {with}"));
            }
        }
        let left_out = &self.left_out;
        let changed = self
            .changed
            .into_iter()
            .map(|(path, how)| match left_out.get(&path) {
                Some(why) => Changed::unjudged(path, why),
                None => Changed {
                    inside: zones.contains(&path),
                    path: path.into(),
                    how: how.to_owned(),
                },
            });
        let odd = unnamed.difference(self.baseline.odd()).map(|odd| Changed {
            path: odd.place.clone(),
            how: format!("odd: {}", odd.why),
            inside: false,
        });
        let mut all: Vec<_> = changed.chain(odd).collect();
        all.sort_by(|one, two| one.path.cmp(&two.path));
        let snapshot = Snapshot {
            listing,
            new_contents: self.new_contents,
            left_out: self.left_out,
        };
        (snapshot, all)
    }
}

impl Snapshot {
    /// The tree of a listing whose contents are all in the store.
    pub fn of(listing: &Listing) -> Self {
        Self {
            listing: listing.without([]),
            ..Self::default()
        }
    }

    /// The same without any file in the zones: the agent wrote nothing of it.
    pub fn beyond(listing: &Listing, zones: &Zones) -> Self {
        let paths = listing.entries().keys();
        Self {
            listing: listing.without(paths.filter(|path| zones.contains(path))),
            ..Self::default()
        }
    }

    /// These files alone.
    pub fn only(&self, paths: &BTreeSet<TreePath>) -> Result<Self, TreeError> {
        let mut only = Self::default();
        for path in paths {
            if let Some(entry) = self.listing.get(path) {
                only.listing.put(path.clone(), entry.clone())?;
            }
        }
        only.new_contents.clone_from(&self.new_contents);
        Ok(only)
    }

    /// Takes the zones of the working tree over the baseline, and reports every difference.
    pub fn take(
        root: &Path,
        baseline: &Listing,
        zones: &Zones,
        ignored: &Ignored,
    ) -> Result<(Self, Vec<Changed>), TreeError> {
        Self::take_within(BOUNDS, root, baseline, zones, ignored)
    }

    pub(super) fn take_within(
        bounds: Bounds,
        root: &Path,
        baseline: &Listing,
        zones: &Zones,
        ignored: &Ignored,
    ) -> Result<(Self, Vec<Changed>), TreeError> {
        let mut compared = Comparison {
            bounds,
            baseline,
            zones,
            seen: BTreeSet::new(),
            changed: BTreeMap::new(),
            new_bytes: 0,
            files: BTreeMap::new(),
            new_contents: BTreeMap::new(),
            left_out: BTreeMap::new(),
        };
        let unnamed = walk(root, ignored, bounds, &mut |path, found| {
            match found {
                Found::File(file) if zones.contains(&path) => compared.inside(path, file)?,
                Found::File(file) => compared.outside(path, file)?,
                Found::Link(to) => compared.link(path, to),
                Found::Odd(why) => compared.odd(path, why),
            }
            Ok(())
        })?;
        Ok(compared.finish(&unnamed))
    }

    pub fn digest(&self) -> Digest {
        self.listing.digest()
    }

    /// The contents of the file at a path; none if there is no file.
    pub fn read(&self, path: &TreePath, load: &Load<'_>) -> Result<Option<Arc<[u8]>>, TreeError> {
        match self.listing.get(path) {
            Some(Entry::File { sha256, .. }) => self.contents(path, *sha256, load).map(Some),
            Some(Entry::Link { .. }) | None => Ok(None),
        }
    }

    /// Replaces a file's contents, or adds a file; a link or a folder is not replaced.
    pub fn edit(&mut self, path: &TreePath, contents: &[u8]) -> Result<(), String> {
        let executable = match self.listing.get(path) {
            Some(Entry::File { executable, .. }) => *executable,
            Some(Entry::Link { .. }) => return Err(format!("{path} is a link, and is not edited")),
            None => false,
        };
        let sha256 = Digest::of(contents);
        let entry = Entry::File {
            sha256,
            bytes: contents.len() as u64,
            executable,
        };
        let put = self.listing.put(path.clone(), entry);
        put.map_err(|clash| clash.to_string())?;
        self.new_contents.insert(sha256, contents.into());
        Ok(())
    }

    pub fn remove(&mut self, path: &TreePath) {
        self.left_out.remove(path);
        self.listing.remove([path]);
    }

    /// Refuses a tree that has more than a tree may have; `with` names what was added to it.
    pub(super) fn check_size(&self, with: &str) -> Result<(), TreeError> {
        let entries = self.listing.entries();
        let bytes = entries.values().map(|entry| match entry {
            Entry::File { bytes, .. } => *bytes,
            Entry::Link { to } => to.len() as u64,
        });
        let files = (entries.len() as u64, BOUNDS.files);
        let bytes = (bytes.sum::<u64>(), BOUNDS.bytes);
        for (what, (count, limit)) in [("files", files), ("bytes", bytes)] {
            if count > limit {
                let place = with.to_owned();
                return Err(TreeError::TooMany { place, limit, what });
            }
        }
        Ok(())
    }

    // The store is a folder that the agent may be able to write to, so the digest is checked.
    fn contents(
        &self,
        path: &TreePath,
        sha256: Digest,
        load: &Load<'_>,
    ) -> Result<Arc<[u8]>, TreeError> {
        if let Some(contents) = self.new_contents.get(&sha256) {
            return Ok(Arc::clone(contents));
        }
        let why = match load(sha256) {
            Ok(Some(contents)) if Digest::of(&contents) == sha256 => return Ok(contents.into()),
            Ok(Some(_)) => "were changed in the store".to_owned(),
            Ok(None) => "are not in the store".to_owned(),
            Err(error) => format!("cannot be read from the store: {error}"),
        };
        Err(TreeError::Contents {
            path: path.clone(),
            sha256,
            why,
        })
    }

    /// Writes the snapshot into an empty folder. Files of the baseline keep their dates, and those
    /// that changed have a later one, so that what is made from them is made again. Returns the links that lead out of it, or in a
    /// circle, which are left out.
    pub fn write_to(&self, dir: &Path, load: &Load<'_>) -> Result<Vec<TreePath>, TreeError> {
        let root = Dir::open_ambient_dir(dir, ambient_authority())
            .map_err(TreeError::io(dir.display(), "open the folder"))?;
        let mut made = BTreeSet::new();
        let mut links = Vec::new();
        let later = self.listing.later();
        for (path, entry) in self.listing.entries() {
            let failed = |error| TreeError::io(path, "write the copy")(error);
            if let Some(folder) = path.parent()
                && !made.contains(&folder)
            {
                root.create_dir_all(folder.as_str()).map_err(failed)?;
                made.insert(folder);
            }
            match entry {
                Entry::File {
                    sha256, executable, ..
                } => {
                    let contents = self.contents(path, *sha256, load)?;
                    let modified = self.listing.modified(path).or(later);
                    write_file(&root, path.as_str(), &contents, *executable, modified)
                        .map_err(failed)?;
                }
                Entry::Link { to } => {
                    root.symlink_contents(to, path.as_str()).map_err(failed)?;
                    links.push(path.clone());
                }
            }
        }
        // Asked once all links are there, because a link may lead through others.
        links.retain(|link| leads_out(&root, link));
        for link in &links {
            root.remove_file(link.as_str())
                .map_err(TreeError::io(link, "write the copy"))?;
        }
        Ok(links)
    }
}

/// Whether a link leads out of a folder or in a circle. `Dir` resolves nothing outside of its
/// folder, and reports that as an error of its own; a link may lead to a name that is not there.
fn leads_out(root: &Dir, link: &TreePath) -> bool {
    root.metadata(link.as_str()).is_err_and(|error| {
        !matches!(
            error.kind(),
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
        )
    })
}

pub(super) fn write_file(
    root: &Dir,
    path: &str,
    contents: &[u8],
    executable: bool,
    modified: Option<Timestamp>,
) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    let mut file = root.open_with(path, &options)?;
    file.write_all(contents)?;
    // Whatever the umask of this process is, so that every copy is the same.
    let mode = if executable { 0o755 } else { 0o644 };
    file.set_permissions(Permissions::from_mode(mode))?;
    match modified {
        Some(modified) => file.into_std().set_modified(modified.into()),
        None => Ok(()),
    }
}
