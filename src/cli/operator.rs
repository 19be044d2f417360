//! Who may act for the operator: go on after a pause, or add to the list.
//!
//! A session holds the digest of the operator's key file, never the key.

use std::path::Path;

use anyhow::{Context as _, Result, bail};

use super::exit::UsageError;
use crate::quest::Digest;
use crate::session::Session;

/// What somebody who acts for the operator has shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Authority {
    /// The key that the session froze.
    Key,
    /// Nothing, and the session froze no key.
    NoneFrozen,
}

/// Holds the key file against what `session` froze.
///
/// A usage error when the session froze a key and the file is not it.
pub(super) fn authority(session: &Session, key: Option<&Path>) -> Result<Authority> {
    let shown = key.map(key_digest).transpose()?;
    let frozen = session.manifest().frozen.operator_key;
    compare(shown, frozen).map_err(|why| UsageError(why.to_owned()).into())
}

fn compare(shown: Option<Digest>, frozen: Option<Digest>) -> Result<Authority, &'static str> {
    match (shown, frozen) {
        (Some(shown), Some(frozen)) if shown == frozen => Ok(Authority::Key),
        (Some(_), Some(_)) => Err("that is not the key file that `scan` was given"),
        (Some(_), None) => Err("`scan` was given no --operator-key"),
        (None, Some(_)) => Err(
            "this is the operator's to do: name the key file that `scan` was given, with \
             --operator-key FILE",
        ),
        (None, None) => Ok(Authority::NoneFrozen),
    }
}

/// The digest of the operator's key file.
pub(super) fn key_digest(path: &Path) -> Result<Digest> {
    let bytes = std::fs::read(path)
        .with_context(|| format!("cannot read the operator's key {}", path.display()))?;
    if bytes.len() < 16 {
        bail!(
            "{}: an operator's key has at least 16 bytes; make one with \
             `head -c 32 /dev/urandom > FILE`",
            path.display()
        );
    }
    Ok(Digest::of(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_key_was_frozen_nothing_else_does() {
        let key = Some(Digest::of(b"key"));
        let other = Some(Digest::of(b"other"));
        assert_eq!(compare(key, key), Ok(Authority::Key));
        assert_eq!(compare(None, None), Ok(Authority::NoneFrozen));
        for (shown, frozen) in [(other, key), (None, key), (key, None)] {
            assert!(compare(shown, frozen).is_err(), "{shown:?} {frozen:?}");
        }
    }
}
