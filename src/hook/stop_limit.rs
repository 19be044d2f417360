//! Limits how often a stop is refused in a row, so that no hook can hold an agent in a loop.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::base::Digest;
use crate::session::Totals;

pub const DEFAULT_MAX_REFUSALS: u32 = 20;

/// The refusals of one conversation since the ledger last changed.
///
/// Claims are not counted as a change: an agent could claim forever and answer nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refusals {
    attempts: u32,
    todo: u32,
    times: u32,
}

impl Refusals {
    /// The count with one more refusal, or how often the stop was refused if that is the limit.
    pub fn next(self, totals: &Totals, max: u32) -> Result<Self, u32> {
        let (attempts, todo) = (totals.counts.attempts, totals.tally.todo);
        let is_unchanged = (self.attempts, self.todo) == (attempts, todo);
        let times = if is_unchanged { self.times } else { 0 };
        if times >= max {
            return Err(times);
        }
        Ok(Self {
            attempts,
            todo,
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
