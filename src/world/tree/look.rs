//! One look at the working tree, held against the baseline.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use cap_fs_ext::{
    DirExt as _, FileTypeExt as _, FollowSymlinks, OpenOptionsFollowExt as _,
    OpenOptionsSyncExt as _,
};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, FileType, Metadata, OpenOptions};

use super::error::TreeError;
use super::listing::{Change, ChangeKind, Changes, Entry, Listing, Odd, Oddity};
use super::path::TreePath;
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

/// What came of opening a name.
pub(super) enum Met<T> {
    /// What was asked for.
    There(T),
    /// Something that cannot be read, or became something else meanwhile.
    Odd(Oddity),
    /// Nothing: it was removed meanwhile.
    Gone,
}

/// A file's name in its folder.
#[derive(Clone, Copy)]
pub(super) struct Unopened<'a> {
    pub(super) dir: &'a Dir,
    pub(super) name: &'a OsStr,
}

/// An opened file.
pub(super) struct Opened {
    file: File,
    /// Its length when it was opened.
    pub(super) bytes: u64,
    pub(super) executable: bool,
}

impl Unopened<'_> {
    /// Opens the file.
    pub(super) fn open(self) -> io::Result<Met<Opened>> {
        let mut options = OpenOptions::new();
        options.read(true).follow(FollowSymlinks::No);
        // A pipe that took the file's place is not waited for.
        options.nonblock(true);
        let file = match self.dir.open_with(self.name, &options) {
            Ok(file) => file,
            Err(error) => return self.instead(error, Metadata::is_file),
        };
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Ok(Met::Odd(Oddity::Changing));
        }
        Ok(Met::There(Opened {
            bytes: metadata.len(),
            executable: is_executable(&metadata),
            file,
        }))
    }

    /// Opens the name as a folder.
    pub(super) fn open_dir(self) -> io::Result<Met<Dir>> {
        match self.dir.open_dir_nofollow(self.name) {
            Ok(dir) => Ok(Met::There(dir)),
            Err(error) => self.instead(error, Metadata::is_dir),
        }
    }

    /// What the name, a link, says.
    pub(super) fn read_link(self) -> io::Result<Met<String>> {
        match self.dir.read_link_contents(self.name) {
            Ok(to) => Ok(match to.into_os_string().into_string() {
                Ok(to) => Met::There(to),
                Err(_) => Met::Odd(Oddity::Target),
            }),
            Err(error) => self.instead(error, Metadata::is_symlink),
        }
    }

    /// What an error says of the name: the error itself, where the name is still what it was.
    fn instead<T>(self, error: io::Error, is_still: fn(&Metadata) -> bool) -> io::Result<Met<T>> {
        match error.kind() {
            io::ErrorKind::NotFound => return Ok(Met::Gone),
            io::ErrorKind::PermissionDenied => return Ok(Met::Odd(Oddity::Unreadable)),
            _ => {}
        }
        match self.dir.symlink_metadata(self.name) {
            Ok(metadata) if is_still(&metadata) => Err(error),
            Ok(_) => Ok(Met::Odd(Oddity::Changing)),
            Err(gone) if gone.kind() == io::ErrorKind::NotFound => Ok(Met::Gone),
            Err(_) => Err(error),
        }
    }
}

impl Opened {
    /// Its contents; none when there are more than `limit` bytes.
    pub(super) fn read(self, limit: u64) -> io::Result<Option<Vec<u8>>> {
        if self.bytes > limit {
            return Ok(None);
        }
        let mut contents = Vec::with_capacity(usize::try_from(self.bytes).unwrap_or(0) + 1);
        // It may grow while it is read.
        self.file.take(limit + 1).read_to_end(&mut contents)?;
        Ok((contents.len() as u64 <= limit).then_some(contents))
    }
}

#[cfg(unix)]
fn is_executable(metadata: &Metadata) -> bool {
    use cap_std::fs::MetadataExt as _;
    metadata.mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &Metadata) -> bool {
    false
}

/// What a walk finds at a path.
pub(super) enum Found<'a> {
    File(Unopened<'a>),
    Link(String),
    Odd(Oddity),
}

/// Takes what a walk finds.
pub(super) type Visit<'a> = dyn FnMut(TreePath, Found<'_>) -> Result<(), TreeError> + 'a;

