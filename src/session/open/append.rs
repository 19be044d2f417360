//! Appending to a session, and telling of it once the lock is given up.

use crate::base::clock::Clock;
use jiff::Timestamp;

use super::{Appended, Session};
use crate::session::error::SessionError;
use crate::session::event::Event;

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
