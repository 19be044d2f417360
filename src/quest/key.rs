//! A quest's name in the list, and how names are compared.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::serde_as_text;
use crate::base::text::single_spaced;

/// A quest's name, as the list spells it, without the white space around it.
#[derive(
    Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("pattern" = r"\S"))]
pub struct Key(Box<str>);

/// A key after NFKC and white-space folding, only for comparison.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FoldedKey(Box<str>);

#[derive(Debug, thiserror::Error)]
#[error("a key cannot be blank")]
pub struct EmptyKey;

impl Key {
    /// The key in `text`, without surrounding white space.
    pub fn new(text: &str) -> Result<Self, EmptyKey> {
        match text.trim() {
            "" => Err(EmptyKey),
            trimmed => Ok(Self(trimmed.into())),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The key for comparison: in NFKC, with each run of white space as one space.
    pub fn folded(&self) -> FoldedKey {
        FoldedKey(single_spaced(&self.0).into())
    }

    pub fn folds_to(&self, folded: &FoldedKey) -> bool {
        single_spaced(&self.0) == *folded.0
    }
}

impl FoldedKey {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Key {
    type Err = EmptyKey;

    fn from_str(text: &str) -> Result<Self, EmptyKey> {
        Self::new(text)
    }
}

serde_as_text!(Key);

/// A quest's number: 1, 2, …, in the order of the list.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct QuestId(NonZeroU32);

impl QuestId {
    pub const FIRST: Self = Self(NonZeroU32::MIN);

    /// The id of the quest at `index`, from 0; `None` beyond `u32::MAX` quests.
    pub fn from_index(index: usize) -> Option<Self> {
        let number = u32::try_from(index).ok()?.checked_add(1)?;
        NonZeroU32::new(number).map(Self)
    }

    pub fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

impl fmt::Display for QuestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected the number of a quest, such as 17")]
pub struct NoNumber;

impl FromStr for QuestId {
    type Err = NoNumber;

    fn from_str(text: &str) -> Result<Self, NoNumber> {
        text.parse().map(Self).map_err(|_| NoNumber)
    }
}

/// Of the quests whose keys fold to the same as `wanted`, those with exactly this spelling, or all
/// if there are none.
pub fn meant(wanted: &Key, same_fold: &[(QuestId, Key)]) -> Vec<QuestId> {
    let ids = |exact: bool| {
        let quests = same_fold
            .iter()
            .filter(move |(_, key)| !exact || key == wanted);
        quests.map(|(id, _)| *id).collect::<Vec<_>>()
    };
    let exact = ids(true);
    if exact.is_empty() { ids(false) } else { exact }
}

#[derive(Debug)]
pub struct Nearest {
    wanted: String,
    found: Vec<(f64, Key)>,
}

const MOST_SUGGESTED: usize = 3;

/// The lowest Jaro-Winkler similarity of a suggested key.
const LEAST_LIKENESS: f64 = 0.7;

impl Nearest {
    pub fn to(wanted: &Key) -> Self {
        Self {
            wanted: wanted.folded().as_str().to_lowercase(),
            found: Vec::new(),
        }
    }

    pub fn offer(&mut self, key: &Key) {
        let likeness = strsim::jaro_winkler(&self.wanted, &key.as_str().to_lowercase());
        if likeness <= LEAST_LIKENESS || self.found.iter().any(|(_, known)| known == key) {
            return;
        }
        let place = self.found.partition_point(|(known, _)| *known >= likeness);
        if place < MOST_SUGGESTED {
            self.found.insert(place, (likeness, key.clone()));
            self.found.truncate(MOST_SUGGESTED);
        }
    }

    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        self.found.iter().map(|(_, key)| key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use unicode_normalization::UnicodeNormalization as _;

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
    fn rejects_a_blank_key() {
        assert!(Key::new(" \t\u{3000}").is_err());
        assert_eq!(Key::new("  a b ").unwrap().as_str(), "a b");
    }

    #[test]
    fn ids_count_from_one() {
        let id = QuestId::from_index(0).unwrap();
        assert_eq!(id.to_string(), "1");
        assert_eq!("17".parse::<QuestId>().unwrap().index(), 16);
        for no_number in ["0", "-1", "abc", "", "99999999999"] {
            let error = no_number.parse::<QuestId>().unwrap_err();
            assert_eq!(
                error.to_string(),
                "expected the number of a quest, such as 17"
            );
        }
        assert_eq!(QuestId::from_index(u32::MAX as usize), None);
    }

    fn key(text: &str) -> Key {
        Key::new(text).unwrap()
    }

    fn id(number: usize) -> QuestId {
        QuestId::from_index(number - 1).unwrap()
    }

    #[test]
    fn an_exact_key_wins_over_a_folded_key() {
        let both = [(id(1), key("Acme Co")), (id(2), key("Acme  Co"))];
        assert_eq!(meant(&key("Acme  Co"), &both), [id(2)]);
        assert_eq!(meant(&key("Ａcme Co"), &both[1..]), [id(2)]);
    }

    #[test]
    fn returns_all_quests_with_the_same_key() {
        let both = [(id(1), key("Acme")), (id(2), key("Acme"))];
        assert_eq!(meant(&key("Acme"), &both), [id(1), id(2)]);
        assert_eq!(meant(&key("Beta"), &[]), []);
    }

    #[test]
    fn suggests_the_nearest_keys() {
        let mut nearest = Nearest::to(&key("Amce Inc"));
        for name in [
            "Zebra",
            "Acme Inc",
            "Acme Inc",
            "Amce In",
            "Amc",
            "Acme Incorporated",
        ] {
            nearest.offer(&key(name));
        }
        let names: Vec<_> = nearest.keys().map(Key::as_str).collect();
        assert_eq!(names, ["Amce In", "Acme Inc", "Amc"]);
    }
}
