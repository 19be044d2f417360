//! Holding the index against the whole ledger, row by row.

use super::build::Index;
use super::error::IndexError;
use super::row;
use crate::session::board::Board;
use crate::session::chain::Tip;

impl Index {
    /// Holds every row against `board`, which was folded from the ledger up to `tip`; says what
    /// does not fit.
    pub(in crate::session) fn fits(&self, board: &Board, tip: Tip) -> Result<(), IndexError> {
        if self.checkpoint().tip() != tip {
            return Err(IndexError::Misfit);
        }
        if self.checkpoint().totals != *board.totals() {
            return Err(IndexError::Changed {
                table: "checkpoint",
            });
        }
        self.quests_fit(board)?;
        self.submissions_fit(board)?;
        self.marks_fit(board)?;
        self.claims_fit(board)
    }

    fn quests_fit(&self, board: &Board) -> Result<(), IndexError> {
        let mut select = self
            .connection()
            .prepare("SELECT * FROM quest ORDER BY id")?;
        let mut rows = select.query([])?;
        for expected in board.quests() {
            let found = rows.next()?.ok_or(QUEST)?;
            if row::read_quest(found, self.rows().sealer)? != *expected {
                return Err(QUEST);
            }
        }
        rows.next()?.map_or(Ok(()), |_| Err(QUEST))
    }

    fn submissions_fit(&self, board: &Board) -> Result<(), IndexError> {
        let mut found = 0;
        let mut fits = true;
        self.each_submission(&mut |submitted| {
            let expected = board.submissions(submitted.quest);
            let place = (submitted.number as usize).checked_sub(1);
            let expected = place.and_then(|place| expected.get(place));
            fits &= expected == Some(&(submitted.digest, submitted.grounds));
            found += 1;
        })?;
        let expected = board.totals().counts.attempts;
        if fits && found == expected {
            Ok(())
        } else {
            Err(IndexError::Changed {
                table: "submission",
            })
        }
    }

    fn marks_fit(&self, board: &Board) -> Result<(), IndexError> {
        let changed = || IndexError::Changed { table: "mark" };
        self.rows().buckets_are_whole()?;
        for (mark, quest) in board.holders() {
            if self.rows().holds(mark, quest)? {
                continue;
            }
            return Err(changed());
        }
        self.as_many("mark", board.holders().len())
    }

    fn claims_fit(&self, board: &Board) -> Result<(), IndexError> {
        let changed = || IndexError::Changed { table: "claim" };
        for claim in board.claims() {
            if self.claim_on(claim.quest)?.as_ref() != Some(claim) {
                return Err(changed());
            }
        }
        self.as_many("claim", board.claims().len())
    }

    fn as_many(&self, table: &'static str, expected: usize) -> Result<(), IndexError> {
        let sql = format!("SELECT count(*) FROM {table}");
        let count: i64 = self.connection().query_row(&sql, [], |row| row.get(0))?;
        if usize::try_from(count) == Ok(expected) {
            Ok(())
        } else {
            Err(IndexError::Changed { table })
        }
    }
}

const QUEST: IndexError = IndexError::Changed { table: "quest" };
