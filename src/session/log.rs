//! The ledger read line by line, from the first on, for people and programs.

use std::ops::ControlFlow;
use std::path::Path;

use super::chain::Line;
use super::error::{Damage, SessionError};
use super::event::Event;
use super::ledger::{Beyond, Ledger, Stop};
use super::manifest::Manifest;
use super::progress::{Unwatched, Watch};
use super::read_manifest::read_manifest;
use super::standing::Span;

/// A reader's place in the ledger.
#[derive(Debug)]
pub struct Log {
    ledger: Ledger,
    last: Span,
}

/// A line and what it records.
#[derive(Debug)]
pub struct Entry<'a> {
    /// The line.
    pub line: &'a Line<'a>,
    /// What it records.
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

    /// A ledger of which all is read up to the line `last`.
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

    /// The same, while `watch` is told how far it is.
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
            Beyond::Bytes(0) => return Ok(()),
            Beyond::Bytes(_) => {}
            Beyond::Cut => return Err(self.ledger.damaged(Damage::Cut)),
            Beyond::Other => return Err(self.ledger.damaged(Damage::Rewritten)),
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
