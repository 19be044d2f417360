//! Opening the index, moving it on with the ledger, and making it anew.

use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::{fs, io, mem, thread};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::rows::{Rows, Sealer};
use super::schema;
use super::schema::{Checkpoint, IndexError};
use crate::session::chain::Tip;
use crate::session::error::{Damage, SessionError};
use crate::session::event::Event;
use crate::session::fold::{Fold, Written};
use crate::session::ledger::{Ledger, Stop, Tail};
use crate::session::lock::same_file;
use crate::session::manifest::FoldConfig;
use crate::session::sync::Watch;
use crate::session::totals::Totals;

const NAME: &str = "index.sqlite";

/// An index that is being made; takes the index's place once it is whole.
const DRAFT: &str = "index.sqlite-new";

/// What an index is made for: the session, and the rules of its ratchet.
#[derive(Debug, Clone)]
pub(in crate::session) struct Plan {
    pub(in crate::session) dir: PathBuf,
    pub(in crate::session) terms: FoldConfig,
}

#[derive(Debug)]
pub(in crate::session) struct Index {
    connection: Connection,
    checkpoint: Checkpoint,
    terms: FoldConfig,
    file: Option<Metadata>,
}

impl Index {
    pub(in crate::session) fn open(plan: &Plan) -> Result<Self, IndexError> {
        let place = path(&plan.dir);
        let file = fs::metadata(&place).ok();
        let connection = schema::open(&place)?;
        let checkpoint = Checkpoint::read(&connection, plan.terms.court.session)?;
        let index = Self {
            connection,
            checkpoint,
            terms: plan.terms,
            file,
        };
        // Another may have been put in its place meanwhile.
        let file = if index.is_in_place(&plan.dir) {
            index.file
        } else {
            None
        };
        Ok(Self { file, ..index })
    }

    /// Whether it is the one that others find in `dir`, and nobody died while writing to it.
    ///
    /// Only under the session's lock, when nobody is at it.
    pub(in crate::session) fn is_in_place(&self, dir: &Path) -> bool {
        let place = path(dir);
        let found = fs::metadata(&place).ok();
        let same = self.file.as_ref().zip(found.as_ref());
        same.is_some_and(|(opened, found)| same_file(opened, found)) && !schema::was_cut_off(&place)
    }

    pub(in crate::session) fn place(dir: &Path) -> PathBuf {
        path(dir)
    }

    pub(in crate::session) fn checkpoint(&self) -> &Checkpoint {
        &self.checkpoint
    }

