//! Looking a session over without changing anything in it.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::board::Board;
use super::chain::Tip;
use super::error::{Damage, SessionError};
use super::event::Event;
use super::fold::Written;
use super::index::{Index, IndexError, Plan};
use super::ledger::Ledger;
use super::manifest::Manifest;
use super::progress::Watch;
use super::read_manifest::read_manifest;
use super::terms::Terms;
use crate::base::Digest;

/// A session whose ledger holds from end to end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkup {
    /// How many lines its ledger has.
    pub lines: u64,
    /// The head of its chain.
    pub head: Digest,
    /// When the last line was written.
    pub last_at: Option<Timestamp>,
    /// How many bytes without a line feed lie behind it.
    pub torn: u64,
    /// How its index stands to it.
    pub index: IndexState,
}

/// How an index stands to its ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndexState {
    /// Row by row it says what the ledger says.
    Fits,
    /// It is not there, or its last write was cut off: the next command makes it anew.
    Missing,
    /// It knows fewer lines; the next command catches up.
    Behind {
        /// How many it knows.
        lines: u64,
    },
    /// It is of no use, for this reason.
    Unfit(String),
}

/// How the lock of a session is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LockState {
    /// It can be had.
    Free,
    /// Another process holds it, all the time that was waited.
    Held,
    /// There is no file to lock; the next command makes it.
    Missing,
    /// It cannot be had, for this reason.
    Refused(String),
}

/// How often a ledger is read on that grows under one's eyes.
const LOOKS: usize = 5;

/// How long is waited between two tries for a lock.
const PAUSE: Duration = Duration::from_millis(20);

/// Reads the whole session in `dir`, and writes nothing.
pub fn look_over(dir: &Path, watch: &dyn Watch) -> Result<(Manifest, Checkup), SessionError> {
    let (manifest, digest) = read_manifest(dir)?;
    let terms = Terms::of(&manifest, digest);
    let mut ledger = Ledger::new(dir);
    ledger.begins(digest)?;
    let plan = Plan {
        dir: dir.to_owned(),
        terms,
    };
    let (mut board, mut last_at) = (Board::new(terms), None);
    let mut index = IndexState::Missing;
    for _ in 0..LOOKS {
        last_at = read_on(&mut ledger, &mut board, watch)?.or(last_at);
        let known;
        (known, index) = state(Index::open(&plan), &board, ledger.tip());
        // Another process has appended meanwhile.
        if known <= ledger.tip().length {
            break;
        }
    }
    let Tip { length, head } = ledger.tip();
    let checkup = Checkup {
        lines: length,
        head,
        last_at,
        torn: ledger.torn()?,
        index,
    };
    Ok((manifest, checkup))
}

/// Takes in the lines that were not read yet, and tells when the last of them was written.
fn read_on(
    ledger: &mut Ledger,
    board: &mut Board,
    watch: &dyn Watch,
) -> Result<Option<Timestamp>, SessionError> {
    let mut last_at = None;
    ledger.read_on(watch, &mut |line, event, span| {
        last_at = Some(line.at());
        if matches!(event, Event::Session(_)) && span.offset == 0 {
            return Ok(());
        }
        Ok(board.apply(&event, Written::of(line, span))?)
    })?;
    match board.totals().forgetting.unbacked() {
        Some(line) => Err(ledger.damaged_line(line, Damage::Unbacked)),
        None => Ok(last_at),
    }
}

/// How many lines the index knows, and how it stands.
fn state(index: Result<Index, IndexError>, board: &Board, tip: Tip) -> (u64, IndexState) {
    let index = match index {
        Ok(index) => index,
        Err(IndexError::Missing | IndexError::CutOff) => return (0, IndexState::Missing),
        Err(why) => return (0, IndexState::Unfit(why.to_string())),
    };
    let known = index.checkpoint().lines;
    let state = match index.fits(board, tip) {
        Ok(()) => IndexState::Fits,
        Err(_) if known < tip.length => IndexState::Behind { lines: known },
        Err(why) => IndexState::Unfit(why.to_string()),
    };
    (known, state)
}

/// Tries to get the lock of the session in `dir`, for no longer than `patience`, and gives it up
/// again.
#[must_use]
pub fn look_at_lock(dir: &Path, patience: Duration) -> LockState {
    let file = match File::options().write(true).open(dir.join("lock")) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return LockState::Missing,
        Err(error) => return LockState::Refused(error.to_string()),
    };
    let began = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return LockState::Free,
            Err(TryLockError::WouldBlock) if began.elapsed() < patience => thread::sleep(PAUSE),
            Err(TryLockError::WouldBlock) => return LockState::Held,
            Err(TryLockError::Error(error)) => return LockState::Refused(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_free_or_held_or_not_there() {
        let dir = tempfile::tempdir().unwrap();
        let look = || look_at_lock(dir.path(), Duration::ZERO);
        assert_eq!(look(), LockState::Missing);
        let other = File::create(dir.path().join("lock")).unwrap();
        assert_eq!(look(), LockState::Free);
        other.lock().unwrap();
        assert_eq!(look(), LockState::Held);
        other.unlock().unwrap();
        assert_eq!(look(), LockState::Free);
    }
}
