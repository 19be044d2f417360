//! Rows: from what a quest or a claim is to what a table says, and back.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde::Serialize;
use serde::de::value::{Error as Unknown, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer as _};

use super::build::Index;
use super::rows;
use super::schema::IndexError;
use crate::base::Digest;
use crate::quest::{FoldedKey, Key, QuestId};
use crate::session::chain::Tip;
use crate::session::claim::{Claim, Lease};
use crate::session::decision::Decision;
use crate::session::event::{Mark, Outcome, VerdictBasis};
use crate::session::fold::{ProjectionStore, Submitted};
use crate::session::projection::Projection;
use crate::session::quest_record::{Last, QuestRecord, Resolved, Settled, Span};
use crate::session::state::{Progress, State};

#[derive(Debug, Serialize)]
struct Sealed<'a> {
    id: QuestId,
    key: &'a Key,
    fold: i64,
    state: State,
    tries: u32,
    attempts: u32,
    lines: [Option<(i64, u32)>; 6],
    grounds: Option<VerdictBasis>,
    outcome: Option<Outcome>,
    settled: Option<Decision>,
    revisions: u32,
    asked: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    after: &'a [QuestId],
    /// The seal of its claim, so that a claim that is gone is missed.
    claim: Option<i64>,
}

impl<'a> Sealed<'a> {
    fn new(standing: &'a QuestRecord, claim: Option<i64>) -> Result<Self, IndexError> {
        let line = |span: Option<Span>| span.map(place).transpose();
        Ok(Self {
            id: standing.id,
            key: &standing.key,
            fold: fold(&standing.key.folded()),
            state: standing.progress.state,
            tries: standing.progress.tries,
            attempts: standing.attempts,
            lines: [
                line(Some(standing.quest_line))?,
                line(standing.last.map(|last| last.line))?,
                line(standing.resolution.map(|resolved| resolved.line))?,
                line(standing.settled.map(|settled| settled.line))?,
                line(standing.dispute)?,
                line(standing.handover)?,
            ],
            grounds: standing.last.map(|last| last.grounds),
            outcome: standing.resolution.map(|resolved| resolved.outcome),
            settled: standing.settled.map(|settled| settled.decision),
            revisions: standing.revisions,
            asked: standing.asked,
            after: &standing.after,
            claim,
        })
    }
}

pub(super) fn fold(key: &FoldedKey) -> i64 {
    first_eight(Digest::of(key.as_str().as_bytes()))
}

/// Writes a quest with `statement`, whose parameters are the table's columns in their order.
pub(super) fn write_quest(
    statement: &mut rusqlite::CachedStatement<'_>,
    standing: &QuestRecord,
    claim: Option<i64>,
    sealer: Sealer,
) -> Result<(), IndexError> {
    let said = Sealed::new(standing, claim)?;
    let seal = sealer.seal("quest", &said)?;
    let [made, last, outcome, settled, dispute, handover] = said.lines;
    let after = match said.after {
        [] => None,
        after => Some(serde_json::to_string(after)?),
    };
    statement.execute(params![
        number(standing.id),
        standing.key.as_str(),
        said.fold,
        standing.progress.state.name(),
        said.tries,
        said.attempts,
        made.map(|line| line.0),
        made.map(|line| line.1),
        last.map(|line| line.0),
        last.map(|line| line.1),
        said.grounds.map(VerdictBasis::name),
        said.outcome.map(Outcome::name),
        outcome.map(|line| line.0),
        outcome.map(|line| line.1),
        said.settled.map(Decision::name),
        settled.map(|line| line.0),
        settled.map(|line| line.1),
        dispute.map(|line| line.0),
        dispute.map(|line| line.1),
        handover.map(|line| line.0),
        handover.map(|line| line.1),
        said.revisions,
        said.asked,
        after,
        claim,
        seal,
    ])?;
    Ok(())
}

