//! Files about a session, written beside the lists that it was made of.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::base::Digest;
use crate::base::files::{AtomicError, Overwrite, write_whole};
use crate::session::{Session, SourceRecord, Totals};

/// Writes a file about `session` whole or not at all, over another if `force`, but never over a
/// list or the session itself.
pub(super) fn write_beside<R>(
    path: &Path,
    force: bool,
    session: &Session,
    totals: &Totals,
    write: impl FnOnce(&mut BufWriter<&mut File>) -> Result<R>,
) -> Result<R> {
    let overwrite = if force {
        refuse_list(path, session, totals)?;
        Overwrite::Replace
    } else {
        Overwrite::Never
    };
    let sources = sources(session, totals);
    let sources: Vec<&Path> = sources.iter().map(PathBuf::as_path).collect();
    write_whole(path, overwrite, &sources, write)
}

/// What is never written over: every list that was scanned, and the session.
fn sources(session: &Session, totals: &Totals) -> Vec<PathBuf> {
    let file = |name: &str| session.dir().join(name);
    let lists = lists(session, totals);
    let lists = lists.flat_map(|list| [PathBuf::from(&list.path), file(&list.copy)]);
    let own = ["ledger.jsonl", "session.json"].map(file);
    lists.chain(own).collect()
}

fn lists<'a>(session: &'a Session, totals: &'a Totals) -> impl Iterator<Item = &'a SourceRecord> {
    let first = &session.manifest().source;
    std::iter::once(first).chain(&totals.extensions)
}

/// Refuses a file that holds what a list held when it was scanned: that is the list, whatever
/// it is called by now.
fn refuse_list(path: &Path, session: &Session, totals: &Totals) -> Result<(), AtomicError> {
    if !std::fs::metadata(path).is_ok_and(|found| found.is_file()) {
        // What is no file is refused, or made, when it is written to.
        return Ok(());
    }
    let held = File::open(path).and_then(|mut file| Digest::of_reader(&mut file));
    match held {
        Ok(held) if lists(session, totals).any(|list| list.sha256 == held) => {
            Err(AtomicError::Source(path.to_owned()))
        }
        _ => Ok(()),
    }
}
