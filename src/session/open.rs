//! An open session: queries it, and appends to it under its lock.

#[cfg(test)]
pub(super) mod tests;

use std::cell::{Ref, RefCell};
use std::collections::BTreeSet;
use std::fmt;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::claim::{Claim, Worker};
use super::database::Patience;
use super::decision::OperatorKey;
use super::error::{Damage, IndexError, SessionError};
use super::event::{Attempt, Event, IdempotencyKey, Mark, SourceRecord};
use super::evidence_store::EvidenceStore;
use super::index::Checkpoint;
use super::ledger::{AfterCursor, Entry, Ledger, LineReader, Tail, Unwatched, Watch};
use super::lock::LockGuard;
use super::manifest::{FoldConfig, Manifest, read_manifest};
use super::mirror::{Appending, Mirror};
use super::projection::Projection;
use super::quest_record::{DependencyState, QuestRecord, Waiting};
use super::redaction::Forgetting;
use super::totals::Totals;
use crate::base::Digest;
use crate::base::clock::Clock;
use crate::quest::{FoldedKey, Key, QuestId};

/// An open session: its frozen settings, and the index of its ledger.
pub struct Session {
    dir: PathBuf,
    manifest: Manifest,
    config: FoldConfig,
    index: RefCell<Projection>,
    lock: Option<LockGuard>,
    /// The session in a database, of which the directory is a copy.
    mirror: Option<Mirror>,
    watch: Box<dyn Watch>,
    repairs: RefCell<Vec<Repair>>,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("dir", &self.dir)
            .field("checkpoint", &*self.checkpoint())
            .finish_non_exhaustive()
    }
}

/// A fault in a session's files that was repaired, or could not be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Repair {
    /// An incomplete last line was cut off: power failed, or a process died while writing it.
    Tail {
        path: PathBuf,
        /// How many bytes were cut off. None of them had been acknowledged.
        bytes: u64,
    },
    Index {
        path: PathBuf,
        why: String,
    },
    Left {
        path: PathBuf,
        why: String,
    },
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tail { path, bytes } => write!(
                f,
                "{}: removed an incomplete last line ({bytes} bytes that were never acknowledged)",
                path.display()
            ),
            Self::Index { path, why } => write!(
                f,
                "{}: {why}; it was rebuilt from the ledger",
                path.display()
            ),
            Self::Left { path, why } => write!(
                f,
                "{}: {why}; it cannot be rebuilt, because this directory is read-only",
                path.display()
            ),
        }
    }
}

/// Opening, and syncing the index with the ledger.
impl Session {
    pub fn open(dir: &Path) -> Result<Self, SessionError> {
        Self::open_watched(dir, Box::new(Unwatched))
    }

    /// Opens the session in `dir`, and syncs its index with its ledger.
    ///
    /// [`Session::repairs`] lists what was repaired. A damaged line of the ledger is an error once it
    /// is read.
    pub fn open_watched(dir: &Path, watch: Box<dyn Watch>) -> Result<Self, SessionError> {
        let Some(mirror) = Mirror::at(dir)? else {
            return Self::opened(dir, None, watch);
        };
        mirror.catch_up()?;
        Self::opened(dir, Some(mirror), watch).map_err(SessionError::of_mirror)
    }

    fn opened(
        dir: &Path,
        mirror: Option<Mirror>,
        watch: Box<dyn Watch>,
    ) -> Result<Self, SessionError> {
        let (manifest, digest) = read_manifest(dir)?;
        let config = FoldConfig::of(&manifest, digest);
        Ledger::new(dir).begins(digest)?;
        let mut repairs = Vec::new();
        let opened = match Projection::open(dir, config) {
            Ok(index) if place_of(dir, &index).beyond()? == AfterCursor::Bytes(0) => Ok(index),
            other => Err(other.err()),
        };
        let index = match opened {
            Ok(index) => index,
            Err(why) => {
                if let Ok(lock) = LockGuard::acquire(dir) {
                    let index = Projection::open(dir, config);
                    let (index, found) = synced(dir, config, watch.as_ref(), &lock, index)?;
                    repairs = found;
                    index
                } else {
                    // A read-only session can still be read.
                    repairs.extend(why.filter(is_finding).map(|why| left(dir, &why)));
                    temporary(dir, config, watch.as_ref())?.1
                }
            }
        };
        Ok(Self {
            dir: dir.to_owned(),
            manifest,
            config,
            index: RefCell::new(index),
            lock: None,
            mirror,
            watch,
            repairs: RefCell::new(repairs),
        })
    }