/// Reads a quest from a whole row; its seal must hold.
pub(super) fn read_quest(row: &Row<'_>, sealer: Sealer) -> Result<QuestRecord, IndexError> {
    let changed = || IndexError::Changed { table: "quest" };
    let key: String = row.get(1)?;
    let state: String = row.get(3)?;
    let line = |at: usize| -> Result<Option<Span>, IndexError> {
        let offset: Option<i64> = row.get(at)?;
        let length: Option<u32> = row.get(at + 1)?;
        offset.zip(length).map(span).transpose()
    };
    let grounds: Option<String> = row.get(10)?;
    let outcome: Option<String> = row.get(11)?;
    let last = line(8)?.zip(grounds.map(|text| named(&text, "quest")).transpose()?);
    let resolution = line(12)?.zip(outcome.map(|text| named(&text, "quest")).transpose()?);
    let decision: Option<String> = row.get(14)?;
    let settled = line(15)?.zip(decision.map(|text| named(&text, "quest")).transpose()?);
    let after: Option<String> = row.get(23)?;
    let after = after.map(|text| serde_json::from_str(&text)).transpose();
    let standing = QuestRecord {
        id: quest_id(row.get(0)?).ok_or_else(changed)?,
        key: Key::new(&key).map_err(|_| changed())?,
        progress: Progress {
            state: named(&state, "quest")?,
            tries: row.get(4)?,
        },
        attempts: row.get(5)?,
        quest_line: line(6)?.ok_or_else(changed)?,
        last: last.map(|(line, grounds)| Last { line, grounds }),
        resolution: resolution.map(|(line, outcome)| Resolved { line, outcome }),
        settled: settled.map(|(line, decision)| Settled { line, decision }),
        dispute: line(17)?,
        handover: line(19)?,
        revisions: row.get(21)?,
        asked: match row.get(22)? {
            0_u32 => false,
            1 => true,
            _ => return Err(changed()),
        },
        after: after.map_err(|_| changed())?.unwrap_or_default(),
    };
    let (fold, seal): (i64, i64) = (row.get(2)?, row.get(25)?);
    let said = Sealed::new(&standing, row.get(24)?)?;
    if (said.fold, sealer.seal("quest", &said)?) != (fold, seal) {
        return Err(changed());
    }
    Ok(standing)
}

pub(super) fn write_claim(rows: &Rows<'_>, claim: &Claim) -> Result<i64, IndexError> {
    let seal = rows.sealer.seal("claim", claim)?;
    let sql = "INSERT OR REPLACE INTO claim VALUES (?, ?, ?, ?, ?)";
    rows.connection.prepare_cached(sql)?.execute(params![
        number(claim.quest),
        claim.worker.as_str(),
        claim.at.as_millisecond(),
        claim.lease.seconds(),
        seal,
    ])?;
    Ok(seal)
}

/// Reads a claim from a whole row; its seal must hold.
pub(super) fn read_claim(row: &Row<'_>, sealer: Sealer) -> Result<Claim, IndexError> {
    let changed = || IndexError::Changed { table: "claim" };
    let (worker, lease): (String, u32) = (row.get(1)?, row.get(3)?);
    let claim = Claim {
        quest: quest_id(row.get(0)?).ok_or_else(changed)?,
        worker: worker.parse().map_err(|_| changed())?,
        at: Timestamp::from_millisecond(row.get(2)?).map_err(|_| changed())?,
        lease: Lease::try_from(lease).map_err(|_| changed())?,
    };
    let seal: i64 = row.get(4)?;
    if sealer.seal("claim", &claim)? == seal {
        Ok(claim)
    } else {
        Err(changed())
    }
}

pub(super) fn write_submission(rows: &Rows<'_>, submitted: &Submitted) -> Result<(), IndexError> {
    let seal = rows.sealer.seal("submission", submitted)?;
    let sql = "INSERT INTO submission VALUES (?, ?, ?, ?, ?)";
    rows.connection.prepare_cached(sql)?.execute(params![
        number(submitted.quest),
        submitted.number,
        submitted.digest.as_bytes(),
        submitted.grounds.name(),
        seal,
    ])?;
    Ok(())
}