    pub(super) fn rows(&self) -> Rows<'_> {
        Rows {
            connection: &self.connection,
            sealer: Sealer::new(self.checkpoint.session),
        }
    }

    pub(super) fn connection(&self) -> &Connection {
        &self.connection
    }

    pub(in crate::session) fn reload(&mut self) -> Result<(), IndexError> {
        self.checkpoint = Checkpoint::read(&self.connection, self.checkpoint.session)?;
        Ok(())
    }

    /// Takes in the lines that `ledger` has beyond its own place, which is the index's.
    pub(in crate::session) fn follow(
        &mut self,
        ledger: &mut Ledger,
        watch: &dyn Watch,
    ) -> Result<Tail, SessionError> {
        let place = ledger.path().with_file_name(NAME);
        self.take_in(&place, |take| read_ahead(ledger, watch, take))
    }

    fn take_in<T>(
        &mut self,
        place: &Path,
        source: impl FnOnce(&mut dyn FnMut(Read) -> Result<(), Stop>) -> Result<T, SessionError>,
    ) -> Result<T, SessionError> {
        let failed = |source| SessionError::index(place, source);
        let mut next = self.checkpoint.clone();
        let transaction = begin(&self.connection).map_err(failed)?;
        let rows = self.rows();
        let handed = source(&mut |read| {
            let Read {
                event,
                written,
                tip,
            } = read;
            apply(rows, &mut next.totals, self.terms, &event, written)?;
            next.advance(tip, written.span);
            Ok(())
        })?;
        if let Some(line) = next.totals.forgetting.unbacked() {
            let dir = place.parent().unwrap_or(Path::new(""));
            return Err(Ledger::new(dir).damaged_line(line, Damage::Unbacked));
        }
        next.write(&transaction).map_err(failed)?;
        transaction.commit().map_err(|error| failed(error.into()))?;
        self.checkpoint = next;
        Ok(handed)
    }

    /// Takes in lines that `append` writes to the ledger, after which the chain ends in `tip`.
    ///
    /// Nothing is appended that cannot have happened; and nothing is taken in that is not on
    /// disk in the ledger.
    pub(in crate::session) fn record(
        &mut self,
        lines: &[(Event, Written)],
        tip: Tip,
        append: &mut dyn FnMut() -> Result<(), SessionError>,
    ) -> Result<(), RecordError> {
        let Some((_, last)) = lines.last() else {
            return Ok(());
        };
        let mut next = self.checkpoint.clone();
        next.advance(tip, last.span);
        let transaction = begin(&self.connection)?;
        for (event, written) in lines {
            apply(self.rows(), &mut next.totals, self.terms, event, *written)?;
        }
        next.write(&transaction)?;
        append().map_err(RecordError::Refused)?;
        let committed = transaction.commit();
        self.checkpoint = next;
        committed.map_err(|_| RecordError::Behind)
    }

    /// Makes the index anew from the whole ledger, and puts it in its place.
    ///
    /// Only under the session's lock.
    pub(in crate::session) fn rebuild(
        plan: &Plan,
        watch: &dyn Watch,
    ) -> Result<(Self, Tail), SessionError> {
        let tail = Self::put_down(plan, |index| {
            index.follow(&mut Ledger::new(&plan.dir), watch)
        })?;
        let index = Self::open(plan);
        let index = index.map_err(|source| SessionError::index(&path(&plan.dir), source))?;
        Ok((index, tail))
    }

    /// Makes the index of a ledger that is being written, whose lines come over as they are.
    pub(in crate::session) fn write_along(
        plan: &Plan,
        lines: Receiver<Vec<Read>>,
    ) -> Result<(), SessionError> {
        let place = path(&plan.dir);
        Self::put_down(plan, |index| {
            let ledger = Ledger::new(&plan.dir);
            index.take_in(&place, |take| take_lines(lines, ledger, take))
        })
    }

    /// Removes the index of the session in `dir`, and whatever belongs to it.
    ///
    /// Only under the session's lock.
    pub(in crate::session) fn discard(dir: &Path) -> Result<(), SessionError> {
        let place = path(dir);
        [dir.join(DRAFT), place.clone()]
            .iter()
            .try_for_each(|file| remove_whole(file))
            .map_err(SessionError::io(&place, "remove the index"))
    }

    /// Makes an index of the whole ledger in memory, where none can be written.
    pub(in crate::session) fn in_memory(
        plan: &Plan,
        watch: &dyn Watch,
    ) -> Result<(Self, Tail), SessionError> {
        Self::fill(plan, None, |index| {
            index.follow(&mut Ledger::new(&plan.dir), watch)
        })
    }

    fn put_down<T>(
        plan: &Plan,
        source: impl FnOnce(&mut Self) -> Result<T, SessionError>,
    ) -> Result<T, SessionError> {
        let draft = plan.dir.join(DRAFT);
        let place = path(&plan.dir);
        let io = |source| SessionError::io(&place, "make the index")(source);
        remove_whole(&draft).map_err(io)?;
        let filled = Self::fill(plan, Some(&draft), source).inspect_err(|_| {
            // Whoever makes it next removes it before; what is wrong is worse.
            let _ = remove(&draft);
        });
        let (made, filled) = filled?;
        drop(made);
        swap(&plan.dir, &draft).map_err(io)?;
        Ok(filled)
    }

    fn fill<T>(
        plan: &Plan,
        file: Option<&Path>,
        source: impl FnOnce(&mut Self) -> Result<T, SessionError>,
    ) -> Result<(Self, T), SessionError> {
        let place = path(&plan.dir);
        let failed = |source| SessionError::index(&place, source);
        let mut index = Self {
            connection: schema::fresh(file).map_err(failed)?,
            checkpoint: Checkpoint::start(plan.terms.court.session),
            terms: plan.terms,
            file: None,
        };
        index.rows().make_buckets().map_err(failed)?;
        let filled = source(&mut index)?;
        schema::add_lookups(&index.connection).map_err(failed)?;
        Ok((index, filled))
    }
}

#[derive(Debug)]
pub(in crate::session) enum RecordError {
    Refused(SessionError),
    /// The index cannot be written; they are not in the ledger either.
    Unusable(IndexError),
    Behind,
}

impl From<IndexError> for RecordError {
    fn from(error: IndexError) -> Self {
        match error {
            IndexError::IllegalEvent(why) => Self::Refused(SessionError::Illegal(why)),
            other => Self::Unusable(other),
        }
    }
}

