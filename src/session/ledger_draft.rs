//! The ledger of a session that is being made, of which nobody knows as yet.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Serialize;

use super::chain::{Line, Salt, Tip};
use super::error::SessionError;
use super::event::EventType;

/// How much of a new ledger is written at once.
const WRITE_BYTES: usize = 256 * 1024;

/// A new ledger in the making.
pub(super) struct LedgerDraft<'a> {
    path: PathBuf,
    file: BufWriter<File>,
    tip: Tip,
    now: Timestamp,
    salts: &'a mut dyn FnMut() -> Salt,
}

impl<'a> LedgerDraft<'a> {
    /// Begins the ledger of the session in `dir`; every line of it is of `now`.
    pub(super) fn begin(
        dir: &Path,
        now: Timestamp,
        salts: &'a mut dyn FnMut() -> Salt,
    ) -> Result<Self, SessionError> {
        let path = dir.join("ledger.jsonl");
        let file = File::create(&path).map_err(writing(&path))?;
        Ok(Self {
            file: BufWriter::with_capacity(WRITE_BYTES, file),
            tip: Tip::start(),
            path,
            now,
            salts,
        })
    }

    /// Adds a line.
    pub(super) fn put(
        &mut self,
        kind: EventType,
        body: &impl Serialize,
    ) -> Result<(), SessionError> {
        let line = Line::next_of(self.tip, self.now, (self.salts)(), kind, body)?;
        let bytes = line.text().as_bytes();
        let written = self.file.write_all(bytes);
        written
            .and_then(|()| self.file.write_all(b"\n"))
            .map_err(writing(&self.path))?;
        self.tip = line.tip();
        Ok(())
    }

    /// Brings it to disk.
    pub(super) fn end(self) -> Result<(), SessionError> {
        let file = self.file.into_inner();
        let file = file.map_err(|error| writing(&self.path)(error.into_error()))?;
        file.sync_all().map_err(writing(&self.path))
    }
}

fn writing(path: &Path) -> impl FnOnce(std::io::Error) -> SessionError {
    SessionError::io(path, "write the ledger")
}
