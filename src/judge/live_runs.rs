//! Which runs of a session are still active.
//!
//! A run records its process in the ledger. It is active if that process is alive or if its lock
//! file is locked, since either file can be removed by an agent.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, TryLockError};
use std::path::Path;

use jiff::Timestamp;

use crate::base::process::ProcessStat;
use crate::quest::QuestId;
use crate::session::{Claim, RunId, RunProcess, Worker};

pub fn live_runs(session: &Path, open: &BTreeMap<RunId, Option<RunProcess>>) -> BTreeSet<RunId> {
    open.iter()
        .filter(|(run, process)| is_live(session, **run, **process))
        .map(|(run, _)| *run)
        .collect()
}

/// The run that started the worker with this name, and the number of the start.
pub fn start_of(worker: &Worker) -> Option<(RunId, u32)> {
    let name = worker.as_str().strip_prefix("run-")?;
    let (run, start) = name.split_once('.')?;
    let number: u32 = start.parse().ok()?;
    let run = run.parse().ok()?;
    (number.to_string() == start).then_some((run, number))
}

/// Whether a run's process is alive or its lock is held.
pub fn is_live(session: &Path, run: RunId, process: Option<RunProcess>) -> bool {
    process.is_some_and(is_alive) || is_locked(session, run)
}

/// The quests whose claims nobody will answer, in order.
///
/// `lives` tells whether a run is active. For a worker that no run started, only the lease counts.
pub fn orphaned<'a>(
    claims: impl Iterator<Item = &'a Claim>,
    now: Timestamp,
    lives: &dyn Fn(RunId) -> bool,
) -> Vec<QuestId> {
    let left = claims.filter(|claim| {
        let gone = start_of(&claim.worker).is_some_and(|(run, _)| !lives(run));
        gone || !claim.is_live(now)
    });
    let mut quests: Vec<QuestId> = left.map(|claim| claim.quest).collect();
    quests.sort_unstable();
    quests
}

pub fn is_locked(session: &Path, run: RunId) -> bool {
    let path = session.join("runs").join(format!("{run}.lock"));
    // A lock file that cannot be opened excludes nobody.
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
    // A zombie has ended, but its parent has not reaped it.
    stat(process.pid).is_some_and(|stat| {
        identity(process.pid, &stat) == process && !matches!(stat.state, 'Z' | 'X')
    })
}

fn ancestors() -> Vec<RunProcess> {
    let mut found: Vec<RunProcess> = Vec::new();
    let mut pid = std::process::id();
    while let Some(stat) = stat(pid) {
        let one = identity(pid, &stat);
        // If a parent has ended, its number may belong to another process.
        if found.contains(&one) {
            break;
        }
        found.push(one);
        pid = stat.parent.cast_unsigned();
    }
    found
}

// Pids are reused, so the start time identifies a process too.
fn identity(pid: u32, stat: &ProcessStat) -> RunProcess {
    let started = stat.started;
    RunProcess { pid, started }
}

fn stat(pid: u32) -> Option<ProcessStat> {
    ProcessStat::of(pid.cast_signed())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use jiff::SignedDuration;

    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn a_process_is_identified_by_its_start_time() {
        let this = this_process().unwrap();
        assert!(is_alive(this));
        let other = RunProcess {
            started: this.started + 1,
            ..this
        };
        assert!(!is_alive(other));
        assert!(ancestors().len() > 1);
    }

    fn at() -> Timestamp {
        "2026-01-02T03:00:00Z".parse().unwrap()
    }

    fn claim(quest: usize, worker: &str) -> Claim {
        Claim {
            quest: QuestId::from_index(quest - 1).unwrap(),
            worker: worker.parse().unwrap(),
            at: at(),
            lease: "15m".parse().unwrap(),
        }
    }

    fn left(claims: &[Claim], minutes: i64) -> Vec<String> {
        let now = at() + SignedDuration::from_mins(minutes);
        let lives = |run| run == RunId::new(7);
        let quests = orphaned(claims.iter(), now, &lives);
        quests.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn parses_a_run_and_start_from_a_worker_name() {
        let start = |name: &str| start_of(&name.parse().unwrap());
        assert_eq!(start("run-00000007.12"), Some((RunId::new(7), 12)));
        for other in [
            "w1",
            "run-7.1",
            "run-00000007",
            "run-00000007.01",
            "run-00000007.1.2",
            "run-0000000G.1",
        ] {
            assert_eq!(start(other), None, "{other}");
        }
    }

    #[test]
    fn claims_of_ended_runs_are_orphaned() {
        let claims = [
            claim(3, "run-00000008.1"),
            claim(2, "run-00000007.1"),
            claim(1, "w1"),
        ];
        assert_eq!(left(&claims, 1), ["3"]);
        assert_eq!(left(&claims[1..], 1), [""; 0]);
        // A lease that ran out leaves its claim behind.
        assert_eq!(left(&claims[1..], 15), ["1", "2"]);
    }

    #[test]
    fn a_run_is_live_while_its_lock_is_held() {
        let dir = tempfile::tempdir().unwrap();
        let run = RunId::new(7);
        assert!(!is_live(dir.path(), run, None));
        fs::create_dir(dir.path().join("runs")).unwrap();
        let lock = File::create(dir.path().join("runs/00000007.lock")).unwrap();
        assert!(!is_live(dir.path(), run, None));
        lock.lock().unwrap();
        assert!(is_live(dir.path(), run, None));
        assert!(!is_live(dir.path(), RunId::new(8), None));
        lock.unlock().unwrap();
        assert!(!is_live(dir.path(), run, None));
    }
}