/// A folder, and the names in it that were not looked at as yet.
struct Folder {
    dir: Dir,
    path: Option<TreePath>,
    names: std::vec::IntoIter<(OsString, FileType)>,
}

/// A walk under way.
struct Walk<'a> {
    ignored: &'a Ignored,
    bounds: Bounds,
    names: usize,
    unnamed: BTreeSet<Odd>,
    visit: &'a mut Visit<'a>,
}

/// Hands on all that is in a tree and is not left out; returns what no path can name.
pub(super) fn walk<'a>(
    root: &Path,
    ignored: &'a Ignored,
    bounds: Bounds,
    visit: &'a mut Visit<'a>,
) -> Result<BTreeSet<Odd>, TreeError> {
    let dir = Dir::open_ambient_dir(root, ambient_authority())
        .map_err(TreeError::io(root.display(), "open the tree"))?;
    let mut walk = Walk {
        ignored,
        bounds,
        names: 0,
        unnamed: BTreeSet::new(),
        visit,
    };
    let root = walk.folder(dir, None)?;
    let mut on_the_way: Vec<Folder> = root.into_iter().collect();
    while let Some(folder) = on_the_way.last_mut() {
        match folder.names.next() {
            Some((name, kind)) => {
                let deeper = walk.look_at(folder, &name, kind)?;
                on_the_way.extend(deeper);
            }
            None => {
                on_the_way.pop();
            }
        }
    }
    Ok(walk.unnamed)
}

impl Walk<'_> {
    /// Looks at one name; a folder to be looked into is returned.
    fn look_at(
        &mut self,
        folder: &Folder,
        name: &OsStr,
        kind: FileType,
    ) -> Result<Option<Folder>, TreeError> {
        let Some(path) = path_of(folder.path.as_ref(), name) else {
            self.unnamed.insert(Odd {
                place: place_of(folder.path.as_ref(), name),
                why: Oddity::Name,
            });
            return Ok(None);
        };
        let at = Unopened {
            dir: &folder.dir,
            name,
        };
        if kind.is_dir() {
            return self.enter(at, path);
        }
        if self.ignored.names(&path) {
            return Ok(None);
        }
        let found = match kind {
            kind if kind.is_file() => Found::File(at),
            kind if kind.is_symlink() => {
                match at
                    .read_link()
                    .map_err(TreeError::io(&path, "read the link"))?
                {
                    Met::There(to) => Found::Link(to),
                    Met::Odd(why) => Found::Odd(why),
                    Met::Gone => return Ok(None),
                }
            }
            kind if kind.is_fifo() => Found::Odd(Oddity::Pipe),
            kind if kind.is_socket() => Found::Odd(Oddity::Socket),
            _ => Found::Odd(Oddity::Device),
        };
        (self.visit)(path, found)?;
        Ok(None)
    }

    /// Opens a folder that is not left out.
    fn enter(&mut self, at: Unopened<'_>, path: TreePath) -> Result<Option<Folder>, TreeError> {
        if self.ignored.is_whole(&path) {
            return Ok(None);
        }
        match at
            .open_dir()
            .map_err(TreeError::io(&path, "open the folder"))?
        {
            Met::There(dir) => self.folder(dir, Some(path)),
            Met::Odd(why) => {
                (self.visit)(path, Found::Odd(why))?;
                Ok(None)
            }
            Met::Gone => Ok(None),
        }
    }

    /// The folder with its names, in the order of their bytes; none that may not be read.
    fn folder(&mut self, dir: Dir, path: Option<TreePath>) -> Result<Option<Folder>, TreeError> {
        let place = || {
            path.as_ref()
                .map_or_else(|| ".".to_owned(), TreePath::to_string)
        };
        let mut names = Vec::new();
        let entries = match (dir.entries(), &path) {
            (Ok(entries), _) => entries,
            (Err(error), Some(path)) if error.kind() == io::ErrorKind::PermissionDenied => {
                (self.visit)(path.clone(), Found::Odd(Oddity::Unreadable))?;
                return Ok(None);
            }
            (Err(error), _) => return Err(TreeError::io(place(), "list the folder")(error)),
        };
        for entry in entries {
            let entry = entry.map_err(TreeError::io(place(), "list the folder"))?;
            self.names += 1;
            if self.names > self.bounds.names {
                return Err(TreeError::Names {
                    place: place(),
                    limit: self.bounds.names,
                });
            }
            let name = entry.file_name();
            if name == ".git" {
                continue;
            }
            match entry.file_type() {
                Ok(kind) => names.push((name, kind)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(TreeError::io(place(), "list the folder")(error)),
            }
        }
        names.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        Ok(Some(Folder {
            dir,
            path,
            names: names.into_iter(),
        }))
    }
}

