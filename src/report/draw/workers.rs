//! Who submitted.

use std::collections::HashMap;

use crate::judge::completeness::start_of;
use crate::quest::Verdict;
use crate::report::picture::WorkerRow;
use crate::session::{Attempt, Worker};

/// The most workers that are told apart.
const MOST: usize = 200;

/// What those are called that are not told apart.
const OTHERS: &str = "(others)";

/// Who submitted, line by line.
///
/// The starts of an agent in one run are one worker: each has a name of its own, and the run is
/// what people know.
#[derive(Debug, Default)]
pub(super) struct Workers {
    rows: HashMap<Option<String>, WorkerRow>,
}

impl Workers {
    /// Takes in an attempt.
    pub(super) fn take(&mut self, attempt: &Attempt) {
        let mut name = attempt.worker.as_ref().map(name);
        if self.rows.len() >= MOST && name.is_some() && !self.rows.contains_key(&name) {
            name = Some(OTHERS.to_owned());
        }
        let row = self.rows.entry(name.clone()).or_insert(WorkerRow {
            name,
            submissions: 0,
            pass: 0,
            review: 0,
            fail: 0,
        });
        row.submissions += 1;
        *match attempt.verdict {
            Verdict::Pass => &mut row.pass,
            Verdict::Review => &mut row.review,
            Verdict::Fail => &mut row.fail,
        } += 1;
    }

    /// The workers, those that submitted most first.
    #[must_use]
    pub(super) fn rows(self) -> Vec<WorkerRow> {
        let mut rows: Vec<WorkerRow> = self.rows.into_values().collect();
        rows.sort_by(|one, next| {
            let most = next.submissions.cmp(&one.submissions);
            most.then_with(|| one.name.cmp(&next.name))
        });
        rows
    }
}

fn name(worker: &Worker) -> String {
    match start_of(worker) {
        Some((run, _)) => format!("run {run}"),
        None => worker.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::draw::bench::attempt_by;

    fn drawn(attempts: &[(Option<&str>, Verdict)]) -> Vec<(Option<String>, [u32; 4])> {
        let mut workers = Workers::default();
        for (worker, verdict) in attempts {
            workers.take(&attempt_by(*worker, *verdict));
        }
        let rows = workers.rows().into_iter();
        rows.map(|it| (it.name, [it.submissions, it.pass, it.review, it.fail]))
            .collect()
    }

    #[test]
    fn those_of_one_run_are_one_and_those_without_a_name_are_one() {
        use Verdict::{Fail, Pass, Review};
        let found = drawn(&[
            (Some("run-00000007.1"), Pass),
            (Some("run-00000007.2"), Fail),
            (Some("run-00000007.2"), Review),
            (None, Pass),
            (None, Pass),
            (Some("kim"), Fail),
        ]);
        let expected = [
            (Some("run 00000007".to_owned()), [3, 1, 1, 1]),
            (None, [2, 2, 0, 0]),
            (Some("kim".to_owned()), [1, 0, 0, 1]),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_worker_that_changes_its_name_each_time_fills_no_page() {
        let names: Vec<String> = (0..MOST + 50).map(|number| format!("w{number}")).collect();
        let attempts: Vec<_> = names
            .iter()
            .map(|it| (Some(it.as_str()), Verdict::Fail))
            .collect();
        let found = drawn(&attempts);
        assert_eq!(found.len(), MOST + 1);
        assert_eq!(found[0], (Some(OTHERS.to_owned()), [50, 0, 0, 50]));
    }
}
