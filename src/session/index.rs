//! `index.sqlite`: the folded ledger, so that few commands must read the whole ledger.
//!
//! It is disposable: its checkpoint names the last ledger line that it covers, and it follows the
//! ledger from there or is rebuilt. Format 10 is an `SQLite` database with this `application_id` and
//! `user_version`:
//!
//! | table | what |
//! |---|---|
//! | `checkpoint` | one row: the session, the ledger's length and head, and the [`Totals`] |
//! | `quest` | a row for each quest: searchable columns, and its [`QuestRecord`] |
//! | `mark` | what PASSes have taken, such as addresses, and the quest that holds it |
//!
//! The last two columns of each table are `body`, which is JSON, and `seal`, a digest of the session
//! and the rest of the row. A changed byte on the disk breaks a seal. `SQLite` counts the changes to
//! a file, and the checkpoint repeats that count, so edits with `SQLite` are noticed too. Neither
//! stops an attacker who computes both. So decisions of people and "complete" rest on the ledger,
//! and `audit` compares every row with it.
//!
//! Only the ledger is synced to the disk. A power loss can corrupt the index, so the checkpoint names
//! the boot of the machine, and an index of an earlier boot is rebuilt.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Params, Row, params_from_iter};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::chain::Tip;
use super::error::IndexError;
use super::event::Mark;
use super::quest_record::{QuestRecord, Span};
use super::state::State;
use super::totals::Totals;
use crate::base::{Digest, files};
use crate::quest::{FoldedKey, QuestId};

/// Identifies the file among other databases: `coma` in ASCII.
const APPLICATION_ID: i32 = 0x636F_6D61;
const FORMAT: i32 = 10;

const STATEMENTS: usize = 32;

/// The tables whose rows are compared when an index is verified against the ledger.
pub(super) const TABLES: [&str; 3] = ["checkpoint", "quest", "mark"];

const SCHEMA: &str = "
CREATE TABLE checkpoint (
    id INTEGER PRIMARY KEY CHECK (id = 1), changes INTEGER NOT NULL, boot TEXT,
    body TEXT NOT NULL, seal INTEGER NOT NULL
) STRICT;
CREATE TABLE quest (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL, fold INTEGER NOT NULL, state TEXT NOT NULL,
    waits INTEGER NOT NULL, unanswered INTEGER NOT NULL,
    worker TEXT, held_ms INTEGER, lease_s INTEGER, body TEXT NOT NULL, seal INTEGER NOT NULL
) STRICT;
CREATE TABLE mark (
    mark TEXT PRIMARY KEY, body TEXT NOT NULL, seal INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
";

/// Created after the quests are inserted, which is faster than updating it for each of them.
const LOOKUPS: &str = "
CREATE INDEX IF NOT EXISTS quest_fold ON quest (fold);
CREATE INDEX IF NOT EXISTS quest_key ON quest (key);
CREATE INDEX IF NOT EXISTS quest_todo ON quest (id) WHERE state = 'TODO';
CREATE INDEX IF NOT EXISTS quest_review ON quest (id) WHERE state = 'REVIEW';
CREATE INDEX IF NOT EXISTS quest_waits ON quest (id) WHERE waits;
CREATE INDEX IF NOT EXISTS quest_unanswered ON quest (id) WHERE unanswered;
CREATE UNIQUE INDEX IF NOT EXISTS quest_worker ON quest (worker) WHERE worker IS NOT NULL;
";

/// Opens an index, and waits at most `wait` for writes of other processes.
pub(super) fn open(
    path: &Path,
    flags: OpenFlags,
    wait: Duration,
) -> Result<Connection, IndexError> {
    for part in std::iter::once(path.to_owned()).chain(companions(path)) {
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
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(wait)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    check_format(&connection)?;
    if flags.contains(OpenFlags::SQLITE_OPEN_READ_WRITE) {
        // The journal protects against a process that is killed while writing. Truncating it is cheaper
        // than removing it. Without a boot id, a power loss goes unnoticed, so writes are synced.
        let sync = if boot().is_some() { "OFF" } else { "NORMAL" };
        let pragmas = format!("PRAGMA synchronous = {sync}; PRAGMA journal_mode = TRUNCATE");
        connection.execute_batch(&pragmas)?;
    }
    Ok(connection)
}

fn check_format(connection: &Connection) -> Result<(), IndexError> {
    let application: i32 = connection.pragma_query_value(None, "application_id", |r| r.get(0))?;
    let format: i32 = connection.pragma_query_value(None, "user_version", |r| r.get(0))?;
    if (application, format) == (APPLICATION_ID, FORMAT) {
        Ok(())
    } else {
        Err(IndexError::Format)
    }
}

/// Creates an empty index that is filled in one transaction. Without a path it is temporary: `SQLite`
/// keeps it in memory while it is small, and removes it at the end.
pub(super) fn create(path: Option<&Path>) -> Result<Connection, IndexError> {
    let connection = Connection::open(path.unwrap_or(Path::new("")))?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    // If the process dies, nobody opens the incomplete file. The cache size is in KiB.
    connection.execute_batch(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -16384",
    )?;
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "user_version", FORMAT)?;
    connection.execute_batch(SCHEMA)?;
    Ok(connection)
}

pub(super) fn add_lookups(connection: &Connection) -> Result<(), IndexError> {
    Ok(connection.execute_batch(LOOKUPS)?)
}

/// The files that `SQLite` may create next to `path`.
pub(super) fn companions(path: &Path) -> impl Iterator<Item = PathBuf> {
    ["-journal", "-wal", "-shm"].into_iter().map(|ending| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        name.into()
    })
}

