//! The names under which the starts of an agent hold their quests: `run-7f3a09c2.17`.

use crate::session::{BadWorker, RunId, Worker};

/// The worker name of one start. Each start has its own, so a start that was replaced cannot
/// submit any more.
pub fn worker_of(run: RunId, start: u32) -> Result<Worker, BadWorker> {
    format!("run-{run}.{start}").parse()
}

#[must_use]
pub fn start_of(worker: &Worker) -> Option<(RunId, u32)> {
    let (run, start) = worker.as_str().strip_prefix("run-")?.split_once('.')?;
    Some((run.parse().ok()?, start.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_its_run_and_its_start() {
        let run = RunId::new(0x7f3a_09c2);
        let worker = worker_of(run, 17).unwrap();
        assert_eq!(worker.as_str(), "run-7f3a09c2.17");
        assert_eq!(start_of(&worker), Some((run, 17)));
        for other in ["w1", "run-7f3a09c2", "run-x.1", "run-7f3a09c2.x"] {
            assert_eq!(start_of(&other.parse().unwrap()), None, "{other}");
        }
    }
}
