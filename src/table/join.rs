//! The rows of the list with their results beside them.

use std::iter::Peekable;

use super::result_columns::free_headings;
use super::results::{Cell, ExportError, ResultRow, RowError, SourceRow};

/// Whether a row names the columns or holds values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowKind {
    /// A row above the headings.
    Title,
    /// The row of headings.
    Header,
    /// Every other row.
    Body,
}

/// A row of the list with its results beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableRow {
    /// The row's number in the list, counted from 1.
    pub row: u32,
    /// What the row is.
    pub kind: RowKind,
    /// The list's own cells, as many in every row.
    pub source: Vec<String>,
    /// The results, as many in every row.
    pub results: Vec<Cell>,
}

/// Which rows of the list come along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// All of them.
    All,
    /// The header and the rows that have results.
    WithResults,
}

/// How list and results stand side by side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// The row that holds the headings, if one does.
    pub header_row: Option<u32>,
    /// How many columns the list has.
    pub width: usize,
    /// The headings of the result columns.
    pub headings: Vec<String>,
    /// Which rows come along.
    pub keep: Keep,
}

/// Joins the rows of the list with their results.
///
/// Both inputs come in the order of their rows. The heading of a result column that the list
/// has already is made free (see [`free_headings`]).
pub fn join<S, R>(
    layout: &Layout,
    source: S,
    results: R,
) -> impl Iterator<Item = Result<TableRow, ExportError>> + use<'_, S, R>
where
    S: Iterator<Item = Result<SourceRow, RowError>>,
    R: Iterator<Item = Result<ResultRow, RowError>>,
{
    let mut join = Join {
        layout,
        source,
        results: results.peekable(),
        last: None,
        done: false,
    };
    std::iter::from_fn(move || join.next_row().transpose())
}

struct Join<'a, S, R: Iterator> {
    layout: &'a Layout,
    source: S,
    results: Peekable<R>,
    last: Option<u32>,
    done: bool,
}

