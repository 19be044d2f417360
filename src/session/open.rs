//! An open session: reading it, and appending to it under its lock.

#[cfg(test)]
pub(super) mod tests;

use crate::base::clock::Clock;
use std::cell::{Ref, RefCell};
use std::ops::ControlFlow;
use std::path::Path;

use jiff::Timestamp;

use super::chain::Line;
use super::error::{Damage, SessionError};
use super::event::Event;
use super::evidence_store::EvidenceStore;
use super::fold::Written;
use super::index::{Checkpoint, Index, IndexError, Plan, RecordError};
use super::ledger::{Ledger, LedgerTail, Tail};
use super::lock::LockGuard;
use super::manifest::{FoldConfig, Manifest, SourceRecord, read_manifest};
use super::projection::Projection;
use super::reader::{Entry, LineReader, Log};
use super::sync;
use super::sync::{Fresh, Repair, Unwatched, Watch};

/// An open session: what was frozen, and the index of what happened since.
pub struct Session {
    plan: Plan,
    manifest: Manifest,
    index: RefCell<Index>,
    lock: Option<LockGuard>,
    watch: Box<dyn Watch>,
    mended: RefCell<Vec<Repair>>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let checkpoint = self.checkpoint();
        f.debug_struct("Session")
            .field("plan", &self.plan)
            .field("checkpoint", &*checkpoint)
            .finish_non_exhaustive()
    }
}

#[derive(Debug)]
pub enum Appended<R> {
    Done,
    Refused(R),
}

impl Session {
    pub fn open(dir: &Path) -> Result<Self, SessionError> {
        Self::open_watched(dir, Box::new(Unwatched))
    }