    /// Opens the session in `dir` by folding its whole ledger.
    ///
    /// Nothing in the directory is written, locked or repaired, so it can be read-only. An incomplete
    /// last line is ignored; any other damage is an error.
    pub fn read_only(dir: &Path, watch: &dyn Watch) -> Result<Self, SessionError> {
        let (manifest, digest) = read_manifest(dir)?;
        Ledger::new(dir).begins(digest)?;
        let config = FoldConfig::of(&manifest, digest);
        let (_, folded) = temporary(dir, config, watch)?;
        Ok(Self {
            dir: dir.to_owned(),
            manifest,
            config,
            index: RefCell::new(folded),
            lock: None,
            mirror: None,
            watch: Box::new(Unwatched),
            repairs: RefCell::default(),
        })
    }

    /// Syncs, under the lock, an index that another process may have advanced or replaced.
    pub(super) fn refresh(&self, lock: &LockGuard) -> Result<(), SessionError> {
        let ledger = self.ledger();
        let goes_on = matches!(ledger.beyond()?, AfterCursor::Bytes(_));
        // After a redaction, the same chain has its lines at other offsets.
        if !goes_on && !Ledger::new(self.dir()).passes(ledger.tip())? {
            // Lines that this process has read are gone.
            return Err(ledger.damaged(Damage::Cut));
        }
        // Reopening the index takes longer than most appends, so the open one is kept if it is intact
        // and still in place.
        let mut index = self.index.borrow_mut();
        let moved = index.is_in_place(self.dir())
            && matches!(
                catch_up(self.dir(), &mut index, self.watch.as_ref()),
                Ok(Tail::Clean)
            );
        drop(index);
        if moved {
            return Ok(());
        }
        self.sync(lock, Projection::open(self.dir(), self.config))
    }

    pub(super) fn sync(
        &self,
        lock: &LockGuard,
        index: Result<Projection, IndexError>,
    ) -> Result<(), SessionError> {
        let (index, repairs) = synced(&self.dir, self.config, self.watch.as_ref(), lock, index)?;
        self.index.replace(index);
        self.repairs.borrow_mut().extend(repairs);
        Ok(())
    }

    /// Folds the whole ledger, and compares the index with it.
    ///
    /// An index that differs is rebuilt and listed in [`Session::repairs`].
    pub fn fold(&mut self) -> Result<Projection, SessionError> {
        let mut folded = Projection::temporary(self.config)?;
        let mut ledger = Ledger::new(self.dir());
        folded.follow(&mut ledger, self.watch.as_ref())?;
        let Ok(lock) = LockGuard::acquire(self.dir()) else {
            let index = self.index.get_mut();
            // With other tips, another process has appended in the meantime.
            if index.tip() == folded.tip()
                && let Err(why) = index.fits(&folded)
            {
                self.repairs.get_mut().push(left(&self.dir, &why));
            }
            return Ok(folded);
        };
        self.refresh(&lock)?;
        // Others may have appended before the lock was acquired.
        folded.follow(&mut ledger, &Unwatched)?;
        let fits = self.index.get_mut().fits(&folded);
        if let Err(why) = fits {
            self.sync(&lock, Err(why))?;
        }
        Ok(folded)
    }

    /// The whole ledger, folded, without the index.
    pub fn projection(&self) -> Result<Projection, SessionError> {
        Ok(temporary(self.dir(), self.config, self.watch.as_ref())?.1)
    }

