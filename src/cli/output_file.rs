//! Writes the files that a command makes: never in a session, never over a list, and not through a
//! symbolic link that somebody planted.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf, absolute};

use anyhow::{Context as _, Result};
use schemars::JsonSchema;
use serde::Serialize;

use super::exit::refuse;
use crate::base::files::{AtomicError, Overwrite, write_whole};
use crate::base::text::{Escaped, plural};
use crate::hook::real_path;
use crate::session::{Session, Totals};
use crate::table::digest;

pub(super) struct NewFile {
    pub(super) name: String,
    pub(super) text: String,
}

/// The JSON form of a command that writes files into a directory.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FilesWritten {
    directory: String,
    files: Vec<String>,
}

impl FilesWritten {
    pub(super) fn text(&self, noun: &str) -> String {
        let count = plural(self.files.len() as u64, noun);
        format!("{count} written to {}", Escaped(&self.directory))
    }
}

/// Writes files into `dir`, which is created if it is missing. Existing files are replaced.
///
/// Nothing is written unless every file may be.
pub(super) fn write_into(dir: &Path, files: &[NewFile], session: &Path) -> Result<FilesWritten> {
    refuse_in_session(dir, session)?;
    for file in files {
        let path = dir.join(&file.name);
        if fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink()) {
            return Err(AtomicError::Link(path).into());
        }
        refuse_in_session(&path, session)?;
    }
    let place = dir.display();
    fs::create_dir_all(dir).with_context(|| format!("cannot create the directory {place}"))?;
    for file in files {
        write_whole(
            &dir.join(&file.name),
            Overwrite::ReplaceNoLink,
            &[],
            |out| -> Result<()> { Ok(out.write_all(file.text.as_bytes())?) },
        )?;
    }
    Ok(FilesWritten {
        directory: place.to_string(),
        files: files.iter().map(|file| file.name.clone()).collect(),
    })
}

/// Refuses a file in `session` or in any other session directory.
pub(super) fn refuse_in_session(path: &Path, session: &Path) -> Result<()> {
    // A path that cannot be resolved is refused when it is written to.
    let Some(place) = real(path) else {
        return Ok(());
    };
    let (which, elsewhere) = if real(session).is_some_and(|session| place.starts_with(session)) {
        ("the session", "elsewhere".to_owned())
    } else if let Some(other) = place.ancestors().find(|dir| is_session(dir)) {
        ("another session", format!("outside {}", other.display()))
    } else {
        return Ok(());
    };
    refuse(format!(
        "{} is inside {which}, where only comail writes; name a file {elsewhere}",
        path.display()
    ))
}

/// The path with every link followed, also if there is no file yet.
fn real(path: &Path) -> Option<PathBuf> {
    real_path(&absolute(path).ok()?).ok()
}

fn is_session(dir: &Path) -> bool {
    let has = |name| fs::symlink_metadata(dir.join(name)).is_ok();
    has("session.json") && has("ledger.jsonl")
}

/// Writes a file about `session` whole or not at all; with `force` over another file, but never
/// over a list or the session itself.
pub(super) fn write_atomically<R>(
    path: &Path,
    force: bool,
    session: &Session,
    totals: &Totals,
    write: impl FnOnce(&mut BufWriter<&mut File>) -> Result<R>,
) -> Result<R> {
    let lists = || std::iter::once(&session.manifest().source).chain(&totals.extensions);
    // A file with the content that a list had when it was scanned is that list under another name.
    let is_list = || digest(path).is_ok_and(|held| lists().any(|list| list.sha256 == held));
    if force && is_list() {
        return Err(AtomicError::Source(path.to_owned()).into());
    }
    let overwrite = if force {
        Overwrite::Replace
    } else {
        Overwrite::Never
    };
    let own = |name: &str| session.dir().join(name);
    let sources: Vec<PathBuf> = lists()
        .flat_map(|list| [PathBuf::from(&list.path), own(&list.copy)])
        .chain(["ledger.jsonl", "session.json"].map(own))
        .collect();
    let sources: Vec<&Path> = sources.iter().map(PathBuf::as_path).collect();
    write_whole(path, overwrite, &sources, write)
}
