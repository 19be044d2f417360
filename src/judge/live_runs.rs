//! Which runs of a session go on, whatever has become of the files that say so.
//!
//! A run writes into the ledger which process it is, and the session adds up which runs are open:
//! that process is asked, and then its lock.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, TryLockError};
use std::path::Path;

use crate::session::{RunId, RunProcess};

#[must_use]
pub fn live_runs(session: &Path, open: &BTreeMap<RunId, Option<RunProcess>>) -> BTreeSet<RunId> {
    open.iter()
        .filter(|(run, process)| process.is_some_and(is_alive) || is_locked(session, **run))
        .map(|(run, _)| *run)
        .collect()
}

#[must_use]
pub fn is_locked(session: &Path, run: RunId) -> bool {
    let path = session.join("runs").join(format!("{run}.lock"));
    // One that cannot be opened keeps nobody out.
    let Ok(lock) = File::open(path) else {
        return false;
    };
    matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock))
}

#[must_use]
pub fn run_above(open: &BTreeMap<RunId, Option<RunProcess>>) -> Option<RunId> {
    let above = ancestors();
    let mut open = open.iter();
    open.find(|(_, process)| process.is_some_and(|process| above.contains(&process)))
        .map(|(run, _)| *run)
}

#[must_use]
pub fn this_process() -> Option<RunProcess> {
    seen(std::process::id()).map(|seen| seen.process)
}

#[must_use]
pub fn is_alive(process: RunProcess) -> bool {
    seen(process.pid).is_some_and(|seen| seen.process == process && !seen.is_dead)
}

fn ancestors() -> Vec<RunProcess> {
    let mut found: Vec<RunProcess> = Vec::new();
    let mut next = seen(std::process::id());
    while let Some(one) = next {
        if found.contains(&one.process) {
            break;
        }
        found.push(one.process);
        next = seen(one.parent);
    }
    found
}

#[derive(Debug, PartialEq, Eq)]
struct Seen {
    process: RunProcess,
    parent: u32,
    /// Whether it only waits to be buried.
    is_dead: bool,
}

fn seen(pid: u32) -> Option<Seen> {
    seen_in(pid, &fs::read(format!("/proc/{pid}/stat")).ok()?)
}

fn seen_in(pid: u32, stat: &[u8]) -> Option<Seen> {
    const STARTED: usize = 17;
    let name_ends = stat.iter().rposition(|byte| *byte == b')')?;
    let mut rest = str::from_utf8(&stat[name_ends + 1..])
        .ok()?
        .split_ascii_whitespace();
    let state = rest.next()?;
    let parent = rest.next()?.parse().ok()?;
    let started = rest.nth(STARTED)?.parse().ok()?;
    Some(Seen {
        process: RunProcess { pid, started },
        parent,
        is_dead: matches!(state, "Z" | "X"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_known_by_its_number_and_its_start() {
        let stat = b"7 (a) S (b) S 3 7 7 0 -1 4 9 9 9 9 5 6 7 8 20 0 1 0 4321 1 2";
        let seen = seen_in(7, stat).unwrap();
        assert_eq!((seen.process.started, seen.parent), (4321, 3));
        assert!(!seen.is_dead);
        assert_eq!(seen_in(7, b"7 (a) S 3"), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_process_is_alive_and_one_that_began_at_another_time_is_not() {
        let this = this_process().unwrap();
        assert!(is_alive(this));
        let other = RunProcess {
            started: this.started + 1,
            ..this
        };
        assert!(!is_alive(other));
        assert!(ancestors().len() > 1);
    }
}
