//! Files that are files: nothing that keeps its reader waiting or never ends is read as one.
//!
//! Whoever can write where a file is looked for can put a pipe, a device or a link to either there.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read as _};
use std::path::Path;

/// What stands in the place of a file.
#[derive(Debug, thiserror::Error)]
#[error("it is no regular file; remove it, or restore the file from a copy")]
pub struct NotRegular;

/// A file that is longer than such files are.
#[derive(Debug, thiserror::Error)]
#[error("it is longer than {most} bytes, which is more than such a file has")]
pub struct TooLong {
    most: u64,
}

/// Opens the regular file at `path` for reading.
pub fn open(path: &Path) -> io::Result<File> {
    open_with(OpenOptions::new().read(true), path)
}

/// Opens the regular file at `path` as `options` say.
pub fn open_with(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    at_once(options);
    match options.open(path) {
        Ok(file) if file.metadata()?.is_file() => Ok(file),
        Ok(_) => Err(not_regular()),
        // What cannot be opened as it should be says less than what it is.
        Err(_) if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) => Err(not_regular()),
        Err(error) => Err(error),
    }
}

/// What the regular file at `path` holds, if that is no more than `most` bytes.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    whole(open(path)?, most)
}

/// What an open file holds, if that is no more than `most` bytes.
pub fn whole(file: File, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            TooLong { most },
        ));
    }
    Ok(bytes)
}

/// The metadata of the regular file at `path`, every link followed.
pub fn metadata(path: &Path) -> io::Result<Metadata> {
    let found = std::fs::metadata(path)?;
    if found.is_file() {
        Ok(found)
    } else {
        Err(not_regular())
    }
}

/// Whether something lies at `path` that is no regular file, a link to nowhere included.
#[must_use]
pub fn is_other(path: &Path) -> bool {
    match std::fs::symlink_metadata(path) {
        Ok(_) => metadata(path).is_err(),
        Err(_) => false,
    }
}

fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, NotRegular)
}

/// Waits for nobody at the other end of a pipe.
fn at_once(options: &mut OpenOptions) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;

        options.custom_flags(nix::fcntl::OFlag::O_NONBLOCK.bits());
    }
    #[cfg(not(unix))]
    let _ = options;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_its_bound() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a");
        std::fs::write(&path, "four").unwrap();
        assert_eq!(read(&path, 4).unwrap(), b"four");
        let long = read(&path, 3).unwrap_err();
        assert_eq!(long.kind(), io::ErrorKind::FileTooLarge);
        let none = read(&place.path().join("b"), 4).unwrap_err();
        assert_eq!(none.kind(), io::ErrorKind::NotFound);
    }

    #[cfg(unix)]
    #[test]
    fn pipes_devices_and_directories_are_refused_at_once() {
        let place = tempfile::tempdir().unwrap();
        let pipe = place.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let link = place.path().join("link");
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        for path in [&pipe, &link, &place.path().to_owned()] {
            let refused = read(path, 4).unwrap_err().to_string();
            assert!(refused.contains("no regular file"), "{path:?}: {refused}");
            let mut options = OpenOptions::new();
            let refused = open_with(options.append(true), path)
                .unwrap_err()
                .to_string();
            assert!(refused.contains("no regular file"), "{path:?}: {refused}");
            assert!(metadata(path).is_err() && is_other(path));
        }
        let dangling = place.path().join("dangling");
        std::os::unix::fs::symlink("nowhere", &dangling).unwrap();
        assert!(is_other(&dangling) && !is_other(&place.path().join("nowhere")));
    }
}
