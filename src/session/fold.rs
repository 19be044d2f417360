//! What each event does to where the quests stand: the one place that says so.
//!
//! The same fold fills the board in memory and the index on disk. Each event must be one that
//! can have happened.

use jiff::Timestamp;
use serde::Serialize;

use super::chain::Line;
use super::claim::{Claim, Claimed, Released, Worker};
use super::decision::{Decided, Dispute, Settlement};
use super::event::Asked;
use super::event::Event;
use super::event::{Attempt, Mark, VerdictBasis};
use super::event::{Carried, Resolution};
use super::manifest::FoldConfig;
use super::quest_record::{DependencyState, IllegalEvent, QuestRecord, Span};
use super::redaction::Forgotten;
use super::run_event::{RunLine, RunStep};
use super::state::State;
use super::state::Streak;
use super::totals::Effective;
use super::totals::Totals;
use crate::base::Digest;
use crate::quest::{Quest, QuestId};

pub(super) trait ProjectionStore {
    type Error: From<IllegalEvent>;

    fn standing(&self, id: QuestId) -> Result<Option<QuestRecord>, Self::Error>;
    fn add(&mut self, standing: QuestRecord) -> Result<(), Self::Error>;
    fn replace(&mut self, standing: QuestRecord) -> Result<(), Self::Error>;
    fn add_submission(&mut self, submitted: &Submitted) -> Result<(), Self::Error>;
    fn take(&mut self, quest: QuestId, mark: &Mark) -> Result<(), Self::Error>;
    fn claim_on(&self, quest: QuestId) -> Result<Option<Claim>, Self::Error>;
    fn put_claim(&mut self, claim: Claim) -> Result<(), Self::Error>;
    fn drop_claim(&mut self, quest: QuestId) -> Result<(), Self::Error>;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct Submitted {
    pub(super) quest: QuestId,
    pub(super) number: u32,
    pub(super) digest: Digest,
    pub(super) grounds: VerdictBasis,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Written {
    pub(super) at: Timestamp,
    pub(super) after: Digest,
    pub(super) span: Span,
    /// The number of the line and the digest of its body, where the body was blotted out.
    pub(super) redacted: Option<(u64, Digest)>,
}

impl Written {
    pub(super) fn of(line: &Line<'_>, span: Span) -> Self {
        Self {
            at: line.at(),
            after: line.prev(),
            span,
            redacted: line.redacted().map(|digest| (line.seq(), digest)),
        }
    }
}

pub(super) struct Fold<'a, S> {
    pub(super) shelf: &'a mut S,
    pub(super) totals: &'a mut Totals,
    pub(super) terms: FoldConfig,
}

impl<S: ProjectionStore> Fold<'_, S> {
    pub(super) fn apply(&mut self, event: &Event, written: Written) -> Result<(), S::Error> {
        if let Some((line, digest)) = written.redacted {
            self.totals.forgetting.blot(line, digest);
        }
        match event {
            Event::Session(_) => Err("a session begins but once".into()),
            Event::Quest(quest) => self.add(quest, written.span),
            Event::Asked(asked) => self.ask(asked),
            Event::Attempt(attempt) => self.judge(attempt, written),
            Event::Claim(claimed) => self.claim(claimed, written.at),
            Event::Released(released) => self.release(released),
            Event::Resolution(resolution) => self.resolve(resolution, written.span),
            Event::Carried(carried) => self.carry(carried, written.span),
            Event::Extended(extended) => {
                self.totals.extensions.push(extended.source.clone());
                Ok(())
            }
            Event::Resumed(_) => {
                self.totals.streak = Streak::default();
                Ok(())
            }
            Event::Settled(settlement) => self.settle(settlement, written),
            Event::Disputed(dispute) => self.dispute(dispute, written),
            Event::Forgotten(forgotten) => self.forget(forgotten, written),
            Event::Run(line) => self.run(line, written.span),
        }
    }

    fn add(&mut self, quest: &Quest, span: Span) -> Result<(), S::Error> {
        if quest.id.index() != self.totals.tally.total() as usize {
            return Err("quests are numbered without gaps".into());
        }
        if quest.after.contains(&quest.id) || !quest.after.is_sorted_by(|one, next| one < next) {
            return Err("a quest comes after others, named in order".into());
        }
        self.totals.tally.add(State::Todo);
        self.totals.effective.add(Effective::Todo);
        self.shelf.add(QuestRecord::new(quest, span))
    }

    fn ask(&mut self, asked: &Asked) -> Result<(), S::Error> {
        let before = self.known(asked.quest)?;
        self.nothing_before(&before)?;
        self.shelf.replace(before.asked(asked)?)
    }

    fn judge(&mut self, attempt: &Attempt, written: Written) -> Result<(), S::Error> {
        let before = self.known(attempt.quest)?;
        let claim = self.shelf.claim_on(before.id)?;
        let barred = |claim: &Claim| !claim.admits_answer(attempt.worker.as_ref(), written.at);
        if claim.as_ref().is_some_and(barred) {
            return Err("another worker held the quest".into());
        }
        self.nothing_before(&before)?;
        let after = before.judged(attempt, written.span, self.terms.max_tries)?;
        let totals = &mut *self.totals;
        totals
            .tally
            .shift(before.progress.state, after.progress.state);
        totals.counts.add_attempt(attempt);
        totals.counts.tries += after.progress.tries.saturating_sub(before.progress.tries);
        if let Some(ending) = after.ending() {
            totals.streak = totals.streak.after(ending);
            totals.settled.add(written.at);
        }
        self.shelf.add_submission(&Submitted {
            quest: attempt.quest,
            number: attempt.number,
            digest: attempt.submitted,
            grounds: attempt.grounds,
        })?;
        self.take(after.id, &attempt.holds)?;
        if let Some(claim) = claim {
            self.keep_claim(claim, &after, attempt.worker.as_ref(), written.at)?;
        }
        self.replace(&before, after)
    }

