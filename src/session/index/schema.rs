//! The tables, and how the database is opened.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension as _, params};
use serde::{Deserialize, Serialize};

use super::rows::Sealer;
use crate::base::{Digest, files};
use crate::session::chain::Tip;
use crate::session::quest_record::{IllegalEvent, Span};
use crate::session::totals::Totals;

/// What tells the file from other databases: `coma` in ASCII.
const APPLICATION_ID: i32 = 0x636F_6D61;

const FORMAT: i32 = 6;

/// How long another process's write is waited for. Writes take a few milliseconds.
const BUSY_WAIT: Duration = Duration::from_secs(10);

const STATEMENTS: usize = 32;

/// Rows are written and read whole, in the order of these columns.
const TABLES: &str = "
CREATE TABLE checkpoint (id INTEGER PRIMARY KEY CHECK (id = 1), body TEXT NOT NULL, seal INTEGER NOT NULL) STRICT;
CREATE TABLE quest (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL, fold INTEGER NOT NULL,
    state TEXT NOT NULL, tries INTEGER NOT NULL, attempts INTEGER NOT NULL,
    quest_offset INTEGER NOT NULL, quest_length INTEGER NOT NULL,
    last_offset INTEGER, last_length INTEGER, grounds TEXT,
    outcome TEXT, outcome_offset INTEGER, outcome_length INTEGER,
    settled TEXT, settled_offset INTEGER, settled_length INTEGER,
    dispute_offset INTEGER, dispute_length INTEGER,
    handover_offset INTEGER, handover_length INTEGER, revisions INTEGER NOT NULL,
    asked INTEGER NOT NULL, after_ids TEXT, claim INTEGER, seal INTEGER NOT NULL
) STRICT;
CREATE TABLE submission (
    quest INTEGER NOT NULL, number INTEGER NOT NULL, digest BLOB NOT NULL, grounds TEXT NOT NULL,
    seal INTEGER NOT NULL, PRIMARY KEY (quest, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE mark (
    bucket INTEGER NOT NULL, mark TEXT NOT NULL, quest INTEGER NOT NULL, seal INTEGER NOT NULL,
    PRIMARY KEY (bucket, mark)
) STRICT, WITHOUT ROWID;
CREATE TABLE bucket (
    bucket INTEGER PRIMARY KEY, marks INTEGER NOT NULL, seals INTEGER NOT NULL, seal INTEGER NOT NULL
) STRICT;
CREATE TABLE claim (
    quest INTEGER PRIMARY KEY, worker TEXT NOT NULL UNIQUE,
    at_ms INTEGER NOT NULL, lease_s INTEGER NOT NULL, seal INTEGER NOT NULL
) STRICT;
";

/// Made once the quests are in, which is quicker than with each of them.
const LOOKUPS: &str = "
CREATE INDEX quest_fold ON quest (fold);
CREATE INDEX quest_key ON quest (key);
CREATE INDEX quest_todo ON quest (id) WHERE state = 'TODO';
CREATE INDEX quest_after ON quest (id) WHERE state = 'TODO' AND after_ids IS NOT NULL;
CREATE INDEX quest_unanswered ON quest (id)
    WHERE state = 'REVIEW' AND grounds = 'unanswered' AND outcome IS NULL AND settled IS NULL;
CREATE INDEX quest_review ON quest (id) WHERE state = 'REVIEW';
";

pub(super) fn open(path: &Path) -> Result<Connection, IndexError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = sound(path, flags, BUSY_WAIT)?;
    // The journal is emptied rather than removed after each write: no directory to be synced.
    connection.pragma_update(None, "journal_mode", "TRUNCATE")?;
    // A write that is lost with the power leaves the index behind the ledger, never torn.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    Ok(connection)
}

/// Opens what lies at `path` with these flags, which must be an index of this format; another
/// process's write is waited for so long.
pub(super) fn sound(
    path: &Path,
    flags: OpenFlags,
    wait: Duration,
) -> Result<Connection, IndexError> {
    for part in std::iter::once(path.to_owned()).chain(beside(path)) {
        if files::is_other(&part) {
            return Err(IndexError::Special(part.display().to_string()));
        }
    }
    if !path.exists() {
        return Err(IndexError::Missing);
    }
    if was_cut_off(path) {
        return Err(IndexError::CutOff);
    }
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(wait)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    let application: i32 = connection.pragma_query_value(None, "application_id", |r| r.get(0))?;
    let format: i32 = connection.pragma_query_value(None, "user_version", |r| r.get(0))?;
    if (application, format) != (APPLICATION_ID, FORMAT) {
        return Err(IndexError::Format);
    }
    Ok(connection)
}

pub(super) fn beside(path: &Path) -> impl Iterator<Item = PathBuf> {
    ["-journal", "-wal", "-shm"].into_iter().map(|ending| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        name.into()
    })
}

