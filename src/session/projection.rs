//! The state of every quest: the ledger, folded up to some line.
//!
//! A session keeps its projection in `index.sqlite`. Commands that must not trust a cache, such as
//! those that report completeness, export or audit, fold the whole ledger into a temporary one. The
//! memory of neither grows with the number of quests.

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};
use serde::Deserialize;

use super::chain::{Line, Tip};
use super::claim::{Claim, Worker};
use super::decision::DecisionPolicy;
use super::error::{Damage, IndexError, SessionError};
use super::event::{Event, Mark};
use super::fold::Fold;
use super::index::{self, Checkpoint, TABLES, Tables};
use super::ledger::{FoldLine, Ledger, NewLine, Tail, Watch};
use super::manifest::{FoldConfig, read_manifest};
use super::quest_record::{DependencyState, QuestRecord, Span, Waiting};
use super::state::State;
use super::totals::Totals;
use crate::base::files;
use crate::quest::{FoldedKey, Key, QuestId};

/// An incomplete index, renamed once it is complete.
const DRAFT: &str = "index.sqlite-new";

/// How long to wait for another process's write. Writes take a few milliseconds.
const BUSY_WAIT: Duration = Duration::from_secs(10);

/// How long shell completion waits.
const READ_ONLY_WAIT: Duration = Duration::from_millis(15);

/// How many records an iteration over all of them reads at once.
const PAGE: u32 = 256;

#[derive(Debug)]
pub struct Projection {
    // Dropped before the file, because closing any handle of a file releases the locks that SQLite
    // holds on it in this process.
    connection: Mutex<Connection>,
    /// The file in the session's directory; a temporary projection has none.
    file: Option<File>,
    checkpoint: Checkpoint,
    config: FoldConfig,
}

/// The part of a record that says who holds the quest. The rest takes longer to read.
#[derive(Deserialize)]
struct Held {
    key: Key,
    claim: Claim,
}

impl Projection {
    pub(super) fn place(dir: &Path) -> PathBuf {
        dir.join("index.sqlite")
    }

    /// An empty projection that is removed when dropped.
    pub(super) fn temporary(config: FoldConfig) -> Result<Self, SessionError> {
        Ok(Self::empty(None, config)?)
    }

    pub(super) fn open(dir: &Path, config: FoldConfig) -> Result<Self, IndexError> {
        Self::open_with(dir, config, OpenFlags::SQLITE_OPEN_READ_WRITE, BUSY_WAIT)
    }

    /// Opens the index of the session in `dir` without syncing it, for callers that cannot wait.
    pub fn read_only(dir: &Path) -> Result<Self, SessionError> {
        let (manifest, session) = read_manifest(dir)?;
        let config = FoldConfig::of(&manifest, session);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        Ok(Self::open_with(dir, config, flags, READ_ONLY_WAIT)?)
    }

    fn open_with(
        dir: &Path,
        config: FoldConfig,
        flags: OpenFlags,
        wait: Duration,
    ) -> Result<Self, IndexError> {
        let place = Self::place(dir);
        // Never a pipe, on which opening could block forever.
        let file = files::open(&place).ok();
        let connection = index::open(&place, flags, wait)?;
        let mut opened = Self {
            connection: Mutex::new(connection),
            file,
            checkpoint: Checkpoint::start(config.policy.session),
            config,
        };
        // It may have been replaced in the meantime.
        if !opened.is_in_place(dir) {
            return Err(IndexError::CutOff);
        }
        opened.reload()?;
        Ok(opened)
    }

    fn empty(path: Option<&Path>, config: FoldConfig) -> Result<Self, IndexError> {
        let connection = index::create(path)?;
        Ok(Self {
            connection: Mutex::new(connection),
            file: path.map(File::open).transpose()?,
            checkpoint: Checkpoint::start(config.policy.session),
            config,
        })
    }

    /// Whether it is still the index in `dir`, and no write to it was cut off.
    pub(super) fn is_in_place(&self, dir: &Path) -> bool {
        let place = Self::place(dir);
        let opened = self.file.as_ref().and_then(|file| file.metadata().ok());
        let same = opened.zip(fs::metadata(&place).ok());
        same.is_some_and(|(opened, found)| files::same_inode(&opened, &found))
            && !index::was_cut_off(&place)
    }