/// The path of a name in a folder, where one can be written.
fn path_of(folder: Option<&TreePath>, name: &OsStr) -> Option<TreePath> {
    let name = name.to_str()?;
    match folder {
        None => TreePath::parse(name).ok(),
        Some(folder) => TreePath::parse(&format!("{folder}/{name}")).ok(),
    }
}

/// Where a name stands that has no path, for people.
#[expect(
    clippy::unnecessary_debug_formatting,
    reason = "escaped, so that nothing in the name is printed as it is"
)]
fn place_of(folder: Option<&TreePath>, name: &OsStr) -> String {
    match folder {
        None => format!("{name:?}"),
        Some(folder) => format!("{folder}/{name:?}"),
    }
}

/// The links on one way that a system follows before it gives up.
const HOPS: usize = 40;

/// Whether a link, with all links on its way, leads to a place in the tree.
///
/// The way is gone name by name, as a system does: `..` after a link leaves the folder that the
/// link leads to, so a text that looks harmless may lead out.
pub(super) fn stays_inside(listing: &Listing, link: &TreePath, to: &str) -> bool {
    let mut at: Vec<&str> = link.names().collect();
    at.pop();
    let mut ahead = Vec::new();
    if to.is_empty() || !go(&mut ahead, to) {
        return false;
    }
    let mut hops = 0;
    while let Some(name) = ahead.pop() {
        match name {
            "" | "." => {}
            ".." => {
                if at.pop().is_none() {
                    return false;
                }
            }
            name => {
                at.push(name);
                if let Some(to) = link_at(listing, &at) {
                    at.pop();
                    hops += 1;
                    if hops > HOPS || !go(&mut ahead, to) {
                        return false;
                    }
                }
            }
        }
    }
    true
}

/// Puts the names of a link before those ahead; not those of one that begins anew.
fn go<'a>(ahead: &mut Vec<&'a str>, to: &'a str) -> bool {
    ahead.extend(to.split('/').rev());
    !to.starts_with('/')
}

fn link_at<'a>(listing: &'a Listing, names: &[&str]) -> Option<&'a str> {
    match listing.get(&TreePath::parse(&names.join("/")).ok()?)? {
        Entry::Link { to } => Some(to),
        Entry::File { .. } => None,
    }
}

/// What a tree may have at most.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Files and links.
    pub files: usize,
    /// Bytes of all files.
    pub bytes: u64,
    /// Bytes of one file.
    pub file_bytes: u64,
    /// Names in all folders that are looked into, in the tree or not.
    pub names: usize,
    /// Bytes of the changed files that a snapshot holds.
    pub taken_bytes: u64,
}

/// The bounds of every tree.
pub const BOUNDS: Bounds = Bounds {
    files: 100_000,
    bytes: 1 << 30,
    file_bytes: 64 << 20,
    names: 500_000,
    taken_bytes: 256 << 20,
};

/// What a baseline has so far.
#[derive(Debug)]
pub(super) struct Tally {
    bounds: Bounds,
    files: usize,
    bytes: u64,
}

