//! Whether the file system keeps its promises, and what agents and confinement there are.

use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use super::{Check, Finding};
use crate::run::agent::Preset;
use crate::world::sandbox::{Confinement, Namespace, Network};

/// How long to wait for a file system: one over a network may hang.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long fsync may take before it slows work down.
const SLOW_SYNC: Duration = Duration::from_millis(250);

const DISK_HINT: &str = "keep the session on a local disk";

/// What a file system was observed to do.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Disk {
    synced: Result<Duration, String>,
    /// Whether a file replaced another by a rename.
    renamed: Result<bool, String>,
    /// Whether a lock kept a second process out.
    locked: Result<bool, String>,
    free_bytes: Option<u64>,
}

/// Checks the file system of `dir`.
pub fn disk(dir: &Path) -> Vec<Finding> {
    let (sender, receiver) = mpsc::channel();
    let place = dir.to_owned();
    // A thread that hangs is left behind.
    thread::spawn(move || sender.send(observe(&place).map_err(|error| error.to_string())));
    let hung = || Err(format!("no response for {} s", PATIENCE.as_secs()));
    let disk = receiver.recv_timeout(PATIENCE).unwrap_or_else(|_| hung());
    disk_findings(dir, disk)
}

fn observe(dir: &Path) -> io::Result<Disk> {
    let place = tempfile::Builder::new()
        .prefix(".comail-doctor-")
        .tempdir_in(dir)?;
    let at = |name: &str| place.path().join(name);
    let text = |error: io::Error| error.to_string();
    Ok(Disk {
        synced: sync(&at("a")).map_err(text),
        renamed: rename(&at("b"), &at("c")).map_err(text),
        locked: lock(&at("d")).map_err(text),
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

fn rename(from: &Path, to: &Path) -> io::Result<bool> {
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

fn disk_findings(dir: &Path, disk: Result<Disk, String>) -> Vec<Finding> {
    let it = Check::FileSystem;
    let disk = match disk {
        Ok(disk) => disk,
        Err(why) => {
            let found = format!("cannot write to {}: {why}", dir.display());
            let hint = "make it writable, or name another directory with --session";
            return vec![it.problem(found, hint)];
        }
    };
    let mut findings = Vec::new();
    if let Ok(time) = disk.synced
        && time > SLOW_SYNC
    {
        let ms = time.as_millis();
        let found = format!("fsync took {ms} ms, and every answer waits for it");
        findings.push(it.note(found, DISK_HINT));
    }
    for (what, kept) in [
        ("fsync fails", disk.synced.map(|_| true)),
        ("a rename does not replace a file", disk.renamed),
        ("locks do not keep other processes out", disk.locked),
    ] {
        match kept {
            Ok(true) => {}
            Ok(false) => findings.push(it.problem(what, DISK_HINT)),
            Err(why) => findings.push(it.problem(format!("{what}: {why}"), DISK_HINT)),
        }
    }
    if findings.is_empty() {
        findings.push(it.ok("fsync, renames and locks work"));
    }
    findings.extend(disk.free_bytes.map(space));
    findings
}

fn space(bytes: u64) -> Finding {
    const MIB: u64 = 1024 * 1024;
    const LOW: u64 = 1024 * MIB;
    const FULL: u64 = 50 * MIB;

    let (it, found) = (Check::Space, format!("{} MiB free", bytes / MIB));
    let hint = "free some disk space: every answer adds to evidence and ledger";
    match bytes {
        0..FULL => it.problem(found, hint),
        FULL..LOW => it.note(found, hint),
        _ => it.ok(found),
    }
}

/// Looks for every known agent in the directories of `path_var`, with `is_program`.
pub fn agents(path_var: Option<&OsStr>, is_program: &dyn Fn(&PathBuf) -> bool) -> Finding {
    let dirs = || path_var.map(std::env::split_paths).into_iter().flatten();
    let found = Preset::ALL.into_iter().filter_map(|preset| {
        let mut paths = dirs().map(|dir| dir.join(preset.program()));
        let path = paths.find(is_program)?;
        Some(format!("{} ({})", preset.name, path.display()))
    });
    let found: Vec<String> = found.collect();
    if !found.is_empty() {
        return Check::Agents.ok(found.join(", "));
    }
    let names = Preset::ALL.map(|preset| preset.name).join(", ");
    let hint = "install one for `comail run --agent`, or name your own after `comail run --`";
    Check::Agents.note(format!("none is in PATH: {names}"), hint)
}

/// Compares what confines a command `now` with what did when the session was created.
pub fn confinement(now: &Confinement, at_scan: Option<&Confinement>) -> Finding {
    let it = Check::Confinement;
    let missing = missing(now);
    let what: Vec<&str> = missing.iter().map(|(what, _)| *what).collect();
    let what = what.join(", and ");
    let hint = missing.first().map(|(_, hint)| *hint);
    if at_scan.is_some_and(|before| now.is_less(before, &Network::None)) {
        let what = if what.is_empty() {
            "not everything is mounted read-only"
        } else {
            &what
        };
        let found = format!(
            "commands are less confined than at the scan, so a person decides on what they check: \
             {what}"
        );
        let hint = hint.unwrap_or("run comail where the session was created");
        return it.problem(found, hint);
    }
    match hint {
        Some(hint) => it.note(what, hint),
        None => it.ok(format!(
            "commands are confined by Landlock {} and namespaces",
            now.landlock.unwrap_or_default()
        )),
    }
}

/// What does not confine commands, and how to get it.
fn missing(now: &Confinement) -> Vec<(&'static str, &'static str)> {
    let namespaces = [Namespace::Pid, Namespace::Net, Namespace::Mount];
    let mut missing = Vec::new();
    if !now.bounds_writes() {
        missing.push((
            "commands can write wherever you can",
            "use Linux 5.13 or newer with Landlock among its security modules (lsm=landlock,…)",
        ));
    }
    if !namespaces.iter().all(|one| now.namespaces.contains(one)) {
        missing.push((
            "commands have no namespaces of their own",
            "allow user namespaces: sysctl kernel.unprivileged_userns_clone=1, or \
             kernel.apparmor_restrict_unprivileged_userns=0; in a container, change its seccomp \
             profile",
        ));
    }
    missing
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;

    fn good() -> Disk {
        Disk {
            synced: Ok(Duration::from_millis(2)),
            renamed: Ok(true),
            locked: Ok(true),
            free_bytes: Some(1 << 40),
        }
    }

    #[test]
    fn each_promise_that_a_file_system_breaks_is_a_problem() {
        let broken = || Err("no".to_owned());
        let (slow, fails) = (Ok(Duration::from_secs(1)), Err("no".to_owned()));
        let with = |synced, renamed, locked| Disk {
            synced,
            renamed,
            locked,
            ..good()
        };
        let quick = good().synced;
        for (disk, expected) in [
            (good(), Level::Ok),
            (with(slow, Ok(true), Ok(true)), Level::Note),
            (with(fails, Ok(true), Ok(true)), Level::Problem),
            (with(quick.clone(), Ok(false), Ok(true)), Level::Problem),
            (with(quick.clone(), broken(), Ok(true)), Level::Problem),
            (with(quick.clone(), Ok(true), Ok(false)), Level::Problem),
            (with(quick, Ok(true), broken()), Level::Problem),
        ] {
            let findings = disk_findings(Path::new("/s"), Ok(disk)).into_iter();
            let levels: Vec<_> = findings.map(|finding| finding.level).collect();
            assert_eq!(levels, [expected, Level::Ok]);
        }
        let nowhere = disk_findings(Path::new("/s"), Err("read-only".into()));
        assert_eq!(nowhere[0].level, Level::Problem);
    }

    #[test]
    fn little_room_is_a_note_and_none_a_problem() {
        let level = |bytes| space(bytes).level;
        assert_eq!(level(0), Level::Problem);
        assert_eq!(level((50 << 20) - 1), Level::Problem);
        assert_eq!(level(50 << 20), Level::Note);
        assert_eq!(level(1 << 30), Level::Ok);
    }

    #[test]
    fn this_file_system_works() {
        let dir = tempfile::tempdir().unwrap();
        let seen = observe(dir.path()).unwrap();
        assert_eq!((seen.renamed, seen.locked), (Ok(true), Ok(true)));
        assert!(seen.synced.is_ok());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
        assert_eq!(disk(&dir.path().join("none"))[0].level, Level::Problem);
    }

    #[test]
    fn agents_are_found_by_the_program_that_they_start() {
        let path = OsStr::new("/a:/b");
        let there = ["/b/codex", "/a/cursor-agent", "/b/cursor-agent"];
        let is_there = |path: &PathBuf| there.iter().any(|known| path.as_os_str() == *known);
        let finding = agents(Some(path), &is_there);
        assert_eq!(finding.level, Level::Ok);
        assert_eq!(finding.found, "codex (/b/codex), cursor (/a/cursor-agent)");
        assert_eq!(agents(Some(path), &|_| false).level, Level::Note);
        assert_eq!(agents(None, &|_| true).level, Level::Note);
    }

    #[test]
    fn less_confinement_than_at_the_scan_is_a_problem() {
        let of = |landlock: Option<u32>, namespaces: &[Namespace]| Confinement {
            landlock,
            namespaces: namespaces.iter().copied().collect(),
            read_only: false,
        };
        let all = [Namespace::Pid, Namespace::Net, Namespace::Mount];
        let full = of(Some(4), &all);
        let none = Confinement::default();
        for (now, at_scan, expected) in [
            (&full, None, Level::Ok),
            (&of(None, &all), None, Level::Note),
            (&of(Some(4), &[]), None, Level::Note),
            (&none, None, Level::Note),
            (&full, Some(&full), Level::Ok),
            (&of(None, &all), Some(&full), Level::Problem),
            (&of(Some(4), &[]), Some(&full), Level::Problem),
            (&none, Some(&none), Level::Note),
        ] {
            assert_eq!(confinement(now, at_scan).level, expected, "{now:?}");
        }
    }
}