/// Whether the journal of an unfinished write is left.
///
/// It is not rolled back, because nothing proves that it belongs to this file.
pub(super) fn was_cut_off(path: &Path) -> bool {
    let mut journal = path.as_os_str().to_owned();
    journal.push("-journal");
    std::fs::metadata(journal).is_ok_and(|journal| journal.len() > 0)
}

/// The number of transactions that changed the database, from the file's header.
pub(super) fn changes(file: &File) -> io::Result<u32> {
    let mut count = [0; 4];
    std::os::unix::fs::FileExt::read_exact_at(file, &mut count, 24)?;
    Ok(u32::from_be_bytes(count))
}

/// The boot id of the machine, if the system has one.
fn boot() -> Option<String> {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()
}

/// The last ledger line that the index covers, and the totals up to there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Checkpoint {
    pub(super) session: Digest,
    pub(super) lines: u64,
    pub(super) head: Digest,
    pub(super) last: Span,
    pub(super) totals: Totals,
}

impl Checkpoint {
    pub(super) fn start(session: Digest) -> Self {
        let Tip { length, head } = Tip::start();
        Self {
            session,
            lines: length,
            head,
            last: Span::default(),
            totals: Totals::default(),
        }
    }

    pub(super) fn tip(&self) -> Tip {
        Tip {
            length: self.lines,
            head: self.head,
        }
    }

    pub(super) fn end(&self) -> u64 {
        if self.lines == 0 { 0 } else { self.last.end() }
    }

    /// Advances to the line at `last`, which ends in `tip`.
    pub(super) fn advance(&mut self, tip: Tip, last: Span) {
        (self.lines, self.head, self.last) = (tip.length, tip.head, last);
    }
}

/// The tables of one session's index. Writing a row seals it, and reading a row with a broken seal is
/// an error.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tables<'a> {
    pub(super) connection: &'a Connection,
    pub(super) session: Digest,
}

