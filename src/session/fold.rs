//! Applies each event of the ledger to quests and totals.
//!
//! The session's index and the temporary one that verifies it use the same fold. An event that
//! cannot have happened is an error.

use super::amendment::Amended;
use super::chain::Line;
use super::claim::{Claim, Claimed, Released};
use super::decision::{Decided, DecisionPolicy, Dispute, Settlement};
use super::error::IndexError;
use super::event::{Asked, Attempt, Carried, Event, Fixed, Mark, Resolution};
use super::index::Tables;
use super::manifest::FoldConfig;
use super::quest_record::{DependencyState, Effective, QuestRecord, Span};
use super::reopening::{Regressed, Reopened};
use super::run_event::{RunLine, RunStep};
use super::sample::{Sample, Sampled};
use super::state::{Ending, State};
use super::totals::Totals;
use crate::quest::{Quest, QuestId};

pub(super) struct Fold<'a> {
    pub(super) tables: Tables<'a>,
    pub(super) totals: &'a mut Totals,
    pub(super) config: FoldConfig,
    pub(super) line: &'a Line<'a>,
    pub(super) span: Span,
}

type Folded = Result<(), IndexError>;

impl Fold<'_> {
    pub(super) fn apply(&mut self, event: &Event) -> Folded {
        if let Some(digest) = self.line.redacted() {
            self.totals.forgetting.redact(self.line.seq(), digest);
        }
        if let Some(decided) = event.decision()
            && !self.counts(decided)
        {
            return Ok(());
        }
        match event {
            // Opening the ledger checks that it binds the session.
            Event::Session(_) if self.span.offset == 0 => Ok(()),
            Event::Session(_) => Err("a ledger has only one session event".into()),
            Event::Quest(quest) => self.add(quest),
            Event::Asked(asked) => self.ask(asked),
            Event::Attempt(attempt) => self.judge(attempt),
            Event::Fixed(fixed) => self.fix(fixed),
            Event::Claim(claimed) => self.claim(claimed),
            Event::Released(released) => self.release(released),
            Event::Resolution(resolution) => self.resolve(resolution),
            Event::Carried(carried) => self.carry(carried),
            Event::Extended(extended) => {
                self.totals.extensions.push(extended.source.clone());
                Ok(())
            }
            Event::Amended(amended) => self.amend(amended),
            Event::Resumed(_) => {
                self.totals.streak = 0;
                Ok(())
            }
            Event::Settled(settlement) => self.settle(settlement),
            Event::Regressed(regressed) => self.regress(regressed),
            Event::Reopened(reopened) => self.reopen(reopened),
            Event::Sampled(sampled) => self.sample(sampled),
            Event::Disputed(dispute) => self.dispute(dispute),
            Event::Forgotten(forgotten) => Ok(self.totals.forgetting.take(forgotten)?),
            Event::Run(line) => self.run(line),
        }
    }

    fn add(&mut self, quest: &Quest) -> Folded {
        if quest.id.index() != self.totals.tally.total() as usize {
            return Err("quests are numbered without gaps".into());
        }
        if quest.after.contains(&quest.id) || !quest.after.is_sorted_by(|one, next| one < next) {
            return Err("a quest depends on other quests, in order".into());
        }
        self.totals.tally.add(State::Todo);
        self.totals.effective.add(Effective::Todo);
        self.tables.put_quest(&QuestRecord::new(quest, self.span))
    }

    fn ask(&mut self, asked: &Asked) -> Folded {
        let mut record = self.known(asked.quest)?;
        self.nothing_before(&record)?;
        record.ask(asked)?;
        self.tables.put_quest(&record)
    }

    fn judge(&mut self, attempt: &Attempt) -> Folded {
        let mut record = self.known(attempt.quest)?;
        let worker = attempt.worker.as_ref();
        let barred = |claim: &Claim| !claim.admits_answer(worker, self.line.at());
        if record.claim.as_ref().is_some_and(barred) {
            return Err("another worker held the quest".into());
        }
        self.nothing_before(&record)?;
        if let Some(accepted) = &attempt.accepted {
            if attempt.state == State::Todo || accepted.parent != self.totals.accepted {
                return Err("an accepted change follows the one before it".into());
            }
            self.totals.accepted = Some(accepted.change);
        }
        let before = record.clone();
        record.judge(attempt, self.span, self.config.max_tries)?;
        self.totals.counts.add_attempt(attempt);
        self.totals.counts.tries += record.progress.tries.saturating_sub(before.progress.tries);
        if let Some(ending) = record.ending() {
            self.totals.streak = match ending {
                Ending::WithResult => 0,
                Ending::WithoutResult => self.totals.streak.saturating_add(1),
            };
            self.totals.settled.add(self.line.at());
        }
        // An answer renews its worker's claim. A settled quest needs no claim.
        if record.progress.state != State::Todo {
            record.claim = None;
        } else if let Some(claim) = &mut record.claim
            && worker == Some(&claim.worker)
        {
            claim.renew(self.line.at());
        }
        self.take(record.id, &attempt.holds)?;
        if let Some(key) = attempt.idempotency_key {
            let holder = self.tables.holder(&key.mark())?;
            if holder.is_some_and(|holder| holder != record.id) {
                return Err("an idempotency key belongs to one quest".into());
            }
            self.tables.put_mark(&key.mark(), record.id)?;
        }
        self.put(&before, &record)
    }

    /// A fixer does not change the quest. The submission after it is another attempt.
    fn fix(&mut self, fixed: &Fixed) -> Folded {
        let record = self.known(fixed.quest)?;
        if !(1..=record.attempts).contains(&fixed.attempt) {
            return Err("a fixer runs after an attempt".into());
        }
        Ok(())
    }

    fn claim(&mut self, claimed: &Claimed) -> Folded {
        let mut record = self.known(claimed.quest)?;
        if record.progress.state != State::Todo {
            return Err("a locked quest cannot be claimed".into());
        }
        self.nothing_before(&record)?;
        let at = self.line.at();
        let held = |claim: &Claim| !claim.admits(&claimed.worker, at);
        if record.claim.as_ref().is_some_and(held) {
            return Err("another worker held the quest".into());
        }
        // A worker holds one quest at a time.
        if let Some(mut other) = self.tables.quest_of(claimed.worker.as_str())? {
            other.claim = None;
            self.tables.put_quest(&other)?;
        }
        record.claim = Some(Claim::new(claimed, at));
        self.tables.put_quest(&record)
    }

    fn release(&mut self, released: &Released) -> Folded {
        let mut record = self.known(released.quest)?;
        let claim = record.claim.take();
        if claim.is_none_or(|claim| claim.worker != released.worker) {
            return Err("that worker did not hold the quest".into());
        }
        self.tables.put_quest(&record)
    }

    fn resolve(&mut self, resolution: &Resolution) -> Folded {
        let mut record = self.known(resolution.quest)?;
        let before = record.clone();
        record.resolve(resolution, self.span)?;
        self.totals.counts.add_resolution(resolution.outcome);
        self.take(record.id, &resolution.holds)?;
        self.put(&before, &record)
    }

    fn carry(&mut self, carried: &Carried) -> Folded {
        let mut record = self.known(carried.attempt.quest)?;
        let before = record.clone();
        record.carry(carried, self.span)?;
        self.totals.counts.add_carried(&carried.attempt);
        self.take(record.id, &carried.attempt.holds)?;
        self.put(&before, &record)
    }

    fn amend(&mut self, amended: &Amended) -> Folded {
        amended.check(self.totals.has_judged(), self.policy().key)?;
        for added in &amended.anchors {
            let mut record = self.known(added.quest)?;
            record.add_anchor(&added.anchor)?;
            self.tables.put_quest(&record)?;
        }
        self.totals.operator_key = self.totals.operator_key.or(amended.operator_key);
        Ok(())
    }

    fn settle(&mut self, settlement: &Settlement) -> Folded {
        let ids = settlement.quests.iter().map(|settled| settled.quest);
        if settlement.quests.is_empty() || !ids.is_sorted_by(|one, next| one < next) {
            return Err("a decision names quests, in order".into());
        }
        for settled in &settlement.quests {
            let mut record = self.known(settled.quest)?;
            let before = record.clone();
            record.settle(settled.attempt, settlement.decision, self.span)?;
            self.put(&before, &record)?;
        }
        Ok(())
    }

    fn regress(&mut self, regressed: &Regressed) -> Folded {
        let mut record = self.known(regressed.quest)?;
        let before = record.clone();
        record.regress(regressed.attempt, self.span)?;
        self.put(&before, &record)
    }

    fn reopen(&mut self, reopened: &Reopened) -> Folded {
        let ids = reopened.quests.iter().map(|it| it.quest);
        if reopened.quests.is_empty() || !ids.is_sorted_by(|one, next| one < next) {
            return Err("a decision names quests, in order".into());
        }
        for reopened in &reopened.quests {
            let mut record = self.known(reopened.quest)?;
            let before = record.clone();
            record.reopen(reopened.attempt)?;
            self.put(&before, &record)?;
        }
        Ok(())
    }

    fn sample(&mut self, sampled: &Sampled) -> Folded {
        if sampled.quests.is_empty() || !sampled.quests.is_sorted_by(|one, next| one < next) {
            return Err("a draw names quests, in order".into());
        }
        let (first, passes) = (self.span.offset, self.totals.tally.pass);
        let sample = self.totals.sample.get_or_insert(Sample {
            first,
            passes,
            ..Sample::default()
        });
        sample.draws += 1;
        let first = sample.first;
        for quest in &sampled.quests {
            let mut record = self.known(*quest)?;
            let before = record.clone();
            record.sample(first)?;
            self.put(&before, &record)?;
        }
        Ok(())
    }

    fn dispute(&mut self, dispute: &Dispute) -> Folded {
        let mut record = self.known(dispute.quest)?;
        let before = record.clone();
        record.contradict(self.span)?;
        self.put(&before, &record)
    }

    /// No step of a run changes a quest's state.
    fn run(&mut self, line: &RunLine) -> Folded {
        match &line.step {
            RunStep::Began(began) => {
                self.totals.runs.insert(line.run, began.process);
            }
            RunStep::Ended { .. } => {
                self.totals.runs.remove(&line.run);
            }
            RunStep::Start(start) => {
                self.known(start.quest)?;
            }
            RunStep::Attempt(driven) => {
                self.known(driven.quest)?;
            }
            RunStep::Quest(driven) => {
                let mut record = self.known(driven.quest)?;
                if driven.handover.is_some() {
                    record.handover = Some(self.span);
                    self.tables.put_quest(&record)?;
                }
            }
        }
        Ok(())
    }

    /// Whether a decision has effect. If there is a key, the key must have signed it for this place.
    fn counts(&mut self, decided: &dyn Decided) -> bool {
        let counts = self.policy().admits(decided, self.line.prev());
        self.totals.counts.unsealed += u32::from(!counts);
        counts
    }

    fn policy(&self) -> DecisionPolicy {
        self.totals.policy(self.config.policy)
    }

    /// Writes a record and moves it in the tallies from where it was `before`.
    fn put(&mut self, before: &QuestRecord, record: &QuestRecord) -> Folded {
        let (old, new) = (before.progress.state, record.progress.state);
        self.totals.tally.shift(old, new);
        let (old, new) = (Effective::of(before), Effective::of(record));
        self.totals.effective.shift(old, new);
        let counts = &mut self.totals.counts;
        let disputed = counts.disputed + u32::from(record.is_disputed());
        counts.disputed = disputed.saturating_sub(u32::from(before.is_disputed()));
        if let Some(sample) = &mut self.totals.sample {
            sample.shift(before.check(), record.check());
        }
        self.tables.put_quest(record)
    }

    fn nothing_before(&self, record: &QuestRecord) -> Folded {
        for id in &record.after {
            if self.known(*id)?.dependency_state() != DependencyState::Passed {
                return Err("the quest waits for others that have not passed".into());
            }
        }
        Ok(())
    }

    fn take(&mut self, quest: QuestId, marks: &[Mark]) -> Folded {
        marks
            .iter()
            .try_for_each(|mark| self.tables.put_mark(mark, quest))
    }

    fn known(&self, id: QuestId) -> Result<QuestRecord, IndexError> {
        let record = self.tables.quest(id)?;
        record.ok_or_else(|| "there is no such quest".into())
    }
}
