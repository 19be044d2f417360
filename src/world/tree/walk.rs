//! The only code that reads a working tree.
//!
//! The agent may replace any name at any moment. Every name is therefore opened relative to the
//! handle of its folder, without following a link, and checked again after it was opened.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _};
use std::path::Path;

use cap_fs_ext::{
    DirExt as _, FileTypeExt as _, FollowSymlinks, OpenOptionsFollowExt as _,
    OpenOptionsSyncExt as _,
};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, FileType, Metadata, MetadataExt as _, OpenOptions};
use jiff::Timestamp;

use super::ignored::{Gitignores, Ignored};
use super::listing::{Entry, Odd, Oddity, TreeError, TreePath};
use crate::base::Digest;

/// What a tree may contain at most.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    pub files: u64,
    pub bytes: u64,
    pub file_bytes: u64,
    /// Names in all folders that are opened, including ignored ones.
    pub names: u64,
    /// Bytes of the changed files that a snapshot holds.
    pub new_bytes: u64,
    /// Bytes of all `.gitignore` files, which the session's settings contain.
    pub rule_bytes: u64,
}

pub const BOUNDS: Bounds = Bounds {
    files: 100_000,
    bytes: 1 << 30,
    file_bytes: 64 << 20,
    names: 500_000,
    new_bytes: 256 << 20,
    rule_bytes: 1 << 20,
};

pub(super) enum Found<'a> {
    File(Unopened<'a>),
    Link(String),
    Odd(Oddity),
}

/// What opening a name led to.
pub(super) enum Met<T> {
    There(T),
    /// It cannot be read, or it became something else after it was listed.
    Odd(Oddity),
    Gone,
}

#[derive(Clone, Copy)]
pub(super) struct Unopened<'a> {
    pub(super) dir: &'a Dir,
    pub(super) name: &'a OsStr,
}

pub(super) struct Opened {
    file: File,
    /// The length at the time of opening.
    pub(super) bytes: u64,
    executable: bool,
    modified: Option<Timestamp>,
}

impl Unopened<'_> {
    pub(super) fn open(self) -> io::Result<Met<Opened>> {
        let mut options = OpenOptions::new();
        options.read(true).follow(FollowSymlinks::No);
        // Opening a pipe that took the file's place would block otherwise.
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
            executable: metadata.mode() & 0o100 != 0,
            modified: modified(&metadata),
            file,
        }))
    }

    pub(super) fn open_dir(self) -> io::Result<Met<Dir>> {
        match self.dir.open_dir_nofollow(self.name) {
            Ok(dir) => Ok(Met::There(dir)),
            Err(error) => self.instead(error, Metadata::is_dir),
        }
    }

    pub(super) fn read_link(self) -> io::Result<Met<String>> {
        match self.dir.read_link_contents(self.name) {
            Ok(to) => Ok(match to.into_os_string().into_string() {
                Ok(to) => Met::There(to),
                Err(_) => Met::Odd(Oddity::Target),
            }),
            Err(error) => self.instead(error, Metadata::is_symlink),
        }
    }

    // The error counts only if the name is still what it was when its folder was listed.
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

fn modified(metadata: &Metadata) -> Option<Timestamp> {
    let modified = metadata.modified().ok()?;
    modified.into_std().try_into().ok()
}

/// A file as it was when it was read.
#[derive(Debug)]
pub(super) struct FileRead {
    pub(super) entry: Entry,
    pub(super) sha256: Digest,
    /// None for a date that no timestamp has.
    pub(super) modified: Option<Timestamp>,
    pub(super) contents: Vec<u8>,
}

impl Opened {
    /// Reads the file; none if it has more than `limit` bytes.
    pub(super) fn read(self, limit: u64) -> io::Result<Option<FileRead>> {
        if self.bytes > limit {
            return Ok(None);
        }
        let mut contents = Vec::with_capacity(usize::try_from(self.bytes).unwrap_or(0) + 1);
        // It may grow while it is read.
        self.file.take(limit + 1).read_to_end(&mut contents)?;
        let bytes = contents.len() as u64;
        if bytes > limit {
            return Ok(None);
        }
        let sha256 = Digest::of(&contents);
        let entry = Entry::File {
            sha256,
            bytes,
            executable: self.executable,
        };
        Ok(Some(FileRead {
            entry,
            sha256,
            modified: self.modified,
            contents,
        }))
    }
}

