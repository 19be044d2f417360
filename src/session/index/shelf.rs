//! The tables as the shelf that the fold of the ledger works on.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::error::IndexError;
use super::row::{self, number};
use super::seal::Sealer;
use crate::quest::QuestId;
use crate::session::attempt::Mark;
use crate::session::claim::Claim;
use crate::session::fold::{Shelf, Submitted};
use crate::session::standing::Standing;

/// The rows of an index.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rows<'a> {
    pub(super) connection: &'a Connection,
    pub(super) sealer: Sealer,
}

impl Rows<'_> {
    /// The one row that `sql` selects by `by`, read by `read`.
    pub(super) fn one<T>(
        &self,
        sql: &str,
        by: impl rusqlite::Params,
        read: impl FnOnce(&rusqlite::Row<'_>, Sealer) -> Result<T, IndexError>,
    ) -> Result<Option<T>, IndexError> {
        let mut select = self.connection.prepare_cached(sql)?;
        let found = select.query_row(by, |row| Ok(read(row, self.sealer)));
        found.optional()?.transpose()
    }

    /// Notes with a quest the seal of its claim.
    fn note_claim(&self, quest: QuestId, seal: Option<i64>) -> Result<(), IndexError> {
        match self.standing(quest)? {
            Some(standing) => self.write(&standing, seal),
            None => Ok(()),
        }
    }

    /// Puts a quest down in place of what it was.
    fn write(&self, standing: &Standing, claim: Option<i64>) -> Result<(), IndexError> {
        // Named one by one, so that only the lookups whose columns change are touched.
        let sql = "UPDATE quest SET key = ?2, fold = ?3, state = ?4, tries = ?5, attempts = ?6, \
             quest_offset = ?7, quest_length = ?8, last_offset = ?9, last_length = ?10, \
             grounds = ?11, outcome = ?12, outcome_offset = ?13, outcome_length = ?14, \
             settled = ?15, settled_offset = ?16, settled_length = ?17, dispute_offset = ?18, \
             dispute_length = ?19, handover_offset = ?20, handover_length = ?21, revisions = ?22, \
             asked = ?23, after_ids = ?24, claim = ?25, seal = ?26 WHERE id = ?1";
        let mut update = self.connection.prepare_cached(sql)?;
        row::write_quest(&mut update, standing, claim, self.sealer)
    }
}

impl Shelf for Rows<'_> {
    type Error = IndexError;

    fn standing(&self, id: QuestId) -> Result<Option<Standing>, IndexError> {
        let sql = "SELECT * FROM quest WHERE id = ?";
        self.one(sql, [number(id)], row::read_quest)
    }

    fn add(&mut self, standing: Standing) -> Result<(), IndexError> {
        let sql = "INSERT INTO quest VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, \
             ?, ?, ?, ?)";
        let mut insert = self.connection.prepare_cached(sql)?;
        row::write_quest(&mut insert, &standing, None, self.sealer)
    }

    fn replace(&mut self, standing: Standing) -> Result<(), IndexError> {
        let sql = "SELECT claim FROM quest WHERE id = ?";
        let claim = self.one(sql, [number(standing.id)], |row, _| Ok(row.get(0)?))?;
        self.write(&standing, claim.flatten())
    }

    fn add_submission(&mut self, submitted: &Submitted) -> Result<(), IndexError> {
        row::write_submission(self, submitted)
    }

    fn take(&mut self, quest: QuestId, mark: &Mark) -> Result<(), IndexError> {
        self.take_mark(quest, mark)
    }

    fn claim_on(&self, quest: QuestId) -> Result<Option<Claim>, IndexError> {
        let sql = "SELECT claim.*, quest.claim FROM quest LEFT JOIN claim ON claim.quest = quest.id \
             WHERE quest.id = ?";
        let claim = self.one(sql, [number(quest)], |row, sealer| {
            let (known, found): (Option<i64>, Option<i64>) = (row.get(5)?, row.get(4)?);
            match found {
                _ if known != found => Err(IndexError::Changed { table: "claim" }),
                Some(_) => row::read_claim(row, sealer).map(Some),
                None => Ok(None),
            }
        })?;
        Ok(claim.flatten())
    }

    fn put_claim(&mut self, claim: Claim) -> Result<(), IndexError> {
        let sql = "SELECT quest FROM claim WHERE worker = ? AND quest <> ?";
        let by = params![claim.worker.as_str(), number(claim.quest)];
        let other = self.one(sql, by, |row, _| Ok(row::quest_id(row.get(0)?)))?;
        if let Some(other) = other.flatten() {
            self.drop_claim(other)?;
        }
        let seal = row::write_claim(self, &claim)?;
        self.note_claim(claim.quest, Some(seal))
    }

    fn drop_claim(&mut self, quest: QuestId) -> Result<(), IndexError> {
        let mut delete = self
            .connection
            .prepare_cached("DELETE FROM claim WHERE quest = ?")?;
        delete.execute([number(quest)])?;
        self.note_claim(quest, None)
    }
}
