//! Looking at everything in a tree, without following a link.
//!
//! A folder is opened from the handle of the folder that it was found in, so a folder that a link
//! replaces is not entered, wherever on the way it lies. The folders on the way are kept in a
//! list and not on the stack; [`MAX_DEPTH`](super::path::MAX_DEPTH) bounds them.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;

use cap_fs_ext::FileTypeExt as _;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, FileType};

use super::bounds::Bounds;
use super::entry::{Odd, Oddity};
use super::error::TreeError;
use super::met::{Met, Unopened};
use super::path::TreePath;
use super::zones::Ignored;

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