    /// Opens the session in `dir`, and brings its index to where its ledger ends.
    ///
    /// What was found amiss and could be mended is in [`Session::mended`]. Damage to the ledger
    /// is an error as soon as a line that has it is met.
    pub fn open_watched(dir: &Path, watch: Box<dyn Watch>) -> Result<Self, SessionError> {
        let (manifest, digest) = read_manifest(dir)?;
        let plan = Plan {
            dir: dir.to_owned(),
            terms: FoldConfig::of(&manifest, digest),
        };
        Ledger::new(dir).begins(digest)?;
        let fresh = sync::open(&plan, watch.as_ref())?;
        Ok(Self {
            plan,
            manifest,
            index: RefCell::new(fresh.index),
            lock: None,
            watch,
            mended: RefCell::new(fresh.mended),
        })
    }

    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.plan.dir
    }

    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    #[must_use]
    pub fn terms(&self) -> FoldConfig {
        self.plan.terms
    }

    #[must_use]
    pub fn source(&self) -> SourceRecord {
        let checkpoint = self.checkpoint();
        let last = checkpoint.totals.extensions.last();
        last.unwrap_or(&self.manifest.source).clone()
    }

    #[must_use]
    pub fn mended(&self) -> Vec<Repair> {
        self.mended.borrow().clone()
    }

    #[must_use]
    pub fn ledger_bytes(&self) -> u64 {
        self.checkpoint().end()
    }

    #[must_use]
    pub fn evidence(&self) -> EvidenceStore {
        EvidenceStore::new(self.dir())
    }

    pub fn reader(&self) -> Result<LineReader, SessionError> {
        let forgetting = self.checkpoint().totals.forgetting.clone();
        self.ledger().reader(forgetting)
    }

    fn stands(&self, line: &Line<'_>) -> Result<(), SessionError> {
        let backs = |digest| {
            let checkpoint = self.checkpoint();
            checkpoint.totals.forgetting.backs(line.seq(), digest)
        };
        match line.redacted() {
            Some(digest) if !backs(digest) => {
                Err(self.ledger().damaged_line(line.seq(), Damage::Unbacked))
            }
            _ => Ok(()),
        }
    }

    #[must_use]
    pub fn log(&self) -> Log {
        Log::new(self.dir())
    }

    /// Reads the ledger from its first line on, until `take` wants no more.
    ///
    /// A line that was blotted out without the right to is an error.
    pub fn read_sound(
        &self,
        watch: &dyn Watch,
        take: &mut dyn FnMut(&Entry<'_>) -> ControlFlow<()>,
    ) -> Result<(), SessionError> {
        let mut stands = Ok(());
        self.log().read_while(watch, &mut |entry| {
            stands = self.stands(entry.line);
            if stands.is_err() {
                return ControlFlow::Break(());
            }
            take(&entry)
        })?;
        stands
    }

    #[must_use]
    pub fn log_on(&self) -> Log {
        Log::behind(self.ledger(), self.checkpoint().last())
    }

    /// Folds the whole ledger, and holds the index against it.
    ///
    /// An index that does not fit is made anew, and [`Session::mended`] tells.
    pub fn fold(&mut self) -> Result<Projection, SessionError> {
        let mut board = Projection::new(self.plan.terms);
        let mut ledger = Ledger::new(self.dir());
        board.read_on(&mut ledger, self.watch.as_ref())?;
        let Ok(lock) = LockGuard::acquire(self.dir()) else {
            self.hold_against(&board);
            return Ok(board);
        };
        self.refresh(&lock)?;
        board.read_on(&mut ledger, self.watch.as_ref())?;
        let fits = self.index.get_mut().fits(&board, ledger.tip());
        if let Err(why) = fits {
            self.renew(&lock, why)?;
        }
        Ok(board)
    }

    /// Holds an index that cannot be made anew against the ledger.
    fn hold_against(&mut self, board: &Projection) {
        let index = self.index.get_mut();
        if index.checkpoint().tip() != board.tip() {
            // Another process has appended meanwhile.
            return;
        }
        if let Err(why) = index.fits(board, board.tip()) {
            self.mended.get_mut().push(Repair::Left {
                path: Index::place(&self.plan.dir),
                why: why.to_string(),
            });
        }
    }

    /// The whole ledger, folded; the index is left out of it.
    pub fn board(&self) -> Result<Projection, SessionError> {
        let mut board = Projection::new(self.plan.terms);
        board.read_on(&mut Ledger::new(self.dir()), self.watch.as_ref())?;
        Ok(board)
    }

    fn append_locked<R>(
        &mut self,
        clock: &mut dyn Clock,
        decide: impl FnOnce(&Self, Timestamp) -> Result<Vec<Event>, R>,
        undo: impl FnOnce(),
    ) -> Result<Appended<R>, SessionError> {
        let lock = LockGuard::acquire(self.dir())?;
        self.refresh(&lock)?;
        let now = clock.now();
        self.lock = Some(lock);
        let decided = decide(self, now);
        let Some(lock) = self.lock.take() else {
            return Err(SessionError::Illegal("the lock was given up"));
        };
        let events = match decided {
            Ok(events) => events,
            Err(refusal) => {
                undo();
                return Ok(Appended::Refused(refusal));
            }
        };
        let written = self.write(&lock, (now, clock), events);
        if written.is_err() && self.is_at_the_end() {
            undo();
        }
        written.map(|()| Appended::Done)
    }

    fn is_at_the_end(&self) -> bool {
        let beyond = self.ledger().beyond(self.checkpoint().last());
        matches!(beyond, Ok(LedgerTail::Bytes(0)))
    }

    /// Writes events to the ledger, then to the index. Only under the lock.
    fn write(
        &mut self,
        lock: &LockGuard,
        (now, clock): (Timestamp, &mut dyn Clock),
        events: Vec<Event>,
    ) -> Result<(), SessionError> {
        if !lock.is_of(self.dir())? {
            return Err(SessionError::Illegal("the lock was removed meanwhile"));
        }
        let mut ledger = self.ledger();
        let mut tip = ledger.tip();
        let mut lines = Vec::with_capacity(events.len());
        for event in &events {
            let line = Line::next(tip, now, clock.salt(), event)?;
            tip = line.tip();
            lines.push(line);
        }
        let spans = ledger.spans(&lines)?;
        let afters = lines.iter().map(Line::prev);
        let written = spans.into_iter().zip(afters).map(|(span, after)| Written {
            at: now,
            after,
            span,
            redacted: None,
        });
        let events: Vec<_> = events.into_iter().zip(written).collect();
        let mut append = || ledger.append(&lines);
        let recorded = self.index.get_mut().record(&events, tip, &mut append);
        match recorded {
            Err(RecordError::Unusable(why)) => {
                // It is damaged, or cannot be written: another one stands in for it.
                self.renew(lock, why)?;
                self.index.get_mut().record(&events, tip, &mut append)
            }
            other => other,
        }
        .or_else(|error| match error {
            RecordError::Refused(error) => Err(error),
            RecordError::Unusable(error) => Err(SessionError::index(self.dir(), error)),
            // The ledger has it, so it has happened; the next command catches up.
            RecordError::Behind => Ok(()),
        })
    }

    pub(super) fn checkpoint(&self) -> Ref<'_, Checkpoint> {
        Ref::map(self.index.borrow(), Index::checkpoint)
    }

    pub(super) fn ledger(&self) -> Ledger {
        Ledger::at(self.dir(), &self.checkpoint())
    }

    /// Asks the index; one that turns out to be damaged is made anew and asked again.
    pub(super) fn ask<T>(
        &self,
        mut question: impl FnMut(&Index) -> Result<T, IndexError>,
    ) -> Result<T, SessionError> {
        let answer = question(&self.index.borrow());
        let why = match answer {
            Ok(answer) => return Ok(answer),
            Err(why) => why,
        };
        let acquired = match &self.lock {
            Some(_) => None,
            None => Some(LockGuard::acquire(self.dir())?),
        };
        if let Some(lock) = &acquired {
            // Of what takes two looks, the second may have seen more than the first.
            self.refresh(lock)?;
            if let Ok(answer) = question(&self.index.borrow()) {
                return Ok(answer);
            }
        }
        if let Some(lock) = self.lock.as_ref().or(acquired.as_ref()) {
            self.renew(lock, why)?;
        }
        let place = Index::place(self.dir());
        question(&self.index.borrow()).map_err(|error| SessionError::index(&place, error))
    }

    pub(super) fn plan(&self) -> &Plan {
        &self.plan
    }

    pub(super) fn refresh(&self, lock: &LockGuard) -> Result<(), SessionError> {
        let (ledger, last) = (self.ledger(), self.checkpoint().last());
        let goes_on = matches!(ledger.beyond(last)?, LedgerTail::Bytes(_));
        // Where something was blotted out meanwhile, the lines lie elsewhere in the same chain.
        if !goes_on && !Ledger::new(self.dir()).passes(ledger.tip())? {
            // Lines that this process has read are gone.
            return Err(ledger.damaged(Damage::Cut));
        }
        if self.moves_on() {
            return Ok(());
        }
        let opened = Index::open(&self.plan);
        let fresh = sync::locked(&self.plan, self.watch.as_ref(), lock, opened)?;
        self.take_in(fresh);
        Ok(())
    }

    fn renew(&self, lock: &LockGuard, why: IndexError) -> Result<(), SessionError> {
        let fresh = sync::locked(&self.plan, self.watch.as_ref(), lock, Err(why))?;
        self.take_in(fresh);
        Ok(())
    }

    pub(super) fn take_in(&self, fresh: Fresh) {
        self.index.replace(fresh.index);
        self.mended.borrow_mut().extend(fresh.mended);
    }
}

