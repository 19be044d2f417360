//! A quest's number.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A quest's number: 1, 2, …, in the order of the list.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct QuestId(NonZeroU32);

impl QuestId {
    /// The id of the first quest.
    pub const FIRST: Self = Self(NonZeroU32::MIN);

    /// The id of the quest at `index`, counted from 0; none beyond `u32::MAX` quests.
    #[must_use]
    pub fn from_index(index: usize) -> Option<Self> {
        let number = u32::try_from(index).ok()?.checked_add(1)?;
        NonZeroU32::new(number).map(Self)
    }

    /// The quest's place in the list, counted from 0.
    #[must_use]
    pub fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

impl fmt::Display for QuestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// That a text is no quest's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it is no quest's number, such as 17")]
pub struct NoNumber;

impl FromStr for QuestId {
    type Err = NoNumber;

    fn from_str(text: &str) -> Result<Self, NoNumber> {
        text.parse().map(Self).map_err(|_| NoNumber)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_from_one_and_back() {
        let id = QuestId::from_index(0).unwrap();
        assert_eq!(id.to_string(), "1");
        assert_eq!("17".parse::<QuestId>().unwrap().index(), 16);
        for no_number in ["0", "-1", "abc", "", "99999999999"] {
            let error = no_number.parse::<QuestId>().unwrap_err();
            assert_eq!(error.to_string(), "it is no quest's number, such as 17");
        }
        assert_eq!(QuestId::from_index(u32::MAX as usize), None);
    }
}