impl<S, R> Join<'_, S, R>
where
    S: Iterator<Item = Result<SourceRow, RowError>>,
    R: Iterator<Item = Result<ResultRow, RowError>>,
{
    /// The next row that comes along; nothing more after the last one or an error.
    fn next_row(&mut self) -> Result<Option<TableRow>, ExportError> {
        while !self.done {
            self.done = true;
            let Some(source) = self.source.next() else {
                return self.results.next().map_or(Ok(None), |left| {
                    Err(left
                        .map_or_else(ExportError::Rows, |left| ExportError::NoSuchRow(left.row)))
                });
            };
            let row = self.combine(source.map_err(ExportError::Rows)?)?;
            self.done = false;
            if row.is_some() {
                return Ok(row);
            }
        }
        Ok(None)
    }

    fn combine(&mut self, source: SourceRow) -> Result<Option<TableRow>, ExportError> {
        let SourceRow { row, mut cells } = source;
        if self.last.is_some_and(|last| row <= last) {
            return Err(ExportError::Order(row));
        }
        self.last = Some(row);
        let width = self.layout.width;
        if cells.len() > width {
            let found = cells.len();
            return Err(ExportError::Width { row, found, width });
        }
        cells.resize(width, String::new());

        let found = self.results_of(row)?;
        let kind = match self.layout.header_row {
            Some(header) if row < header => RowKind::Title,
            Some(header) if row == header => RowKind::Header,
            _ => RowKind::Body,
        };
        let header = kind == RowKind::Header;
        let results = match (header, found) {
            (true, _) => free_headings(&cells, &self.layout.headings)
                .into_iter()
                .map(Cell::Text)
                .collect(),
            (false, Some(results)) => results,
            (false, None) if self.layout.keep == Keep::WithResults => return Ok(None),
            (false, None) => vec![Cell::empty(); self.layout.headings.len()],
        };
        Ok(Some(TableRow {
            row,
            kind,
            source: cells,
            results,
        }))
    }

    /// The results of this row, if the next ones are its.
    fn results_of(&mut self, row: u32) -> Result<Option<Vec<Cell>>, ExportError> {
        match self.results.peek() {
            Some(Ok(next)) if next.row < row => return Err(ExportError::NoSuchRow(next.row)),
            Some(Ok(next)) if next.row > row => return Ok(None),
            _ => {}
        }
        let Some(next) = self.results.next() else {
            return Ok(None);
        };
        let cells = next.map_err(ExportError::Rows)?.cells;
        let (found, expected) = (cells.len(), self.layout.headings.len());
        if found != expected {
            return Err(ExportError::Results {
                row,
                found,
                expected,
            });
        }
        Ok(Some(cells))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(keep: Keep) -> Layout {
        Layout {
            header_row: Some(2),
            width: 2,
            headings: vec!["email".into()],
            keep,
        }
    }

    fn source() -> Vec<Result<SourceRow, RowError>> {
        let rows: [(u32, &[&str]); 5] = [
            (1, &["A list"]),
            (2, &["company", "EMAIL"]),
            (3, &["Acme", "x"]),
            (5, &["Beta"]),
            (6, &[]),
        ];
        rows.iter()
            .map(|(row, cells)| {
                Ok(SourceRow {
                    row: *row,
                    cells: cells.iter().map(ToString::to_string).collect(),
                })
            })
            .collect()
    }

    fn results(rows: &[u32]) -> Vec<Result<ResultRow, RowError>> {
        rows.iter()
            .map(|&row| {
                Ok(ResultRow {
                    row,
                    cells: vec![Cell::Text(format!("r{row}"))],
                })
            })
            .collect()
    }

    fn joined(keep: Keep, rows: &[u32]) -> Vec<Result<(u32, String), ExportError>> {
        let layout = layout(keep);
        join(&layout, source().into_iter(), results(rows).into_iter())
            .map(|row| {
                row.map(|row| {
                    assert_eq!((row.source.len(), row.results.len()), (2, 1));
                    (row.row, format!("{:?}", row.results[0]))
                })
            })
            .collect()
    }

    #[test]
    fn puts_results_beside_their_rows() {
        let rows: Result<Vec<_>, _> = joined(Keep::All, &[3, 5]).into_iter().collect();
        let text = |text: &str| format!("{:?}", Cell::Text(text.into()));
        assert_eq!(
            rows.unwrap(),
            [
                (1, text("")),
                (2, text("email (comail)")),
                (3, text("r3")),
                (5, text("r5")),
                (6, text("")),
            ]
        );
    }

    #[test]
    fn keeps_the_header_when_only_results_are_wanted() {
        let rows: Result<Vec<_>, _> = joined(Keep::WithResults, &[5]).into_iter().collect();
        let numbers: Vec<u32> = rows.unwrap().into_iter().map(|(row, _)| row).collect();
        assert_eq!(numbers, [2, 5]);
    }

    #[test]
    fn results_without_a_row_end_it() {
        for missing in [4, 7] {
            let last = joined(Keep::All, &[3, missing]).pop().unwrap();
            assert!(matches!(last, Err(ExportError::NoSuchRow(row)) if row == missing));
        }
    }

    #[test]
    fn wide_or_unordered_rows_end_it() {
        let layout = layout(Keep::All);
        let row = |row, width| {
            Ok(SourceRow {
                row,
                cells: vec![String::new(); width],
            })
        };
        let none = || std::iter::empty::<Result<ResultRow, RowError>>();
        let wide: Vec<_> = join(&layout, [row(1, 3), row(2, 1)].into_iter(), none()).collect();
        assert!(matches!(
            wide[..],
            [Err(ExportError::Width { found: 3, .. })]
        ));
        let twice: Vec<_> = join(&layout, [row(1, 1), row(1, 1)].into_iter(), none()).collect();
        assert!(matches!(twice[..], [Ok(_), Err(ExportError::Order(1))]));
    }
}