    /// Queries the index. A damaged index is rebuilt and queried again.
    fn ask<T>(
        &self,
        mut question: impl FnMut(&Projection) -> Result<T, SessionError>,
    ) -> Result<T, SessionError> {
        let answer = question(&self.index.borrow());
        let Err(SessionError::Index(why)) = answer else {
            return answer;
        };
        let acquired = match &self.lock {
            Some(_) => None,
            None => Some(LockGuard::acquire(self.dir())?),
        };
        if let Some(lock) = &acquired {
            // Another process may have written between two reads of one query.
            self.refresh(lock)?;
            if let Ok(answer) = question(&self.index.borrow()) {
                return Ok(answer);
            }
        }
        if let Some(lock) = self.lock.as_ref().or(acquired.as_ref()) {
            self.sync(lock, Err(*why))?;
        }
        question(&self.index.borrow())
    }
}

/// Whether a rebuilt index is reported. A process that died is not worth a report.
fn is_finding(why: &IndexError) -> bool {
    !matches!(why, IndexError::Missing | IndexError::CutOff)
}

fn left(dir: &Path, why: &IndexError) -> Repair {
    Repair::Left {
        path: Projection::place(dir),
        why: why.to_string(),
    }
}

fn place_of(dir: &Path, index: &Projection) -> Ledger {
    Ledger::at(dir, index.tip(), index.checkpoint().last)
}

fn temporary(
    dir: &Path,
    config: FoldConfig,
    watch: &dyn Watch,
) -> Result<(Tail, Projection), SessionError> {
    let mut folded = Projection::temporary(config)?;
    let tail = folded.follow(&mut Ledger::new(dir), watch)?;
    Ok((tail, folded))
}

/// The given index, synced with the ledger, or one rebuilt from the ledger.
///
/// Under the lock nobody else is writing a line, so an incomplete last line is cut off.
fn synced(
    dir: &Path,
    config: FoldConfig,
    watch: &dyn Watch,
    _lock: &LockGuard,
    index: Result<Projection, IndexError>,
) -> Result<(Projection, Vec<Repair>), SessionError> {
    let mut repairs = Vec::new();
    let (tail, index) =
        match index.and_then(|mut index| Ok((catch_up(dir, &mut index, watch)?, index))) {
            Ok(found) => found,
            Err(why) => {
                tracing::info!(%why, "rebuilt the index");
                if is_finding(&why) {
                    repairs.push(Repair::Index {
                        path: Projection::place(dir),
                        why: why.to_string(),
                    });
                }
                match Projection::rebuild(dir, config, watch) {
                    // The disk is full or read-only.
                    Err(SessionError::Index(_) | SessionError::Io { .. }) => {
                        temporary(dir, config, watch)?
                    }
                    rebuilt => rebuilt?,
                }
            }
        };
    if let Tail::Torn(bytes) = tail {
        let ledger = place_of(dir, &index);
        ledger.cut_tail()?;
        let path = ledger.path().to_owned();
        repairs.push(Repair::Tail { path, bytes });
    }
    Ok((index, repairs))
}

fn catch_up(dir: &Path, index: &mut Projection, watch: &dyn Watch) -> Result<Tail, IndexError> {
    index.reload()?;
    let mut ledger = place_of(dir, index);
    match ledger.beyond() {
        Ok(AfterCursor::Bytes(0)) => Ok(Tail::Clean),
        Ok(AfterCursor::Bytes(_)) => match index.follow(&mut ledger, watch) {
            Err(SessionError::Index(why)) => Err(*why),
            // Rebuilding shows whether the ledger or the index is damaged.
            followed => followed.map_err(|_| IndexError::Misfit),
        },
        Ok(AfterCursor::Cut) => Err(IndexError::Ahead {
            known: index.tip().length,
            path: ledger.path().display().to_string(),
        }),
        Ok(AfterCursor::Other) | Err(_) => Err(IndexError::Misfit),
    }
}

