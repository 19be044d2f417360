//! What the index is asked.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::{Connection, OpenFlags, Params};

use super::build::Index;
use super::rows::{Sealer, number};
use super::schema::{Checkpoint, IndexError};
use super::{rows, schema};
use crate::base::Digest;
use crate::quest::{FoldedKey, Key, QuestId};
use crate::session::claim::{Claim, Worker};
use crate::session::error::SessionError;
use crate::session::event::{Mark, VerdictBasis};
use crate::session::fold::{ProjectionStore as _, Submitted};
use crate::session::manifest::read_manifest;
use crate::session::quest_record::{DependencyState, QuestRecord, Waiting};
use crate::session::state::State;
use crate::session::totals::Totals;

/// What those who wait have to expect of quests, each asked for once.
struct Ways<'a> {
    index: &'a Index,
    known: HashMap<QuestId, DependencyState>,
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
            if self.of(*id)? != DependencyState::Passed {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn of(&mut self, id: QuestId) -> Result<DependencyState, IndexError> {
        if let Some(way) = self.known.get(&id) {
            return Ok(*way);
        }
        let standing = self.index.standing(id)?;
        let way = standing.map_or(DependencyState::Open, |standing| standing.way());
        self.known.insert(id, way);
        Ok(way)
    }

    fn known(&self, id: QuestId) -> DependencyState {
        self.known
            .get(&id)
            .copied()
            .unwrap_or(DependencyState::Open)
    }
}

impl Index {
    pub(in crate::session) fn standing(
        &self,
        id: QuestId,
    ) -> Result<Option<QuestRecord>, IndexError> {
        let standing = self.rows().standing(id)?;
        if standing.is_none() && id.index() < self.known() {
            return Err(IndexError::Changed { table: "quest" });
        }
        Ok(standing)
    }

    pub(in crate::session) fn named(
        &self,
        key: &FoldedKey,
    ) -> Result<Vec<QuestRecord>, IndexError> {
        let sql = "SELECT * FROM quest WHERE fold = ? ORDER BY id";
        let mut found = self.quests(sql, [rows::fold(key)])?;
        found.retain(|standing| standing.key.folds_to(key));
        Ok(found)
    }

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
            keys.push(rows::read_quest(row, self.rows().sealer)?.key);
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
    ) -> Result<Option<QuestRecord>, IndexError> {
        // Says of a claim what `Claim::is_live` says.
        let sql = "SELECT * FROM quest WHERE state = 'TODO' AND id NOT IN \
             (SELECT quest FROM claim WHERE abs(?1 - at_ms) < lease_s * 1000) \
             ORDER BY id";
        let rows = self.rows();
        let mut ways = Ways::new(self);
        let mut select = self.connection().prepare_cached(sql)?;
        let mut found = select.query([now.as_millisecond()])?;
        while let Some(row) = found.next()? {
            let standing = rows::read_quest(row, rows.sealer)?;
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
            let found = rows::read_submission(row, self.rows().sealer)?;
            if found.number != last + 1 {
                return Err(changed());
            }
            last = found.number;
            if found.digest == submitted && found.grounds != VerdictBasis::Unanswered {
                earlier = earlier.or(Some(last));
            }
        }
        match standing {
            Some(standing) if standing.attempts != last => Err(changed()),
            _ => Ok(earlier),
        }
    }

    pub(in crate::session) fn holder(
        &self,
        mark: &Mark,
    ) -> Result<Option<QuestRecord>, IndexError> {
        let holder = self.rows().holder_of(mark)?;
        match holder {
            Some(quest) => self.standing(quest),
            None => Ok(None),
        }
    }

    pub(in crate::session) fn claim_on(&self, quest: QuestId) -> Result<Option<Claim>, IndexError> {
        self.rows().claim_on(quest)
    }

    pub(in crate::session) fn claim_of(
        &self,
        worker: &Worker,
    ) -> Result<Option<Claim>, IndexError> {
        let sql = "SELECT * FROM claim WHERE worker = ?";
        self.rows().one(sql, [worker.as_str()], rows::read_claim)
    }

    pub(in crate::session) fn claims(&self) -> Result<Vec<Claim>, IndexError> {
        let sql = "SELECT * FROM claim ORDER BY quest";
        let mut select = self.connection().prepare_cached(sql)?;
        let mut rows = select.query([])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push(rows::read_claim(row, self.rows().sealer)?);
        }
        Ok(found)
    }

    /// The REVIEWs that rest on an unanswered lookup and were not looked at again.
    pub(in crate::session) fn unanswered(&self) -> Result<Vec<QuestRecord>, IndexError> {
        let sql = "SELECT * FROM quest WHERE state = 'REVIEW' AND grounds = 'unanswered' \
             AND outcome IS NULL AND settled IS NULL ORDER BY id";
        self.quests(sql, [])
    }

    pub(in crate::session) fn reviews(&self) -> Result<Vec<QuestRecord>, IndexError> {
        self.quests("SELECT * FROM quest WHERE state = 'REVIEW' ORDER BY id", [])
    }

    pub(super) fn each_submission(
        &self,
        take: &mut dyn FnMut(&Submitted),
    ) -> Result<(), IndexError> {
        let sql = "SELECT * FROM submission ORDER BY quest, number";
        let mut select = self.connection().prepare(sql)?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            take(&rows::read_submission(row, self.rows().sealer)?);
        }
        Ok(())
    }

    fn known(&self) -> usize {
        self.checkpoint().totals.tally.total() as usize
    }

    fn quests(&self, sql: &str, by: impl rusqlite::Params) -> Result<Vec<QuestRecord>, IndexError> {
        let mut select = self.connection().prepare_cached(sql)?;
        let mut rows = select.query(by)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push(rows::read_quest(row, self.rows().sealer)?);
        }
        Ok(found)
    }
}