    /// An answer renews its worker's claim; a settled quest needs none.
    fn keep_claim(
        &mut self,
        claim: Claim,
        standing: &QuestRecord,
        worker: Option<&Worker>,
        at: Timestamp,
    ) -> Result<(), S::Error> {
        if standing.progress.state != State::Todo {
            self.shelf.drop_claim(claim.quest)
        } else if worker == Some(&claim.worker) {
            self.shelf.put_claim(claim.renewed(at))
        } else {
            Ok(())
        }
    }

    fn claim(&mut self, claimed: &Claimed, at: Timestamp) -> Result<(), S::Error> {
        let standing = self.known(claimed.quest)?;
        if standing.progress.state != State::Todo {
            return Err("a locked quest cannot be claimed".into());
        }
        self.nothing_before(&standing)?;
        let before = self.shelf.claim_on(claimed.quest)?;
        if before.is_some_and(|claim| !claim.admits(&claimed.worker, at)) {
            return Err("another worker held the quest".into());
        }
        self.shelf.put_claim(Claim::new(claimed, at))
    }

    fn release(&mut self, released: &Released) -> Result<(), S::Error> {
        let claim = self.shelf.claim_on(released.quest)?;
        if claim.is_none_or(|claim| claim.worker != released.worker) {
            return Err("that worker did not hold the quest".into());
        }
        self.shelf.drop_claim(released.quest)
    }

    fn resolve(&mut self, resolution: &Resolution, span: Span) -> Result<(), S::Error> {
        let before = self.known(resolution.quest)?;
        let after = before.resolved(resolution, span)?;
        self.totals.counts.add_resolution(resolution.outcome);
        self.take(after.id, &resolution.holds)?;
        self.replace(&before, after)
    }

    fn carry(&mut self, carried: &Carried, span: Span) -> Result<(), S::Error> {
        let before = self.known(carried.attempt.quest)?;
        let after = before.carried(carried, span)?;
        let totals = &mut *self.totals;
        totals
            .tally
            .shift(before.progress.state, after.progress.state);
        totals.counts.add_carried(&carried.attempt);
        self.take(after.id, &carried.attempt.holds)?;
        self.replace(&before, after)
    }

    fn settle(&mut self, settlement: &Settlement, written: Written) -> Result<(), S::Error> {
        if !self.counts(settlement, written) {
            return Ok(());
        }
        let mut ids = settlement.quests.iter().map(|settled| settled.quest);
        if settlement.quests.is_empty() || !ids.by_ref().is_sorted_by(|one, next| one < next) {
            return Err("a decision names quests, in order".into());
        }
        for settled in &settlement.quests {
            let before = self.known(settled.quest)?;
            let after = before.settled(settled.attempt, settlement.decision, written.span)?;
            self.replace(&before, after)?;
        }
        Ok(())
    }

    fn dispute(&mut self, dispute: &Dispute, written: Written) -> Result<(), S::Error> {
        if !self.counts(dispute, written) {
            return Ok(());
        }
        let before = self.known(dispute.quest)?;
        let after = before.disputed(written.span)?;
        self.totals.counts.disputed += u32::from(before.dispute.is_none());
        self.replace(&before, after)
    }

    fn forget(&mut self, forgotten: &Forgotten, written: Written) -> Result<(), S::Error> {
        if self.counts(forgotten, written) {
            self.totals.forgetting.take(forgotten)?;
        }
        Ok(())
    }

    /// Nothing that a run notes changes where a quest stands.
    fn run(&mut self, line: &RunLine, span: Span) -> Result<(), S::Error> {
        match &line.step {
            RunStep::Began(began) => {
                self.totals.runs.insert(line.run, began.process);
                Ok(())
            }
            RunStep::Ended { .. } => {
                self.totals.runs.remove(&line.run);
                Ok(())
            }
            RunStep::Attempt(driven) => self.known(driven.quest).map(drop),
            RunStep::Quest(driven) => {
                let mut standing = self.known(driven.quest)?;
                if driven.handover.is_some() {
                    standing.handover = Some(span);
                    self.shelf.replace(standing)?;
                }
                Ok(())
            }
        }
    }

    fn counts<T: Decided>(&mut self, decided: &T, written: Written) -> bool {
        let counts = self.terms.court.admits(decided, written.after);
        self.totals.counts.unsealed += u32::from(!counts);
        counts
    }

    fn replace(&mut self, before: &QuestRecord, after: QuestRecord) -> Result<(), S::Error> {
        let (from, to) = (Effective::of(before), Effective::of(&after));
        self.totals.effective.shift(from, to);
        self.shelf.replace(after)
    }

    fn nothing_before(&self, standing: &QuestRecord) -> Result<(), S::Error> {
        for id in &standing.after {
            if self.known(*id)?.way() != DependencyState::Passed {
                return Err("the quest waits for others that have not passed".into());
            }
        }
        Ok(())
    }

    fn take(&mut self, quest: QuestId, marks: &[Mark]) -> Result<(), S::Error> {
        marks
            .iter()
            .try_for_each(|mark| self.shelf.take(quest, mark))
    }

    fn known(&self, id: QuestId) -> Result<QuestRecord, S::Error> {
        let standing = self.shelf.standing(id)?;
        standing.ok_or_else(|| "there is no such quest".into())
    }
}
