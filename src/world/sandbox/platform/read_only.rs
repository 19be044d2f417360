//! Mounting all but a command's own places read-only.
//!
//! Landlock leaves owners, modes, times and extended attributes alone; a mount that is read-only
//! does not.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use nix::mount::{MsFlags, mount};

/// Where nothing lies that stays, or what programs must be able to write to.
const LEFT: [&str; 3] = ["/proc", "/dev", "/sys"];

/// Mounts everything read-only but `kept`, each a mount of its own, and what lies beneath them.
///
/// Tells whether all of it could be.
pub(super) fn seal(kept: &[PathBuf]) -> bool {
    let Ok(table) = fs::read("/proc/self/mountinfo") else {
        return false;
    };
    let left = |at: &Path| {
        let mut kept = kept.iter().map(PathBuf::as_path);
        let mut left = LEFT.iter().map(Path::new);
        kept.any(|path| at.starts_with(path)) || left.any(|path| at.starts_with(path))
    };
    let mounts = table.split(|byte| *byte == b'\n').filter_map(read);
    let mut mounts = mounts.filter(|mount| !left(&mount.at));
    mounts.all(|found| {
        let flags = MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY | found.flags;
        mount(None::<&str>, &found.at, None::<&str>, flags, None::<&str>).is_ok()
    })
}

/// Makes a path that stays writable a mount of its own.
pub(super) fn keep(path: &Path) -> bool {
    let flags = MsFlags::MS_BIND | MsFlags::MS_REC;
    mount(Some(path), path, None::<&str>, flags, None::<&str>).is_ok()
}

/// A line of `/proc/self/mountinfo`.
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    at: PathBuf,
    /// What it must stay: to take one of these away is not everybody's.
    flags: MsFlags,
}

/// Reads a line (`proc_pid_mountinfo(5)`): the fifth word is the place, the sixth its options.
fn read(line: &[u8]) -> Option<Mount> {
    let mut words = line.split(|byte| *byte == b' ').skip(4);
    let (at, options) = (words.next()?, words.next()?);
    let options = str::from_utf8(options).ok()?;
    let flags = options.split(',').map(flag).collect();
    let at = PathBuf::from(OsString::from_vec(unescaped(at)));
    Some(Mount { at, flags })
}

fn flag(option: &str) -> MsFlags {
    match option {
        "nosuid" => MsFlags::MS_NOSUID,
        "nodev" => MsFlags::MS_NODEV,
        "noexec" => MsFlags::MS_NOEXEC,
        "noatime" => MsFlags::MS_NOATIME,
        "nodiratime" => MsFlags::MS_NODIRATIME,
        "relatime" => MsFlags::MS_RELATIME,
        _ => MsFlags::empty(),
    }
}

/// White space and backslashes stand as three octal digits.
fn unescaped(word: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word;
    while let Some((first, tail)) = rest.split_first() {
        let digits = tail.get(..3).filter(|_| *first == b'\\');
        let code =
            digits.and_then(|digits| u8::from_str_radix(str::from_utf8(digits).ok()?, 8).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &tail[3..] } else { tail };
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_where_a_mount_is_and_what_it_must_stay() {
        let line = br"36 35 98:0 /mnt1 /a\040b rw,nosuid,noatime shared:1 - ext3 /dev/root rw";
        let expected = Mount {
            at: PathBuf::from("/a b"),
            flags: MsFlags::MS_NOSUID | MsFlags::MS_NOATIME,
        };
        assert_eq!(read(line), Some(expected));
        assert_eq!(read(b"36 35 98:0"), None);
        assert_eq!(read(b""), None);
    }
}
