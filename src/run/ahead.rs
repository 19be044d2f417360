//! The next quest of a worker, claimed together with the end of the one before.
//!
//! Each append waits for the disk some times; a quest that is settled at its first start takes
//! two of them rather than three.

use std::collections::BTreeSet;
use std::sync::MutexGuard;

use jiff::Timestamp;

use super::choose::{Choice, decide};
use super::error::RunError;
use super::worker::RunWorker;
use crate::quest::QuestId;
use crate::session::{Event, Lease, Reason, Session, SessionError, Worker};

#[derive(Debug)]
pub(super) struct Ahead<'a> {
    name: Worker,
    lease: Option<Lease>,
    driven: BTreeSet<QuestId>,
    choice: Choice,
    _turn: MutexGuard<'a, ()>,
}

impl<'a> RunWorker<'a> {
    pub(super) fn ahead(&self, reason: Reason) -> Result<Option<Ahead<'a>>, RunError> {
        let floor = self.floor;
        if reason != Reason::Settled || floor.stopping().is_some() {
            return Ok(None);
        }
        let turn = floor.turn();
        if floor.plan.limits.another_quest(&floor.used()).is_some() {
            return Ok(None);
        }
        Ok(Some(Ahead {
            name: self.name()?.0,
            lease: floor.plan.lease,
            driven: floor.given_up(),
            choice: Choice::Nothing,
            _turn: turn,
        }))
    }

    pub(super) fn go_on_with(&mut self, ahead: Ahead<'a>) {
        if matches!(ahead.choice, Choice::Quest(..)) {
            self.floor.take_up();
            self.next = Some((ahead.choice, ahead.name));
        }
    }
}

impl Ahead<'_> {
    pub(super) fn choose(
        &mut self,
        session: &Session,
        now: Timestamp,
    ) -> Result<Vec<Event>, SessionError> {
        let lease = self.lease.unwrap_or(session.manifest().frozen.lease);
        let (choice, events) = decide(session, &self.name, lease, &self.driven, now)?;
        self.choice = choice;
        Ok(events)
    }
}
