//! Index sync: reads the lines that the ledger has beyond the index, or rebuilds the index.

use std::fmt;
use std::path::PathBuf;

use super::error::SessionError;
use super::index::{Index, IndexError, Plan};
use super::ledger::{Ledger, LedgerTail, Tail};
use super::lock::LockGuard;

/// An index that is true of the ledger, and what was mended on the way.
pub(super) struct Fresh {
    pub(super) index: Index,
    pub(super) mended: Vec<Repair>,
    rebuilt: Option<String>,
}

impl Fresh {
    fn of(index: Index) -> Self {
        Self {
            index,
            mended: Vec::new(),
            rebuilt: None,
        }
    }
}

/// Opens the index of a session, true of its ledger.
///
/// Where nothing can be locked or written, the index is made in memory: then the session can be
/// read, and not appended to.
pub(super) fn open(plan: &Plan, watch: &dyn Watch) -> Result<Fresh, SessionError> {
    if let Ok(index) = Index::open(plan)
        && is_true(&index, plan)?
    {
        return Ok(Fresh::of(index));
    }
    let fresh = match LockGuard::acquire(&plan.dir) {
        Ok(lock) => locked(plan, watch, &lock, Index::open(plan)),
        Err(_) => Ok(Fresh::of(Index::in_memory(plan, watch)?.0)),
    }?;
    if let Some(why) = &fresh.rebuilt {
        tracing::info!(why, "rebuilt the index");
    }
    Ok(fresh)
}

/// The index at hand, true of its ledger. Under the lock nobody else is in the middle of a line,
/// so a torn tail is cut off.
pub(super) fn locked(
    plan: &Plan,
    watch: &dyn Watch,
    _lock: &LockGuard,
    index: Result<Index, IndexError>,
) -> Result<Fresh, SessionError> {
    let why = match index.and_then(|index| follow(index, plan, watch)) {
        Ok((index, tail)) => return settled(index, plan, tail),
        Err(why) => why,
    };
    let (index, tail) = match Index::rebuild(plan, watch) {
        Ok(made) => made,
        // The disk is full, or not to be written to.
        Err(SessionError::Index { .. } | SessionError::Io { .. }) => Index::in_memory(plan, watch)?,
        Err(error) => return Err(error),
    };
    let mut fresh = settled(index, plan, tail)?;
    fresh.rebuilt = Some(why.to_string());
    // A process that died is no finding.
    if !matches!(why, IndexError::Missing | IndexError::CutOff) {
        fresh.mended.push(Repair::Index {
            path: Index::place(&plan.dir),
            why: why.to_string(),
        });
    }
    Ok(fresh)
}

fn is_true(index: &Index, plan: &Plan) -> Result<bool, SessionError> {
    let checkpoint = index.checkpoint();
    let beyond = Ledger::at(&plan.dir, checkpoint).beyond(checkpoint.last())?;
    Ok(beyond == LedgerTail::Bytes(0))
}

fn follow(mut index: Index, plan: &Plan, watch: &dyn Watch) -> Result<(Index, Tail), IndexError> {
    index.reload()?;
    let checkpoint = index.checkpoint();
    let mut ledger = Ledger::at(&plan.dir, checkpoint);
    match ledger.beyond(checkpoint.last()) {
        Ok(LedgerTail::Bytes(0)) => Ok((index, Tail::Clean)),
        Ok(LedgerTail::Bytes(_)) => match index.follow(&mut ledger, watch) {
            Ok(tail) => Ok((index, tail)),
            Err(SessionError::Index { source, .. }) => Err(*source),
            // Whether the ledger is damaged or the index wrong shows when it is made anew.
            Err(_) => Err(IndexError::Misfit),
        },
        Ok(LedgerTail::Cut) => Err(IndexError::Ahead {
            known: checkpoint.lines,
            path: ledger.path().display().to_string(),
        }),
        Ok(LedgerTail::Other) | Err(_) => Err(IndexError::Misfit),
    }
}

fn settled(index: Index, plan: &Plan, tail: Tail) -> Result<Fresh, SessionError> {
    let mut fresh = Fresh::of(index);
    if let Tail::Torn(bytes) = tail {
        let ledger = Ledger::at(&plan.dir, fresh.index.checkpoint());
        ledger.cut_tail()?;
        fresh.mended.push(Repair::Tail {
            path: ledger.path().to_owned(),
            bytes,
        });
    }
    Ok(fresh)
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Repair {
    /// A torn last line was cut off: power was lost, or a process died while writing it.
    Tail {
        path: PathBuf,
        /// How many bytes were cut off; none of them had been acknowledged.
        bytes: u64,
    },
    /// The index did not fit, and was made anew from the ledger.
    Index { path: PathBuf, why: String },
    /// The index does not fit, and cannot be made anew here.
    Left { path: PathBuf, why: String },
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tail { path, bytes } => write!(
                f,
                "{}: removed an incomplete last line ({bytes} bytes that were never acknowledged)",
                path.display()
            ),
            Self::Index { path, why } => write!(
                f,
                "{}: {why}; it was rebuilt from the ledger",
                path.display()
            ),
            Self::Left { path, why } => write!(
                f,
                "{}: {why}; it cannot be rebuilt, because this directory is read-only",
                path.display()
            ),
        }
    }
}

/// Who is told how far long work on a session is, and may end it.
pub trait Watch: Send + Sync {
    fn reading(&self, done: u64, total: u64);

    fn writing(&self, _done: u64, _total: u64) {}

    fn ended(&self) {}

    fn stops(&self) -> bool {
        false
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn reading(&self, _done: u64, _total: u64) {}
}
