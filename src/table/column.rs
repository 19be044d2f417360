//! Columns and their letters.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::header::Header;
use crate::base::text::single_spaced;

/// How many columns a list can have: as many as the widest sheet of a spreadsheet program.
pub const MAX_COLUMNS: u32 = 16_384;

/// A column, counted from 0; shown and stored as its letters (`A`, `AB`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ColumnIndex(u32);

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

/// The most columns that a message names.
const MOST_DESCRIBED: usize = 40;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListColumns {
    pub header: Option<Header>,
    pub width: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotFound {
    Missing(Vec<String>),
    Ambiguous(Vec<String>),
}

impl ListColumns {
    /// The column that `name` names.
    ///
    /// A heading with exactly that text wins (after NFKC, white space around it dropped and
    /// runs of it taken for one space); else it is a letter, of either case, in range.
    pub fn find(&self, name: &str) -> Result<ColumnIndex, NotFound> {
        let wanted = single_spaced(name).into_owned();
        let headed: Vec<ColumnIndex> = self
            .all()
            .filter(|&column| !wanted.is_empty() && self.heading(column) == Some(&wanted))
            .collect();
        match headed.as_slice() {
            [] => {}
            [column] => return Ok(*column),
            several => {
                return Err(NotFound::Ambiguous(
                    several.iter().map(ToString::to_string).collect(),
                ));
            }
        }
        match wanted.parse::<ColumnIndex>() {
            Ok(column) if column.index() < self.width as usize => Ok(column),
            _ => Err(NotFound::Missing(self.described())),
        }
    }

    /// The heading of `column`, folded, if it has one.
    #[must_use]
    pub fn heading(&self, column: ColumnIndex) -> Option<&str> {
        let cells = &self.header.as_ref()?.cells;
        cells
            .get(column.index())
            .map(String::as_str)
            .filter(|text| !text.is_empty())
    }

    fn all(&self) -> impl Iterator<Item = ColumnIndex> {
        (0..self.width.min(MAX_COLUMNS)).filter_map(ColumnIndex::new)
    }

    /// The columns as messages show them: letter and heading; of very many the first and how
    /// many follow.
    #[must_use]
    pub fn described(&self) -> Vec<String> {
        let described = |column: ColumnIndex| match self.heading(column) {
            Some(text) => format!("{column} `{text}`"),
            None => column.to_string(),
        };
        let mut shown: Vec<String> = self.all().take(MOST_DESCRIBED).map(described).collect();
        let more = self.all().count() - shown.len();
        if more > 0 {
            shown.push(format!("{more} more"));
        }
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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

    fn columns(headings: &[&str]) -> ListColumns {
        ListColumns {
            header: Some(Header {
                row: 1,
                cells: headings
                    .iter()
                    .map(|text| single_spaced(text).into_owned())
                    .collect(),
            }),
            width: 4,
        }
    }

    fn found(columns: &ListColumns, name: &str) -> String {
        columns.find(name).unwrap().to_string()
    }

    #[test]
    fn a_heading_wins_over_a_letter() {
        let lettered = columns(&["B", "회사명", "Web\n site"]);
        assert_eq!(found(&lettered, "B"), "A");
        assert_eq!(found(&lettered, "b"), "B");
        assert_eq!(found(&lettered, "D"), "D");
        assert_eq!(found(&lettered, " 회사명 "), "B");
        assert_eq!(found(&lettered, "Web site"), "C");
    }

    #[test]
    fn a_wide_list_is_not_spelled_out() {
        let wide = ListColumns {
            header: None,
            width: u32::MAX,
        };
        let described = wide.described();
        assert_eq!(described.len(), MOST_DESCRIBED + 1);
        assert_eq!(described[MOST_DESCRIBED], "16344 more");
    }

    #[test]
    fn says_which_columns_there_are() {
        let listed = columns(&["Company", "", "Site", "Site"]);
        assert_eq!(
            listed.find("E"),
            Err(NotFound::Missing(vec![
                "A `Company`".into(),
                "B".into(),
                "C `Site`".into(),
                "D `Site`".into()
            ]))
        );
        assert!(matches!(listed.find("company"), Err(NotFound::Missing(_))));
        assert!(matches!(listed.find(""), Err(NotFound::Missing(_))));
        assert_eq!(
            listed.find("Site"),
            Err(NotFound::Ambiguous(vec!["C".into(), "D".into()]))
        );
    }
}