impl Tally {
    pub(super) fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            files: 0,
            bytes: 0,
        }
    }

    /// Lets a file in, or says which bound it is over; its contents need not be read before.
    pub(super) fn admit(&mut self, path: &TreePath, bytes: u64) -> Result<(), TreeError> {
        if bytes > self.bounds.file_bytes {
            return Err(TreeError::TooLarge {
                path: path.clone(),
                bytes,
                limit: self.bounds.file_bytes,
            });
        }
        self.files += 1;
        if self.files > self.bounds.files {
            return Err(TreeError::TooMany {
                path: path.clone(),
                limit: self.bounds.files,
            });
        }
        self.bytes += bytes;
        if self.bytes > self.bounds.bytes {
            return Err(TreeError::TooMuch {
                path: path.clone(),
                limit: self.bounds.bytes,
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_tree::{TestTree, link, make_pipe};
    use super::*;
    use cap_std::ambient_authority;
    use std::collections::BTreeSet;
    use std::fs;

    fn said<T>(met: io::Result<Met<T>>) -> Option<Oddity> {
        match met.unwrap() {
            Met::There(_) => unreachable!("nothing can be opened there"),
            Met::Odd(why) => Some(why),
            Met::Gone => None,
        }
    }

    /// What stands at a name is not what it was when the folder was listed.
    #[test]
    fn what_became_something_else_is_neither_followed_nor_waited_for() {
        let tree = TestTree::of(&["file", "dir/a"]);
        link("file", tree.at("to-file"));
        link("dir", tree.at("to-dir"));
        make_pipe(&tree.at("pipe"));
        let dir = Dir::open_ambient_dir(tree.root(), ambient_authority()).unwrap();
        let at = |name| Unopened {
            dir: &dir,
            name: OsStr::new(name),
        };
        for name in ["to-file", "to-dir", "pipe", "dir"] {
            assert_eq!(said(at(name).open()), Some(Oddity::Changing), "{name}");
        }
        for name in ["to-file", "to-dir", "pipe", "file"] {
            assert_eq!(said(at(name).open_dir()), Some(Oddity::Changing), "{name}");
        }
        for name in ["pipe", "dir", "file"] {
            assert_eq!(said(at(name).read_link()), Some(Oddity::Changing), "{name}");
        }
        assert_eq!(said(at("gone").open()), None);
        assert_eq!(said(at("gone").open_dir()), None);
        assert_eq!(said(at("gone").read_link()), None);
    }

    #[test]
    fn a_file_that_grows_is_not_read_past_the_bound() {
        let tree = TestTree::of(&["file"]);
        let dir = Dir::open_ambient_dir(tree.root(), ambient_authority()).unwrap();
        let name = OsStr::new("file");
        let Met::There(opened) = (Unopened { dir: &dir, name }).open().unwrap() else {
            unreachable!("the file is there");
        };
        fs::write(tree.at("file"), "longer").unwrap();
        assert_eq!(opened.bytes, 4);
        assert_eq!(opened.read(5).unwrap(), None);
    }

    fn stays(link: &str, links: &[(&str, &str)]) -> bool {
        let path = |text: &str| TreePath::parse(text).unwrap();
        let entries = links.iter().map(|(from, to)| {
            let to = (*to).to_owned();
            (path(from), Entry::Link { to })
        });
        let listing = Listing::new(entries.collect(), BTreeSet::new()).unwrap();
        let link = path(link);
        let Some(Entry::Link { to }) = listing.get(&link).cloned() else {
            unreachable!("the link is one of the links");
        };
        stays_inside(&listing, &link, &to)
    }

    #[test]
    fn follows_names_and_links() {
        assert!(stays("a/l", &[("a/l", "../b/c")]));
        assert!(stays("l", &[("l", ".")]));
        assert!(stays("a/b/l", &[("a/b/l", "../..")]));
        assert!(stays("l", &[("l", "m/x"), ("m", "n"), ("n", "gone")]));
        assert!(!stays("l", &[("l", "/etc/passwd")]));
        assert!(!stays("l", &[("l", "..")]));
        assert!(!stays("a/l", &[("a/l", "../b/../../c")]));
        assert!(!stays("l", &[("l", "m/x"), ("m", "/etc")]));
        assert!(!stays("l", &[("l", "")]));
    }

    #[test]
    fn upwards_is_from_where_a_link_leads() {
        // `d/e/m` is the root, so what looks like `d/..` is two folders above it.
        assert!(!stays("l", &[("l", "d/e/m/../.."), ("d/e/m", "../..")]));
        assert!(stays("l", &[("l", "m/../.."), ("m", "d/e")]));
    }

    #[test]
    fn a_circle_leads_nowhere() {
        assert!(!stays("l", &[("l", "l")]));
        assert!(!stays("l", &[("l", "m"), ("m", "l/x")]));
    }
}
