//! Whether anything was added to a ledger since it was looked at last.

use std::path::{Path, PathBuf};

/// The length of a ledger, as it was seen last.
#[derive(Debug)]
pub struct Tide {
    ledger: PathBuf,
    seen: Option<u64>,
}

impl Tide {
    /// The ledger of the session in `dir`, of which nothing was seen yet.
    #[must_use]
    pub fn of(dir: &Path) -> Self {
        Self {
            ledger: dir.join("ledger.jsonl"),
            seen: None,
        }
    }

    /// Whether whoever has read the ledger up to `end` has read what was seen last.
    #[must_use]
    pub fn is_at(&self, end: u64) -> bool {
        self.seen == Some(end)
    }

    /// Whether its length is another one than before.
    pub fn has_changed(&mut self) -> bool {
        // What cannot be looked at is to be looked into.
        let length = std::fs::metadata(&self.ledger).map(|it| it.len()).ok();
        let same = length.is_some() && length == self.seen;
        self.seen = length;
        !same
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_changes_with_what_is_added() {
        let dir = tempfile::tempdir().unwrap();
        let ledger = dir.path().join("ledger.jsonl");
        let mut tide = Tide::of(dir.path());
        assert!(tide.has_changed() && tide.has_changed(), "it is not there");
        assert!(!tide.is_at(0));
        std::fs::write(&ledger, "one\n").unwrap();
        assert!(tide.has_changed());
        assert!(!tide.has_changed());
        std::fs::write(&ledger, "one\ntwo\n").unwrap();
        assert!(tide.is_at(4) && tide.has_changed());
        assert!(tide.is_at(8) && !tide.is_at(4));
    }
}
