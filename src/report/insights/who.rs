//! Who submitted: which agent, with which model.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::session::{Began, RunId, Worker};

/// Who submitted, as far as the ledger tells.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
pub struct Who {
    /// The agent that a run started; none where no run did.
    pub agent: Option<String>,
    /// The model that the operator named.
    pub model: Option<String>,
}

/// The runs of a ledger, as they began.
#[derive(Debug, Default)]
pub(super) struct Runs(HashMap<RunId, Who>);

impl Runs {
    pub(super) fn began(&mut self, run: RunId, began: &Began) {
        let who = Who {
            agent: Some(began.agent.clone()),
            model: began.model.clone(),
        };
        self.0.insert(run, who);
    }

    /// The agent of a run.
    pub(super) fn of_run(&self, run: RunId) -> Who {
        self.0.get(&run).cloned().unwrap_or_default()
    }

    /// The agent that held a quest under this name: a run gives `run-RUNID.N`.
    pub(super) fn of_worker(&self, worker: Option<&Worker>) -> Who {
        let run = worker.and_then(|worker| run_of(worker.as_str()));
        run.map(|run| self.of_run(run)).unwrap_or_default()
    }
}

fn run_of(worker: &str) -> Option<RunId> {
    let (run, start) = worker.strip_prefix("run-")?.split_once('.')?;
    let is_number = !start.is_empty() && start.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| run.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_known_by_the_names_that_it_gives() {
        assert_eq!(run_of("run-0000000a.12"), Some(RunId::new(10)));
        for other in [
            "run-0000000a",
            "run-0000000a.",
            "run-0000000a.x",
            "a.1",
            "w-1",
            "run-zz.1",
        ] {
            assert_eq!(run_of(other), None, "{other}");
        }
    }
}
