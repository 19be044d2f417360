//! Opening what stands in a folder, without following a link and without waiting.
//!
//! Whoever works in the tree may replace anything at any time, so each name is opened from a
//! handle of its folder, and what was opened is asked what it is.

use std::ffi::OsStr;
use std::io::{self, Read as _};

use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::fs::{Dir, File, Metadata, OpenOptions};

use super::entry::Oddity;

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

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;

    use cap_std::ambient_authority;

    use super::super::test_tree::{TestTree, link, make_pipe};
    use super::*;

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
}
