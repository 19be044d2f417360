//! The ledger of a session that is being made, of which nobody knows as yet.

use crate::base::clock::Clock;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::chain::{Line, Tip};
use super::error::SessionError;
use super::event::Event;
use super::fold::Written;
use super::index::{Batches, NobodyListens, Read};
use super::standing::Span;

/// How much of a new ledger is written at once.
const WRITE_BYTES: usize = 256 * 1024;

/// A new ledger in the making.
pub(super) struct LedgerDraft<'a> {
    path: PathBuf,
    file: BufWriter<File>,
    tip: Tip,
    now: Timestamp,
    clock: &'a mut dyn Clock,
    /// Where the next line begins, in bytes.
    end: u64,
    /// To whoever makes the index of it.
    index: Batches,
}

impl<'a> LedgerDraft<'a> {
    /// Begins the ledger of the session in `dir`; every line of it is of `now`.
    pub(super) fn begin(
        dir: &Path,
        now: Timestamp,
        clock: &'a mut dyn Clock,
        index: Batches,
    ) -> Result<Self, SessionError> {
        let path = dir.join("ledger.jsonl");
        let file = File::create(&path).map_err(writing(&path))?;
        Ok(Self {
            file: BufWriter::with_capacity(WRITE_BYTES, file),
            tip: Tip::start(),
            path,
            now,
            clock,
            end: 0,
            index,
        })
    }

    /// Adds the line of an event.
    ///
    /// An index that does not come about is no error here: whoever makes it tells of it.
    pub(super) fn put(&mut self, event: Event) -> Result<(), SessionError> {
        let line = Line::next(self.tip, self.now, self.clock.salt(), &event)?;
        let bytes = line.text().as_bytes();
        let written = self.file.write_all(bytes);
        written
            .and_then(|()| self.file.write_all(b"\n"))
            .map_err(writing(&self.path))?;
        self.tip = line.tip();
        let span = Span {
            offset: self.end,
            length: u32::try_from(bytes.len()).unwrap_or(u32::MAX),
        };
        self.end += bytes.len() as u64 + 1;
        let (written, tip) = (Written::of(&line, span), self.tip);
        let read = Read {
            event,
            written,
            tip,
        };
        let _: Result<(), NobodyListens> = self.index.push(read);
        Ok(())
    }

    /// Brings it to disk.
    pub(super) fn end(self) -> Result<(), SessionError> {
        self.index.end();
        let file = self.file.into_inner();
        let file = file.map_err(|error| writing(&self.path)(error.into_error()))?;
        file.sync_all().map_err(writing(&self.path))
    }
}

fn writing(path: &Path) -> impl FnOnce(std::io::Error) -> SessionError {
    SessionError::io(path, "write the ledger")
}
