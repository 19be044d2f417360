//! At which point of which ledger the index is true, and what it adds up to there.

use rusqlite::{Connection, OptionalExtension as _, params};
use serde::{Deserialize, Serialize};

use super::error::IndexError;
use super::seal::Sealer;
use crate::base::Digest;
use crate::session::chain::Tip;
use crate::session::standing::Span;
use crate::session::totals::Totals;

/// At which point of which ledger the index is true, and what it adds up to there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::session) struct Checkpoint {
    /// The digest of the session's `session.json`.
    pub(in crate::session) session: Digest,
    /// How many lines it was made from.
    pub(in crate::session) lines: u64,
    /// The chain's head after them.
    pub(in crate::session) head: Digest,
    /// Where the last of them begins, in bytes.
    pub(in crate::session) last_offset: u64,
    /// Its length without the line feed, in bytes.
    pub(in crate::session) last_length: u32,
    /// What they add up to.
    pub(in crate::session) totals: Totals,
}

impl Checkpoint {
    /// The point before the first line.
    pub(in crate::session) fn start(session: Digest) -> Self {
        let Tip { length, head } = Tip::start();
        Self {
            session,
            lines: length,
            head,
            last_offset: 0,
            last_length: 0,
            totals: Totals::default(),
        }
    }

    /// The chain's end at this point.
    pub(in crate::session) fn tip(&self) -> Tip {
        Tip {
            length: self.lines,
            head: self.head,
        }
    }

    /// The last line.
    pub(in crate::session) fn last(&self) -> Span {
        Span {
            offset: self.last_offset,
            length: self.last_length,
        }
    }

    /// The end of the last line with its line feed, in bytes.
    pub(in crate::session) fn end(&self) -> u64 {
        match self.lines {
            0 => 0,
            _ => self.last_offset + u64::from(self.last_length) + 1,
        }
    }

    /// Moves it to the line at `span`, after which the chain ends in `tip`.
    pub(in crate::session) fn advance(&mut self, tip: Tip, span: Span) {
        self.lines = tip.length;
        self.head = tip.head;
        self.last_offset = span.offset;
        self.last_length = span.length;
    }

    /// Reads the checkpoint of `session` from its index.
    pub(super) fn read(connection: &Connection, session: Digest) -> Result<Self, IndexError> {
        let changed = || IndexError::Changed {
            table: "checkpoint",
        };
        let mut select = connection.prepare_cached("SELECT body, seal FROM checkpoint")?;
        let found = select
            .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let (body, seal): (String, i64) = found.ok_or_else(changed)?;
        let checkpoint: Self = serde_json::from_str(&body).map_err(|_| changed())?;
        if checkpoint.session != session {
            return Err(IndexError::Foreign);
        }
        if Sealer::new(session).seal("checkpoint", &checkpoint)? != seal {
            return Err(changed());
        }
        Ok(checkpoint)
    }

    /// Writes it in place of the one before.
    pub(super) fn write(&self, connection: &Connection) -> Result<(), IndexError> {
        let seal = Sealer::new(self.session).seal("checkpoint", self)?;
        let body = serde_json::to_string(self)?;
        let mut put = connection.prepare_cached(
            "INSERT OR REPLACE INTO checkpoint (id, body, seal) VALUES (1, ?, ?)",
        )?;
        put.execute(params![body, seal])?;
        Ok(())
    }
}
