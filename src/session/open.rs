//! Opening a session, reading it, and appending to it under its lock.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::board::{Board, Standing};
use super::chain::{Line, Salt};
use super::error::{Damage, SessionError};
use super::event::{Attempt, Dated, Event};
use super::evidence_store::EvidenceStore;
use super::ledger::{Healed, Ledger, Tail};
use super::line_reader::LineReader;
use super::lock::LockGuard;
use super::manifest::{FORMAT, Manifest, SourceRecord};
use crate::quest::{Digest, Quest};

/// An open session: what was frozen, and where every quest stood when it was last read.
#[derive(Debug)]
pub struct Session {
    dir: PathBuf,
    manifest: Manifest,
    ledger: Ledger,
    board: Board,
    healed: Vec<Healed>,
}

/// What came of an append.
#[derive(Debug)]
pub enum Appended<R> {
    /// The events are on disk.
    Done,
    /// The decision was not to append, and why.
    Refused(R),
}

impl Session {
    /// Opens the session in `dir` and reads its whole ledger.
    ///
    /// A torn last line is cut off; [`Session::healed`] tells. Any other damage is an error.
    pub fn open(dir: &Path) -> Result<Self, SessionError> {
        let (manifest, digest) = read_manifest(dir)?;
        let mut session = Self {
            dir: dir.to_owned(),
            board: Board::new(manifest.frozen.max_tries),
            ledger: Ledger::new(dir),
            healed: Vec::new(),
            manifest,
        };
        if session.catch_up(Some(digest))? != Tail::Clean {
            let lock = LockGuard::acquire(dir)?;
            session.settle_tail(&lock)?;
        }
        if session.ledger.tip().length == 0 {
            return Err(session.damaged_first_line());
        }
        Ok(session)
    }

    /// The session directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// What was frozen at `scan`.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Where every quest stands.
    #[must_use]
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// The list that was read last: that of `scan`, or of the last `scan --update`.
    #[must_use]
    pub fn source(&self) -> &SourceRecord {
        self.board
            .extensions()
            .last()
            .unwrap_or(&self.manifest.source)
    }

    /// The hash of the ledger's last line: noted elsewhere, it shows any later edit.
    #[must_use]
    pub fn head(&self) -> Digest {
        self.ledger.tip().head
    }

    /// The torn lines that were cut off since it was opened.
    #[must_use]
    pub fn healed(&self) -> &[Healed] {
        &self.healed
    }

    /// What pages said.
    #[must_use]
    pub fn evidence(&self) -> EvidenceStore {
        EvidenceStore::new(&self.dir)
    }

    /// Whether the unproven streak pauses the session.
    #[must_use]
    pub fn paused(&self) -> bool {
        self.board.streak().pauses(self.manifest.frozen.pause_after)
    }

    /// The quest of this standing, whole.
    pub fn quest(&self, standing: &Standing) -> Result<Quest, SessionError> {
        self.reader()?.quest(standing)
    }

    /// The quest's last attempt, with its time.
    pub fn last_attempt(
        &self,
        standing: &Standing,
    ) -> Result<Option<Dated<Box<Attempt>>>, SessionError> {
        self.reader()?.last_attempt(standing)
    }

    /// A reader of quests and attempts, for many of them.
    pub fn reader(&self) -> Result<LineReader<'_>, SessionError> {
        self.ledger.reader()
    }

    /// Hands on every event of the ledger, from the first to the last that is there now.
    pub fn each_event(&self, take: &mut dyn FnMut(Timestamp, &Event)) -> Result<(), SessionError> {
        let mut ledger = Ledger::new(&self.dir);
        ledger.read_on(&mut |line, event, _| {
            take(line.at(), &event);
            Ok(())
        })?;
        Ok(())
    }

    /// Appends what `decide` makes of the board as it stands under the lock.
    ///
    /// The order is lock, read on, decide, write, fsync, unlock; when this returns
    /// [`Appended::Done`] the events are on disk.
    pub fn append<R>(
        &mut self,
        now: Timestamp,
        salts: &mut dyn FnMut() -> Salt,
        decide: impl FnOnce(&Self) -> Result<Vec<Event>, R>,
    ) -> Result<Appended<R>, SessionError> {
        let lock = LockGuard::acquire(&self.dir)?;
        self.settle_tail(&lock)?;
        let events = match decide(self) {
            Ok(events) => events,
            Err(refusal) => return Ok(Appended::Refused(refusal)),
        };
        let mut tip = self.ledger.tip();
        let mut lines = Vec::with_capacity(events.len());
        for event in &events {
            let line = Line::next(tip, now, salts(), event)?;
            tip = line.tip();
            lines.push(line);
        }
        let spans = self.ledger.append(&lines)?;
        for (event, span) in events.into_iter().zip(spans) {
            self.board
                .apply(event, span)
                .map_err(|why| self.damaged(Damage::Story(why)))?;
        }
        Ok(Appended::Done)
    }

    /// Reads on; `manifest` is expected in the first line, when that is still to be read.
    fn catch_up(&mut self, manifest: Option<Digest>) -> Result<Tail, SessionError> {
        let board = &mut self.board;
        let mut mismatch = false;
        let tail = self.ledger.read_on(&mut |_, event, span| match event {
            Event::Session(started) if span.offset == 0 => {
                mismatch = manifest.is_some_and(|digest| digest != started.manifest);
                Ok(())
            }
            _ if span.offset == 0 => Err("the first line does not begin a session"),
            event => board.apply(event, span),
        })?;
        if mismatch {
            return Err(SessionError::ManifestChanged {
                path: self.dir.join("session.json"),
            });
        }
        Ok(tail)
    }

    /// Reads on and cuts off a torn tail. Under the lock nobody else is in the middle of a line.
    fn settle_tail(&mut self, _lock: &LockGuard) -> Result<(), SessionError> {
        if let Tail::Torn(bytes) = self.catch_up(None)? {
            self.healed.push(self.ledger.cut_tail(bytes)?);
        }
        Ok(())
    }

    fn damaged_first_line(&self) -> SessionError {
        self.damaged(Damage::Story("the ledger is empty"))
    }

    fn damaged(&self, why: Damage) -> SessionError {
        SessionError::Damaged {
            path: self.ledger.path().to_owned(),
            line: self.ledger.tip().length + 1,
            why,
        }
    }
}

/// Reads `session.json`; its format is looked at before anything else.
fn read_manifest(dir: &Path) -> Result<(Manifest, Digest), SessionError> {
    #[derive(serde::Deserialize)]
    struct Format {
        format: u64,
    }

    let path = dir.join("session.json");
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let dir = dir.to_owned();
            return Err(SessionError::Missing { dir });
        }
        Err(error) => return Err(SessionError::io(&path, "read the session")(error)),
    };
    let unreadable = |error: serde_json::Error| SessionError::Manifest {
        path: path.clone(),
        why: error.to_string(),
    };
    let Format { format } = serde_json::from_slice(&bytes).map_err(unreadable)?;
    if format > u64::from(FORMAT) {
        return Err(SessionError::Newer {
            path,
            format,
            newest: FORMAT,
        });
    }
    let manifest = serde_json::from_slice(&bytes).map_err(unreadable)?;
    Ok((manifest, Digest::of(&bytes)))
}