pub(super) type Visit<'a> = dyn FnMut(TreePath, Found<'_>) -> Result<(), TreeError> + 'a;

const GITIGNORE: &str = ".gitignore";

struct Folder {
    dir: Dir,
    path: Option<TreePath>,
    names: std::vec::IntoIter<(OsString, FileType)>,
}

struct Walk<'a> {
    ignored: Cow<'a, Ignored>,
    /// The `.gitignore` files that were read; none if the rules are known before.
    gitignores: Option<Gitignores>,
    bounds: Bounds,
    names: u64,
    unnamed: BTreeSet<Odd>,
    visit: &'a mut Visit<'a>,
}

/// Visits everything in a tree that is not ignored, in the order of the paths. Returns the names
/// that no path can express.
pub(super) fn walk<'a>(
    root: &Path,
    ignored: &'a Ignored,
    bounds: Bounds,
    visit: &'a mut Visit<'a>,
) -> Result<BTreeSet<Odd>, TreeError> {
    let mut walk = Walk::new(ignored, bounds, visit);
    walk.run(root)?;
    Ok(walk.unnamed)
}

/// Reads the `.gitignore` files of a tree, except in folders that `ignored` or one of them ignores.
pub fn read_gitignores(root: &Path, ignored: &Ignored) -> Result<Gitignores, TreeError> {
    read_gitignores_within(BOUNDS, root, ignored)
}

/// The paths of the files and links that are not ignored.
pub fn list_paths(root: &Path, ignored: &Ignored) -> Result<BTreeSet<TreePath>, TreeError> {
    let mut paths = BTreeSet::new();
    walk(root, ignored, BOUNDS, &mut |path, found| {
        if !matches!(found, Found::Odd(_)) {
            paths.insert(path);
        }
        Ok(())
    })?;
    Ok(paths)
}

pub(super) fn read_gitignores_within(
    bounds: Bounds,
    root: &Path,
    ignored: &Ignored,
) -> Result<Gitignores, TreeError> {
    let visit = &mut |_, _: Found<'_>| Ok(());
    let mut walk = Walk::new(ignored, bounds, visit);
    walk.gitignores = Some(Gitignores::new());
    walk.run(root)?;
    Ok(walk.gitignores.unwrap_or_default())
}

impl<'a> Walk<'a> {
    fn new(ignored: &'a Ignored, bounds: Bounds, visit: &'a mut Visit<'a>) -> Self {
        Self {
            ignored: Cow::Borrowed(ignored),
            gitignores: None,
            bounds,
            names: 0,
            unnamed: BTreeSet::new(),
            visit,
        }
    }

    fn run(&mut self, root: &Path) -> Result<(), TreeError> {
        let dir = Dir::open_ambient_dir(root, ambient_authority())
            .map_err(TreeError::io(root.display(), "open the tree"))?;
        // A stack of its own: a tree that is nested deeply must not overflow the thread's.
        let mut open: Vec<Folder> = self.folder(dir, None)?.into_iter().collect();
        while let Some(folder) = open.last_mut() {
            match folder.names.next() {
                Some((name, kind)) => {
                    let deeper = self.look_at(folder, &name, kind)?;
                    open.extend(deeper);
                }
                None => {
                    open.pop();
                }
            }
        }
        Ok(())
    }

    /// Visits one name; a folder to walk through is returned.
    fn look_at(
        &mut self,
        folder: &Folder,
        name: &OsStr,
        kind: FileType,
    ) -> Result<Option<Folder>, TreeError> {
        let within = folder.path.as_ref();
        let path = name.to_str().and_then(|name| match within {
            None => TreePath::parse(name).ok(),
            Some(folder) => TreePath::parse(&format!("{folder}/{name}")).ok(),
        });
        let Some(path) = path else {
            let place = place_of(within, name);
            let why = Oddity::Name;
            self.unnamed.insert(Odd { place, why });
            return Ok(None);
        };
        let dir = &folder.dir;
        let at = Unopened { dir, name };
        if kind.is_dir() {
            return self.enter(at, path);
        }
        if self.ignored.rule_at(&path, false).is_some() {
            return Ok(None);
        }
        let found = if kind.is_file() {
            Found::File(at)
        } else if kind.is_symlink() {
            let read = at.read_link();
            match read.map_err(TreeError::io(&path, "read the link"))? {
                Met::There(to) => Found::Link(to),
                Met::Odd(why) => Found::Odd(why),
                Met::Gone => return Ok(None),
            }
        } else if kind.is_fifo() {
            Found::Odd(Oddity::Pipe)
        } else if kind.is_socket() {
            Found::Odd(Oddity::Socket)
        } else {
            Found::Odd(Oddity::Device)
        };
        (self.visit)(path, found)?;
        Ok(None)
    }

