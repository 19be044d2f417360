//! A quest's name in the list, and how names are compared.

use std::fmt;

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization as _;

/// A quest's name, as the list spells it, without the white space around it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Key(String);

/// A key after NFKC and white-space folding, for comparing alone.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FoldedKey(String);

/// A key of white space alone.
#[derive(Debug, thiserror::Error)]
#[error("a key cannot be blank")]
pub struct EmptyKey;

impl Key {
    /// The key that `text` spells; white space around it does not count.
    pub fn new(text: &str) -> Result<Self, EmptyKey> {
        match text.trim() {
            "" => Err(EmptyKey),
            trimmed => Ok(Self(trimmed.to_owned())),
        }
    }

    /// The key's text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The key for comparing: NFKC, and every run of white space one space.
    #[must_use]
    pub fn folded(&self) -> FoldedKey {
        let normal: String = self.0.nfkc().collect();
        FoldedKey(normal.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

impl FoldedKey {
    /// The folded text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for Key {
    type Error = EmptyKey;

    fn try_from(text: String) -> Result<Self, EmptyKey> {
        Self::new(&text)
    }
}

impl From<Key> for String {
    fn from(key: Key) -> Self {
        key.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_width_and_white_space_but_not_case() {
        let folded = |text| Key::new(text).unwrap().folded();
        assert_eq!(folded("Ａｃｍｅ\u{3000} Co"), folded("Acme Co"));
        assert_eq!(folded("㈜한빛"), folded("(주)한빛"));
        assert_ne!(folded("ACME"), folded("acme"));
    }

    #[test]
    fn refuses_blank() {
        assert!(Key::new(" \t\u{3000}").is_err());
        assert_eq!(Key::new("  a b ").unwrap().as_str(), "a b");
    }
}
