//! The ledger read line by line, from the first on, for people and programs.

use std::path::Path;

use super::chain::Line;
use super::error::SessionError;
use super::event::Event;
use super::ledger::Ledger;
use super::progress::{Unwatched, Watch};

/// A reader's place in the ledger.
#[derive(Debug)]
pub struct Log {
    ledger: Ledger,
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
        }
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
        self.ledger.read_on(watch, &mut |line, event, _| {
            take(Entry { line, event });
            Ok(())
        })?;
        Ok(())
    }
}
