//! Opens regular files only, and writes files atomically.
//!
//! An agent could put a pipe or a device where comail expects a file, and reading it could block
//! forever, so both are refused.
//!
//! Writing goes to a temporary file in the destination's directory, which is flushed to the disk and
//! renamed. A failure before the rename leaves the destination unchanged.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{BufWriter, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::{fs, io};

use cap_fs_ext::DirExt as _;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use tempfile::TempDir;

/// A new directory that only its owner can enter, and that is removed with the value.
pub fn private_dir(prefix: &str, parent: &Path) -> io::Result<TempDir> {
    tempfile::Builder::new()
        .permissions(fs::Permissions::from_mode(0o700))
        .prefix(prefix)
        .tempdir_in(parent)
}

pub fn open(path: &Path) -> io::Result<File> {
    open_with(OpenOptions::new().read(true), path)
}

pub fn open_with(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    // Opening a pipe would wait until somebody writes to it.
    options.custom_flags(nix::fcntl::OFlag::O_NONBLOCK.bits());
    match options.open(path) {
        Ok(file) if file.metadata()?.is_file() => Ok(file),
        Ok(_) => Err(not_regular()),
        // This error says more than that of `open`.
        Err(_) if fs::metadata(path).is_ok_and(|found| !found.is_file()) => Err(not_regular()),
        Err(error) => Err(error),
    }
}

pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    whole(open(path)?, most)
}

pub fn whole(file: File, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let why = format!("it is longer than {most} bytes, the limit for such a file");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
    }
    Ok(bytes)
}

pub fn metadata(path: &Path) -> io::Result<Metadata> {
    let found = fs::metadata(path)?;
    if found.is_file() {
        Ok(found)
    } else {
        Err(not_regular())
    }
}

/// Whether `path` exists and is not a regular file. A dangling link counts.
pub fn is_other(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok() && metadata(path).is_err()
}

fn not_regular() -> io::Error {
    let why = "it is not a regular file; remove it, or restore the file from a copy";
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

/// What happens to a file that already exists at the destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overwrite {
    Never,
    Replace,
    /// Like `Replace`, but refuses any symbolic link.
    ReplaceNoLink,
}

#[derive(Debug, thiserror::Error)]
pub enum AtomicError {
    #[error("{0} exists already; choose another name, or replace it with --force")]
    Exists(PathBuf),
    #[error("{0} is the source itself, which is never overwritten; choose another name")]
    Source(PathBuf),
    #[error("{0} is a directory, a device or a pipe; name a file to write")]
    NotAFile(PathBuf),
    #[error(
        "{0} is a symbolic link, which is not followed here; remove it, or name another directory"
    )]
    Link(PathBuf),
    #[error("there is no directory {0}; create it, or choose another path")]
    NoDirectory(PathBuf),
    #[error("could not {step} {path}, and nothing was left there; {hint}")]
    Io {
        step: &'static str,
        path: PathBuf,
        hint: &'static str,
        source: io::Error,
    },
    /// The file is in place, but its directory entry may be lost if power fails.
    #[error("{path} is written, but its directory could not be flushed to the disk")]
    Unflushed { path: PathBuf, source: io::Error },
}