/// Whether a journal is left of a write that was not finished.
///
/// Rolling it back would trust that it belongs to this very file, which nothing in it says.
pub(super) fn was_cut_off(path: &Path) -> bool {
    let mut journal = path.as_os_str().to_owned();
    journal.push("-journal");
    std::fs::metadata(journal).is_ok_and(|journal| journal.len() > 0)
}

/// Opens an empty index that is filled in one go: in the file at `path`, else in memory.
pub(super) fn fresh(path: Option<&Path>) -> Result<Connection, IndexError> {
    let connection = match path {
        Some(path) => Connection::open(path)?,
        None => Connection::open_in_memory()?,
    };
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    // Whoever dies in the middle leaves a file that nobody opens.
    connection.pragma_update(None, "journal_mode", "OFF")?;
    connection.pragma_update(None, "synchronous", "OFF")?;
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "user_version", FORMAT)?;
    connection.execute_batch(TABLES)?;
    Ok(connection)
}

pub(super) fn add_lookups(connection: &Connection) -> Result<(), IndexError> {
    Ok(connection.execute_batch(LOOKUPS)?)
}

/// At which point of which ledger the index is true, and what it adds up to there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::session) struct Checkpoint {
    pub(in crate::session) session: Digest,
    pub(in crate::session) lines: u64,
    pub(in crate::session) head: Digest,
    pub(in crate::session) last_offset: u64,
    pub(in crate::session) last_length: u32,
    pub(in crate::session) totals: Totals,
}

impl Checkpoint {
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

    pub(in crate::session) fn tip(&self) -> Tip {
        Tip {
            length: self.lines,
            head: self.head,
        }
    }

    pub(in crate::session) fn last(&self) -> Span {
        Span {
            offset: self.last_offset,
            length: self.last_length,
        }
    }

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

/// Why an index is of no use as it is; it is rebuilt.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    #[error("it is missing")]
    Missing,
    #[error("it has another format")]
    Format,
    /// A journal lies beside it: a write is under way, or died.
    #[error("its last write did not finish")]
    CutOff,
    /// Something else lies where it or its journal does.
    #[error("{0} is no regular file")]
    Special(String),
    #[error("it belongs to another session")]
    Foreign,
    #[error("its table {table} was modified")]
    Changed { table: &'static str },
    /// It ends elsewhere than the ledger.
    #[error("it does not match the ledger")]
    Misfit,
    #[error(
        "it was built from {known} lines, but the ledger has fewer now: acknowledged lines are \
         missing from {path}"
    )]
    Ahead { known: u64, path: String },
    /// What the ledger tells next does not follow from it.
    #[error("what the ledger tells next does not follow from it: {0}")]
    IllegalEvent(IllegalEvent),
    #[error("{0}")]
    Engine(#[from] rusqlite::Error),
    #[error("{0}")]
    Value(#[from] serde_json::Error),
}

impl From<IllegalEvent> for IndexError {
    fn from(story: IllegalEvent) -> Self {
        Self::IllegalEvent(story)
    }
}