    /// Reads the checkpoint again, which another process may have advanced.
    pub(super) fn reload(&mut self) -> Result<(), IndexError> {
        let connection = lock(&self.connection);
        // No writer can commit during the transaction, so both counts are from the same moment.
        let reading = connection.unchecked_transaction()?;
        let (checkpoint, changes) = self.tables_of(&reading).checkpoint()?;
        if let Some(file) = &self.file
            && index::changes(file)? != changes
        {
            return Err(IndexError::WrittenByOthers);
        }
        drop(reading);
        drop(connection);
        self.checkpoint = checkpoint;
        Ok(())
    }

    /// Folds the lines after the place of `ledger`, which must be the projection's place.
    pub(super) fn follow(
        &mut self,
        ledger: &mut Ledger,
        watch: &dyn Watch,
    ) -> Result<Tail, SessionError> {
        let path = ledger.path().to_owned();
        self.take_in(&path, |fold| {
            ledger.each_line(watch, &mut |line, event, span| {
                fold(line, &event, span).map(ControlFlow::Continue)
            })
        })
    }

    /// Folds the lines of the ledger at `path` that `read` passes on, all or none.
    pub(super) fn take_in<T, E: From<SessionError>>(
        &mut self,
        path: &Path,
        read: impl FnOnce(&mut FoldLine<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut next = self.checkpoint.clone();
        let damaged = |line, why| SessionError::Damaged {
            path: path.to_owned(),
            line,
            why,
        };
        let connection = lock(&self.connection);
        let transaction = begin(&connection).map_err(SessionError::from)?;
        let read = read(&mut |line, event, span| {
            let folded = self.apply(&transaction, &mut next.totals, (line, event, span));
            folded.map_err(|error| match error {
                IndexError::IllegalEvent(why) => {
                    damaged(line.tip().length, Damage::IllegalEvent(why))
                }
                other => other.into(),
            })?;
            next.advance(line.tip(), span);
            Ok(())
        })?;
        if let Some(line) = next.totals.forgetting.unbacked() {
            return Err(damaged(line + 1, Damage::Unbacked).into());
        }
        if self.checkpoint.lines == 0 {
            index::add_lookups(&transaction).map_err(SessionError::from)?;
        }
        let put = self.put_checkpoint(&transaction, &next);
        put.and_then(|()| Ok(transaction.commit()?))
            .map_err(SessionError::from)?;
        drop(connection);
        self.checkpoint = next;
        Ok(read)
    }

    /// Folds lines and writes them to the ledger with `append`.
    ///
    /// An impossible event is not appended, and no line is folded unless the ledger has it on disk. If
    /// the index cannot be used, the error is [`SessionError::Index`] and nothing was appended.
    pub(super) fn record(
        &mut self,
        lines: &[NewLine],
        append: &mut dyn FnMut() -> Result<(), SessionError>,
    ) -> Result<(), SessionError> {
        let Some((last, _, span)) = lines.last() else {
            return Ok(());
        };
        let mut next = self.checkpoint.clone();
        next.advance(last.tip(), *span);
        let connection = lock(&self.connection);
        let transaction = begin(&connection)?;
        for (line, event, span) in lines {
            self.apply(&transaction, &mut next.totals, (line, event, *span))?;
        }
        self.put_checkpoint(&transaction, &next)?;
        append()?;
        // The ledger has the lines, so a failed commit is not an error. The next command syncs the index.
        let _ = transaction.commit();
        drop(connection);
        self.checkpoint = next;
        Ok(())
    }

    fn apply(
        &self,
        connection: &Connection,
        totals: &mut Totals,
        (line, event, span): (&Line<'_>, &Event, Span),
    ) -> Result<(), IndexError> {
        let mut fold = Fold {
            tables: self.tables_of(connection),
            totals,
            config: self.config,
            line,
            span,
        };
        fold.apply(event)
    }

    fn tables_of<'a>(&self, connection: &'a Connection) -> Tables<'a> {
        Tables {
            connection,
            session: self.config.policy.session,
        }
    }