/// Writes a file atomically.
///
/// `sources` are files that must survive: a destination that is one of them, even by a link or
/// another spelling of its path, is refused even with [`Overwrite::Replace`]. A symbolic link at the
/// destination is followed, so that the file it names is replaced; a dangling link is itself
/// replaced.
///
/// # Errors
///
/// What `write` returns, or an [`AtomicError`] turned into it.
pub fn write_whole<T, E: From<AtomicError>>(
    path: &Path,
    overwrite: Overwrite,
    sources: &[&Path],
    write: impl FnOnce(&mut BufWriter<&mut File>) -> Result<T, E>,
) -> Result<T, E> {
    let target = match overwrite {
        Overwrite::ReplaceNoLink => path.to_path_buf(),
        _ => fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf()),
    };
    let old = refuse(&target, overwrite, sources)?;
    let directory = directory_of(&target);
    // The permissions of the file that it replaces, or else those of the umask.
    let mode = old.map_or(0o666, |old| old.mode() & 0o777);
    let mut temporary = tempfile::Builder::new()
        .prefix(".comail-")
        .suffix(".part")
        .permissions(fs::Permissions::from_mode(mode))
        .tempfile_in(directory)
        .map_err(|refused| uncreated(directory, &refused))?;

    let mut buffered = BufWriter::with_capacity(128 * 1024, temporary.as_file_mut());
    let value = write(&mut buffered)?;
    let flushed = buffered.flush();
    drop(buffered);
    flushed
        .and_then(|()| temporary.as_file().sync_all())
        .map_err(|source| AtomicError::Io {
            step: "write",
            path: target.clone(),
            hint: "check that the disk has room",
            source,
        })?;

    // The destination may have changed while the file was being written.
    refuse(&target, overwrite, sources)?;
    let persisted = match overwrite {
        Overwrite::Never => temporary.persist_noclobber(&target),
        Overwrite::Replace | Overwrite::ReplaceNoLink => temporary.persist(&target),
    };
    persisted.map_err(|refused| match refused.error.kind() {
        io::ErrorKind::AlreadyExists => AtomicError::Exists(target.clone()),
        _ => AtomicError::Io {
            step: "put the finished file at",
            path: target.clone(),
            hint: "check that the directory is writable",
            source: refused.error,
        },
    })?;
    flush_directory(directory).map_err(|source| AtomicError::Unflushed {
        path: target.clone(),
        source,
    })?;
    Ok(value)
}

fn uncreated(directory: &Path, refused: &io::Error) -> AtomicError {
    match refused.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            AtomicError::NoDirectory(directory.to_path_buf())
        }
        // The original error names the temporary file, which would only confuse.
        kind => AtomicError::Io {
            step: "create a file in",
            path: directory.to_path_buf(),
            hint: "check that it is writable and that the disk has room",
            source: kind.into(),
        },
    }
}

/// Refuses a destination that must not be written; otherwise returns the file that is there.
fn refuse(
    target: &Path,
    overwrite: Overwrite,
    sources: &[&Path],
) -> Result<Option<Metadata>, AtomicError> {
    let Ok(found) = fs::symlink_metadata(target) else {
        return Ok(None);
    };
    if found.is_symlink() && overwrite == Overwrite::ReplaceNoLink {
        return Err(AtomicError::Link(target.to_path_buf()));
    }
    // For a dangling link, use the metadata of the link itself.
    let found = fs::metadata(target).unwrap_or(found);
    if sources
        .iter()
        .any(|source| same_file(target, &found, source))
    {
        return Err(AtomicError::Source(target.to_path_buf()));
    }
    if !found.is_file() && !found.is_symlink() {
        return Err(AtomicError::NotAFile(target.to_path_buf()));
    }
    if overwrite == Overwrite::Never {
        return Err(AtomicError::Exists(target.to_path_buf()));
    }
    // The permissions of a link mean nothing.
    Ok(Some(found).filter(Metadata::is_file))
}

fn same_file(target: &Path, found: &Metadata, source: &Path) -> bool {
    let by_path = match (fs::canonicalize(target), fs::canonicalize(source)) {
        (Ok(target), Ok(source)) => target == source,
        _ => target == source,
    };
    by_path || fs::metadata(source).is_ok_and(|source| same_inode(found, &source))
}

