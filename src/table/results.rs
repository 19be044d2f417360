//! The rows of an export: what the list holds, what the session found, and what can go wrong.
//!
//! Everything flows through iterators, so that no more than a row is in memory at a time.

use std::io;

use super::workbook_copy::WorkbookError;

/// Why a row could not be had from the list or the session.
pub type RowError = Box<dyn std::error::Error + Send + Sync>;

/// One value among the results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cell {
    /// Text, also where it looks like a number or a formula. Empty text is an empty cell.
    Text(String),
    /// A count.
    Number(u64),
}

impl Cell {
    /// The cell that holds nothing.
    #[must_use]
    pub const fn empty() -> Self {
        Self::Text(String::new())
    }

    /// Whether the cell holds nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Text(text) if text.is_empty())
    }
}

/// One row of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceRow {
    /// Its number, counted from 1 as a spreadsheet counts.
    pub row: u32,
    /// Its cells' text, from the first column on.
    pub cells: Vec<String>,
}

/// What the session found for one row of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultRow {
    /// The row's number, counted from 1 as a spreadsheet counts.
    pub row: u32,
    /// A cell for every chosen column, in their order.
    pub cells: Vec<Cell>,
}

/// Why the results could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The workbook that the copy is made from is not what it should be.
    #[error(transparent)]
    Workbook(#[from] WorkbookError),
    /// A row could not be had.
    #[error("a row could not be read; nothing was written")]
    Rows(#[source] RowError),
    /// The system refused a write.
    #[error(
        "the results could not be written, and nothing was left behind; check that the disk has room"
    )]
    Write(#[source] io::Error),
    /// A row came after one of a higher number, or twice.
    #[error("row {0} came out of order; nothing was written")]
    Order(u32),
    /// A row has another number of results than there are columns.
    #[error("row {row} has {found} results for {expected} columns; nothing was written")]
    Results {
        /// The row.
        row: u32,
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// A row of the list is wider than the list was said to be.
    #[error(
        "row {row} of the list has {found} cells, more than its {width} columns; scan the list again"
    )]
    Width {
        /// The row.
        row: u32,
        /// How many cells it has.
        found: usize,
        /// How many columns the list has.
        width: usize,
    },
    /// There are results for a row that the list has not.
    #[error("there are results for row {0}, which the list has not; scan the list again")]
    NoSuchRow(u32),
    /// A workbook cannot hold so much.
    #[error(
        "a sheet ends at row 1048576 and column XFD, and this would need {0}; export as csv or jsonl"
    )]
    TooLarge(&'static str),
}
