//! Whose claims are left behind: by workers that are gone.
//!
//! Each start of an agent by a run holds its quest under a name of its own, `run-RUNID.N`; while a
//! run goes on, it holds the lock `runs/RUNID.lock` in the session's directory.

use std::path::Path;

use jiff::Timestamp;

use crate::judge::live_runs::{is_alive, is_locked};
use crate::quest::QuestId;
use crate::session::{Claim, RunId, RunProcess, Worker};

#[must_use]
pub fn start_of(worker: &Worker) -> Option<(RunId, u32)> {
    let name = worker.as_str().strip_prefix("run-")?;
    let (run, start) = name.split_once('.')?;
    let number: u32 = start.parse().ok()?;
    let run = run.parse().ok()?;
    (number.to_string() == start).then_some((run, number))
}

#[must_use]
pub fn is_live(dir: &Path, run: RunId, process: Option<RunProcess>) -> bool {
    process.is_some_and(is_alive) || is_locked(dir, run)
}

/// The quests whose claims nobody will answer, in order.
///
/// `lives` tells whether a run goes on. Of a worker that no run started nothing is known but its
/// lease: once that has run out it has not come back in time.
#[must_use]
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

#[cfg(test)]
mod tests {
    use std::fs::File;

    use jiff::SignedDuration;

    use super::*;

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
    fn a_start_is_known_by_its_name_alone() {
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
    fn a_claim_of_a_run_that_ended_is_left_behind_and_one_of_a_live_run_is_not() {
        let claims = [
            claim(3, "run-00000008.1"),
            claim(2, "run-00000007.1"),
            claim(1, "w1"),
        ];
        assert_eq!(left(&claims, 1), ["3"]);
        assert_eq!(left(&claims[1..], 1), [""; 0]);
    }

    #[test]
    fn a_lease_that_ran_out_leaves_its_claim_behind() {
        let claims = [claim(2, "run-00000007.1"), claim(1, "w1")];
        assert_eq!(left(&claims, 15), ["1", "2"]);
    }

    #[test]
    fn a_run_lives_as_long_as_its_lock_is_held() {
        let dir = tempfile::tempdir().unwrap();
        let run = RunId::new(7);
        assert!(!is_live(dir.path(), run, None));
        std::fs::create_dir(dir.path().join("runs")).unwrap();
        let lock = File::create(dir.path().join("runs/00000007.lock")).unwrap();
        assert!(!is_live(dir.path(), run, None));
        lock.lock().unwrap();
        assert!(is_live(dir.path(), run, None));
        assert!(!is_live(dir.path(), RunId::new(8), None));
        lock.unlock().unwrap();
        assert!(!is_live(dir.path(), run, None));
    }
}
