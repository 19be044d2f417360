//! A program as it was when the session was made.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::quest::Digest;

/// A program and the digest that it had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pinned {
    /// Where it was found, absolute; links are not resolved.
    pub path: PathBuf,
    /// What that is once links are resolved.
    pub target: PathBuf,
    /// The digest of its bytes.
    pub sha256: Digest,
}
