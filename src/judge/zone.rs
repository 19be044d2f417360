//! What an agent has written, as one digest.

use super::error::DriveError;
use crate::base::Digest;
use crate::world::sandbox::Bench;
use crate::world::tree::Snapshot;

/// The identity of what is judged now: the tree as it was found, with what is written in its
/// zones. None for quests that are about no files.
pub(super) fn written(bench: &Bench) -> Result<Option<Digest>, DriveError> {
    let Some(root) = &bench.root else {
        return Ok(None);
    };
    let taken = Snapshot::take(root, &bench.baseline, &bench.zones, &bench.ignored);
    let (snapshot, _) = taken.map_err(|error| DriveError::Workshop(error.to_string()))?;
    Ok(Some(snapshot.digest()))
}
