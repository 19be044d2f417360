//! `ledger.jsonl` on disk: reading it on, cutting a torn tail, appending.

use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use super::board::Span;
use super::chain::{Line, Tip};
use super::error::{Damage, SessionError};
use super::event::Event;
use super::line_reader::LineReader;

/// A torn last line that was cut off: power was lost, or a process died while writing it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Healed {
    /// The ledger.
    pub path: PathBuf,
    /// How many bytes were cut off; none of them had been acknowledged.
    pub bytes: u64,
}

/// A reader's place in the ledger, and what it found behind the last whole line.
#[derive(Debug)]
pub(super) struct Ledger {
    path: PathBuf,
    tip: Tip,
    /// The end of the last whole line that was read, in bytes.
    end: u64,
}

/// What lies behind the last whole line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tail {
    /// Nothing.
    Clean,
    /// Bytes without a line feed.
    Torn(u64),
}

impl Ledger {
    /// The ledger of the session in `dir`, of which nothing is read yet.
    pub(super) fn new(dir: &Path) -> Self {
        Self {
            path: dir.join("ledger.jsonl"),
            tip: Tip::start(),
            end: 0,
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn tip(&self) -> Tip {
        self.tip
    }

    /// Reads the lines that were not read yet, checks each against the chain, and hands it on.
    pub(super) fn read_on(
        &mut self,
        take: &mut dyn FnMut(&Line<'_>, Event, Span) -> Result<(), &'static str>,
    ) -> Result<Tail, SessionError> {
        let mut file =
            File::open(&self.path).map_err(SessionError::io(&self.path, "open the ledger"))?;
        let length = file.metadata().map_err(self.reading())?.len();
        if length < self.end {
            return Err(self.damaged(Damage::Cut));
        }
        file.seek(SeekFrom::Start(self.end))
            .map_err(self.reading())?;
        let mut reader = BufReader::with_capacity(256 * 1024, file);
        let mut bytes = Vec::new();
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
                length: u32::try_from(bytes.len())
                    .map_err(|_| self.damaged(Damage::Story("the line is longer than 4 GiB")))?,
            };
            take(&line, event, span).map_err(|why| self.damaged(Damage::Story(why)))?;
            self.tip = line.tip();
            self.end += read as u64;
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
    pub(super) fn cut_tail(&self, bytes: u64) -> Result<Healed, SessionError> {
        let cut = || -> std::io::Result<()> {
            let file = OpenOptions::new().write(true).open(&self.path)?;
            file.set_len(self.end)?;
            file.sync_all()
        };
        cut().map_err(SessionError::io(&self.path, "cut off the torn last line"))?;
        Ok(Healed {
            path: self.path.clone(),
            bytes,
        })
    }

    /// Appends whole lines and returns once they are on disk. Only under the session's lock,
    /// with everything read and no torn tail.
    pub(super) fn append(&mut self, lines: &[Line<'_>]) -> Result<Vec<Span>, SessionError> {
        let mut text = String::new();
        let mut spans = Vec::with_capacity(lines.len());
        for line in lines {
            spans.push(Span {
                offset: self.end + text.len() as u64,
                length: u32::try_from(line.text().len())
                    .map_err(|_| self.damaged(Damage::Story("the line is longer than 4 GiB")))?,
            });
            text.extend([line.text(), "\n"]);
        }
        if let Err(error) = self.write(text.as_bytes()) {
            // What a full disk let through must not stand in the way of the next append.
            let _ = self.cut_tail(0);
            return Err(SessionError::io(&self.path, "append to the ledger")(error));
        }
        if let Some(last) = lines.last() {
            self.tip = last.tip();
        }
        self.end += text.len() as u64;
        Ok(spans)
    }

    fn write(&self, bytes: &[u8]) -> std::io::Result<()> {
        let mut file = OpenOptions::new().append(true).open(&self.path)?;
        file.write_all(bytes)?;
        file.sync_all()
    }

    /// Opens it for reading lines again.
    pub(super) fn reader(&self) -> Result<LineReader<'_>, SessionError> {
        let file = File::open(&self.path).map_err(self.reading())?;
        Ok(LineReader::new(self, file))
    }

    pub(super) fn reading(&self) -> impl FnOnce(std::io::Error) -> SessionError {
        SessionError::io(&self.path, "read the ledger")
    }

    pub(super) fn damaged(&self, why: Damage) -> SessionError {
        SessionError::Damaged {
            path: self.path.clone(),
            line: self.tip.length + 1,
            why,
        }
    }
}
