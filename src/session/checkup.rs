//! Checks for `doctor` whether a session's files fit each other, without changing them.

use std::path::Path;

use jiff::Timestamp;

use super::chain::Tip;
use super::error::{IndexError, SessionError};
use super::ledger::{Ledger, Tail, Watch};
use super::manifest::{FoldConfig, Manifest, read_manifest};
use super::projection::Projection;
use crate::base::Digest;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkup {
    pub lines: u64,
    pub head: Digest,
    pub last_at: Option<Timestamp>,
    /// The length of an incomplete last line, in bytes.
    pub torn: u64,
    pub index: IndexState,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndexState {
    Fits,
    /// It does not exist, or its last write was cut off. The next command rebuilds it.
    Missing,
    Behind {
        lines: u64,
    },
    Unfit(String),
}

pub fn look_over(dir: &Path, watch: &dyn Watch) -> Result<(Manifest, Checkup), SessionError> {
    let (manifest, digest) = read_manifest(dir)?;
    let config = FoldConfig::of(&manifest, digest);
    let mut ledger = Ledger::new(dir);
    ledger.begins(digest)?;
    let mut folded = Projection::temporary(config)?;
    // Opened before the ledger is read, because another process may append in between and the ledger
    // must not be shorter than its index.
    let index = Projection::open(dir, config);
    let tail = folded.follow(&mut ledger, watch)?;
    let Tip { length, head } = folded.tip();
    let checkup = Checkup {
        lines: length,
        head,
        last_at: ledger.last_at,
        torn: match tail {
            Tail::Torn(bytes) => bytes,
            Tail::Clean => 0,
        },
        index: state(index, &folded),
    };
    Ok((manifest, checkup))
}

fn state(index: Result<Projection, IndexError>, folded: &Projection) -> IndexState {
    let index = match index {
        Ok(index) => index,
        Err(IndexError::Missing | IndexError::CutOff) => return IndexState::Missing,
        Err(why) => return IndexState::Unfit(why.to_string()),
    };
    let lines = index.tip().length;
    match index.fits(folded) {
        Ok(()) => IndexState::Fits,
        Err(_) if lines < folded.tip().length => IndexState::Behind { lines },
        Err(why) => IndexState::Unfit(why.to_string()),
    }
}