/// Reads a submission from a whole row; its seal must hold.
pub(super) fn read_submission(row: &Row<'_>, sealer: Sealer) -> Result<Submitted, IndexError> {
    let changed = || IndexError::Changed {
        table: "submission",
    };
    let grounds: String = row.get(3)?;
    let submitted = Submitted {
        quest: quest_id(row.get(0)?).ok_or_else(changed)?,
        number: row.get(1)?,
        digest: Digest::from_bytes(row.get(2)?),
        grounds: named(&grounds, "submission")?,
    };
    let seal: i64 = row.get(4)?;
    if sealer.seal("submission", &submitted)? == seal {
        Ok(submitted)
    } else {
        Err(changed())
    }
}

pub(super) fn number(id: QuestId) -> i64 {
    i64::try_from(id.index()).unwrap_or(i64::MAX - 1) + 1
}

pub(super) fn quest_id(number: i64) -> Option<QuestId> {
    QuestId::from_index(usize::try_from(number).ok()?.checked_sub(1)?)
}

fn place(span: Span) -> Result<(i64, u32), IndexError> {
    let offset = i64::try_from(span.offset).map_err(|_| IndexError::Misfit)?;
    Ok((offset, span.length))
}

fn span((offset, length): (i64, u32)) -> Result<Span, IndexError> {
    let offset = u64::try_from(offset).map_err(|_| IndexError::Changed { table: "quest" })?;
    Ok(Span { offset, length })
}

pub(super) fn named<T: DeserializeOwned>(text: &str, table: &'static str) -> Result<T, IndexError> {
    let value: StrDeserializer<'_, Unknown> = text.into_deserializer();
    T::deserialize(value).map_err(|_| IndexError::Changed { table })
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Rows<'a> {
    pub(super) connection: &'a Connection,
    pub(super) sealer: Sealer,
}

impl Rows<'_> {
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

    fn note_claim(&self, quest: QuestId, seal: Option<i64>) -> Result<(), IndexError> {
        match self.standing(quest)? {
            Some(standing) => self.write(&standing, seal),
            None => Ok(()),
        }
    }

    fn write(&self, standing: &QuestRecord, claim: Option<i64>) -> Result<(), IndexError> {
        // Named one by one, so that only the lookups whose columns change are touched.
        let sql = "UPDATE quest SET key = ?2, fold = ?3, state = ?4, tries = ?5, attempts = ?6, \
             quest_offset = ?7, quest_length = ?8, last_offset = ?9, last_length = ?10, \
             grounds = ?11, outcome = ?12, outcome_offset = ?13, outcome_length = ?14, \
             settled = ?15, settled_offset = ?16, settled_length = ?17, dispute_offset = ?18, \
             dispute_length = ?19, handover_offset = ?20, handover_length = ?21, revisions = ?22, \
             asked = ?23, after_ids = ?24, claim = ?25, seal = ?26 WHERE id = ?1";
        let mut update = self.connection.prepare_cached(sql)?;
        rows::write_quest(&mut update, standing, claim, self.sealer)
    }
}