impl Tables<'_> {
    pub(super) fn quest(&self, id: QuestId) -> Result<Option<QuestRecord>, IndexError> {
        self.one("SELECT * FROM quest WHERE id = ?", [number(id)], "quest")
    }

    pub(super) fn quest_of(&self, worker: &str) -> Result<Option<QuestRecord>, IndexError> {
        self.one("SELECT * FROM quest WHERE worker = ?", [worker], "quest")
    }

    pub(super) fn holder(&self, mark: &Mark) -> Result<Option<QuestId>, IndexError> {
        self.one("SELECT * FROM mark WHERE mark = ?", [&mark.0], "mark")
    }

    /// Inserts or updates a record. `SQLite` updates only the lookups whose columns change.
    pub(super) fn put_quest(&self, record: &QuestRecord) -> Result<(), IndexError> {
        let sql = "INSERT INTO quest VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) \
             ON CONFLICT (id) DO UPDATE SET state = excluded.state, waits = excluded.waits, \
             unanswered = excluded.unanswered, worker = excluded.worker, \
             held_ms = excluded.held_ms, lease_s = excluded.lease_s, body = excluded.body, \
             seal = excluded.seal";
        let todo = record.progress.state == State::Todo;
        let claim = record.claim.as_ref();
        self.put(
            sql,
            "quest",
            vec![
                number(record.id).into(),
                record.key.as_str().to_owned().into(),
                fold(&record.key.folded()).into(),
                record.progress.state.name().to_owned().into(),
                (todo && !record.after.is_empty()).into(),
                record.is_unanswered().into(),
                claim.map(|claim| claim.worker.to_string()).into(),
                claim.map(|claim| claim.at.as_millisecond()).into(),
                claim.map(|claim| i64::from(claim.lease.seconds())).into(),
                serde_json::to_string(record)?.into(),
            ],
        )
    }

    /// Records that a quest took this, unless another did before.
    pub(super) fn put_mark(&self, mark: &Mark, quest: QuestId) -> Result<(), IndexError> {
        let cells = vec![mark.0.clone().into(), serde_json::to_string(&quest)?.into()];
        self.put("INSERT OR IGNORE INTO mark VALUES (?, ?, ?)", "mark", cells)
    }

    pub(super) fn checkpoint(&self) -> Result<(Checkpoint, u32), IndexError> {
        let changed = IndexError::Changed("checkpoint");
        let mut select = self.connection.prepare_cached("SELECT * FROM checkpoint")?;
        let mut rows = select.query([])?;
        let row = rows.next()?.ok_or(changed)?;
        // Checked before the seal, to tell another session's index from a changed one.
        let body: String = row.get("body")?;
        let found: Checkpoint =
            serde_json::from_str(&body).map_err(|_| IndexError::Changed("checkpoint"))?;
        if found.session != self.session {
            return Err(IndexError::Foreign);
        }
        let written_in: Option<String> = row.get("boot")?;
        if written_in.is_some() && written_in != boot() {
            return Err(IndexError::CutOff);
        }
        Ok((self.read(row, "checkpoint")?, row.get("changes")?))
    }

    pub(super) fn put_checkpoint(
        &self,
        checkpoint: &Checkpoint,
        changes: u32,
    ) -> Result<(), IndexError> {
        let body = serde_json::to_string(checkpoint)?;
        let cells = vec![
            1_i64.into(),
            i64::from(changes).into(),
            boot().into(),
            body.into(),
        ];
        let sql = "INSERT OR REPLACE INTO checkpoint VALUES (?, ?, ?, ?, ?)";
        self.put(sql, "checkpoint", cells)
    }

    /// Passes records, or the part of them that `T` names, to `take` until it returns false.
    pub(super) fn each_quest<T: DeserializeOwned>(
        &self,
        sql: &str,
        by: impl Params,
        mut take: impl FnMut(T) -> Result<bool, IndexError>,
    ) -> Result<(), IndexError> {
        let mut select = self.connection.prepare_cached(sql)?;
        let mut rows = select.query(by)?;
        while let Some(row) = rows.next()? {
            if !take(self.read(row, "quest")?)? {
                break;
            }
        }
        Ok(())
    }

    pub(super) fn quests(
        &self,
        sql: &str,
        by: impl Params,
    ) -> Result<Vec<QuestRecord>, IndexError> {
        let mut found = Vec::new();
        self.each_quest(sql, by, |record| {
            found.push(record);
            Ok(true)
        })?;
        Ok(found)
    }

    fn one<T: DeserializeOwned>(
        &self,
        sql: &str,
        by: impl Params,
        table: &'static str,
    ) -> Result<Option<T>, IndexError> {
        let mut select = self.connection.prepare_cached(sql)?;
        let found = select.query_row(by, |row| Ok(self.read(row, table)));
        found.optional()?.transpose()
    }

    /// Checks a row's seal and parses its body.
    fn read<T: DeserializeOwned>(
        &self,
        row: &Row<'_>,
        table: &'static str,
    ) -> Result<T, IndexError> {
        let seal_at = row.as_ref().column_count() - 1;
        let cells = (0..seal_at).map(|at| row.get_ref(at));
        let cells = cells.collect::<Result<Vec<_>, _>>()?;
        if row.get_ref(seal_at)? != ValueRef::Integer(self.seal(table, &cells)) {
            return Err(IndexError::Changed(table));
        }
        let body = cells.last().and_then(|body| body.as_str().ok());
        let read = body.and_then(|body| serde_json::from_str(body).ok());
        read.ok_or(IndexError::Changed(table))
    }

    pub(super) fn put(
        &self,
        sql: &str,
        table: &str,
        mut cells: Vec<Value>,
    ) -> Result<(), IndexError> {
        let said: Vec<_> = cells.iter().map(ValueRef::from).collect();
        let seal = self.seal(table, &said);
        cells.push(seal.into());
        let mut put = self.connection.prepare_cached(sql)?;
        put.execute(params_from_iter(cells))?;
        Ok(())
    }

    fn seal(&self, table: &str, cells: &[ValueRef<'_>]) -> i64 {
        let mut said = Vec::with_capacity(512);
        for cell in cells {
            // Each cell begins with its kind and length, so that different rows have different digests.
            match cell {
                ValueRef::Integer(number) => {
                    said.push(b'i');
                    said.extend(number.to_be_bytes());
                }
                ValueRef::Text(bytes) => {
                    said.push(b't');
                    said.extend((bytes.len() as u64).to_be_bytes());
                    said.extend(*bytes);
                }
                _ => said.push(b'n'),
            }
        }
        let session = self.session.to_string();
        let digest = Digest::of_parts([session.as_bytes(), table.as_bytes(), &said]);
        i64::from_be_bytes(digest.first_bytes())
    }
}

/// A quest's number in the index, which is the number that people see.
pub(super) fn number(id: QuestId) -> i64 {
    i64::try_from(id.index()).unwrap_or(i64::MAX - 1) + 1
}

/// The start of a folded key's digest, because the key may be long.
pub(super) fn fold(key: &FoldedKey) -> i64 {
    i64::from_be_bytes(Digest::of(key.as_str().as_bytes()).first_bytes())
}
