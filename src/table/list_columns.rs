//! Finding a column by its letter or its heading.

use super::column::{ColumnIndex, MAX_COLUMNS};
use super::header::Header;
use crate::base::text::single_spaced;

/// The most columns that a message names.
const MOST_DESCRIBED: usize = 40;

/// The columns of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListColumns {
    /// The heading row, if there is one.
    pub header: Option<Header>,
    /// How many columns there are.
    pub width: u32,
}

/// A column that was not found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotFound {
    /// None has that letter or heading; these are the ones that are.
    Missing(Vec<String>),
    /// Several have that heading; these are their letters.
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
