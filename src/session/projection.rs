//! Where every quest stands, folded from the ledger in memory.
//!
//! Built where no cache is believed: before anything is called complete, exported or audited.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::chain::Tip;
use super::claim::{Claim, Worker};
use super::error::{Damage, SessionError};
use super::event::{Event, Mark, VerdictBasis};
use super::evidence_store::EvidenceStore;
use super::fold::{Fold, ProjectionStore, Submitted, Written};
use super::ledger::Ledger;
use super::manifest::{FoldConfig, Manifest, read_manifest};
use super::quest_record::{DependencyState, IllegalEvent, QuestRecord, Waiting};
use super::reader::LineReader;
use super::redaction::Forgetting;
use super::state::State;
use super::sync::Watch;
use super::totals::Totals;
use crate::base::Digest;
use crate::quest::QuestId;

#[derive(Debug, Clone)]
pub struct Projection {
    terms: FoldConfig,
    /// The end of the chain after the lines that it was folded from.
    tip: Tip,
    totals: Totals,
    rows: Rows,
}

#[derive(Debug, Clone, Default)]
struct Rows {
    quests: Vec<QuestRecord>,
    submissions: HashMap<QuestId, Vec<(Digest, VerdictBasis)>>,
    holders: HashMap<Mark, QuestId>,
    claims: HashMap<QuestId, Claim>,
    claimed_by: HashMap<Worker, QuestId>,
}

impl Projection {
    #[must_use]
    pub fn new(terms: FoldConfig) -> Self {
        Self {
            terms,
            tip: Tip::start(),
            totals: Totals::default(),
            rows: Rows::default(),
        }
    }

    /// The end of the chain after the lines that it was folded from.
    #[must_use]
    pub fn tip(&self) -> Tip {
        self.tip
    }

    #[must_use]
    pub fn quests(&self) -> &[QuestRecord] {
        &self.rows.quests
    }

    #[must_use]
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    #[must_use]
    pub fn get(&self, id: QuestId) -> Option<&QuestRecord> {
        self.rows.quests.get(id.index())
    }

    #[must_use]
    pub fn waiting(&self) -> Waiting {
        let todo = |quest: &&QuestRecord| quest.progress.state == State::Todo;
        let todo = self.rows.quests.iter().filter(todo);
        let after = todo.filter(|quest| !quest.after.is_empty());
        let waiters = after.map(|quest| (quest.id, quest.after.clone())).collect();
        let way = |id| self.get(id).map_or(DependencyState::Open, QuestRecord::way);
        Waiting::of(waiters, way)
    }

    #[must_use]
    pub fn holder(&self, mark: &Mark) -> Option<&QuestRecord> {
        self.get(*self.rows.holders.get(mark)?)
    }

    #[must_use]
    pub fn submissions(&self, id: QuestId) -> &[(Digest, VerdictBasis)] {
        self.rows.submissions.get(&id).map_or(&[], Vec::as_slice)
    }

    #[must_use]
    pub fn holders(&self) -> impl ExactSizeIterator<Item = (&Mark, QuestId)> {
        self.rows.holders.iter().map(|(mark, quest)| (mark, *quest))
    }

    #[must_use]
    pub fn claims(&self) -> impl ExactSizeIterator<Item = &Claim> {
        self.rows.claims.values()
    }

    /// Takes in the lines that `ledger` has beyond its own place.
    pub(super) fn read_on(
        &mut self,
        ledger: &mut Ledger,
        watch: &dyn Watch,
    ) -> Result<(), SessionError> {
        ledger.read_on(watch, &mut |line, event, span| {
            if matches!(event, Event::Session(_)) && span.offset == 0 {
                return Ok(());
            }
            Ok(self.apply(&event, Written::of(line, span))?)
        })?;
        self.tip = ledger.tip();
        match self.totals.forgetting.unbacked() {
            Some(line) => Err(ledger.damaged_line(line, Damage::Unbacked)),
            None => Ok(()),
        }
    }

