//! A quest's name in the list, and how names are compared.

use std::borrow::Cow;
use std::fmt;

use crate::base::text::single_spaced;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A quest's name, as the list spells it, without the white space around it.
#[derive(
    Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("pattern" = r"\S"))]
pub struct Key(Box<str>);

/// A key after NFKC and white-space folding, for comparing alone.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FoldedKey(Box<str>);

/// A key of white space alone.
#[derive(Debug, thiserror::Error)]
#[error("a key cannot be blank")]
pub struct EmptyKey;

impl Key {
    /// The key that `text` spells; white space around it does not count.
    pub fn new(text: &str) -> Result<Self, EmptyKey> {
        match text.trim() {
            "" => Err(EmptyKey),
            trimmed => Ok(Self(trimmed.into())),
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
        FoldedKey(self.folded_text().into())
    }

    /// Whether the key is `folded`, once it is folded itself.
    #[must_use]
    pub fn folds_to(&self, folded: &FoldedKey) -> bool {
        self.folded_text() == *folded.0
    }

    /// The folded text; most keys are folded as they stand.
    fn folded_text(&self) -> Cow<'_, str> {
        single_spaced(&self.0)
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
        key.0.into()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_normalization::UnicodeNormalization as _;

    use super::*;

    #[test]
    fn folds_width_and_white_space_but_not_case() {
        let folded = |text| Key::new(text).unwrap().folded();
        assert_eq!(folded("Ａｃｍｅ\u{3000} Co"), folded("Acme Co"));
        assert_eq!(folded("㈜한빛"), folded("(주)한빛"));
        assert_ne!(folded("ACME"), folded("acme"));
    }

    proptest! {
        #[test]
        fn folding_is_nfkc_and_single_spaces(text in "[ a-cÀ-ÿ\u{300}-\u{303}\u{3000}ㄱ-ㅣ가-갛Ａ-Ｃ´ﬁ㈜\t]{1,6}") {
            if let Ok(key) = Key::new(&text) {
                let normal: String = text.nfkc().collect();
                let words: Vec<_> = normal.split_whitespace().collect();
                let folded = key.folded();
                prop_assert_eq!(folded.as_str(), words.join(" "));
                prop_assert!(key.folds_to(&folded));
            }
        }
    }

    #[test]
    fn refuses_blank() {
        assert!(Key::new(" \t\u{3000}").is_err());
        assert_eq!(Key::new("  a b ").unwrap().as_str(), "a b");
    }
}
