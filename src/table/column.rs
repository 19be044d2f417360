//! Columns and their letters.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How many columns a list can have: as many as the widest sheet of a spreadsheet program.
pub const MAX_COLUMNS: u32 = 16_384;

/// A column, counted from 0; shown and stored as its letters (`A`, `AB`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ColumnIndex(u32);

/// A text that is not a column's letters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a column from A to XFD")]
pub struct NotAColumn(String);

impl ColumnIndex {
    /// The first column, `A`.
    pub const FIRST: Self = Self(0);

    /// The column at `index`, counted from 0; none from [`MAX_COLUMNS`] on.
    #[must_use]
    pub const fn new(index: u32) -> Option<Self> {
        if index < MAX_COLUMNS {
            Some(Self(index))
        } else {
            None
        }
    }

    /// Its index, counted from 0.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for ColumnIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut letters = Vec::with_capacity(3);
        let mut rest = self.0 + 1;
        while rest > 0 {
            rest -= 1;
            letters.push((b'A'..=b'Z').nth((rest % 26) as usize).unwrap_or(b'A'));
            rest /= 26;
        }
        letters
            .iter()
            .rev()
            .try_for_each(|&letter| write!(f, "{}", char::from(letter)))
    }
}

impl FromStr for ColumnIndex {
    type Err = NotAColumn;

    /// Reads one to three letters, of either case.
    fn from_str(text: &str) -> Result<Self, NotAColumn> {
        let refused = || NotAColumn(text.to_owned());
        if !(1..=3).contains(&text.len()) || !text.bytes().all(|byte| byte.is_ascii_alphabetic()) {
            return Err(refused());
        }
        let counted = text.bytes().fold(0, |sum, byte| {
            sum * 26 + u32::from(byte.to_ascii_uppercase() - b'A') + 1
        });
        Self::new(counted - 1).ok_or_else(refused)
    }
}

impl TryFrom<String> for ColumnIndex {
    type Error = NotAColumn;

    fn try_from(text: String) -> Result<Self, NotAColumn> {
        text.parse()
    }
}

impl From<ColumnIndex> for String {
    fn from(column: ColumnIndex) -> Self {
        column.to_string()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn counts_as_a_spreadsheet_does() {
        for (letters, index) in [("A", 0), ("z", 25), ("AA", 26), ("Az", 51), ("XFD", 16_383)] {
            let column: ColumnIndex = letters.parse().unwrap();
            assert_eq!(column.index(), index);
            assert_eq!(column.to_string(), letters.to_uppercase());
        }
    }

    #[test]
    fn refuses_what_no_sheet_has() {
        for text in ["", "A1", "1", "XFE", "ZZZ", "AAAA", "가", " A"] {
            assert!(text.parse::<ColumnIndex>().is_err(), "{text}");
        }
        assert_eq!(ColumnIndex::new(MAX_COLUMNS), None);
    }

    proptest! {
        #[test]
        fn letters_round_trip(index in 0..MAX_COLUMNS) {
            let column = ColumnIndex::new(index).unwrap();
            prop_assert_eq!(column.to_string().parse(), Ok(column));
            let json = serde_json::to_string(&column).unwrap();
            prop_assert_eq!(serde_json::from_str::<ColumnIndex>(&json).unwrap(), column);
        }
    }
}
