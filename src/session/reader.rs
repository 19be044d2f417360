//! Reading lines of the ledger again, many through one open file.

use std::fs::File;
use std::io::{BufReader, Read as _};
use std::ops::ControlFlow;
use std::path::Path;

use super::chain::{Line, Tip};
use super::decision::{Dispute, Settlement};
use super::error::{Damage, SessionError};
use super::event::{Attempt, Dated, Event, Resolution};
use super::ledger::{Ledger, LedgerTail, Stop};
use super::manifest::{Manifest, read_manifest};
use super::quest_record::{QuestRecord, Span};
use super::redaction::Forgetting;
use super::run_event::RunStep;
use super::sync::{Unwatched, Watch};
use crate::quest::Quest;

/// Reads lines that were read before; cheapest in the order in which they stand.
///
/// A line that was blotted out since, without the right to, is damage.
#[derive(Debug)]
pub struct LineReader {
    ledger: Ledger,
    file: BufReader<File>,
    at: u64,
    bytes: Vec<u8>,
    forgetting: Forgetting,
}

impl LineReader {
    pub(super) fn new(ledger: Ledger, file: File, forgetting: Forgetting) -> Self {
        Self {
            ledger,
            file: BufReader::new(file),
            at: 0,
            bytes: Vec::new(),
            forgetting,
        }
    }

    pub fn quest(&mut self, standing: &QuestRecord) -> Result<Quest, SessionError> {
        match self.line(standing.quest_line)?.value {
            Event::Quest(quest) => Ok(quest),
            _ => Err(self.moved()),
        }
    }

    /// The quest's last attempt with the time of its line, or the one that was carried into the
    /// session with the time at which it passed first.
    pub fn last_attempt(
        &mut self,
        standing: &QuestRecord,
    ) -> Result<Option<Dated<Box<Attempt>>>, SessionError> {
        let Some(last) = standing.last else {
            return Ok(None);
        };
        let line = self.line(last.line)?;
        let (at, value) = match line.value {
            Event::Attempt(attempt) => (line.at, attempt),
            Event::Carried(carried) => (carried.origin.at, Box::new(carried.attempt)),
            _ => return Err(self.moved()),
        };
        Ok(Some(Dated { at, value }))
    }

    /// What became of the quest's REVIEW, with the time of its line.
    pub fn resolution(
        &mut self,
        standing: &QuestRecord,
    ) -> Result<Option<Dated<Box<Resolution>>>, SessionError> {
        let Some(resolved) = standing.resolution else {
            return Ok(None);
        };
        let line = self.line(resolved.line)?;
        match line.value {
            Event::Resolution(value) => Ok(Some(Dated { at: line.at, value })),
            _ => Err(self.moved()),
        }
    }

    /// The decision on the quest's REVIEW, with the time of its line.
    pub fn settlement(
        &mut self,
        standing: &QuestRecord,
    ) -> Result<Option<Dated<Box<Settlement>>>, SessionError> {
        let Some(settled) = standing.settled else {
            return Ok(None);
        };
        let line = self.line(settled.line)?;
        match line.value {
            Event::Settled(value) => Ok(Some(Dated { at: line.at, value })),
            _ => Err(self.moved()),
        }
    }

    /// What somebody said who disputed the quest, with the time of its line.
    pub fn dispute(
        &mut self,
        standing: &QuestRecord,
    ) -> Result<Option<Dated<Box<Dispute>>>, SessionError> {
        let Some(span) = standing.dispute else {
            return Ok(None);
        };
        let line = self.line(span)?;
        match line.value {
            Event::Disputed(value) => Ok(Some(Dated { at: line.at, value })),
            _ => Err(self.moved()),
        }
    }

    /// What the last agent that was driven at the quest said of where it stands.
    pub fn handover(
        &mut self,
        standing: &QuestRecord,
    ) -> Result<Option<Dated<Box<str>>>, SessionError> {
        let Some(span) = standing.handover else {
            return Ok(None);
        };
        let line = self.line(span)?;
        match line.value {
            Event::Run(run) => match run.step {
                RunStep::Quest(driven) => {
                    let said = driven.handover;
                    Ok(said.map(|value| Dated { at: line.at, value }))
                }
                _ => Err(self.moved()),
            },
            _ => Err(self.moved()),
        }
    }

    pub fn is_redacted(&mut self, span: Span) -> Result<bool, SessionError> {
        self.fill(span).map_err(self.ledger.reading())?;
        let line = self.reread();
        line.map(|line| line.redacted().is_some())
            .map_err(|why| self.ledger.damaged_at(span.offset, why))
    }

