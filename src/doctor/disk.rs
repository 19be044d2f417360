//! Whether the file system keeps what a session rests on: fsync, renames, locks, room.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use super::within::within;
use super::{Check, Finding};

/// How long a look may take: a network file system may hang.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a file system was seen to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observed {
    /// How long it took to bring a few bytes to disk.
    pub synced: Result<Duration, String>,
    /// Whether a file took another's place by a rename.
    pub renamed: Result<bool, String>,
    /// Whether a lock kept a second one out.
    pub locked: Result<bool, String>,
    /// Whether `a` and `A` are two files.
    pub tells_case: bool,
    /// When a file was written, by its own word.
    pub stamped: Option<SystemTime>,
    /// What it is, if it is one over a network.
    pub remote: Option<&'static str>,
    /// How many bytes are left on it.
    pub free_bytes: Option<u64>,
}

/// Looks at the file system of `dir`; an error says why nothing can be written there, or that it
/// hangs.
pub fn look(dir: &Path) -> Result<Observed, String> {
    let dir = dir.to_owned();
    within(PATIENCE, move || {
        tried(&dir).map_err(|error| error.to_string())
    })
    .unwrap_or_else(|| Err(format!("it did nothing for {} s", PATIENCE.as_secs())))
}

fn tried(dir: &Path) -> io::Result<Observed> {
    let place = tempfile::Builder::new()
        .prefix(".comail-doctor-")
        .tempdir_in(dir)?;
    let at = |name: &str| place.path().join(name);
    let text = |error: io::Error| error.to_string();
    let synced = sync(&at("a")).map_err(text);
    Ok(Observed {
        synced,
        stamped: fs::metadata(at("a")).and_then(|seen| seen.modified()).ok(),
        tells_case: !at("A").exists(),
        renamed: rename(&at("b"), &at("c")).map_err(text),
        locked: lock(&at("d")).map_err(text),
        remote: remote(place.path()),
        free_bytes: free_bytes(place.path()),
    })
}

fn sync(path: &Path) -> io::Result<Duration> {
    let began = Instant::now();
    let mut file = File::create(path)?;
    file.write_all(b"comail")?;
    file.sync_all()?;
    Ok(began.elapsed())
}

fn rename(from: &PathBuf, to: &PathBuf) -> io::Result<bool> {
    fs::write(from, "new")?;
    fs::write(to, "old")?;
    fs::rename(from, to)?;
    Ok(fs::read(to)? == b"new" && !from.exists())
}

fn lock(path: &Path) -> io::Result<bool> {
    let first = File::create(path)?;
    first.lock()?;
    let second = File::options().write(true).open(path)?;
    match second.try_lock() {
        Err(TryLockError::WouldBlock) => Ok(true),
        Ok(()) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

#[cfg(target_os = "linux")]
fn remote(dir: &Path) -> Option<&'static str> {
    use nix::sys::statfs::{
        AFS_SUPER_MAGIC, CODA_SUPER_MAGIC, FUSE_SUPER_MAGIC, NFS_SUPER_MAGIC, SMB_SUPER_MAGIC,
        statfs,
    };

    let kind = statfs(dir).ok()?.filesystem_type();
    let known = [
        (NFS_SUPER_MAGIC, "NFS"),
        (SMB_SUPER_MAGIC, "SMB"),
        (AFS_SUPER_MAGIC, "AFS"),
        (CODA_SUPER_MAGIC, "Coda"),
        (FUSE_SUPER_MAGIC, "FUSE"),
    ];
    let known = known.into_iter().find(|(magic, _)| *magic == kind);
    known.map(|(_, name)| name)
}

#[cfg(not(target_os = "linux"))]
fn remote(_dir: &Path) -> Option<&'static str> {
    None
}

#[cfg(unix)]
fn free_bytes(dir: &Path) -> Option<u64> {
    let seen = nix::sys::statvfs::statvfs(dir).ok()?;
    #[expect(clippy::useless_conversion, reason = "its width differs by platform")]
    let (blocks, size) = (
        u64::from(seen.blocks_available()),
        u64::from(seen.fragment_size()),
    );
    Some(blocks.saturating_mul(size))
}

#[cfg(not(unix))]
fn free_bytes(_dir: &Path) -> Option<u64> {
    None
}