    fn put_checkpoint(
        &self,
        transaction: &Transaction<'_>,
        next: &Checkpoint,
    ) -> Result<(), IndexError> {
        // The count that SQLite will write with this transaction.
        let changes = match &self.file {
            Some(file) => index::changes(file)?.wrapping_add(1),
            None => 0,
        };
        self.tables_of(transaction).put_checkpoint(next, changes)
    }

    /// Rebuilds the index from the whole ledger. Only under the session's lock.
    pub(super) fn rebuild(
        dir: &Path,
        config: FoldConfig,
        watch: &dyn Watch,
    ) -> Result<(Tail, Self), SessionError> {
        let tail = Self::put_down(dir, config, |draft| {
            draft.follow(&mut Ledger::new(dir), watch)
        })?;
        Ok((tail, Self::open(dir, config)?))
    }

    /// Creates the index of a ledger while `write` writes the ledger.
    pub(super) fn write_along<E: From<SessionError>>(
        dir: &Path,
        config: FoldConfig,
        write: impl FnOnce(&mut FoldLine<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let ledger = Ledger::new(dir);
        Self::put_down(dir, config, |draft| draft.take_in(ledger.path(), write))
    }

    /// Removes the index of the session in `dir` and its companions. Only under the session's lock.
    pub(super) fn discard(dir: &Path) -> Result<(), SessionError> {
        let place = Self::place(dir);
        [dir.join(DRAFT), place.clone()]
            .iter()
            .try_for_each(|file| remove_whole(file))
            .map_err(SessionError::io(&place, "remove the index"))
    }

    fn put_down<T, E: From<SessionError>>(
        dir: &Path,
        config: FoldConfig,
        fill: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<T, E> {
        let (draft, place) = (dir.join(DRAFT), Self::place(dir));
        let io = |error| SessionError::io(&place, "make the index")(error);
        remove_whole(&draft).map_err(io)?;
        let filled =
            Self::empty(Some(&draft), config).map_err(|error| SessionError::from(error).into());
        let filled = filled.and_then(|mut made| fill(&mut made));
        let filled = filled.inspect_err(|_| {
            // A draft that is left is removed next time, and the original error matters more.
            let _ = remove(&draft);
        })?;
        swap(&draft, &place).map_err(io)?;
        Ok(filled)
    }

    /// Compares every row with a projection of the ledger up to the same line.
    pub(super) fn fits(&self, folded: &Self) -> Result<(), IndexError> {
        if self.tip() != folded.tip() {
            return Err(IndexError::Misfit);
        }
        for table in TABLES {
            let columns = if table == "checkpoint" { "body" } else { "*" };
            let sql = format!("SELECT {columns} FROM {table} ORDER BY 1");
            let (one, two) = (lock(&self.connection), lock(&folded.connection));
            let (mut one, mut two) = (one.prepare(&sql)?, two.prepare(&sql)?);
            let columns = one.column_count();
            let (mut one, mut two) = (one.query([])?, two.query([])?);
            loop {
                let (one, two) = match (one.next()?, two.next()?) {
                    (None, None) => break,
                    (Some(one), Some(two)) => (one, two),
                    _ => return Err(IndexError::Changed(table)),
                };
                for at in 0..columns {
                    if one.get_ref(at)? != two.get_ref(at)? {
                        return Err(IndexError::Changed(table));
                    }
                }
            }
        }
        Ok(())
    }
}

fn lock(connection: &Mutex<Connection>) -> MutexGuard<'_, Connection> {
    connection.lock().unwrap_or_else(PoisonError::into_inner)
}

fn begin(connection: &Connection) -> Result<Transaction<'_>, IndexError> {
    let behavior = TransactionBehavior::Immediate;
    Ok(Transaction::new_unchecked(connection, behavior)?)
}

/// Replaces the index with the draft, on disk.
///
/// The index is removed before its journal: without the journal, a partial write could be read.
fn swap(draft: &Path, place: &Path) -> io::Result<()> {
    File::open(draft)?.sync_all()?;
    remove_whole(place)?;
    fs::rename(draft, place)
}

