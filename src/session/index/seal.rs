//! Seals: digests of what a row says.

use serde::Serialize;

use crate::base::Digest;

/// Seals the rows of one session's index.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sealer {
    /// The digest of the session's `session.json`.
    session: Digest,
}

impl Sealer {
    pub(super) fn new(session: Digest) -> Self {
        Self { session }
    }

    /// The seal of a row of `table` that says `row`: the first eight bytes of a digest.
    pub(super) fn seal(self, table: &str, row: &impl Serialize) -> serde_json::Result<i64> {
        let said = serde_json::to_vec(row)?;
        let session = self.session.to_string();
        let digest = Digest::of_parts([session.as_bytes(), table.as_bytes(), &said]);
        Ok(first_eight(digest))
    }
}

/// The first eight bytes of a digest, as the database keeps numbers.
pub(super) fn first_eight(digest: Digest) -> i64 {
    i64::from_be_bytes(digest.first_bytes())
}
