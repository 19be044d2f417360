//! Who may act for the operator: go on after a pause, add to the list, settle a REVIEW.
//!
//! A session holds the public half of the operator's key alone.

use std::path::Path;

use anyhow::{Context as _, Result};

use super::exit::UsageError;
use crate::session::{OperatorKey, Session, SigningKey};

/// What somebody who acts for the operator has shown.
#[derive(Debug)]
pub(super) enum Authority {
    /// The key that the session froze.
    Key(SigningKey),
    /// Nothing, and the session froze no key.
    NoneFrozen,
}

/// Holds the key file against what `session` froze.
///
/// A usage error when the session froze a key and the file does not hold it.
pub(super) fn authority(session: &Session, key: Option<&Path>) -> Result<Authority> {
    let shown = key.map(signing_key).transpose()?;
    let frozen = session.manifest().frozen.operator_key;
    compare(shown, frozen).map_err(|why| UsageError(why.to_owned()).into())
}

fn compare(
    shown: Option<SigningKey>,
    frozen: Option<OperatorKey>,
) -> Result<Authority, &'static str> {
    match (shown, frozen) {
        (Some(shown), Some(frozen)) if shown.public() == frozen => Ok(Authority::Key(shown)),
        (Some(_), Some(_)) => Err("that is not the key file that `scan` was given"),
        (Some(_), None) => Err("`scan` was given no --operator-key"),
        (None, Some(_)) => Err(
            "this is the operator's to do: name the key file that `scan` was given, with \
             --operator-key FILE",
        ),
        (None, None) => Ok(Authority::NoneFrozen),
    }
}

/// The key that the operator's key file holds.
pub(super) fn signing_key(path: &Path) -> Result<SigningKey> {
    let bytes = std::fs::read(path)
        .with_context(|| format!("cannot read the operator's key {}", path.display()))?;
    SigningKey::read(&bytes).with_context(|| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_key_was_frozen_nothing_else_does() {
        let key = || SigningKey::read(&[7; 32]).unwrap();
        let other = || SigningKey::read(&[8; 32]).unwrap();
        let frozen = Some(key().public());
        assert!(matches!(
            compare(Some(key()), frozen),
            Ok(Authority::Key(_))
        ));
        assert!(matches!(compare(None, None), Ok(Authority::NoneFrozen)));
        for (shown, frozen) in [(Some(other()), frozen), (None, frozen), (Some(key()), None)] {
            assert!(compare(shown, frozen).is_err(), "{frozen:?}");
        }
    }
}