fn remove_whole(path: &Path) -> io::Result<()> {
    remove(path)?;
    index::companions(path).try_for_each(|part| remove(&part))
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

impl Projection {
    fn tables<T>(
        &self,
        ask: impl FnOnce(Tables<'_>) -> Result<T, IndexError>,
    ) -> Result<T, SessionError> {
        Ok(ask(self.tables_of(&lock(&self.connection)))?)
    }

    pub(super) fn checkpoint(&self) -> &Checkpoint {
        &self.checkpoint
    }

    /// The end of the chain after the lines that it was folded from.
    pub fn tip(&self) -> Tip {
        self.checkpoint.tip()
    }

    pub fn totals(&self) -> &Totals {
        &self.checkpoint.totals
    }

    /// Which decisions have effect after the last line.
    pub fn policy(&self) -> DecisionPolicy {
        self.totals().policy(self.config.policy)
    }

    pub fn count(&self) -> usize {
        self.totals().tally.total() as usize
    }

    pub fn remaining(&self) -> u32 {
        self.totals().tally.todo
    }

    pub fn get(&self, id: QuestId) -> Result<Option<QuestRecord>, SessionError> {
        self.tables(|tables| self.quest(tables, id))
    }

    /// It is damage if a quest that the totals count has no row.
    fn quest(&self, tables: Tables<'_>, id: QuestId) -> Result<Option<QuestRecord>, IndexError> {
        let record = tables.quest(id)?;
        if record.is_none() && id.index() < self.count() {
            return Err(IndexError::Changed("quest"));
        }
        Ok(record)
    }

    /// Every quest, in order. They are read in pages.
    pub fn quests(&self) -> impl Iterator<Item = Result<QuestRecord, SessionError>> + '_ {
        let mut page = Vec::new().into_iter();
        let mut last = 0;
        std::iter::from_fn(move || {
            if page.len() == 0 {
                let sql = "SELECT * FROM quest WHERE id > ? ORDER BY id LIMIT ?";
                let read = self.tables(|tables| tables.quests(sql, (last, PAGE)));
                match read {
                    Ok(records) => page = records.into_iter(),
                    Err(error) => {
                        // End after an error.
                        last = i64::MAX;
                        return Some(Err(error));
                    }
                }
            }
            let record = page.next()?;
            last = index::number(record.id);
            Some(Ok(record))
        })
    }

    pub(super) fn named(&self, key: &FoldedKey) -> Result<Vec<QuestRecord>, SessionError> {
        let sql = "SELECT * FROM quest WHERE fold = ? ORDER BY id";
        let mut found = self.tables(|tables| tables.quests(sql, [index::fold(key)]))?;
        found.retain(|record| record.key.folds_to(key));
        Ok(found)
    }

    pub(super) fn keys(&self) -> Result<Vec<Key>, SessionError> {
        let keys = self.quests().map(|quest| quest.map(|quest| quest.key));
        let keys = keys.collect::<Result<Vec<_>, _>>()?;
        if keys.len() < self.count() {
            return Err(IndexError::Changed("quest").into());
        }
        Ok(keys)
    }

    /// The first quest in TODO, not in `except`, that has no live claim at `now` and no open dependency.
    pub(super) fn first_free_but(
        &self,
        now: Timestamp,
        except: &BTreeSet<QuestId>,
    ) -> Result<Option<QuestRecord>, SessionError> {
        // The same condition as in `Claim::is_live`.
        let sql = "SELECT * FROM quest WHERE state = 'TODO' \
             AND (worker IS NULL OR abs(?1 - held_ms) >= lease_s * 1000) ORDER BY id";
        let mut first = None;
        self.tables(|tables| {
            let mut known = HashMap::new();
            tables.each_quest(sql, [now.as_millisecond()], |record: QuestRecord| {
                let mut free = !except.contains(&record.id);
                for before in &record.after {
                    let state = self.dependency(tables, *before, &mut known)?;
                    free &= state == DependencyState::Passed;
                }
                if free {
                    first = Some(record);
                }
                Ok(!free)
            })
        })?;
        Ok(first)
    }

    pub fn waiting(&self) -> Result<Waiting, SessionError> {
        let sql = "SELECT * FROM quest WHERE waits ORDER BY id";
        self.tables(|tables| {
            let waiters = tables.quests(sql, [])?.into_iter();
            let waiters: Vec<_> = waiters.map(|quest| (quest.id, quest.after)).collect();
            let mut known = HashMap::new();
            for before in waiters.iter().flat_map(|(_, after)| after) {
                self.dependency(tables, *before, &mut known)?;
            }
            let state = |id| known.get(&id).copied().unwrap_or(DependencyState::Open);
            Ok(Waiting::of(waiters, state))
        })
    }

    /// The state of a dependency, looked up once.
    fn dependency(
        &self,
        tables: Tables<'_>,
        id: QuestId,
        known: &mut HashMap<QuestId, DependencyState>,
    ) -> Result<DependencyState, IndexError> {
        if let Some(state) = known.get(&id) {
            return Ok(*state);
        }
        let record = self.quest(tables, id)?;
        let state = record.map_or(DependencyState::Open, |record| record.dependency_state());
        known.insert(id, state);
        Ok(state)
    }

    pub fn holder(&self, mark: &Mark) -> Result<Option<QuestRecord>, SessionError> {
        self.tables(|tables| match tables.holder(mark)? {
            Some(id) => self.quest(tables, id),
            None => Ok(None),
        })
    }

    pub(super) fn claim_of(&self, worker: &Worker) -> Result<Option<Claim>, SessionError> {
        let record = self.tables(|tables| tables.quest_of(worker.as_str()))?;
        Ok(record.and_then(|record| record.claim))
    }

    /// Every claim, even if its lease has expired, in order of quests.
    pub fn claims(&self) -> Result<Vec<Claim>, SessionError> {
        let claimed = self.claimed()?.into_iter();
        Ok(claimed.map(|(claim, _)| claim).collect())
    }

    /// The same with the keys of their quests.
    pub(super) fn claimed(&self) -> Result<Vec<(Claim, Key)>, SessionError> {
        // Without the hint, SQLite would scan all quests, of which few are held.
        let sql = "SELECT * FROM quest INDEXED BY quest_worker \
             WHERE worker IS NOT NULL ORDER BY id";
        let mut held = Vec::new();
        let take = |Held { key, claim }| {
            held.push((claim, key));
            Ok(true)
        };
        self.tables(|tables| tables.each_quest(sql, [], take))?;
        Ok(held)
    }

    /// The REVIEWs that rest on an unanswered lookup and were not judged again.
    pub(super) fn unanswered(&self) -> Result<Vec<QuestRecord>, SessionError> {
        let sql = "SELECT * FROM quest WHERE unanswered ORDER BY id";
        self.tables(|tables| tables.quests(sql, []))
    }

    pub(super) fn reviews(&self) -> Result<Vec<QuestRecord>, SessionError> {
        let sql = "SELECT * FROM quest WHERE state = 'REVIEW' ORDER BY id";
        self.tables(|tables| tables.quests(sql, []))
    }

    pub(super) fn sampled(&self) -> Result<Vec<QuestRecord>, SessionError> {
        // The text only narrows the search. The record decides.
        let sql = "SELECT * FROM quest WHERE state = 'PASS' \
             AND instr(body, '\"sampled\":true') > 0 ORDER BY id";
        let mut found = self.tables(|tables| tables.quests(sql, []))?;
        found.retain(|record| record.sampled);
        Ok(found)
    }

    /// Passes the quests whose keys have this prefix, in `state` if given, to `take` until it returns
    /// false.
    pub fn search(
        &self,
        prefix: &str,
        state: Option<State>,
        take: &mut dyn FnMut(QuestRecord) -> bool,
    ) -> Result<(), SessionError> {
        let take = |record: QuestRecord| {
            let fits = state.is_none_or(|state| record.progress.state == state);
            Ok(!fits || take(record))
        };
        let narrowed = state.map_or(String::new(), |state| format!("WHERE state = '{state}'"));
        let sql = format!("SELECT * FROM quest {narrowed} ORDER BY id");
        self.tables(|tables| match prefix {
            "" => tables.each_quest(&sql, [], take),
            prefix => {
                let sql = "SELECT * FROM quest INDEXED BY quest_key \
                     WHERE key >= ?1 AND key < ?1 || char(0x10FFFF) ORDER BY key";
                tables.each_quest(sql, [prefix], take)
            }
        })
    }
}

#[cfg(test)]
mod tests;
