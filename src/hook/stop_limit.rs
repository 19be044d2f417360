//! Limits how often a stop is refused in a row, so that no hook can hold an agent in a loop.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::base::Digest;
use crate::session::Totals;

pub const DEFAULT_MAX_REFUSALS: u32 = 20;

/// The refusals of one conversation since the ledger last changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refusals {
    pub at: Progress,
    pub times: u32,
}

/// How far the work is. Claims do not count: an agent could claim for ever and answer nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    attempts: u32,
    todo: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopDecision {
    /// Refuse the stop, and store this count.
    Refuse(Refusals),
    /// Allow the stop after this many refusals.
    Allow(u32),
}

impl From<&Totals> for Progress {
    fn from(totals: &Totals) -> Self {
        Self {
            attempts: totals.counts.attempts,
            todo: totals.tally.todo,
        }
    }
}

impl Refusals {
    pub fn next(self, now: Progress, max: u32) -> StopDecision {
        let times = if self.at == now { self.times } else { 0 };
        if times >= max {
            return StopDecision::Allow(times);
        }
        StopDecision::Refuse(Self {
            at: now,
            times: times + 1,
        })
    }
}

/// Stores the refusals of one conversation, in a small file under `hooks/` of the session.
#[derive(Debug)]
pub struct RefusalStore {
    file: PathBuf,
}

impl RefusalStore {
    pub fn new(session: &Path, conversation: &str) -> Self {
        // The agent chooses the conversation's name, so it must not become a path.
        let name = Digest::of(conversation.as_bytes()).to_string();
        Self {
            file: session.join("hooks").join(format!("{name}.json")),
        }
    }

    pub fn load(&self) -> Refusals {
        let bytes = fs::read(&self.file).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    pub fn save(&self, refusals: Refusals) -> io::Result<()> {
        let folder = self.file.parent().unwrap_or(&self.file);
        // `create_dir`, not `create_dir_all`: a session that is gone must stay gone.
        if !folder.is_dir() {
            fs::create_dir(folder)?;
        }
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(&serde_json::to_vec(&refusals)?)?;
        file.persist(&self.file)?;
        Ok(())
    }

    pub fn clear(&self) {
        // A file that cannot be removed only lets the agent stop earlier.
        let _ = fs::remove_file(&self.file);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(attempts: u32) -> Progress {
        Progress { attempts, todo: 5 }
    }

    #[test]
    fn refusals_end_at_the_limit_and_start_over_when_the_ledger_changes() {
        let mut refusals = Refusals::default();
        for times in 1..=3 {
            let StopDecision::Refuse(next) = refusals.next(progress(1), 3) else {
                panic!("allowed after {times}");
            };
            assert_eq!(next.times, times);
            refusals = next;
        }
        assert_eq!(refusals.next(progress(1), 3), StopDecision::Allow(3));
        let changed = Refusals {
            at: progress(2),
            times: 1,
        };
        assert_eq!(refusals.next(progress(2), 3), StopDecision::Refuse(changed));
        let none = Refusals::default();
        assert_eq!(none.next(progress(0), 0), StopDecision::Allow(0));
    }

    #[test]
    fn each_conversation_is_counted_separately() {
        let home = tempfile::tempdir().unwrap();
        let store = |name| RefusalStore::new(home.path(), name);
        let refusals = Refusals {
            times: 3,
            ..Refusals::default()
        };
        store("../a").save(refusals).unwrap();
        assert_eq!(store("../a").load(), refusals);
        assert_eq!(store("b").load(), Refusals::default());
        store("../a").clear();
        assert_eq!(store("../a").load(), Refusals::default());
        fs::write(store("b").file, "{").unwrap();
        assert_eq!(store("b").load(), Refusals::default());
        let missing = RefusalStore::new(&home.path().join("none/at/all"), "a");
        assert!(missing.save(refusals).is_err());
    }
}