impl Session {
    /// Appends what `decide` makes of the session as it stands under the lock.
    ///
    /// The order is lock, read on, decide, check, write, fsync, index, unlock; when this returns
    /// [`Appended::Done`] the events are on disk.
    pub fn append<R>(
        &mut self,
        clock: &mut dyn Clock,
        decide: impl FnOnce(&Self) -> Result<Vec<Event>, R>,
    ) -> Result<Appended<R>, SessionError> {
        self.append_at(clock, |session, _| decide(session))
    }

    /// The same at the time that `clock` shows once the lock is held.
    ///
    /// The lock may have been waited for, and leases have run out meanwhile.
    pub fn append_at<R>(
        &mut self,
        clock: &mut dyn Clock,
        decide: impl FnOnce(&Self, Timestamp) -> Result<Vec<Event>, R>,
    ) -> Result<Appended<R>, SessionError> {
        self.append_or(clock, decide, || {})
    }

    /// The same, and `undo` what `decide` did beside where nothing is appended; under the lock.
    pub fn append_or<R>(
        &mut self,
        clock: &mut dyn Clock,
        decide: impl FnOnce(&Self, Timestamp) -> Result<Vec<Event>, R>,
        undo: impl FnOnce(),
    ) -> Result<Appended<R>, SessionError> {
        let before = self.checkpoint().lines;
        let appended = self.append_locked(clock, decide, undo);
        // Only now that the lock is given up.
        if let Ok(Appended::Done) = &appended {
            let checkpoint = self.checkpoint();
            let (lines, head) = (checkpoint.lines, checkpoint.head);
            tracing::info!(from = before, lines, %head, "appended to the ledger");
        }
        appended
    }
}

impl Session {
    /// Moves the index that is open to where the ledger ends, if it is still the one that lies
    /// there and nothing is amiss: to open it once more takes longer than most appends.
    pub(super) fn moves_on(&self) -> bool {
        let mut index = self.index.borrow_mut();
        if !index.is_in_place(self.dir()) || index.reload().is_err() {
            return false;
        }
        let last = index.checkpoint().last();
        let mut ledger = Ledger::at(self.dir(), index.checkpoint());
        match ledger.beyond(last) {
            Ok(LedgerTail::Bytes(0)) => true,
            Ok(LedgerTail::Bytes(_)) => {
                let followed = index.follow(&mut ledger, self.watch.as_ref());
                matches!(followed, Ok(Tail::Clean))
            }
            Ok(LedgerTail::Cut | LedgerTail::Other) | Err(_) => false,
        }
    }
}

impl Session {
    pub fn tell(&self) {
        let checkpoint = self.checkpoint();
        let (lines, head) = (checkpoint.lines, checkpoint.head);
        let dir = self.dir().display();
        let quests = self.totals().tally.total();
        tracing::info!(%dir, quests, lines, %head, "opened the session");
    }
}