impl ProjectionStore for Rows<'_> {
    type Error = IndexError;

    fn standing(&self, id: QuestId) -> Result<Option<QuestRecord>, IndexError> {
        let sql = "SELECT * FROM quest WHERE id = ?";
        self.one(sql, [number(id)], rows::read_quest)
    }

    fn add(&mut self, standing: QuestRecord) -> Result<(), IndexError> {
        let sql = "INSERT INTO quest VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, \
             ?, ?, ?, ?)";
        let mut insert = self.connection.prepare_cached(sql)?;
        rows::write_quest(&mut insert, &standing, None, self.sealer)
    }

    fn replace(&mut self, standing: QuestRecord) -> Result<(), IndexError> {
        let sql = "SELECT claim FROM quest WHERE id = ?";
        let claim = self.one(sql, [number(standing.id)], |row, _| Ok(row.get(0)?))?;
        self.write(&standing, claim.flatten())
    }

    fn add_submission(&mut self, submitted: &Submitted) -> Result<(), IndexError> {
        rows::write_submission(self, submitted)
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
                Some(_) => rows::read_claim(row, sealer).map(Some),
                None => Ok(None),
            }
        })?;
        Ok(claim.flatten())
    }

    fn put_claim(&mut self, claim: Claim) -> Result<(), IndexError> {
        let sql = "SELECT quest FROM claim WHERE worker = ? AND quest <> ?";
        let by = params![claim.worker.as_str(), number(claim.quest)];
        let other = self.one(sql, by, |row, _| Ok(rows::quest_id(row.get(0)?)))?;
        if let Some(other) = other.flatten() {
            self.drop_claim(other)?;
        }
        let seal = rows::write_claim(self, &claim)?;
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

/// How many buckets there are. A million marks make some thousand in each.
const BUCKETS: i64 = 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
struct Sum {
    marks: i64,
    seals: i64,
}

const CHANGED: IndexError = IndexError::Changed { table: "mark" };

/// The lower half of a seal, so that no number of them overflows when added.
const LOWER_HALF: i64 = 0xFFFF_FFFF;

const EMPTY: Sum = Sum { marks: 0, seals: 0 };

impl Sum {
    fn with(self, seal: i64) -> Self {
        Self {
            marks: self.marks.saturating_add(1),
            seals: self.seals.wrapping_add(seal & LOWER_HALF),
        }
    }
}

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

fn bucket_of(mark: &Mark) -> i64 {
    let first = Digest::of(mark.0.as_bytes()).first_bytes();
    i64::from(u16::from_be_bytes(first)) % BUCKETS
}

impl Rows<'_> {
    pub(super) fn make_buckets(&self) -> Result<(), IndexError> {
        (0..BUCKETS).try_for_each(|bucket| self.put_sum(bucket, EMPTY))
    }

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

    pub(super) fn holds(&self, mark: &Mark, quest: QuestId) -> Result<bool, IndexError> {
        Ok(self.holder_row(mark)? == Some(quest))
    }

    fn holder_row(&self, mark: &Mark) -> Result<Option<QuestId>, IndexError> {
        let sql = "SELECT mark, quest, seal FROM mark WHERE bucket = ? AND mark = ?";
        let found = self.one(sql, params![bucket_of(mark), mark.0], read)?;
        Ok(found.map(|held| held.quest))
    }

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

/// Seals the rows of one session's index.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sealer {
    session: Digest,
}

impl Sealer {
    pub(super) fn new(session: Digest) -> Self {
        Self { session }
    }

    pub(super) fn seal(self, table: &str, row: &impl Serialize) -> serde_json::Result<i64> {
        let said = serde_json::to_vec(row)?;
        let session = self.session.to_string();
        let digest = Digest::of_parts([session.as_bytes(), table.as_bytes(), &said]);
        Ok(first_eight(digest))
    }
}

pub(super) fn first_eight(digest: Digest) -> i64 {
    i64::from_be_bytes(digest.first_bytes())
}

impl Index {
    /// Holds every row against `board`, which was folded from the ledger up to `tip`; says what
    /// does not fit.
    pub(in crate::session) fn fits(&self, board: &Projection, tip: Tip) -> Result<(), IndexError> {
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

    fn quests_fit(&self, board: &Projection) -> Result<(), IndexError> {
        let mut select = self
            .connection()
            .prepare("SELECT * FROM quest ORDER BY id")?;
        let mut rows = select.query([])?;
        for expected in board.quests() {
            let found = rows.next()?.ok_or(QUEST)?;
            if rows::read_quest(found, self.rows().sealer)? != *expected {
                return Err(QUEST);
            }
        }
        rows.next()?.map_or(Ok(()), |_| Err(QUEST))
    }

    fn submissions_fit(&self, board: &Projection) -> Result<(), IndexError> {
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

    fn marks_fit(&self, board: &Projection) -> Result<(), IndexError> {
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

    fn claims_fit(&self, board: &Projection) -> Result<(), IndexError> {
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