pub fn same_inode(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// The directory of a file, which is `.` for a bare name.
pub fn directory_of(target: &Path) -> &Path {
    match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Flushes a directory's entries to the disk.
pub fn flush_directory(directory: &Path) -> io::Result<()> {
    match File::open(directory)?.sync_all() {
        // Some file systems do not support flushing a directory, and do not need it.
        Err(refused) if refused.kind() == io::ErrorKind::InvalidInput => Ok(()),
        flushed => flushed,
    }
}

/// Empties a directory, however deep it is.
///
/// An agent chooses the depth, and recursion could exhaust the stack or the open files. So the
/// contents of a folder are moved up before the folder is removed.
pub fn empty(dir: &Path) -> io::Result<()> {
    let top = Dir::open_ambient_dir(dir, ambient_authority())?;
    // A random name cannot collide with one that the agent chose.
    let mut name = [0; 16];
    getrandom::fill(&mut name)?;
    let mut moved = 0_u64;
    loop {
        let mut folders = 0;
        for entry in top.entries()? {
            let entry = entry?;
            if !entry.file_type()?.is_dir() {
                top.remove_file(entry.file_name())?;
                continue;
            }
            folders += 1;
            let folder = top.open_dir_nofollow(entry.file_name())?;
            for below in folder.entries()? {
                let below = below?;
                if below.file_type()?.is_dir() {
                    let to = format!("{}-{moved}", hex::encode(name));
                    moved += 1;
                    folder.rename(below.file_name(), &top, to)?;
                } else {
                    folder.remove_file(below.file_name())?;
                }
            }
            top.remove_dir(entry.file_name())?;
        }
        if folders == 0 {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empties_a_deep_directory_without_following_links() {
        let (top, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let kept = outside.path().join("kept");
        fs::write(&kept, "x").unwrap();
        let mut here = Dir::open_ambient_dir(top.path(), ambient_authority()).unwrap();
        for _ in 0..5000 {
            here.create_dir("d").unwrap();
            here.create_dir("e").unwrap();
            here.write("f", "x").unwrap();
            here = here.open_dir("d").unwrap();
        }
        std::os::unix::fs::symlink(outside.path(), top.path().join("link")).unwrap();
        empty(top.path()).unwrap();
        assert_eq!(fs::read_dir(top.path()).unwrap().count(), 0);
        assert!(kept.exists());
    }

    #[test]
    fn nobody_else_enters_a_private_directory() {
        let parent = tempfile::tempdir().unwrap();
        let dir = private_dir("a-", parent.path()).unwrap();
        let mode = fs::metadata(dir.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }

    #[test]
    fn reads_a_file_up_to_its_limit() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a");
        std::fs::write(&path, "four").unwrap();
        assert_eq!(read(&path, 4).unwrap(), b"four");
        let long = read(&path, 3).unwrap_err();
        assert_eq!(long.kind(), io::ErrorKind::FileTooLarge);
        let none = read(&place.path().join("b"), 4).unwrap_err();
        assert_eq!(none.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn refuses_pipes_devices_and_directories() {
        let place = tempfile::tempdir().unwrap();
        let pipe = place.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let link = place.path().join("link");
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        for path in [&pipe, &link, &place.path().to_owned()] {
            let refused = read(path, 4).unwrap_err().to_string();
            assert!(
                refused.contains("not a regular file"),
                "{path:?}: {refused}"
            );
            let mut options = OpenOptions::new();
            let refused = open_with(options.append(true), path)
                .unwrap_err()
                .to_string();
            assert!(
                refused.contains("not a regular file"),
                "{path:?}: {refused}"
            );
            assert!(metadata(path).is_err() && is_other(path));
        }
        let dangling = place.path().join("dangling");
        std::os::unix::fs::symlink("nowhere", &dangling).unwrap();
        assert!(is_other(&dangling) && !is_other(&place.path().join("nowhere")));
    }

    #[derive(Debug, thiserror::Error)]
    enum Failure {
        #[error(transparent)]
        Atomic(#[from] AtomicError),
        #[error(transparent)]
        Io(#[from] io::Error),
    }

    fn write(
        path: &Path,
        overwrite: Overwrite,
        sources: &[&Path],
        text: &str,
    ) -> Result<(), Failure> {
        write_whole(path, overwrite, sources, |out| {
            out.write_all(text.as_bytes()).map_err(Failure::from)
        })
    }

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn replaces_a_file_only_when_asked() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("out.csv");
        write(&path, Overwrite::Never, &[], "one").unwrap();
        let refused = write(&path, Overwrite::Never, &[], "two").unwrap_err();
        assert!(matches!(refused, Failure::Atomic(AtomicError::Exists(_))));
        assert_eq!(fs::read_to_string(&path).unwrap(), "one");
        write(&path, Overwrite::Replace, &[], "two").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(names(home.path()), ["out.csv"]);
    }

    #[test]
    fn a_failure_leaves_nothing_behind() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("out.csv");
        let full = write_whole(&path, Overwrite::Never, &[], |out| {
            out.write_all(b"half")?;
            Err::<(), Failure>(io::Error::from(io::ErrorKind::StorageFull).into())
        });
        assert!(matches!(full, Err(Failure::Io(_))));
        assert!(names(home.path()).is_empty());
    }

    #[test]
    fn does_not_replace_a_file_that_appears_during_the_write() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("out.csv");
        let raced = write_whole(&path, Overwrite::Never, &[], |_| {
            fs::write(&path, "theirs").map_err(Failure::from)
        });
        assert!(matches!(
            raced,
            Err(Failure::Atomic(AtomicError::Exists(_)))
        ));
        assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
        assert_eq!(names(home.path()), ["out.csv"]);
    }

    #[test]
    fn refuses_directories_and_missing_directories() {
        let home = tempfile::tempdir().unwrap();
        for overwrite in [Overwrite::Never, Overwrite::Replace] {
            let refused = write(home.path(), overwrite, &[], "").unwrap_err();
            assert!(matches!(refused, Failure::Atomic(AtomicError::NotAFile(_))));
        }
        for nowhere in ["no/such/out.csv", "file/out.csv"] {
            fs::write(home.path().join("file"), "").unwrap();
            let nowhere = home.path().join(nowhere);
            let refused = write(&nowhere, Overwrite::Replace, &[], "").unwrap_err();
            assert!(
                matches!(refused, Failure::Atomic(AtomicError::NoDirectory(_))),
                "{refused}"
            );
        }
    }

    #[test]
    fn protects_the_source_under_every_spelling_of_its_path() {
        let home = tempfile::tempdir().unwrap();
        let source = home.path().join("list.xlsx");
        fs::write(&source, "list").unwrap();
        let dotted = home.path().join("./list.xlsx");
        let soft = home.path().join("soft.xlsx");
        std::os::unix::fs::symlink(&source, &soft).unwrap();
        let hard = home.path().join("hard.xlsx");
        fs::hard_link(&source, &hard).unwrap();
        for spelling in [source.clone(), dotted, soft, hard] {
            let refused = write(&spelling, Overwrite::Replace, &[&source], "x").unwrap_err();
            assert!(
                matches!(refused, Failure::Atomic(AtomicError::Source(_))),
                "{spelling:?}"
            );
        }
        assert_eq!(fs::read_to_string(&source).unwrap(), "list");
        write(
            &home.path().join("other.xlsx"),
            Overwrite::Never,
            &[&source],
            "x",
        )
        .unwrap();
    }

    #[test]
    fn follows_a_link_and_keeps_permissions() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("out.csv");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let link = home.path().join("link.csv");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        write(&link, Overwrite::Replace, &[], "new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );

        let dangling = home.path().join("dangling.csv");
        std::os::unix::fs::symlink(home.path().join("nowhere"), &dangling).unwrap();
        let refused = write(&dangling, Overwrite::Never, &[], "x").unwrap_err();
        assert!(matches!(refused, Failure::Atomic(AtomicError::Exists(_))));
        write(&dangling, Overwrite::Replace, &[], "x").unwrap();
        let made = fs::symlink_metadata(&dangling).unwrap();
        assert!(made.is_file(), "{made:?}");
        assert_eq!(made.permissions().mode() & 0o111, 0, "{made:?}");
    }

    #[test]
    fn refuses_a_link_with_replace_no_link() {
        let home = tempfile::tempdir().unwrap();
        let (path, link) = (home.path().join("theirs"), home.path().join("link"));
        fs::write(&path, "theirs").unwrap();
        for target in [path.clone(), home.path().join("nowhere")] {
            std::os::unix::fs::symlink(&target, &link).unwrap();
            let refused = write(&link, Overwrite::ReplaceNoLink, &[], "x").unwrap_err();
            assert!(matches!(refused, Failure::Atomic(AtomicError::Link(_))));
            fs::remove_file(&link).unwrap();
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
        write(&path, Overwrite::ReplaceNoLink, &[], "new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    }
}
