//! What PASSes have taken, in buckets whose sums tell when a mark is gone.
//!
//! That nobody holds a mark is an answer from which a PASS may follow, and a row that was deleted
//! says so too. So each bucket keeps, under a seal, how many marks it has and what their seals
//! add up to, and is held against its marks before the answer is given.

use rusqlite::{Row, params};

use super::error::IndexError;
use super::row::{number, quest_id};
use super::seal::Sealer;
use super::shelf::Rows;
use crate::base::Digest;
use crate::quest::QuestId;
use crate::session::attempt::Mark;

/// How many buckets there are. A million marks make some thousand in each.
const BUCKETS: i64 = 1024;

/// What the marks of a bucket add up to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
struct Sum {
    marks: i64,
    /// The sum of the lower halves of their seals.
    seals: i64,
}

const CHANGED: IndexError = IndexError::Changed { table: "mark" };

/// The lower half of a seal, so that no number of them overflows when added.
const LOWER_HALF: i64 = 0xFFFF_FFFF;

const EMPTY: Sum = Sum { marks: 0, seals: 0 };

impl Sum {
    /// The sum with one mark more, of this seal.
    fn with(self, seal: i64) -> Self {
        Self {
            marks: self.marks.saturating_add(1),
            seals: self.seals.wrapping_add(seal & LOWER_HALF),
        }
    }
}

/// Who holds a mark, as its row says.
struct Held {
    quest: QuestId,
    seal: i64,
}

/// Reads mark, quest and seal; the seal must hold.
fn read(row: &Row<'_>, sealer: Sealer) -> Result<Held, IndexError> {
    let mark: String = row.get(0)?;
    let quest = quest_id(row.get(1)?).ok_or(CHANGED)?;
    let seal: i64 = row.get(2)?;
    if sealer.seal("mark", &(&mark, quest))? == seal {
        Ok(Held { quest, seal })
    } else {
        Err(CHANGED)
    }
}

/// The bucket that a mark belongs to.
fn bucket_of(mark: &Mark) -> i64 {
    let first = Digest::of(mark.0.as_bytes()).first_bytes();
    i64::from(u16::from_be_bytes(first)) % BUCKETS
}

impl Rows<'_> {
    /// Makes every bucket, empty.
    pub(super) fn make_buckets(&self) -> Result<(), IndexError> {
        (0..BUCKETS).try_for_each(|bucket| self.put_sum(bucket, EMPTY))
    }

    /// Notes that a quest takes a mark, where nobody has taken it before.
    pub(super) fn take_mark(&self, quest: QuestId, mark: &Mark) -> Result<(), IndexError> {
        let bucket = bucket_of(mark);
        let seal = self.sealer.seal("mark", &(mark, quest))?;
        let sql = "INSERT OR IGNORE INTO mark VALUES (?, ?, ?, ?)";
        let mut insert = self.connection.prepare_cached(sql)?;
        if insert.execute(params![bucket, mark.0, number(quest), seal])? == 0 {
            return Ok(());
        }
        let sum = self.sum(bucket)?.with(seal);
        self.put_sum(bucket, sum)
    }

    /// The first quest that passed with this mark; its bucket must be whole.
    pub(super) fn holder_of(&self, mark: &Mark) -> Result<Option<QuestId>, IndexError> {
        self.bucket_is_whole(bucket_of(mark))?;
        self.holder_row(mark)
    }

    /// Whether the row of this mark says that `quest` holds it.
    pub(super) fn holds(&self, mark: &Mark, quest: QuestId) -> Result<bool, IndexError> {
        Ok(self.holder_row(mark)? == Some(quest))
    }

    fn holder_row(&self, mark: &Mark) -> Result<Option<QuestId>, IndexError> {
        let sql = "SELECT mark, quest, seal FROM mark WHERE bucket = ? AND mark = ?";
        let found = self.one(sql, params![bucket_of(mark), mark.0], read)?;
        Ok(found.map(|held| held.quest))
    }

    /// Whether every bucket has the marks that it says.
    pub(super) fn buckets_are_whole(&self) -> Result<(), IndexError> {
        (0..BUCKETS).try_for_each(|bucket| self.bucket_is_whole(bucket))
    }

    fn bucket_is_whole(&self, bucket: i64) -> Result<(), IndexError> {
        let sql = "SELECT mark, quest, seal FROM mark WHERE bucket = ?";
        let mut select = self.connection.prepare_cached(sql)?;
        let mut rows = select.query([bucket])?;
        let mut found = EMPTY;
        while let Some(row) = rows.next()? {
            found = found.with(read(row, self.sealer)?.seal);
        }
        if found == self.sum(bucket)? {
            Ok(())
        } else {
            Err(CHANGED)
        }
    }

    fn sum(&self, bucket: i64) -> Result<Sum, IndexError> {
        let sql = "SELECT marks, seals, seal FROM bucket WHERE bucket = ?";
        let found = self.one(sql, [bucket], |row, sealer| {
            let sum = Sum {
                marks: row.get(0)?,
                seals: row.get(1)?,
            };
            let seal: i64 = row.get(2)?;
            if sealer.seal("bucket", &(bucket, sum))? == seal {
                Ok(sum)
            } else {
                Err(CHANGED)
            }
        })?;
        found.ok_or(CHANGED)
    }

    fn put_sum(&self, bucket: i64, sum: Sum) -> Result<(), IndexError> {
        let seal = self.sealer.seal("bucket", &(bucket, sum))?;
        let sql = "INSERT OR REPLACE INTO bucket VALUES (?, ?, ?, ?)";
        let mut put = self.connection.prepare_cached(sql)?;
        put.execute(params![bucket, sum.marks, sum.seals, seal])?;
        Ok(())
    }
}
