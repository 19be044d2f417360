//! Which runs of a session are still active.
//!
//! A run records its process in the ledger. It is active if that process is alive or if its lock
//! file is locked, since either file can be removed by an agent.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, TryLockError};
use std::path::Path;

use crate::base::process::ProcessStat;
use crate::session::{RunId, RunProcess};

pub fn live_runs(session: &Path, open: &BTreeMap<RunId, Option<RunProcess>>) -> BTreeSet<RunId> {
    open.iter()
        .filter(|(run, process)| process.is_some_and(is_alive) || is_locked(session, **run))
        .map(|(run, _)| *run)
        .collect()
}

pub fn is_locked(session: &Path, run: RunId) -> bool {
    let path = session.join("runs").join(format!("{run}.lock"));
    // One that cannot be opened keeps nobody out.
    let Ok(lock) = File::open(path) else {
        return false;
    };
    matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock))
}

pub fn run_above(open: &BTreeMap<RunId, Option<RunProcess>>) -> Option<RunId> {
    let above = ancestors();
    let mut open = open.iter();
    open.find(|(_, process)| process.is_some_and(|process| above.contains(&process)))
        .map(|(run, _)| *run)
}

pub fn this_process() -> Option<RunProcess> {
    let pid = std::process::id();
    Some(identity(pid, &stat(pid)?))
}

pub fn is_alive(process: RunProcess) -> bool {
    // A zombie has ended; only its parent has not looked yet.
    stat(process.pid).is_some_and(|stat| {
        identity(process.pid, &stat) == process && !matches!(stat.state, 'Z' | 'X')
    })
}

fn ancestors() -> Vec<RunProcess> {
    let mut found: Vec<RunProcess> = Vec::new();
    let mut pid = std::process::id();
    while let Some(stat) = stat(pid) {
        let one = identity(pid, &stat);
        // A process whose parent ended meanwhile may name one that took its number.
        if found.contains(&one) {
            break;
        }
        found.push(one);
        pid = stat.parent.cast_unsigned();
    }
    found
}

// Numbers of processes are used again, so a process is known by its start as well.
fn identity(pid: u32, stat: &ProcessStat) -> RunProcess {
    let started = stat.started;
    RunProcess { pid, started }
}

fn stat(pid: u32) -> Option<ProcessStat> {
    ProcessStat::of(pid.cast_signed())
}

#[cfg(test)]
mod tests {
    use super::*;

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
