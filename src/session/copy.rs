//! Copies a session from a directory to a database, or back.

use std::fs;
use std::path::Path;

use walkdir::WalkDir;

use super::create::{draft_next_to, put_in_place, refuse_existing};
use super::error::SessionError;
use super::lock::LockGuard;
use super::open::Session;
use crate::base::Digest;

/// A session that was copied.
#[derive(Debug, Clone, Copy)]
pub struct Copied {
    pub lines: u64,
    pub head: Digest,
}

/// Copies the session in `from` to `to`, which must not exist or must be empty.
///
/// The copy has the same lines, evidence and lists, so the same head. Tokens, claims of hosts and logs of
/// runs belong to a place, and are not copied.
pub fn copy(from: &Path, to: &Path) -> Result<Copied, SessionError> {
    refuse_existing(to)?;
    let session = Session::open(from)?;
    let draft = draft_next_to(to)?;
    let lock = LockGuard::acquire(from)?;
    session.evidence().complete()?;
    for entry in WalkDir::new(from).min_depth(1) {
        let entry = entry.map_err(|error| SessionError::io(from, "list")(error.into()))?;
        let below = entry.path().strip_prefix(from).unwrap_or(entry.path());
        let name = below.to_string_lossy();
        let belongs = ["session.json", "ledger.jsonl", "lock"].contains(&&*name)
            || below.starts_with("evidence")
            || (name.starts_with("source") && below.components().count() == 1);
        let target = draft.path().join(below);
        let copied = match (belongs, entry.file_type()) {
            (true, kind) if kind.is_dir() => fs::create_dir(&target),
            (true, kind) if kind.is_file() => fs::copy(entry.path(), &target).map(drop),
            _ => continue,
        };
        copied.map_err(SessionError::io(&target, "copy"))?;
    }
    drop(lock);
    put_in_place(draft, to)?;
    let copy = Session::open(to)?;
    let tip = copy.index().tip();
    Ok(Copied {
        lines: tip.length,
        head: tip.head,
    })
}