impl Session {
    /// Appends the events that `decide` makes from the session under the lock, and returns the value
    /// that it makes with them.
    ///
    /// `decide` gets the time at which the lock was acquired, because leases may have expired during
    /// the wait. The order is lock, sync, decide, check, write, fsync, index, unlock. On success the
    /// events are on disk. If `decide` fails, nothing is appended.
    ///
    /// For a session in a database, its row is locked too, its time counts, and the commit comes before
    /// the write.
    pub fn append<T, E: From<SessionError>>(
        &mut self,
        clock: &mut dyn Clock,
        decide: impl FnOnce(&Self, Timestamp) -> Result<(Vec<Event>, T), E>,
    ) -> Result<T, E> {
        self.append_or_undo(clock, decide, || {})
    }

    /// Like [`Self::append`]. If nothing is appended, `undo` runs under the lock, to remove what `decide`
    /// wrote elsewhere.
    pub fn append_or_undo<T, E: From<SessionError>>(
        &mut self,
        clock: &mut dyn Clock,
        decide: impl FnOnce(&Self, Timestamp) -> Result<(Vec<Event>, T), E>,
        undo: impl FnOnce(),
    ) -> Result<T, E> {
        let before = self.checkpoint().lines;
        let appended = self.append_locked(clock, decide, undo);
        // Log after the lock is released: a slow reader of the log must not block other processes.
        if appended.is_ok() {
            let checkpoint = self.checkpoint();
            let (lines, head) = (checkpoint.lines, checkpoint.head);
            tracing::info!(from = before, lines, %head, "appended to the ledger");
        }
        appended
    }

    fn append_locked<T, E: From<SessionError>>(
        &mut self,
        clock: &mut dyn Clock,
        decide: impl FnOnce(&Self, Timestamp) -> Result<(Vec<Event>, T), E>,
        undo: impl FnOnce(),
    ) -> Result<T, E> {
        let lock = LockGuard::acquire(self.dir())?;
        let shared = self.hold(&lock, Patience::Usual)?;
        self.refresh(&lock)?;
        let now = shared.as_ref().map_or_else(|| clock.now(), Appending::at);
        // `decide` may query the index. If the index must be rebuilt, `ask` needs the lock, and
        // acquiring it twice would block forever.
        self.lock = Some(lock);
        let decided = decide(self, now);
        let Some(lock) = self.lock.take() else {
            return Err(SessionError::Illegal("the lock was released").into());
        };
        let (events, value) = match decided {
            Ok(decided) => decided,
            Err(refusal) => {
                undo();
                return Err(refusal);
            }
        };
        let written = self.write(&lock, shared, (now, clock), events);
        if let Err(why) = &written
            && !why.may_be_recorded()
            && matches!(self.ledger().beyond(), Ok(AfterCursor::Bytes(0)))
        {
            undo();
        }
        written?;
        Ok(value)
    }

    /// Locks the session in its database, if it is in one.
    pub(super) fn hold(
        &self,
        lock: &LockGuard,
        patience: Patience,
    ) -> Result<Option<Appending>, SessionError> {
        let mirror = self.mirror.as_ref();
        mirror.map(|it| it.hold(lock, patience)).transpose()
    }

    /// Writes events to the ledger and to the index. Only under the lock.
    fn write(
        &mut self,
        lock: &LockGuard,
        mut shared: Option<Appending>,
        (now, clock): (Timestamp, &mut dyn Clock),
        events: Vec<Event>,
    ) -> Result<(), SessionError> {
        if !lock.is_of(self.dir())? {
            return Err(SessionError::Illegal("the lock was removed meanwhile"));
        }
        let ledger = self.ledger();
        let lines = ledger.next_lines(now, clock, events)?;
        let mut append = || {
            let Some(shared) = shared.take() else {
                return ledger.append(&lines);
            };
            let recorded: Vec<_> = lines.iter().map(|(line, ..)| line).collect();
            shared.append(&recorded)?;
            let copied = ledger.append_copies(&lines);
            copied.map_err(|why| SessionError::Mirror(Box::new(why)))
        };
        let recorded = self.index.get_mut().record(&lines, &mut append);
        let Err(SessionError::Index(why)) = recorded else {
            return recorded;
        };
        // The index is damaged or read-only, so it is replaced.
        self.sync(lock, Err(*why))?;
        self.index.get_mut().record(&lines, &mut append)
    }
}

