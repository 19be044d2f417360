use super::*;
use crate::judge::live_runs::start_of;
use crate::run::run_dir::worker_of;

const RUN: RunId = RunId::new(7);

#[test]
fn only_a_run_whose_process_ended_gives_up_its_lock() {
    let dir = tempfile::tempdir().unwrap();
    let free = || RunLock::if_free(dir.path(), RUN).unwrap();
    assert!(free().is_none());
    let lock = RunLock::take(dir.path(), RUN).unwrap();
    assert!(free().is_none(), "it is held");
    drop(lock);
    let lock = free().unwrap();
    assert!(free().is_none(), "somebody is at it");
    lock.remove();
    assert!(free().is_none());
}

#[test]
fn a_worker_name_contains_run_and_start() {
    let run = RunId::new(0x7f3a_09c2);
    let worker = worker_of(run, 17).unwrap();
    assert_eq!(worker.as_str(), "run-7f3a09c2.17");
    assert_eq!(start_of(&worker), Some((run, 17)));
}
