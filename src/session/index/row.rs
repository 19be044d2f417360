//! Rows: from what a quest or a claim is to what a table says, and back.

use jiff::Timestamp;
use rusqlite::{Row, params};
use serde::de::DeserializeOwned;
use serde::de::value::{Error as Unknown, StrDeserializer};
use serde::{Serialize, de::IntoDeserializer as _};

use super::error::IndexError;
use super::seal::{Sealer, first_eight};
use super::shelf::Rows;
use crate::base::Digest;
use crate::quest::{FoldedKey, Key, QuestId};
use crate::session::attempt::Grounds;
use crate::session::claim::{Claim, Lease};
use crate::session::fold::Submitted;
use crate::session::resolution::Outcome;
use crate::session::settlement::Decision;
use crate::session::standing::{Last, Resolved, Settled, Span, Standing};
use crate::session::state::{Progress, State};

/// What a row of quests says, under its seal.
#[derive(Debug, Serialize)]
struct Sealed<'a> {
    id: QuestId,
    key: &'a Key,
    fold: i64,
    state: State,
    tries: u32,
    attempts: u32,
    lines: [Option<(i64, u32)>; 6],
    grounds: Option<Grounds>,
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
    fn new(standing: &'a Standing, claim: Option<i64>) -> Result<Self, IndexError> {
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

/// What keys are found by: equal for keys that fold to the same.
pub(super) fn fold(key: &FoldedKey) -> i64 {
    first_eight(Digest::of(key.as_str().as_bytes()))
}

/// Writes a quest with `statement`, whose parameters are the table's columns in their order.
pub(super) fn write_quest(
    statement: &mut rusqlite::CachedStatement<'_>,
    standing: &Standing,
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
        said.grounds.map(Grounds::name),
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
pub(super) fn read_quest(row: &Row<'_>, sealer: Sealer) -> Result<Standing, IndexError> {
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
    let standing = Standing {
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

/// Writes a claim in place of any other of its quest, and returns its seal.
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

/// Writes a submission; a number that its quest has already is refused.
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

/// A quest's number, as the database keeps it.
pub(super) fn number(id: QuestId) -> i64 {
    i64::try_from(id.index()).unwrap_or(i64::MAX - 1) + 1
}

/// The quest with this number.
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

/// The value that the ledger spells so.
pub(super) fn named<T: DeserializeOwned>(text: &str, table: &'static str) -> Result<T, IndexError> {
    let value: StrDeserializer<'_, Unknown> = text.into_deserializer();
    T::deserialize(value).map_err(|_| IndexError::Changed { table })
}