impl Session {
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    pub fn config(&self) -> FoldConfig {
        self.config
    }

    /// The operator's key, frozen or added later. The index is not trusted, because an agent can write
    /// to it.
    pub fn operator_key(&self) -> Result<Option<OperatorKey>, SessionError> {
        match self.config.policy.key {
            None => Ok(self.projection()?.policy().key),
            frozen => Ok(frozen),
        }
    }

    /// The list that was scanned last.
    pub fn source(&self) -> SourceRecord {
        let checkpoint = self.checkpoint();
        let last = checkpoint.totals.extensions.last();
        last.unwrap_or(&self.manifest.source).clone()
    }

    pub fn repairs(&self) -> Vec<Repair> {
        self.repairs.borrow().clone()
    }

    pub fn ledger_bytes(&self) -> u64 {
        self.checkpoint().end()
    }

    pub fn mirror(&self) -> Option<&Mirror> {
        self.mirror.as_ref()
    }

    pub fn evidence(&self) -> EvidenceStore {
        EvidenceStore::new(self.dir())
    }

    /// The index; for a read-only session, the folded ledger.
    pub fn index(&self) -> Ref<'_, Projection> {
        self.index.borrow()
    }

    pub(super) fn checkpoint(&self) -> Ref<'_, Checkpoint> {
        Ref::map(self.index.borrow(), Projection::checkpoint)
    }

    /// The ledger, positioned where the index ends.
    pub fn ledger(&self) -> Ledger {
        place_of(self.dir(), &self.index.borrow())
    }

    pub fn reader(&self) -> Result<LineReader, SessionError> {
        let forgetting = self.checkpoint().totals.forgetting.clone();
        self.ledger().reader(forgetting)
    }

    pub fn log(&self) -> Ledger {
        Ledger::new(self.dir())
    }

    /// Reads the ledger from its first line until `take` breaks.
    ///
    /// A redacted line without a valid redaction event is an error.
    pub fn read_sound(
        &self,
        watch: &dyn Watch,
        take: &mut dyn FnMut(&Entry<'_>) -> ControlFlow<()>,
    ) -> Result<(), SessionError> {
        let forgetting = self.checkpoint().totals.forgetting.clone();
        let mut unbacked = None;
        self.log().read_while(watch, &mut |entry| {
            let seq = entry.line.seq();
            match entry.line.redacted() {
                Some(digest) if !forgetting.backs(seq, digest) => {
                    unbacked = Some(seq);
                    ControlFlow::Break(())
                }
                _ => take(&entry),
            }
        })?;
        match unbacked {
            Some(seq) => Err(self.ledger().damaged_line(seq, Damage::Unbacked)),
            None => Ok(()),
        }
    }

    pub fn log_opened(&self) {
        let checkpoint = self.checkpoint();
        let (lines, head) = (checkpoint.lines, checkpoint.head);
        let dir = self.dir().display();
        let quests = checkpoint.totals.tally.total();
        tracing::info!(%dir, quests, lines, %head, "opened the session");
    }
}

/// Queries. They do not read the whole ledger unless they say so.
impl Session {
    pub fn totals(&self) -> Totals {
        self.checkpoint().totals.clone()
    }

    /// The hash of the ledger's last line. A copy of it shows any later edit.
    pub fn head(&self) -> Digest {
        self.checkpoint().head
    }

    /// What this session forgot, and the addresses that an earlier session forgot.
    pub fn forgetting(&self) -> Forgetting {
        let forgetting = self.checkpoint().totals.forgetting.clone();
        forgetting.and_earlier(&self.manifest.forgotten)
    }

    pub fn paused(&self) -> bool {
        let after = self.manifest.frozen.pause_after;
        // 0 means never.
        after > 0 && self.checkpoint().totals.streak >= after
    }

    pub fn quest_record(&self, id: QuestId) -> Result<Option<QuestRecord>, SessionError> {
        self.ask(|index| index.get(id))
    }

    pub fn named(&self, key: &FoldedKey) -> Result<Vec<QuestRecord>, SessionError> {
        self.ask(|index| index.named(key))
    }

