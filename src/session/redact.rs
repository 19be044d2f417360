//! Rewrites the ledger with some bodies redacted.

use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;

use jiff::Timestamp;
use tempfile::NamedTempFile;

use super::chain::Line;
use super::database::Patience;
use super::error::{Damage, IndexError, SessionError};
use super::event::Event;
use super::ledger::{Ledger, LedgerDraft, Tail, Unwatched};
use super::lock::LockGuard;
use super::mirror::Appending;
use super::open::Session;
use super::projection::Projection;
use super::redaction::{Forgotten, RedactedLine};
use crate::base::Digest;
use crate::base::clock::Clock;
use crate::base::files::flush_directory;

pub trait Redactor {
    type Error: From<SessionError>;

    /// The new body of a line; `None` if it stays.
    fn redact(&mut self, line: &Line<'_>) -> Result<Option<String>, Self::Error>;

    /// The event to record after the line with the hash `after`; `None` if there is nothing to do.
    fn decide(
        &mut self,
        lines: Vec<RedactedLine>,
        after: Digest,
    ) -> Result<Option<Forgotten>, Self::Error>;

    /// The lists that `carry_out` replaces, by name, and where their new copies are.
    fn lists(&self) -> Vec<(String, PathBuf)>;

    fn carry_out(&mut self) -> Result<(), Self::Error>;
}

impl Session {
    /// Redacts the ledger with `redactor`, under the session's lock.
    ///
    /// One rename replaces the ledger, and until then nothing changes. The index is rebuilt, because it
    /// may contain the address.
    pub fn redact<R: Redactor>(
        &mut self,
        clock: &mut dyn Clock,
        redactor: &mut R,
    ) -> Result<(), R::Error> {
        let lock = LockGuard::acquire(self.dir())?;
        let shared = self.hold(&lock, Patience::WholeLedger)?;
        self.refresh(&lock)?;
        if shared.is_some() {
            // Another judge may have added evidence during the wait.
            self.evidence().complete()?;
        }
        let now = shared.as_ref().map_or_else(|| clock.now(), Appending::at);
        let Some((file, forgotten)) = self.redacted((now, clock), redactor)? else {
            return redactor.carry_out();
        };
        let Some(shared) = shared else {
            self.take_place(file)?;
            self.sync(&lock, Err(IndexError::Missing))?;
            return redactor.carry_out();
        };
        let mirror = shared.redact(file.path(), forgotten.evidence, &redactor.lists())?;
        // From here on it is recorded. A mirror that fails is filled again by the next command.
        let behind = |why| SessionError::Mirror(Box::new(why));
        self.take_place(file).map_err(behind)?;
        self.sync(&lock, Err(IndexError::Missing)).map_err(behind)?;
        redactor.carry_out()?;
        Ok(mirror.settle().map_err(behind)?)
    }

    /// The redacted ledger in a temporary file, and its last event; `None` if there is nothing to do.
    ///
    /// Both the old and the new lines are folded on the way: an earlier invalid redaction must not be
    /// sealed, and the new ledger must be consistent before it replaces the old one.
    fn redacted<R: Redactor>(
        &self,
        (now, clock): (Timestamp, &mut dyn Clock),
        redactor: &mut R,
    ) -> Result<Option<(NamedTempFile, Forgotten)>, R::Error> {
        let (dir, config) = (self.dir(), self.config());
        let file = NamedTempFile::new_in(dir).map_err(SessionError::io(dir, "write a file"))?;
        let mut ledger = Ledger::new(dir);
        let path = ledger.path().to_owned();
        let mut before = Projection::temporary(config)?;
        let mut after = Projection::temporary(config)?;
        after.take_in(&path, |after| {
            let mut draft = LedgerDraft::begin(dir, file, after);
            let mut redacted = Vec::new();
            let tail = before.take_in(&path, |before| {
                ledger.each_line(&Unwatched, &mut |line, event, span| {
                    before(line, &event, span)?;
                    copy(redactor, &mut draft, &mut redacted, line, &event)?;
                    Ok::<_, R::Error>(ControlFlow::Continue(()))
                })
            })?;
            if tail != Tail::Clean {
                return Err(ledger.damaged(Damage::Cut).into());
            }
            let Some(forgotten) = redactor.decide(redacted, draft.tip().head)? else {
                return Ok(None);
            };
            draft.add(now, clock, &Event::Forgotten(Box::new(forgotten.clone())))?;
            Ok(Some((draft.end()?, forgotten)))
        })
    }

    fn take_place(&self, file: NamedTempFile) -> Result<(), SessionError> {
        let path = self.dir().join("ledger.jsonl");
        Projection::discard(self.dir())?;
        let put = || -> std::io::Result<()> {
            let like = fs::metadata(&path)?.permissions();
            file.as_file().set_permissions(like)?;
            file.as_file().sync_all()?;
            file.persist(&path)?;
            flush_directory(self.dir())
        };
        put().map_err(SessionError::io(&path, "write the ledger again"))
    }
}

/// Writes a line, redacted if necessary.
fn copy<R: Redactor>(
    redactor: &mut R,
    draft: &mut LedgerDraft<'_, NamedTempFile>,
    redacted: &mut Vec<RedactedLine>,
    line: &Line<'_>,
    event: &Event,
) -> Result<(), R::Error> {
    let Some(body) = redactor.redact(line)? else {
        return Ok(draft.put(line, event)?);
    };
    let other = line.with_body(&body);
    let event = other.event().map_err(SessionError::from)?;
    redacted.extend(other.redacted().map(|digest| RedactedLine {
        line: other.seq(),
        digest,
    }));
    Ok(draft.put(&other, &event)?)
}
