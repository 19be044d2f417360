//! One way through a ledger, for everything that a picture takes from its lines.

use std::collections::HashSet;
use std::ops::ControlFlow;

use super::burn_down::BurnDown;
use super::clock::Clock;
use super::funnel::Funnel;
use super::steps::Steps;
use super::workers::Workers;
use crate::quest::{FieldName, QuestId};
use crate::report::run::RunHistory;
use crate::session::{Board, Entry, Event, Session, SessionError, Watch};

/// What the lines of a ledger add up to.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) burn_down: BurnDown,
    pub(super) funnel: Funnel,
    pub(super) clock: Clock,
    pub(super) workers: Workers,
    pub(super) runs: RunHistory,
    pub(super) steps: Steps,
}

impl Reading {
    /// Reads the lines of `session` from which `board` was folded, with what happened to `shown`.
    ///
    /// `answer` is the field that the quests are about.
    pub(super) fn of(
        session: &Session,
        board: &Board,
        shown: &[QuestId],
        answer: Option<FieldName>,
        watch: &dyn Watch,
    ) -> Result<Self, SessionError> {
        let ids: HashSet<QuestId> = shown.iter().copied().collect();
        let court = session.terms().court;
        let mut reading = Self {
            burn_down: BurnDown::default(),
            funnel: Funnel::default(),
            clock: Clock::new(ids),
            workers: Workers::default(),
            runs: RunHistory::default(),
            steps: Steps::new(shown.iter().copied(), court, answer),
        };
        // Others may have written since: all of a picture is of one moment.
        let end = board.tip().length;
        session.read_sound(watch, &mut |entry| {
            if entry.line.seq() >= end {
                return ControlFlow::Break(());
            }
            reading.take(entry);
            ControlFlow::Continue(())
        })?;
        Ok(reading)
    }

    fn take(&mut self, entry: &Entry<'_>) {
        let (at, event) = (entry.line.at(), &entry.event);
        self.burn_down.take(at, event);
        self.clock.take(at, event);
        self.steps.take(at, entry.line.prev(), event);
        match event {
            Event::Attempt(attempt) => {
                self.funnel.take(attempt.judgement.get());
                self.workers.take(attempt);
            }
            Event::Claim(_) | Event::Run(_) => self.runs.take(at, event),
            _ => {}
        }
    }
}