/// What is to be said of a file system, on which `dir` lies.
#[must_use]
pub fn judge(dir: &Path, seen: &Result<Observed, String>) -> Vec<Finding> {
    let it = Check::FileSystem;
    let seen = match seen {
        Ok(seen) => seen,
        Err(why) => {
            let found = format!("nothing can be written to {}: {why}", dir.display());
            return vec![it.trouble(found, "make it writable, or name another by --session")];
        }
    };
    let mut findings = promises(seen);
    if findings.is_empty() {
        findings.push(it.ok("fsync, renames and locks work"));
    }
    if let Some(name) = seen.remote {
        let found = format!("it is one over a network or of a program's own ({name})");
        findings.push(it.note(found, "keep sessions on a local disk: quicker, and safer"));
    }
    if !seen.tells_case {
        let found = "names that differ in case alone are one file here";
        let mend = "let no two paths of a quest file's tree differ in case alone";
        findings.push(it.note(found, mend));
    }
    findings.extend(seen.free_bytes.map(space));
    findings
}

/// What of the promises that a session rests on is not kept.
fn promises(seen: &Observed) -> Vec<Finding> {
    const SLOW: Duration = Duration::from_millis(250);

    let (it, mend) = (Check::FileSystem, "keep the session on a local disk");
    let mut findings = Vec::new();
    match &seen.synced {
        Ok(time) if *time > SLOW => {
            let found = format!(
                "fsync took {} ms, and each answer waits for it",
                time.as_millis()
            );
            findings.push(it.note(found, mend));
        }
        Ok(_) => {}
        Err(why) => findings.push(it.trouble(format!("fsync does not work: {why}"), mend)),
    }
    for (what, kept) in [
        ("a rename does not replace a file", &seen.renamed),
        ("locks keep nobody out", &seen.locked),
    ] {
        match kept {
            Ok(true) => {}
            Ok(false) => findings.push(it.trouble(what, mend)),
            Err(why) => findings.push(it.trouble(format!("{what}: {why}"), mend)),
        }
    }
    findings
}

fn space(bytes: u64) -> Finding {
    const MIB: u64 = 1024 * 1024;
    const LITTLE: u64 = 1024 * MIB;
    const NONE: u64 = 50 * MIB;

    let (it, found) = (Check::Space, format!("{} MiB are free", bytes / MIB));
    match bytes {
        0..NONE => it.trouble(
            found,
            "make room: evidence and ledger grow with each answer",
        ),
        NONE..LITTLE => it.note(
            found,
            "make room before long: evidence grows with each answer",
        ),
        _ => it.ok(found),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;

    fn sound() -> Observed {
        Observed {
            synced: Ok(Duration::from_millis(2)),
            renamed: Ok(true),
            locked: Ok(true),
            tells_case: true,
            stamped: None,
            remote: None,
            free_bytes: Some(1 << 40),
        }
    }

    fn levels(seen: Observed) -> Vec<Level> {
        let findings = judge(Path::new("/s"), &Ok(seen));
        findings.into_iter().map(|finding| finding.level).collect()
    }

    #[test]
    fn each_promise_that_is_not_kept_is_trouble() {
        assert_eq!(levels(sound()), [Level::Ok, Level::Ok]);
        let broken = || Err("no".to_owned());
        for seen in [
            Observed {
                synced: Err("no".into()),
                ..sound()
            },
            Observed {
                renamed: Ok(false),
                ..sound()
            },
            Observed {
                renamed: broken(),
                ..sound()
            },
            Observed {
                locked: Ok(false),
                ..sound()
            },
            Observed {
                locked: broken(),
                ..sound()
            },
        ] {
            assert_eq!(levels(seen), [Level::Trouble, Level::Ok]);
        }
        let nowhere = judge(Path::new("/s"), &Err("read-only".into()));
        assert_eq!(nowhere[0].level, Level::Trouble);
    }

    #[test]
    fn what_only_hinders_is_a_note() {
        let slow = Ok(Duration::from_secs(1));
        for seen in [
            Observed {
                synced: slow,
                ..sound()
            },
            Observed {
                remote: Some("NFS"),
                ..sound()
            },
            Observed {
                tells_case: false,
                ..sound()
            },
        ] {
            let levels = levels(seen);
            assert!(levels.contains(&Level::Note), "{levels:?}");
            assert!(!levels.contains(&Level::Trouble), "{levels:?}");
        }
    }

    #[test]
    fn room_runs_out_by_degrees() {
        let level = |bytes| space(bytes).level;
        assert_eq!(level(0), Level::Trouble);
        assert_eq!(level((50 << 20) - 1), Level::Trouble);
        assert_eq!(level(50 << 20), Level::Note);
        assert_eq!(level(1 << 30), Level::Ok);
    }

    #[test]
    fn this_file_system_is_looked_at() {
        let dir = tempfile::tempdir().unwrap();
        let seen = look(dir.path()).unwrap();
        assert_eq!((seen.renamed, seen.locked), (Ok(true), Ok(true)));
        assert!(seen.synced.is_ok());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
        assert!(look(&dir.path().join("none")).is_err());
    }
}
