//! The file of a recorded world, in the directory that `scan --world` names.

use std::path::Path;

use anyhow::{Context as _, Result};
use serde::Deserialize as _;
use serde_json::Value;

use super::exit::{NotFound, UsageError};
use crate::base::files;
use crate::quest::json;
use crate::world::evidence::recorded::RecordedWorld;

pub(super) const WORLD_FILE: &str = "world.json";

const MAX_WORLD_BYTES: u64 = 16 << 20;

/// The recorded world in `dir`, read whole so that no later change of the file reaches the session.
pub(super) fn recorded_world(dir: &Path) -> Result<Value> {
    let path = dir.join(WORLD_FILE);
    let place = path.display();
    if !path.exists() {
        return Err(NotFound {
            message: format!(
                "there is no recorded world in {}: no {place}",
                dir.display()
            ),
            hint: "`comail demo --world DIR` writes one".to_owned(),
        }
        .into());
    }
    let bytes = files::read(&path, MAX_WORLD_BYTES)
        .with_context(|| format!("cannot read the recorded world {place}"))?;
    let refused = |error| UsageError(format!("{place} is not a recorded world: {error}"));
    let world: Value = json::slice(&bytes).map_err(refused)?;
    RecordedWorld::deserialize(&world).map_err(refused)?;
    Ok(world)
}