    fn enter(&mut self, at: Unopened<'_>, path: TreePath) -> Result<Option<Folder>, TreeError> {
        if self.ignored.rule_at(&path, true).is_some() {
            return Ok(None);
        }
        let failed = |error| TreeError::io(&path, "open the folder")(error);
        match at.open_dir().map_err(failed)? {
            Met::There(dir) => {
                let found = dir.dir_metadata().map_err(failed)?;
                if self.ignored.is_apart(&found) {
                    return Ok(None);
                }
                self.folder(dir, Some(path))
            }
            Met::Odd(why) => {
                (self.visit)(path, Found::Odd(why))?;
                Ok(None)
            }
            Met::Gone => Ok(None),
        }
    }

    /// Lists a folder, sorted; none if it may not be read.
    fn folder(&mut self, dir: Dir, path: Option<TreePath>) -> Result<Option<Folder>, TreeError> {
        let place = path.as_ref().map_or(".", TreePath::as_str).to_owned();
        let failed = |error| TreeError::io(&place, "list the folder")(error);
        let entries = match (dir.entries(), &path) {
            (Ok(entries), _) => entries,
            (Err(error), Some(path)) if error.kind() == io::ErrorKind::PermissionDenied => {
                (self.visit)(path.clone(), Found::Odd(Oddity::Unreadable))?;
                return Ok(None);
            }
            (Err(error), _) => return Err(failed(error)),
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(failed)?;
            self.names += 1;
            if self.names > self.bounds.names {
                return Err(TreeError::TooMany {
                    place,
                    limit: self.bounds.names,
                    what: "names",
                });
            }
            let name = entry.file_name();
            if name == ".git" {
                continue;
            }
            match entry.file_type() {
                Ok(kind) => names.push((name, kind)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(failed(error)),
            }
        }
        names.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        if names
            .iter()
            .any(|(name, kind)| name == GITIGNORE && kind.is_file())
        {
            let name = OsStr::new(GITIGNORE);
            self.read_rules(Unopened { dir: &dir, name }, path.as_ref())?;
        }
        Ok(Some(Folder {
            dir,
            path,
            names: names.into_iter(),
        }))
    }

    /// Reads a folder's rules before anything in the folder is visited.
    fn read_rules(&mut self, at: Unopened<'_>, folder: Option<&TreePath>) -> Result<(), TreeError> {
        let path = folder.map_or_else(
            || TreePath::parse(GITIGNORE),
            |folder| TreePath::parse(&format!("{folder}/{GITIGNORE}")),
        );
        let (Some(read), Ok(path)) = (&mut self.gitignores, path) else {
            return Ok(());
        };
        if self.ignored.listed_at(&path, false).is_some() {
            return Ok(());
        }
        let opened = match at.open().map_err(TreeError::io(&path, "open the file"))? {
            Met::There(opened) => opened,
            Met::Odd(why) => return Err(TreeError::Odd { path, why }),
            Met::Gone => return Ok(()),
        };
        let used: usize = read.values().map(String::len).sum();
        let limit = self.bounds.rule_bytes;
        let rules = opened.read(limit.saturating_sub(used as u64));
        let Some(rules) = rules.map_err(TreeError::io(&path, "read the file"))? else {
            return Err(TreeError::TooMany {
                place: path.to_string(),
                limit,
                what: "bytes of ignore rules",
            });
        };
        // Every path of a tree is UTF-8, so a rule that is not can match none.
        let text = String::from_utf8_lossy(&rules.contents).into_owned();
        self.ignored.to_mut().obey(&path, &text);
        read.insert(path, text);
        Ok(())
    }
}

#[expect(
    clippy::unnecessary_debug_formatting,
    reason = "escaped, so that nothing in the name reaches a terminal as it is"
)]
fn place_of(folder: Option<&TreePath>, name: &OsStr) -> String {
    match folder {
        None => format!("{name:?}"),
        Some(folder) => format!("{folder}/{name:?}"),
    }
}
