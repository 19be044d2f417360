//! Bringing the index to where the ledger ends: following it, or making it anew.

use super::error::SessionError;
use super::index::{Index, IndexError, Plan};
use super::ledger::{Beyond, Ledger, Tail};
use super::lock::LockGuard;
use super::mended::Mended;
use super::progress::Watch;

/// An index that is true of the ledger, and what was mended on the way.
pub(super) struct Fresh {
    pub(super) index: Index,
    pub(super) mended: Vec<Mended>,
    /// Why the index was made anew, if it was.
    anew: Option<String>,
}

impl Fresh {
    fn of(index: Index) -> Self {
        Self {
            index,
            mended: Vec::new(),
            anew: None,
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
    if let Some(why) = &fresh.anew {
        tracing::info!(why, "made the index anew");
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
    fresh.anew = Some(why.to_string());
    // A process that died is no finding.
    if !matches!(why, IndexError::Missing | IndexError::CutOff) {
        fresh.mended.push(Mended::Index {
            path: Index::place(&plan.dir),
            why: why.to_string(),
        });
    }
    Ok(fresh)
}

/// Whether the index ends where the ledger does.
fn is_true(index: &Index, plan: &Plan) -> Result<bool, SessionError> {
    let checkpoint = index.checkpoint();
    let beyond = Ledger::at(&plan.dir, checkpoint).beyond(checkpoint.last())?;
    Ok(beyond == Beyond::Bytes(0))
}

fn follow(mut index: Index, plan: &Plan, watch: &dyn Watch) -> Result<(Index, Tail), IndexError> {
    index.reload()?;
    let checkpoint = index.checkpoint();
    let mut ledger = Ledger::at(&plan.dir, checkpoint);
    match ledger.beyond(checkpoint.last()) {
        Ok(Beyond::Bytes(0)) => Ok((index, Tail::Clean)),
        Ok(Beyond::Bytes(_)) => match index.follow(&mut ledger, watch) {
            Ok(tail) => Ok((index, tail)),
            Err(SessionError::Index { source, .. }) => Err(*source),
            // Whether the ledger is damaged or the index wrong shows when it is made anew.
            Err(_) => Err(IndexError::Misfit),
        },
        Ok(Beyond::Cut) => Err(IndexError::Ahead {
            known: checkpoint.lines,
            path: ledger.path().display().to_string(),
        }),
        Ok(Beyond::Other) | Err(_) => Err(IndexError::Misfit),
    }
}

fn settled(index: Index, plan: &Plan, tail: Tail) -> Result<Fresh, SessionError> {
    let mut fresh = Fresh::of(index);
    if let Tail::Torn(bytes) = tail {
        let ledger = Ledger::at(&plan.dir, fresh.index.checkpoint());
        ledger.cut_tail()?;
        fresh.mended.push(Mended::Tail {
            path: ledger.path().to_owned(),
            bytes,
        });
    }
    Ok(fresh)
}