fn apply(
    mut rows: Rows<'_>,
    totals: &mut Totals,
    terms: FoldConfig,
    event: &Event,
    written: Written,
) -> Result<(), IndexError> {
    if let (Event::Session(_), 0) = (event, written.span.offset) {
        return Ok(());
    }
    let mut fold = Fold {
        shelf: &mut rows,
        totals,
        terms,
    };
    fold.apply(event, written)
}

fn begin(connection: &Connection) -> Result<Transaction<'_>, IndexError> {
    Ok(Transaction::new_unchecked(
        connection,
        TransactionBehavior::Immediate,
    )?)
}

fn path(dir: &Path) -> PathBuf {
    dir.join(NAME)
}

/// Puts the draft in the place of the index, on disk.
///
/// The index goes before its journal: without the journal it could be read half written.
fn swap(dir: &Path, draft: &Path) -> io::Result<()> {
    File::open(draft)?.sync_all()?;
    remove_whole(&path(dir))?;
    fs::rename(draft, path(dir))
}

fn remove_whole(path: &Path) -> io::Result<()> {
    remove(path)?;
    schema::beside(path).try_for_each(|part| remove(&part))
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[derive(Debug)]
pub(in crate::session) struct Read {
    pub(in crate::session) event: Event,
    pub(in crate::session) written: Written,
    pub(in crate::session) tip: Tip,
}

const BATCH_LINES: usize = 64;

/// How many batches may wait. Lines have tens of kilobytes at times.
const BATCHES_AHEAD: usize = 4;

/// Hands lines over to another thread.
#[derive(Debug)]
pub(in crate::session) struct Batches {
    batch: Vec<Read>,
    sender: SyncSender<Vec<Read>>,
}

/// Whoever was to take the lines in has stopped, and says why elsewhere.
#[derive(Debug)]
pub(in crate::session) struct NobodyListens;

impl Batches {
    pub(in crate::session) fn channel() -> (Self, Receiver<Vec<Read>>) {
        let (sender, receiver) = sync_channel(BATCHES_AHEAD);
        let batch = Vec::with_capacity(BATCH_LINES);
        (Self { batch, sender }, receiver)
    }

    pub(in crate::session) fn push(&mut self, read: Read) -> Result<(), NobodyListens> {
        self.batch.push(read);
        if self.batch.len() < BATCH_LINES {
            return Ok(());
        }
        let full = mem::replace(&mut self.batch, Vec::with_capacity(BATCH_LINES));
        self.sender.send(full).map_err(|_| NobodyListens)
    }

    pub(in crate::session) fn end(self) {
        // Whoever has stopped listening says why.
        let _ = self.sender.send(self.batch);
    }
}

/// Reads the lines that `ledger` has beyond its place and hands them to `take`, in order.
pub(super) fn read_ahead(
    ledger: &mut Ledger,
    watch: &dyn Watch,
    take: &mut dyn FnMut(Read) -> Result<(), Stop>,
) -> Result<Tail, SessionError> {
    let place = ledger.clone();
    let (taken, read) = thread::scope(|scope| {
        let (batches, receiver) = Batches::channel();
        let reader = scope.spawn(move || send_lines(ledger, watch, batches));
        let taken = take_lines(receiver, place, take);
        match reader.join() {
            Ok(read) => (taken, read),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    });
    taken.and(read)
}

/// Hands lines that come over to `take`, in order, of a ledger that was read up to `place`.
pub(super) fn take_lines(
    lines: Receiver<Vec<Read>>,
    mut place: Ledger,
    take: &mut dyn FnMut(Read) -> Result<(), Stop>,
) -> Result<(), SessionError> {
    lines.into_iter().flatten().try_for_each(|read| {
        let (tip, span) = (read.tip, read.written.span);
        take(read).or_else(|stop| place.stopped(stop).map(|_| ()))?;
        place.move_to(tip, span);
        Ok(())
    })
}

fn send_lines(
    ledger: &mut Ledger,
    watch: &dyn Watch,
    mut batches: Batches,
) -> Result<Tail, SessionError> {
    let read = ledger.read_on(watch, &mut |line, event, span| {
        let read = Read {
            event,
            written: Written::of(line, span),
            tip: line.tip(),
        };
        batches.push(read).map_err(|NobodyListens| Stop::Enough)
    });
    // Lines before a damaged one are taken in, so that what is wrong with them is told first.
    batches.end();
    read
}
