//! Where stored bodies come from.

use std::collections::BTreeMap;

use crate::base::Digest;

/// Finds bodies by digest.
pub trait Bodies {
    /// The bytes whose digest is `digest`, uncompressed; none when they are not there.
    fn body(&self, digest: &Digest) -> Option<Vec<u8>>;
}

impl Bodies for BTreeMap<Digest, Vec<u8>> {
    fn body(&self, digest: &Digest) -> Option<Vec<u8>> {
        self.get(digest).cloned()
    }
}
