//! What the index is asked.

use std::collections::{BTreeSet, HashMap};

use jiff::Timestamp;

use super::build::Index;
use super::error::IndexError;
use super::row::{self, number};
use crate::base::Digest;
use crate::quest::{FoldedKey, Key, QuestId};
use crate::session::attempt::{Grounds, Mark};
use crate::session::claim::{Claim, Worker};
use crate::session::fold::{Shelf as _, Submitted};
use crate::session::standing::{Standing, Way};
use crate::session::waiting::Waiting;

/// What those who wait have to expect of quests, each asked for once.
struct Ways<'a> {
    index: &'a Index,
    known: HashMap<QuestId, Way>,
}

impl<'a> Ways<'a> {
    fn new(index: &'a Index) -> Self {
        Self {
            index,
            known: HashMap::new(),
        }
    }

    fn have_all_passed(&mut self, before: &[QuestId]) -> Result<bool, IndexError> {
        for id in before {
            if self.of(*id)? != Way::Passed {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn of(&mut self, id: QuestId) -> Result<Way, IndexError> {
        if let Some(way) = self.known.get(&id) {
            return Ok(*way);
        }
        let standing = self.index.standing(id)?;
        let way = standing.map_or(Way::Open, |standing| standing.way());
        self.known.insert(id, way);
        Ok(way)
    }

    fn known(&self, id: QuestId) -> Way {
        self.known.get(&id).copied().unwrap_or(Way::Open)
    }
}

impl Index {
    /// The quest with this id.
    pub(in crate::session) fn standing(&self, id: QuestId) -> Result<Option<Standing>, IndexError> {
        let standing = self.rows().standing(id)?;
        if standing.is_none() && id.index() < self.known() {
            return Err(IndexError::Changed { table: "quest" });
        }
        Ok(standing)
    }

    /// The quests whose keys fold to `key`, in order of id.
    pub(in crate::session) fn named(&self, key: &FoldedKey) -> Result<Vec<Standing>, IndexError> {
        let sql = "SELECT * FROM quest WHERE fold = ? ORDER BY id";
        let mut found = self.quests(sql, [row::fold(key)])?;
        found.retain(|standing| standing.key.folds_to(key));
        Ok(found)
    }

    /// Hands on every key, in order of id.
    pub(in crate::session) fn each_key(
        &self,
        take: &mut dyn FnMut(&Key),
    ) -> Result<(), IndexError> {
        let mut select = self
            .connection()
            .prepare("SELECT * FROM quest ORDER BY id")?;
        let mut rows = select.query([])?;
        let mut keys = Vec::with_capacity(self.known());
        while let Some(row) = rows.next()? {
            keys.push(row::read_quest(row, self.rows().sealer)?.key);
        }
        if keys.len() < self.known() {
            return Err(IndexError::Changed { table: "quest" });
        }
        // Only once all are sound: another index may be asked again.
        keys.iter().for_each(take);
        Ok(())
    }

    /// The first quest in TODO that no claim holds at `now`, and that waits for no other, but for
    /// some.
    pub(in crate::session) fn first_free_but(
        &self,
        now: Timestamp,
        except: &BTreeSet<QuestId>,
    ) -> Result<Option<Standing>, IndexError> {
        // Says of a claim what `Claim::is_live` says.
        let sql = "SELECT * FROM quest WHERE state = 'TODO' AND id NOT IN \
             (SELECT quest FROM claim WHERE abs(?1 - at_ms) < lease_s * 1000) \
             ORDER BY id";
        let rows = self.rows();
        let mut ways = Ways::new(self);
        let mut select = self.connection().prepare_cached(sql)?;
        let mut found = select.query([now.as_millisecond()])?;
        while let Some(row) = found.next()? {
            let standing = row::read_quest(row, rows.sealer)?;
            if except.contains(&standing.id) || !ways.have_all_passed(&standing.after)? {
                continue;
            }
            let claim = rows.claim_on(standing.id)?;
            if claim.is_some_and(|claim| claim.is_live(now)) {
                return Err(IndexError::Changed { table: "claim" });
            }
            return Ok(Some(standing));
        }
        Ok(None)
    }

    /// The quests in TODO that wait for others.
    pub(in crate::session) fn waiting(&self) -> Result<Waiting, IndexError> {
        let sql = "SELECT * FROM quest INDEXED BY quest_after \
             WHERE state = 'TODO' AND after_ids IS NOT NULL ORDER BY id";
        let after = self.quests(sql, [])?;
        let waiters: Vec<_> = after
            .into_iter()
            .map(|quest| (quest.id, quest.after))
            .collect();
        let mut ways = Ways::new(self);
        for before in waiters.iter().flat_map(|(_, after)| after) {
            ways.of(*before)?;
        }
        Ok(Waiting::of(waiters, |id| ways.known(id)))
    }

    /// The number of the earlier attempt that sent the same, if the world was heard on it.
    pub(in crate::session) fn repeats(
        &self,
        quest: QuestId,
        submitted: Digest,
    ) -> Result<Option<u32>, IndexError> {
        let changed = || IndexError::Changed {
            table: "submission",
        };
        let standing = self.standing(quest)?;
        let mut select = self
            .connection()
            .prepare_cached("SELECT * FROM submission WHERE quest = ? ORDER BY number")?;
        let mut rows = select.query([number(quest)])?;
        let (mut earlier, mut last) = (None, 0);
        while let Some(row) = rows.next()? {
            let found = row::read_submission(row, self.rows().sealer)?;
            if found.number != last + 1 {
                return Err(changed());
            }
            last = found.number;
            if found.digest == submitted && found.grounds != Grounds::Silence {
                earlier = earlier.or(Some(last));
            }
        }
        match standing {
            Some(standing) if standing.attempts != last => Err(changed()),
            _ => Ok(earlier),
        }
    }

    /// The first quest that passed with this mark.
    pub(in crate::session) fn holder(&self, mark: &Mark) -> Result<Option<Standing>, IndexError> {
        let holder = self.rows().holder_of(mark)?;
        match holder {
            Some(quest) => self.standing(quest),
            None => Ok(None),
        }
    }

    /// The claim on this quest, also when its lease has run out.
    pub(in crate::session) fn claim_on(&self, quest: QuestId) -> Result<Option<Claim>, IndexError> {
        self.rows().claim_on(quest)
    }

    /// The claim of this worker, also when its lease has run out.
    pub(in crate::session) fn claim_of(
        &self,
        worker: &Worker,
    ) -> Result<Option<Claim>, IndexError> {
        let sql = "SELECT * FROM claim WHERE worker = ?";
        self.rows().one(sql, [worker.as_str()], row::read_claim)
    }

    /// Every claim, in order of quests.
    pub(in crate::session) fn claims(&self) -> Result<Vec<Claim>, IndexError> {
        let sql = "SELECT * FROM claim ORDER BY quest";
        let mut select = self.connection().prepare_cached(sql)?;
        let mut rows = select.query([])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push(row::read_claim(row, self.rows().sealer)?);
        }
        Ok(found)
    }

    /// The REVIEWs that rest on an unanswered lookup and were not looked at again.
    pub(in crate::session) fn unanswered(&self) -> Result<Vec<Standing>, IndexError> {
        let sql = "SELECT * FROM quest WHERE state = 'REVIEW' AND grounds = 'silence' \
             AND outcome IS NULL AND settled IS NULL ORDER BY id";
        self.quests(sql, [])
    }

    /// Every REVIEW, in order of id.
    pub(in crate::session) fn reviews(&self) -> Result<Vec<Standing>, IndexError> {
        self.quests("SELECT * FROM quest WHERE state = 'REVIEW' ORDER BY id", [])
    }

    /// Hands on every submission, in order of quests and attempts.
    pub(super) fn each_submission(
        &self,
        take: &mut dyn FnMut(&Submitted),
    ) -> Result<(), IndexError> {
        let sql = "SELECT * FROM submission ORDER BY quest, number";
        let mut select = self.connection().prepare(sql)?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            take(&row::read_submission(row, self.rows().sealer)?);
        }
        Ok(())
    }

    /// How many quests there were at the checkpoint; there may be more by now.
    fn known(&self) -> usize {
        self.checkpoint().totals.tally.total() as usize
    }

    fn quests(&self, sql: &str, by: impl rusqlite::Params) -> Result<Vec<Standing>, IndexError> {
        let mut select = self.connection().prepare_cached(sql)?;
        let mut rows = select.query(by)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push(row::read_quest(row, self.rows().sealer)?);
        }
        Ok(found)
    }
}
