//! Reading `session.json`.

use std::path::Path;

use super::error::SessionError;
use super::manifest::{FORMAT, Manifest};
use crate::base::Digest;
use crate::base::files;

/// The most that it may hold, in bytes: a quest file and its settings, with much room.
const MOST_BYTES: u64 = 64 << 20;

/// Reads `session.json`; its format is looked at before anything else.
pub fn read_manifest(dir: &Path) -> Result<(Manifest, Digest), SessionError> {
    #[derive(serde::Deserialize)]
    struct Format {
        format: u64,
    }

    let path = dir.join("session.json");
    let bytes = match files::read(&path, MOST_BYTES) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let dir = dir.to_owned();
            return Err(SessionError::Missing { dir });
        }
        Err(error) => return Err(SessionError::io(&path, "read the session")(error)),
    };
    let unreadable = |error: serde_json::Error| SessionError::Manifest {
        path: path.clone(),
        why: error.to_string(),
    };
    let Format { format } = serde_json::from_slice(&bytes).map_err(unreadable)?;
    if format > u64::from(FORMAT) {
        return Err(SessionError::Newer {
            path,
            format,
            newest: FORMAT,
        });
    }
    let manifest = serde_json::from_slice(&bytes).map_err(unreadable)?;
    Ok((manifest, Digest::of(&bytes)))
}
