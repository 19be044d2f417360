//! What a ledger is folded by: the part of what `scan` froze that decides what each line does.

use std::num::NonZeroU32;

use super::manifest::Manifest;
use super::settlement::Court;
use crate::base::Digest;

/// What a ledger is folded by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// The FAIL that ends a quest.
    pub max_tries: NonZeroU32,
    /// Whose decisions count.
    pub court: Court,
}

impl Terms {
    /// The terms of a session whose `session.json` has this digest.
    #[must_use]
    pub fn of(manifest: &Manifest, session: Digest) -> Self {
        Self {
            max_tries: manifest.frozen.max_tries,
            court: Court {
                session,
                key: manifest.frozen.operator_key,
            },
        }
    }
}
