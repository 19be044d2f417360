//! `ledger.jsonl` on disk: reading it on, cutting a torn tail, appending.

use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::chain::{Line, Tip};
use super::error::{Damage, SessionError};
use super::event::Event;
use super::fold::Written;
use super::index::{Batches, Checkpoint, IndexError, NobodyListens, Read};
use super::quest_record::{IllegalEvent, Span};
use super::reader::LineReader;
use super::redaction::Forgetting;
use super::sync::{Unwatched, Watch};
use crate::base::clock::Clock;
use crate::base::{Digest, files};

/// A reader's place in the ledger, and what it found behind the last whole line.
#[derive(Debug, Clone)]
pub(super) struct Ledger {
    path: PathBuf,
    tip: Tip,
    /// The end of the last whole line that was read, in bytes.
    end: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LedgerTail {
    Bytes(u64),
    Cut,
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tail {
    Clean,
    Torn(u64),
    /// Nobody knows: whoever takes the lines in wanted no more.
    Unread,
}

#[derive(Debug)]
pub(super) enum Stop {
    IllegalEvent(IllegalEvent),
    Index(IndexError),
    Enough,
}

impl From<IllegalEvent> for Stop {
    fn from(story: IllegalEvent) -> Self {
        Self::IllegalEvent(story)
    }
}

impl From<IndexError> for Stop {
    fn from(error: IndexError) -> Self {
        match error {
            IndexError::IllegalEvent(story) => Self::IllegalEvent(story),
            other => Self::Index(other),
        }
    }
}

/// How many bytes are read between two words on how far the reading is.
const WATCH_BYTES: u64 = 1024 * 1024;

impl Ledger {
    /// The ledger of the session in `dir`, of which nothing is read yet.
    pub(super) fn new(dir: &Path) -> Self {
        Self {
            path: dir.join("ledger.jsonl"),
            tip: Tip::start(),
            end: 0,
        }
    }

    /// A ledger that lies at `path`, of which nothing is read yet.
    pub(super) fn of_file(path: PathBuf) -> Self {
        Self {
            path,
            ..Self::new(Path::new(""))
        }
    }

    pub(super) fn at(dir: &Path, checkpoint: &Checkpoint) -> Self {
        Self {
            tip: checkpoint.tip(),
            end: checkpoint.end(),
            ..Self::new(dir)
        }
    }

    /// Checks that the ledger begins with the line that binds the `session.json` of this digest.
    pub(super) fn begins(&self, manifest: Digest) -> Result<(), SessionError> {
        let mut bytes = Vec::new();
        files::open(&self.path)
            .and_then(|file| BufReader::new(file).read_until(b'\n', &mut bytes))
            .map_err(SessionError::io(&self.path, "open the ledger"))?;
        if bytes.pop_if(|last| *last == b'\n').is_none() {
            return Err(self.damaged(Damage::IllegalEvent("the ledger is empty")));
        }
        let begun = Self::new(self.path.parent().unwrap_or(Path::new("")));
        match begun.parse(&bytes).map_err(|why| begun.damaged(why))? {
            (_, Event::Session(started)) if started.manifest == manifest => Ok(()),
            (_, Event::Session(_)) => Err(SessionError::ManifestChanged {
                path: self.path.with_file_name("session.json"),
            }),
            _ => Err(begun.damaged(Damage::IllegalEvent(
                "the first line does not begin a session",
            ))),
        }
    }

    /// Whether the ledger on disk still has the lines up to this place, and how many bytes more.
    ///
    /// `last` is the last line before the place: it is read again, and must end the chain there.
    pub(super) fn beyond(&self, last: Span) -> Result<LedgerTail, SessionError> {
        let length = files::metadata(&self.path)
            .map_err(SessionError::io(&self.path, "open the ledger"))?
            .len();
        if self.end == 0 {
            return Ok(LedgerTail::Bytes(length));
        }
        if length < self.end {
            return Ok(LedgerTail::Cut);
        }
        match self.reader(Forgetting::default())?.tip_of(last) {
            Ok(tip) if tip == self.tip => Ok(LedgerTail::Bytes(length - self.end)),
            _ => Ok(LedgerTail::Other),
        }
    }

    /// Whether the chain on disk, read on from this place, comes by `tip`.
    pub(super) fn passes(&mut self, tip: Tip) -> Result<bool, SessionError> {
        let mut passed = tip == self.tip;
        self.read_on(&Unwatched, &mut |line, _, _| {
            passed |= line.tip() == tip;
            if line.tip().length < tip.length {
                Ok(())
            } else {
                Err(Stop::Enough)
            }
        })?;
        Ok(passed)
    }

    pub(super) fn torn(&self) -> Result<u64, SessionError> {
        let length = files::metadata(&self.path).map_err(self.reading())?.len();
        Ok(length.saturating_sub(self.end))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn tip(&self) -> Tip {
        self.tip
    }

    /// Moves the place behind the line at `span`, after which the chain ends in `tip`.
    pub(super) fn move_to(&mut self, tip: Tip, span: Span) {
        self.tip = tip;
        self.end = span.offset + u64::from(span.length) + 1;
    }

    /// Reads the lines that were not read yet, checks each against the chain, and hands it on.
    pub(super) fn read_on(
        &mut self,
        watch: &dyn Watch,
        take: &mut dyn FnMut(&Line<'_>, Event, Span) -> Result<(), Stop>,
    ) -> Result<Tail, SessionError> {
        let read = self.read_lines(watch, take);
        watch.ended();
        read
    }

    fn read_lines(
        &mut self,
        watch: &dyn Watch,
        take: &mut dyn FnMut(&Line<'_>, Event, Span) -> Result<(), Stop>,
    ) -> Result<Tail, SessionError> {
        let mut file =
            files::open(&self.path).map_err(SessionError::io(&self.path, "open the ledger"))?;
        let length = file.metadata().map_err(self.reading())?.len();
        if length < self.end {
            return Err(self.damaged(Damage::Cut));
        }
        file.seek(SeekFrom::Start(self.end))
            .map_err(self.reading())?;
        let mut reader = BufReader::with_capacity(256 * 1024, file);
        let mut bytes = Vec::new();
        let mut told = self.end;
        loop {
            bytes.clear();
            let read = reader
                .read_until(b'\n', &mut bytes)
                .map_err(self.reading())?;
            if read == 0 {
                return Ok(Tail::Clean);
            }
            if bytes.pop_if(|last| *last == b'\n').is_none() {
                return Ok(Tail::Torn(read as u64));
            }
            let (line, event) = self.parse(&bytes).map_err(|why| self.damaged(why))?;
            let span = Span {
                offset: self.end,
                length: u32::try_from(bytes.len()).map_err(|_| {
                    self.damaged(Damage::IllegalEvent("the line is longer than 4 GiB"))
                })?,
            };
            if let Err(stop) = take(&line, event, span) {
                return self.stopped(stop);
            }
            self.tip = line.tip();
            self.end += read as u64;
            if self.end - told >= WATCH_BYTES {
                told = self.end;
                watch.reading(self.end, length);
                if watch.stops() {
                    return Err(SessionError::Stopped);
                }
            }
        }
    }

    /// What an end of the reading comes to that its taker asked for at this place.
    pub(super) fn stopped(&self, stop: Stop) -> Result<Tail, SessionError> {
        match stop {
            Stop::Enough => Ok(Tail::Unread),
            Stop::IllegalEvent(why) => Err(self.damaged(Damage::IllegalEvent(why))),
            Stop::Index(error) => Err(SessionError::index(&self.path, error)),
        }
    }

    fn parse<'a>(&self, bytes: &'a [u8]) -> Result<(Line<'a>, Event), Damage> {
        let text = std::str::from_utf8(bytes).map_err(|_| Damage::Utf8)?;
        let line = Line::parse(self.tip, text)?;
        let event = line.event().map_err(Damage::Body)?;
        Ok((line, event))
    }

    /// Cuts off what lies behind the last whole line. Only under the session's lock, after
    /// [`Ledger::read_on`] found it there.
    pub(super) fn cut_tail(&self) -> Result<(), SessionError> {
        let cut = || -> std::io::Result<()> {
            let file = files::open_with(OpenOptions::new().write(true), &self.path)?;
            file.set_len(self.end)?;
            file.sync_all()
        };
        cut().map_err(SessionError::io(&self.path, "cut off the torn last line"))
    }

    pub(super) fn spans(&self, lines: &[Line<'_>]) -> Result<Vec<Span>, SessionError> {
        let mut offset = self.end;
        let mut spans = Vec::with_capacity(lines.len());
        for line in lines {
            let length = line.text().len();
            spans.push(Span {
                offset,
                length: u32::try_from(length).map_err(|_| {
                    self.damaged(Damage::IllegalEvent("the line is longer than 4 GiB"))
                })?,
            });
            offset += length as u64 + 1;
        }
        Ok(spans)
    }

    /// Appends whole lines and returns once they are on disk. Only under the session's lock,
    /// with everything read and no torn tail.
    pub(super) fn append(&mut self, lines: &[Line<'_>]) -> Result<(), SessionError> {
        let length = files::metadata(&self.path).map_err(self.reading())?.len();
        if length != self.end {
            return Err(SessionError::Illegal("somebody else writes to the ledger"));
        }
        let mut text = String::new();
        for line in lines {
            text.extend([line.text(), "\n"]);
        }
        if let Err(error) = self.write(text.as_bytes()) {
            // What a full disk let through must not stand in the way of the next append.
            let _ = self.cut_tail();
            return Err(SessionError::io(&self.path, "append to the ledger")(error));
        }
        if let Some(last) = lines.last() {
            self.tip = last.tip();
        }
        self.end += text.len() as u64;
        Ok(())
    }

    fn write(&self, bytes: &[u8]) -> std::io::Result<()> {
        let mut file = files::open_with(OpenOptions::new().append(true), &self.path)?;
        file.write_all(bytes)?;
        file.sync_all()
    }

    /// Opens it for reading lines again, of which those may be blotted out that `forgetting` says.
    pub(super) fn reader(&self, forgetting: Forgetting) -> Result<LineReader, SessionError> {
        let file = files::open(&self.path).map_err(self.reading())?;
        Ok(LineReader::new(self.clone(), file, forgetting))
    }

    pub(super) fn reading(&self) -> impl FnOnce(std::io::Error) -> SessionError {
        SessionError::io(&self.path, "read the ledger")
    }

    pub(super) fn damaged_at(&self, offset: u64, why: Damage) -> SessionError {
        let before = files::open(&self.path).map(|file| BufReader::new(file.take(offset)));
        let lines = before.map(|before| before.split(b'\n').count() as u64);
        SessionError::Damaged {
            path: self.path.clone(),
            line: lines.unwrap_or(self.tip.length) + 1,
            why,
        }
    }

    pub(super) fn damaged_line(&self, seq: u64, why: Damage) -> SessionError {
        SessionError::Damaged {
            path: self.path.clone(),
            line: seq + 1,
            why,
        }
    }

    pub(super) fn damaged(&self, why: Damage) -> SessionError {
        SessionError::Damaged {
            path: self.path.clone(),
            line: self.tip.length + 1,
            why,
        }
    }
}

/// How much of a new ledger is written at once.
const WRITE_BYTES: usize = 256 * 1024;

pub(super) struct LedgerDraft<'a> {
    path: PathBuf,
    file: BufWriter<File>,
    tip: Tip,
    now: Timestamp,
    clock: &'a mut dyn Clock,
    end: u64,
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

/// The length of a ledger, as it was seen last.
#[derive(Debug)]
pub struct LedgerWatch {
    ledger: PathBuf,
    seen: Option<u64>,
}

impl LedgerWatch {
    /// The ledger of the session in `dir`, of which nothing was seen yet.
    #[must_use]
    pub fn of(dir: &Path) -> Self {
        Self {
            ledger: dir.join("ledger.jsonl"),
            seen: None,
        }
    }

    #[must_use]
    pub fn is_at(&self, end: u64) -> bool {
        self.seen == Some(end)
    }

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
        let mut tide = LedgerWatch::of(dir.path());
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
