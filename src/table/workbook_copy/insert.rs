//! The second reading of a sheet: every byte is passed on, and cells are put in between.

use std::io::{BufRead, Write};

use super::pending::{Gain, Pending};
use super::tag;
use super::tokens::Tokens;
use super::walk::{Step, Walk};
use crate::table::cell_reference::{Area, CellReference, LAST_COLUMN, LAST_ROW};
use crate::table::inline_cell::write_cell;
use crate::table::results::{ExportError, ResultRow, RowError};

/// Where the results go.
#[derive(Debug)]
pub(super) struct Plan {
    /// The column of the first result, counted from 1.
    pub(super) first: u32,
    /// How many columns there are.
    pub(super) width: usize,
    /// The header's row, headings and format.
    pub(super) header: Option<Header>,
}

/// The headings and where they go.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) row: u32,
    pub(super) headings: Vec<String>,
    pub(super) style: Option<u32>,
}

impl Plan {
    /// A plan that fits into a sheet.
    pub(super) fn new(
        first: u32,
        width: usize,
        header: Option<Header>,
    ) -> Result<Self, ExportError> {
        if u64::from(first) + width as u64 > u64::from(LAST_COLUMN) + 1 {
            return Err(ExportError::TooLarge("more columns"));
        }
        Ok(Self {
            first,
            width,
            header,
        })
    }

    /// The column of the last result.
    fn last(&self) -> u32 {
        // The width is at most that of a sheet, so it fits into the type.
        self.first + u32::try_from(self.width).unwrap_or(0).saturating_sub(1)
    }
}

/// Copies a sheet with the results in it, and tells how many rows have results.
pub(super) fn insert(
    mut tokens: Tokens<impl BufRead>,
    out: &mut dyn Write,
    plan: &Plan,
    rows: &mut dyn Iterator<Item = Result<ResultRow, RowError>>,
) -> Result<u64, ExportError> {
    let mut sheet = Sheet {
        out,
        plan,
        walk: Walk::new(tokens.part()),
        pending: Pending::new(plan, rows)?,
        gain: None,
        replacing: false,
    };
    loop {
        let token = tokens.next()?;
        let step = sheet.walk.step(&token)?;
        sheet.pass_on(step, token.raw)?;
        if step == Step::End {
            return Ok(sheet.pending.taken());
        }
    }
}

/// The sheet that is written.
struct Sheet<'a> {
    out: &'a mut dyn Write,
    plan: &'a Plan,
    walk: Walk,
    pending: Pending<'a>,
    /// What the row at hand gains and has not got yet.
    gain: Option<Gain>,
    /// Whether the cell at hand gives its place to a result.
    replacing: bool,
}

impl Sheet<'_> {
    fn pass_on(&mut self, step: Step, raw: &[u8]) -> Result<(), ExportError> {
        match step {
            Step::Dimension => return self.bytes(&widened_dimension(raw, self.plan.last())),
            Step::Rows { empty: true } => return self.empty_rows(raw),
            Step::Row { row, empty } => return self.row(row, empty, raw),
            Step::Cell { column, empty } => return self.cell(column, empty, raw),
            Step::InCell if self.replacing => return Ok(()),
            Step::CellEnd if std::mem::take(&mut self.replacing) => return Ok(()),
            Step::RowEnd => self.gained_cells()?,
            Step::RowsEnd => self.rows_before(LAST_ROW + 1)?,
            _ => {}
        }
        self.bytes(raw)
    }

    /// A list of rows that is empty as yet.
    fn empty_rows(&mut self, raw: &[u8]) -> Result<(), ExportError> {
        if self.pending.due().is_none() {
            return self.bytes(raw);
        }
        self.bytes(&opened(raw))?;
        self.rows_before(LAST_ROW + 1)?;
        self.close("sheetData")
    }

    fn row(&mut self, row: u32, empty: bool, raw: &[u8]) -> Result<(), ExportError> {
        self.rows_before(row)?;
        self.gain = self.pending.take(row)?;
        if self.gain.is_none() {
            return self.bytes(raw);
        }
        let tag = widened_spans(raw, self.plan.last());
        if !empty {
            return self.bytes(&tag);
        }
        self.bytes(&opened(&tag))?;
        self.gained_cells()?;
        self.close("row")
    }

    fn cell(&mut self, column: u32, empty: bool, raw: &[u8]) -> Result<(), ExportError> {
        let (first, last) = (self.plan.first, self.plan.last());
        if column > last {
            self.gained_cells()?;
        }
        // The first reading found no value from the first result's column on.
        match &mut self.gain {
            Some(gain) if column >= first => {
                let style = tag::value(raw, "s").and_then(|style| style.parse().ok());
                let own = &mut gain.styles[(column - first) as usize];
                *own = own.or(style).or(Some(0));
                self.replacing = !empty;
                Ok(())
            }
            _ => self.bytes(raw),
        }
    }

    /// Writes the cells that the row at hand gains, once.
    fn gained_cells(&mut self) -> Result<(), ExportError> {
        let Some(gain) = self.gain.take() else {
            return Ok(());
        };
        let row = gain.row;
        for ((column, cell), style) in (self.plan.first..).zip(&gain.cells).zip(gain.styles) {
            let place = CellReference { column, row };
            write_cell(self.out, self.walk.prefix(), place, style, cell)
                .map_err(ExportError::Write)?;
        }
        Ok(())
    }

    /// Writes the rows that are due before `row` and that the sheet has not.
    fn rows_before(&mut self, row: u32) -> Result<(), ExportError> {
        while let Some(due) = self.pending.due().filter(|due| *due < row) {
            let start = format!("<{}row r=\"{due}\">", self.walk.prefix());
            self.bytes(start.as_bytes())?;
            self.gain = self.pending.take(due)?;
            self.gained_cells()?;
            self.close("row")?;
        }
        Ok(())
    }

    fn close(&mut self, element: &str) -> Result<(), ExportError> {
        let end = format!("</{}{element}>", self.walk.prefix());
        self.bytes(end.as_bytes())
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<(), ExportError> {
        self.out.write_all(bytes).map_err(ExportError::Write)
    }
}

/// A self-closing tag as a start tag.
fn opened(tag: &[u8]) -> Vec<u8> {
    let mut open = tag.strip_suffix(b"/>").unwrap_or(tag).to_vec();
    if open.len() < tag.len() {
        open.push(b'>');
    }
    open
}

/// The row's tag with `spans` up to the last column; left alone where it cannot be read.
fn widened_spans(tag: &[u8], last: u32) -> Vec<u8> {
    replaced(tag, "spans", |spans| {
        let (before, end) = spans.rsplit_once(':')?;
        let end: u32 = end.parse().ok()?;
        Some(format!("{before}:{}", end.max(last)))
    })
}

/// The dimension's tag with an area up to the last column; left alone where it cannot be read.
fn widened_dimension(tag: &[u8], last: u32) -> Vec<u8> {
    replaced(tag, "ref", |area| {
        let area = Area::parse(area)?;
        let end = CellReference {
            column: area.last.column.max(last),
            row: area.last.row,
        };
        Some(format!("{}:{end}", area.first))
    })
}

fn replaced(tag: &[u8], name: &str, change: impl Fn(&str) -> Option<String>) -> Vec<u8> {
    let changed = tag::value(tag, name).and_then(change);
    match (tag::value_range(tag, name), changed) {
        (Some(range), Some(value)) => {
            [&tag[..range.start], value.as_bytes(), &tag[range.end..]].concat()
        }
        _ => tag.to_vec(),
    }
}