const BUSY_WAIT: Duration = Duration::from_millis(15);

#[derive(Debug)]
pub struct ReadOnlyIndex {
    connection: Connection,
    sealer: Sealer,
    totals: Totals,
}

#[derive(Debug, Clone, Copy)]
pub struct Sought<'a> {
    pub by: Prefix<'a>,
    pub state: Option<State>,
    pub wanted: fn(&QuestRecord) -> bool,
    pub most: usize,
}

/// How the names begin of the quests that are looked for.
#[derive(Debug, Clone, Copy)]
pub enum Prefix<'a> {
    Key(&'a str),
    Number(&'a str),
}

impl ReadOnlyIndex {
    pub fn at(dir: &Path) -> Result<Self, SessionError> {
        let (_, session) = read_manifest(dir)?;
        let place = Index::place(dir);
        Self::of(&place, session).map_err(|why| SessionError::index(&place, why))
    }

    fn of(place: &Path, session: Digest) -> Result<Self, IndexError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = schema::sound(place, flags, BUSY_WAIT)?;
        let totals = Checkpoint::read(&connection, session)?.totals;
        let sealer = Sealer::new(session);
        Ok(Self {
            connection,
            sealer,
            totals,
        })
    }

    #[must_use]
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    pub fn claims(&self) -> Result<Vec<Claim>, SessionError> {
        let mut found = Vec::new();
        self.each("SELECT * FROM claim ORDER BY quest", [], &mut |row| {
            found.push(rows::read_claim(row, self.sealer)?);
            Ok(true)
        })?;
        Ok(found)
    }

    /// The quests that are sought, or those of them that were found until `stop` says so.
    pub fn quests(
        &self,
        sought: &Sought<'_>,
        stop: &dyn Fn() -> bool,
    ) -> Result<Vec<QuestRecord>, SessionError> {
        let mut found = Vec::new();
        let state = sought.state;
        let mut take = |row: &rusqlite::Row<'_>| {
            let standing = rows::read_quest(row, self.sealer)?;
            let fits = state.is_none_or(|state| standing.progress.state == state);
            if fits && (sought.wanted)(&standing) {
                found.push(standing);
            }
            Ok(found.len() < sought.most && !stop())
        };
        let narrowed = state.map_or(String::new(), |state| format!(" AND state = '{state}'"));
        match sought.by {
            Prefix::Key("") => {
                let sql = format!("SELECT * FROM quest WHERE TRUE{narrowed} ORDER BY id");
                self.each(&sql, [], &mut take)?;
            }
            Prefix::Key(prefix) => {
                let sql = "SELECT * FROM quest INDEXED BY quest_key \
                     WHERE key >= ?1 AND key < ?1 || char(0x10FFFF) ORDER BY key";
                self.each(sql, [prefix], &mut take)?;
            }
            Prefix::Number(prefix) => {
                let sql =
                    format!("SELECT * FROM quest WHERE id BETWEEN ? AND ?{narrowed} ORDER BY id");
                for (first, last) in numbers(prefix, self.totals.tally.total()) {
                    if !self.each(&sql, [first, last], &mut take)? {
                        break;
                    }
                }
            }
        }
        Ok(found)
    }

    /// Hands on rows while `take` wants more; whether it still does.
    fn each(
        &self,
        sql: &str,
        by: impl Params,
        take: &mut dyn FnMut(&rusqlite::Row<'_>) -> Result<bool, IndexError>,
    ) -> Result<bool, SessionError> {
        let run = || -> Result<bool, IndexError> {
            let mut select = self.connection.prepare(sql)?;
            let mut rows = select.query(by)?;
            while let Some(row) = rows.next()? {
                if !take(row)? {
                    return Ok(false);
                }
            }
            Ok(true)
        };
        run().map_err(|why| SessionError::index(Path::new("index.sqlite"), why))
    }
}

fn numbers(digits: &str, last: u32) -> Vec<(u32, u32)> {
    if digits.is_empty() {
        return vec![(1, last)];
    }
    let all_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
    let begin = digits.parse().ok().filter(|begin: &u64| *begin > 0);
    let Some(begin) = begin.filter(|_| all_digits && !digits.starts_with('0')) else {
        return Vec::new();
    };
    let widths = (0..10).map(|width| 10_u64.pow(width));
    let ranges = widths.map(|width| (begin * width, begin * width + width - 1));
    ranges
        .take_while(|(first, _)| *first <= u64::from(last))
        .filter_map(|(first, end)| {
            let end = end.min(u64::from(last));
            Some((u32::try_from(first).ok()?, u32::try_from(end).ok()?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_begin_alike_are_a_few_ranges() {
        assert_eq!(numbers("", 7), [(1, 7)]);
        assert_eq!(numbers("3", 7), [(3, 3)]);
        assert_eq!(numbers("12", 1_250), [(12, 12), (120, 129), (1_200, 1_250)]);
        for none in [
            "0",
            "01",
            "8",
            "x",
            "+1",
            "-1",
            "1 ",
            "99999999999999999999",
        ] {
            assert!(numbers(none, 7).is_empty(), "{none:?}");
        }
        assert_eq!(numbers("4294967295", u32::MAX), [(u32::MAX, u32::MAX)]);
    }
}