    pub fn each_key(&self, take: &mut dyn FnMut(&Key)) -> Result<(), SessionError> {
        self.ask(Projection::keys)?.iter().for_each(take);
        Ok(())
    }

    pub fn first_free(&self, now: Timestamp) -> Result<Option<QuestRecord>, SessionError> {
        self.first_free_but(now, &BTreeSet::new())
    }

    pub fn first_free_but(
        &self,
        now: Timestamp,
        except: &BTreeSet<QuestId>,
    ) -> Result<Option<QuestRecord>, SessionError> {
        self.ask(|index| index.first_free_but(now, except))
    }

    pub fn waiting(&self) -> Result<Waiting, SessionError> {
        self.ask(Projection::waiting)
    }

    /// The first quest that this one waits for.
    pub fn awaited(&self, record: &QuestRecord) -> Result<Option<QuestRecord>, SessionError> {
        for id in &record.after {
            let before = self.quest_record(*id)?;
            if let Some(before) =
                before.filter(|before| before.dependency_state() != DependencyState::Passed)
            {
                return Ok(Some(before));
            }
        }
        Ok(None)
    }

    /// The number of the earlier attempt with the same submission, unless it rests on an unanswered
    /// lookup.
    pub fn repeats(&self, quest: QuestId, submitted: Digest) -> Result<Option<u32>, SessionError> {
        let record = self.quest_record(quest)?;
        Ok(record.and_then(|record| record.repeats(submitted, record.attempts.saturating_add(1))))
    }

    pub fn holder(&self, mark: &Mark) -> Result<Option<QuestRecord>, SessionError> {
        self.ask(|index| index.holder(mark))
    }

    /// The quest of the submission with this key.
    pub fn keyed(&self, key: IdempotencyKey) -> Result<Option<QuestRecord>, SessionError> {
        self.holder(&key.mark())
    }

    pub fn claim_on(&self, quest: QuestId) -> Result<Option<Claim>, SessionError> {
        let record = self.quest_record(quest)?;
        Ok(record.and_then(|record| record.claim))
    }

    pub fn claim_of(&self, worker: &Worker) -> Result<Option<Claim>, SessionError> {
        self.ask(|index| index.claim_of(worker))
    }

    pub fn claims(&self) -> Result<Vec<Claim>, SessionError> {
        self.ask(Projection::claims)
    }

    /// The claims with the keys of their quests.
    pub fn claimed(&self) -> Result<Vec<(Claim, Key)>, SessionError> {
        self.ask(Projection::claimed)
    }

    pub fn unanswered(&self) -> Result<Vec<QuestRecord>, SessionError> {
        self.ask(Projection::unanswered)
    }

    pub fn reviews(&self) -> Result<Vec<QuestRecord>, SessionError> {
        self.ask(Projection::reviews)
    }

    /// The PASSes that were drawn for a person to check.
    pub fn sampled(&self) -> Result<Vec<QuestRecord>, SessionError> {
        match self.totals().sample {
            Some(_) => self.ask(Projection::sampled),
            None => Ok(Vec::new()),
        }
    }

    /// The quest's attempts that were sent back for a revision, the earliest first.
    ///
    /// For a quest with several attempts, this reads the whole ledger. It is needed only when reviewers
    /// are asked again.
    pub fn revised(&self, record: &QuestRecord) -> Result<Vec<Attempt>, SessionError> {
        let mut revised = Vec::new();
        // The index has a count of revisions, but it can be forged.
        let Some(last) = self
            .reader()?
            .last_attempt(record)?
            .filter(|_| record.attempts > 0)
        else {
            return Ok(revised);
        };
        if record.attempts == 1 && last.value.number == 1 {
            revised.extend(Some(*last.value).filter(|attempt| attempt.revision));
            return Ok(revised);
        }
        self.log().read_on(&mut |entry| {
            if let Event::Attempt(attempt) = entry.event
                && attempt.quest == record.id
                && attempt.revision
            {
                revised.push(*attempt);
            }
        })?;
        Ok(revised)
    }
}
