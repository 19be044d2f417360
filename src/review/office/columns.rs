//! The columns that a row is taken back by.

use crate::base::text::single_spaced;

/// The name on the sheet's tab.
pub const SHEET: &str = "review";

/// A column that a row is taken back by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    Id,
    Key,
    Judged,
    Attempt,
    Decision,
    Note,
    Session,
}

impl Column {
    pub(super) const ALL: [Self; 7] = [
        Self::Id,
        Self::Key,
        Self::Judged,
        Self::Attempt,
        Self::Decision,
        Self::Note,
        Self::Session,
    ];

    /// What stands above it.
    pub(super) fn heading(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::Key => "key",
            Self::Judged => "judged",
            Self::Attempt => "attempt",
            Self::Decision => "decision",
            Self::Note => "note",
            Self::Session => "session",
        }
    }
}

/// A sheet that is none of the queue.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WrongColumns {
    /// Some are missing.
    #[error("it has no column {}; take the workbook that was exported", .0.join(", "))]
    Missing(Vec<&'static str>),
    /// One stands there twice.
    #[error("it has two columns {0}; leave the one that counts")]
    Twice(&'static str),
}

/// Where the columns stand, in a sheet whose other columns do not matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Places([usize; Column::ALL.len()]);

impl Places {
    /// The places that this row of headings gives; none of a row that is no such row, as a title.
    #[must_use]
    pub fn find(row: &[String]) -> Option<Result<Self, WrongColumns>> {
        let headings: Vec<String> = row
            .iter()
            .map(|cell| single_spaced(cell).to_lowercase())
            .collect();
        let all = Column::ALL.map(|column| {
            let headings = headings.iter().enumerate();
            let found = headings.filter(|(_, heading)| *heading == column.heading());
            found.map(|(at, _)| at).collect::<Vec<_>>()
        });
        // A single word may stand in any row.
        (all.iter().filter(|found| !found.is_empty()).count() > 1).then(|| Self::of(&all))
    }

    fn of(all: &[Vec<usize>; Column::ALL.len()]) -> Result<Self, WrongColumns> {
        let named = || Column::ALL.iter().zip(all);
        let missing = named().filter(|(_, found)| found.is_empty());
        let missing: Vec<_> = missing.map(|(column, _)| column.heading()).collect();
        if !missing.is_empty() {
            return Err(WrongColumns::Missing(missing));
        }
        if let Some((column, _)) = named().find(|(_, found)| found.len() > 1) {
            return Err(WrongColumns::Twice(column.heading()));
        }
        Ok(Self(std::array::from_fn(|at| all[at][0])))
    }

    /// The text of `row` in a column.
    pub(super) fn text(self, row: &[String], column: Column) -> &str {
        row.get(self.0[column as usize])
            .map_or("", |text| text.trim())
    }
}

impl WrongColumns {
    /// A sheet in which no row is one of headings.
    #[must_use]
    pub fn all_missing() -> Self {
        Self::Missing(Column::ALL.map(Column::heading).to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: &[&str]) -> Vec<String> {
        cells.iter().map(|cell| (*cell).to_owned()).collect()
    }

    #[test]
    fn headings_are_found_wherever_they_stand_and_however_they_are_spelled() {
        let headings = row(&[
            "NOTE ", "who", "Decision", "ＩＤ", " key", "Attempt", "session", "judged",
        ]);
        let places = Places::find(&headings).unwrap().unwrap();
        let cells = row(&["n", "w", " accept ", "3", "k", "1"]);
        let texts = Column::ALL.map(|column| places.text(&cells, column));
        assert_eq!(texts, ["3", "k", "", "1", "accept", "n", ""]);
    }

    #[test]
    fn what_is_no_row_of_headings_is_passed_over_or_refused() {
        assert_eq!(Places::find(&row(&["Decision", "of May"])), None);
        assert_eq!(Places::find(&[]), None);
        let missing = Places::find(&row(&["id", "key", "judged", "note", "decision"]));
        let expected = WrongColumns::Missing(vec!["attempt", "session"]);
        assert_eq!(missing, Some(Err(expected)));
        let mut twice = row(&Column::ALL.map(Column::heading));
        twice.push("Note".to_owned());
        assert_eq!(Places::find(&twice), Some(Err(WrongColumns::Twice("note"))));
    }
}
