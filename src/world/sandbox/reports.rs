//! The files that a command writes for a check. No symbolic link may replace one by another file.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{OFlag, open, openat};
use nix::sys::stat::Mode;
use nix::unistd::{UnlinkatFlags, unlinkat};

const MAX_BYTES: u64 = 16 << 20;

/// Removes an earlier report. If something other than a file is there, or the path leads through
/// something other than directories, there is nothing that could be mistaken for a new report.
pub(super) fn remove(scratch: &Path, report: &str) -> io::Result<()> {
    let (dir, name) = match parent(scratch, report) {
        Ok(found) => found,
        Err(Errno::ENOENT | Errno::ELOOP | Errno::ENOTDIR) => return Ok(()),
        Err(errno) => return Err(errno.into()),
    };
    match unlinkat(&dir, &name, UnlinkatFlags::NoRemoveDir) {
        Ok(()) | Err(Errno::ENOENT | Errno::EISDIR) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

pub(super) fn read(scratch: &Path, report: &str) -> Option<Vec<u8>> {
    let (dir, name) = parent(scratch, report).ok()?;
    // Opening a pipe must not block.
    let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
    let file = File::from(openat(&dir, &name, flags, Mode::empty()).ok()?);
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= MAX_BYTES).then_some(bytes)
}

/// The directory of a report, opened name by name without following a link, and the report's name.
fn parent(scratch: &Path, report: &str) -> Result<(OwnedFd, PathBuf), Errno> {
    if !is_beneath(report) {
        return Err(Errno::EINVAL);
    }
    let flags = OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    let mut dir = open(scratch, flags, Mode::empty())?;
    let name = Path::new(report).file_name().ok_or(Errno::EINVAL)?;
    let way = Path::new(report).parent().unwrap_or(Path::new(""));
    for step in way.components() {
        dir = openat(
            &dir,
            step.as_os_str(),
            flags | OFlag::O_NOFOLLOW,
            Mode::empty(),
        )?;
    }
    Ok((dir, PathBuf::from(name)))
}

/// Whether a relative path stays below the directory from which it starts.
pub(super) fn is_beneath(path: &str) -> bool {
    let down = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    Path::new(path).components().all(down)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn goes_through_no_link() {
        let place = tempfile::tempdir().unwrap();
        let (scratch, outside) = (place.path().join("scratch"), place.path().join("outside"));
        fs::create_dir(&scratch).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("report"), "secret").unwrap();
        symlink(&outside, scratch.join("dir")).unwrap();
        symlink(outside.join("report"), scratch.join("link")).unwrap();

        assert_eq!(read(&scratch, "dir/report"), None);
        assert_eq!(read(&scratch, "link"), None);
        remove(&scratch, "dir/report").unwrap();
        remove(&scratch, "link").unwrap();
        assert!(fs::symlink_metadata(scratch.join("link")).is_err());
        assert!(outside.join("report").exists());
    }

    #[test]
    fn leads_nowhere_but_down() {
        let place = tempfile::tempdir().unwrap();
        let scratch = place.path().join("scratch");
        fs::create_dir_all(scratch.join("a")).unwrap();
        fs::write(place.path().join("report"), "secret").unwrap();
        fs::write(scratch.join("a/report"), "own").unwrap();

        let absolute = place.path().join("report");
        for report in [
            "../report",
            "a/../../report",
            absolute.to_str().unwrap(),
            "",
        ] {
            assert_eq!(read(&scratch, report), None, "{report}");
            assert!(remove(&scratch, report).is_err(), "{report}");
        }
        assert_eq!(read(&scratch, "./a/report"), Some(b"own".to_vec()));
        assert_eq!(read(&scratch, "a"), None);
    }

    #[test]
    fn waits_for_nobody_at_the_other_end() {
        let place = tempfile::tempdir().unwrap();
        let pipe = place.path().join("pipe");
        nix::unistd::mkfifo(&pipe, Mode::S_IRWXU).unwrap();
        assert_eq!(read(place.path(), "pipe"), None);
    }

    #[test]
    fn too_long_is_none() {
        let place = tempfile::tempdir().unwrap();
        let file = File::create(place.path().join("report")).unwrap();
        file.set_len(MAX_BYTES).unwrap();
        assert!(read(place.path(), "report").is_some());
        file.set_len(MAX_BYTES + 1).unwrap();
        assert_eq!(read(place.path(), "report"), None);
    }
}