    /// Takes in one event; says why when it cannot have happened.
    pub(super) fn apply(&mut self, event: &Event, written: Written) -> Result<(), IllegalEvent> {
        let mut fold = Fold {
            shelf: &mut self.rows,
            totals: &mut self.totals,
            terms: self.terms,
        };
        fold.apply(event, written)
    }

    #[must_use]
    pub fn remaining(&self) -> usize {
        let todo = |quest: &&QuestRecord| quest.progress.state == State::Todo;
        self.rows.quests.iter().filter(todo).count()
    }
}

impl ProjectionStore for Rows {
    type Error = IllegalEvent;

    fn standing(&self, id: QuestId) -> Result<Option<QuestRecord>, IllegalEvent> {
        Ok(self.quests.get(id.index()).cloned())
    }

    fn add(&mut self, standing: QuestRecord) -> Result<(), IllegalEvent> {
        self.quests.push(standing);
        Ok(())
    }

    fn replace(&mut self, standing: QuestRecord) -> Result<(), IllegalEvent> {
        let place = self.quests.get_mut(standing.id.index());
        *place.ok_or("there is no such quest")? = standing;
        Ok(())
    }

    fn add_submission(&mut self, submitted: &Submitted) -> Result<(), IllegalEvent> {
        let known = self.submissions.entry(submitted.quest).or_default();
        known.push((submitted.digest, submitted.grounds));
        Ok(())
    }

    fn take(&mut self, quest: QuestId, mark: &Mark) -> Result<(), IllegalEvent> {
        self.holders.entry(mark.clone()).or_insert(quest);
        Ok(())
    }

    fn claim_on(&self, quest: QuestId) -> Result<Option<Claim>, IllegalEvent> {
        Ok(self.claims.get(&quest).cloned())
    }

    fn put_claim(&mut self, claim: Claim) -> Result<(), IllegalEvent> {
        self.drop_claim(claim.quest)?;
        if let Some(other) = self.claimed_by.insert(claim.worker.clone(), claim.quest) {
            self.claims.remove(&other);
        }
        self.claims.insert(claim.quest, claim);
        Ok(())
    }

    fn drop_claim(&mut self, quest: QuestId) -> Result<(), IllegalEvent> {
        if let Some(claim) = self.claims.remove(&quest) {
            self.claimed_by.remove(&claim.worker);
        }
        Ok(())
    }
}

/// A session that is only read: its whole ledger, folded, and nothing but the ledger.
///
/// Nothing in its directory is written, locked or mended, so one that cannot be written to
/// will do.
#[derive(Debug)]
pub struct Archive {
    dir: PathBuf,
    manifest: Manifest,
    digest: Digest,
    board: Projection,
    ledger: Ledger,
}

impl Archive {
    /// Reads the session in `dir`; a torn last line is left alone, any other damage is an error.
    pub fn open(dir: &Path, watch: &dyn Watch) -> Result<Self, SessionError> {
        let (manifest, digest) = read_manifest(dir)?;
        let mut ledger = Ledger::new(dir);
        ledger.begins(digest)?;
        let mut board = Projection::new(FoldConfig::of(&manifest, digest));
        board.read_on(&mut ledger, watch)?;
        Ok(Self {
            dir: dir.to_owned(),
            manifest,
            digest,
            board,
            ledger,
        })
    }

    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }

    #[must_use]
    pub fn head(&self) -> Digest {
        self.ledger.tip().head
    }

    #[must_use]
    pub fn board(&self) -> &Projection {
        &self.board
    }

    #[must_use]
    pub fn forgetting(&self) -> Forgetting {
        let forgetting = self.board.totals().forgetting.clone();
        forgetting.beside(&self.manifest.forgotten)
    }

    #[must_use]
    pub fn evidence(&self) -> EvidenceStore {
        EvidenceStore::new(&self.dir)
    }

    pub fn reader(&self) -> Result<LineReader, SessionError> {
        let forgetting = self.board.totals().forgetting.clone();
        self.ledger.reader(forgetting)
    }
}