    pub(super) fn tip_of(&mut self, span: Span) -> Result<Tip, SessionError> {
        self.fill(span).map_err(self.ledger.reading())?;
        self.tip()
            .map_err(|why| self.ledger.damaged_at(span.offset, why))
    }

    fn tip(&self) -> Result<Tip, Damage> {
        let text = std::str::from_utf8(&self.bytes).map_err(|_| Damage::Utf8)?;
        Ok(Line::reread(text)?.tip())
    }

    fn line(&mut self, span: Span) -> Result<Dated<Event>, SessionError> {
        self.fill(span).map_err(self.ledger.reading())?;
        self.parse()
            .map_err(|why| self.ledger.damaged_at(span.offset, why))
    }

    fn fill(&mut self, span: Span) -> std::io::Result<()> {
        let ahead = i128::from(span.offset) - i128::from(self.at);
        let ahead = i64::try_from(ahead).map_err(std::io::Error::other)?;
        self.file.seek_relative(ahead)?;
        self.bytes.resize(span.length as usize, 0);
        self.file.read_exact(&mut self.bytes)?;
        self.at = span.offset + u64::from(span.length);
        Ok(())
    }

    /// The line, unless it was blotted out without the right to.
    fn reread(&self) -> Result<Line<'_>, Damage> {
        let text = std::str::from_utf8(&self.bytes).map_err(|_| Damage::Utf8)?;
        let line = Line::reread(text)?;
        match line.redacted() {
            Some(digest) if !self.forgetting.backs(line.seq(), digest) => Err(Damage::Unbacked),
            _ => Ok(line),
        }
    }

    fn parse(&self) -> Result<Dated<Event>, Damage> {
        let line = self.reread()?;
        Ok(Dated {
            at: line.at(),
            value: line.event().map_err(Damage::Body)?,
        })
    }

    fn moved(&self) -> SessionError {
        let why = Damage::IllegalEvent("a line that was read is another now");
        self.ledger.damaged(why)
    }
}

#[derive(Debug)]
pub struct Log {
    ledger: Ledger,
    last: Span,
}

#[derive(Debug)]
pub struct Entry<'a> {
    pub line: &'a Line<'a>,
    pub event: Event,
}

impl Log {
    /// The ledger of the session in `dir`, of which nothing is read yet.
    pub(super) fn new(dir: &Path) -> Self {
        Self {
            ledger: Ledger::new(dir),
            last: Span {
                offset: 0,
                length: 0,
            },
        }
    }

    pub(super) fn behind(ledger: Ledger, last: Span) -> Self {
        Self { ledger, last }
    }

    /// Opens the ledger of the session in `dir` alone; nothing in the directory is written.
    ///
    /// Gives also what was frozen at `scan`, to which the first line must bind the ledger.
    pub fn open(dir: &Path) -> Result<(Manifest, Self), SessionError> {
        let (manifest, digest) = read_manifest(dir)?;
        let log = Self::new(dir);
        log.ledger.begins(digest)?;
        Ok((manifest, log))
    }

    /// Hands on the lines that were not read yet, each checked against the chain.
    ///
    /// A torn last line is left alone: it may be one that somebody is in the middle of.
    pub fn read_on(&mut self, take: &mut dyn FnMut(Entry<'_>)) -> Result<(), SessionError> {
        self.read_on_watched(&Unwatched, take)
    }

    pub fn read_on_watched(
        &mut self,
        watch: &dyn Watch,
        take: &mut dyn FnMut(Entry<'_>),
    ) -> Result<(), SessionError> {
        self.read_while(watch, &mut |entry| {
            take(entry);
            ControlFlow::Continue(())
        })
    }

    /// The same, until `take` wants no more.
    ///
    /// What was read before must still be there.
    pub fn read_while(
        &mut self,
        watch: &dyn Watch,
        take: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<(), SessionError> {
        match self.ledger.beyond(self.last)? {
            LedgerTail::Bytes(0) => return Ok(()),
            LedgerTail::Bytes(_) => {}
            LedgerTail::Cut => return Err(self.ledger.damaged(Damage::Cut)),
            LedgerTail::Other => return Err(self.ledger.damaged(Damage::Rewritten)),
        }
        let last = &mut self.last;
        self.ledger.read_on(
            watch,
            &mut |line, event, span| match take(Entry { line, event }) {
                ControlFlow::Break(()) => Err(Stop::Enough),
                ControlFlow::Continue(()) => {
                    *last = span;
                    Ok(())
                }
            },
        )?;
        Ok(())
    }
}
