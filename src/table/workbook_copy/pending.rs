//! The rows that a sheet is still to gain: the header among the results, in order.

use super::insert::Plan;
use crate::table::cell_reference::LAST_ROW;
use crate::table::results::{Cell, ExportError, ResultRow, RowError};

/// The cells that one row gains, and the formats of the empty cells that they replace.
#[derive(Debug)]
pub(super) struct Gain {
    pub(super) row: u32,
    pub(super) cells: Vec<Cell>,
    pub(super) styles: Vec<Option<u32>>,
}

/// The rows to come.
pub(super) struct Pending<'a> {
    header: Option<Gain>,
    next: Option<Gain>,
    rows: &'a mut dyn Iterator<Item = Result<ResultRow, RowError>>,
    width: usize,
    last: u32,
    taken: u64,
}

impl<'a> Pending<'a> {
    /// The header of the plan and these results, of which the first is fetched at once.
    pub(super) fn new(
        plan: &Plan,
        rows: &'a mut dyn Iterator<Item = Result<ResultRow, RowError>>,
    ) -> Result<Self, ExportError> {
        let header = plan.header.as_ref().map(|header| Gain {
            row: header.row,
            cells: header.headings.iter().cloned().map(Cell::Text).collect(),
            styles: vec![header.style; header.headings.len()],
        });
        let mut pending = Self {
            header,
            next: None,
            rows,
            width: plan.width,
            last: 0,
            taken: 0,
        };
        pending.advance()?;
        Ok(pending)
    }

    /// The row that comes next.
    pub(super) fn due(&self) -> Option<u32> {
        let rows = [&self.header, &self.next];
        rows.into_iter().flatten().map(|gain| gain.row).min()
    }

    /// How many rows of results were taken.
    pub(super) fn taken(&self) -> u64 {
        self.taken
    }

    /// What that row gains, if anything. The header's row has no results.
    pub(super) fn take(&mut self, row: u32) -> Result<Option<Gain>, ExportError> {
        let is_it = |gain: &Gain| gain.row == row;
        let result = self.next.as_ref().is_some_and(is_it);
        if self.header.as_ref().is_some_and(is_it) {
            return if result {
                Err(ExportError::Order(row))
            } else {
                Ok(self.header.take())
            };
        }
        if !result {
            return Ok(None);
        }
        let gain = self.next.take();
        self.taken += 1;
        self.advance()?;
        Ok(gain)
    }

    fn advance(&mut self) -> Result<(), ExportError> {
        let Some(next) = self.rows.next() else {
            return Ok(());
        };
        let ResultRow { row, cells } = next.map_err(ExportError::Rows)?;
        if row <= self.last {
            return Err(ExportError::Order(row));
        }
        if row > LAST_ROW {
            return Err(ExportError::TooLarge("more rows"));
        }
        let (found, expected) = (cells.len(), self.width);
        if found != expected {
            return Err(ExportError::Results {
                row,
                found,
                expected,
            });
        }
        self.last = row;
        self.next = Some(Gain {
            row,
            cells,
            styles: vec![None; expected],
        });
        Ok(())
    }
}
