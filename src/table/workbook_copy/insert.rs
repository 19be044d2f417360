//! The second reading of a sheet: every byte is passed on, and cells are put in between.

use std::io::{BufRead, Write};

use super::scan::{Scan, Step, Walk};
use super::xml;
use super::xml::Tokens;
use crate::table::cell::{Area, CellReference, LAST_COLUMN, LAST_ROW, write_cell};
use crate::table::results::{Cell, ExportError, ResultRow, RowError};

#[derive(Debug)]
pub(super) struct Plan {
    /// The columns of the first and the last result, counted from 1.
    first: u32,
    last: u32,
    width: usize,
    /// The row of the headings, and their cells.
    header: Option<Gain>,
}

impl Plan {
    pub(super) fn new(
        scan: &Scan,
        header_row: Option<u32>,
        headings: Vec<String>,
    ) -> Result<Self, ExportError> {
        let width = headings.len();
        let added = u32::try_from(width).unwrap_or(u32::MAX);
        let last = scan.last_column.saturating_add(added);
        if last > LAST_COLUMN {
            return Err(ExportError::TooLarge("more columns"));
        }
        Ok(Self {
            first: scan.last_column + 1,
            last,
            width,
            header: header_row.map(|row| Gain {
                row,
                styles: vec![scan.header_style; width],
                cells: headings.into_iter().map(Cell::Text).collect(),
            }),
        })
    }
}

/// Copies a sheet with the results in it.
pub(super) fn insert(
    mut tokens: Tokens<impl BufRead>,
    out: &mut dyn Write,
    mut plan: Plan,
    rows: &mut dyn Iterator<Item = Result<ResultRow, RowError>>,
) -> Result<(), ExportError> {
    let header = plan.header.take();
    let mut sheet = Sheet {
        out,
        plan: &plan,
        walk: Walk::new(tokens.part()),
        pending: Pending::new(header, plan.width, rows)?,
        gain: None,
        replacing: false,
    };
    loop {
        let token = tokens.next()?;
        let step = sheet.walk.step(&token)?;
        sheet.pass_on(step, token.raw)?;
        if step == Step::End {
            return Ok(());
        }
    }
}

struct Sheet<'a> {
    out: &'a mut dyn Write,
    plan: &'a Plan,
    walk: Walk,
    pending: Pending<'a>,
    gain: Option<Gain>,
    replacing: bool,
}

impl Sheet<'_> {
    fn pass_on(&mut self, step: Step, raw: &[u8]) -> Result<(), ExportError> {
        match step {
            Step::Dimension => return self.bytes(&widened_dimension(raw, self.plan.last)),
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
        let tag = widened_spans(raw, self.plan.last);
        if !empty {
            return self.bytes(&tag);
        }
        self.bytes(&opened(&tag))?;
        self.gained_cells()?;
        self.close("row")
    }

    fn cell(&mut self, column: u32, empty: bool, raw: &[u8]) -> Result<(), ExportError> {
        let (first, last) = (self.plan.first, self.plan.last);
        if column > last {
            self.gained_cells()?;
        }
        // The first reading found no value from the first result's column on.
        match &mut self.gain {
            Some(gain) if column >= first => {
                let style = xml::value(raw, "s").and_then(|style| style.parse().ok());
                let own = &mut gain.styles[(column - first) as usize];
                *own = own.or(style).or(Some(0));
                self.replacing = !empty;
                Ok(())
            }
            _ => self.bytes(raw),
        }
    }

    fn gained_cells(&mut self) -> Result<(), ExportError> {
        let Some(gain) = self.gain.take() else {
            return Ok(());
        };
        let row = gain.row;
        for ((column, cell), style) in (self.plan.first..).zip(&gain.cells).zip(gain.styles) {
            let place = CellReference { column, row };
            write_cell(self.out, &self.walk.prefix, place, style, cell)
                .map_err(ExportError::Write)?;
        }
        Ok(())
    }

    /// Writes the rows that are due before `row` and that the sheet has not.
    fn rows_before(&mut self, row: u32) -> Result<(), ExportError> {
        while let Some(due) = self.pending.due().filter(|due| *due < row) {
            let start = format!("<{}row r=\"{due}\">", self.walk.prefix);
            self.bytes(start.as_bytes())?;
            self.gain = self.pending.take(due)?;
            self.gained_cells()?;
            self.close("row")?;
        }
        Ok(())
    }

    fn close(&mut self, element: &str) -> Result<(), ExportError> {
        let end = format!("</{}{element}>", self.walk.prefix);
        self.bytes(end.as_bytes())
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<(), ExportError> {
        self.out.write_all(bytes).map_err(ExportError::Write)
    }
}

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
    let changed = xml::value(tag, name).and_then(change);
    match (xml::value_range(tag, name), changed) {
        (Some(range), Some(value)) => {
            [&tag[..range.start], value.as_bytes(), &tag[range.end..]].concat()
        }
        _ => tag.to_vec(),
    }
}

/// The cells that one row gains, and the formats of the empty cells that they replace.
#[derive(Debug)]
struct Gain {
    row: u32,
    cells: Vec<Cell>,
    styles: Vec<Option<u32>>,
}

/// The header and the results that are still to be written, of which the next one is fetched.
struct Pending<'a> {
    header: Option<Gain>,
    next: Option<Gain>,
    rows: &'a mut dyn Iterator<Item = Result<ResultRow, RowError>>,
    width: usize,
    last: u32,
}

impl<'a> Pending<'a> {
    fn new(
        header: Option<Gain>,
        width: usize,
        rows: &'a mut dyn Iterator<Item = Result<ResultRow, RowError>>,
    ) -> Result<Self, ExportError> {
        let mut pending = Self {
            header,
            next: None,
            rows,
            width,
            last: 0,
        };
        pending.advance()?;
        Ok(pending)
    }

    /// The number of the row that gains cells next.
    fn due(&self) -> Option<u32> {
        let rows = [&self.header, &self.next];
        rows.into_iter().flatten().map(|gain| gain.row).min()
    }

    /// What that row gains, if anything. The header's row has no results.
    fn take(&mut self, row: u32) -> Result<Option<Gain>, ExportError> {
        let header = self.header.take_if(|gain| gain.row == row);
        let result = self.next.take_if(|gain| gain.row == row);
        if header.is_some() && result.is_some() {
            return Err(ExportError::mismatch(row, "is out of order"));
        }
        if result.is_some() {
            self.advance()?;
        }
        Ok(header.or(result))
    }

    fn advance(&mut self) -> Result<(), ExportError> {
        let Some(next) = self.rows.next() else {
            return Ok(());
        };
        let ResultRow { row, cells } = next.map_err(ExportError::Rows)?;
        if row <= self.last {
            return Err(ExportError::mismatch(row, "is out of order"));
        }
        if row > LAST_ROW {
            return Err(ExportError::TooLarge("more rows"));
        }
        let (found, width) = (cells.len(), self.width);
        if found != width {
            let why = format!("has {found} results for {width} columns");
            return Err(ExportError::mismatch(row, why));
        }
        self.last = row;
        self.next = Some(Gain {
            row,
            cells,
            styles: vec![None; width],
        });
        Ok(())
    }
}
