//! Where in a sheet's XML an event stands (ECMA-376 part 1, 18.3.1).
//!
//! Elements are told by their depth, their local name and the prefix that the root element
//! has, so both the usual and the strict namespace are understood under any prefix.

use quick_xml::events::{BytesStart, Event};

use super::WorkbookError;
use super::tag;
use super::tokens::Token;
use crate::table::cell_reference::{CellReference, LAST_COLUMN, LAST_ROW, parse_row};

/// What an event is to the sheet. `empty` tells a self-closing tag, which has no end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// The tag that tells which area is in use.
    Dimension,
    /// The start of the rows.
    Rows { empty: bool },
    /// The end of the rows.
    RowsEnd,
    /// The start of a row, counted from 1.
    Row { row: u32, empty: bool },
    /// The end of a row.
    RowEnd,
    /// The start of a cell, its column counted from 1.
    Cell { column: u32, empty: bool },
    /// The end of a cell.
    CellEnd,
    /// Anything within a cell.
    InCell,
    /// A merged area.
    Merged,
    /// The end of the part.
    End,
    /// Anything else.
    Other,
}

/// Follows the events of one sheet.
#[derive(Debug)]
pub(super) struct Walk {
    part: String,
    prefix: String,
    depth: u32,
    inside: Inside,
    seen_rows: bool,
    row: u32,
    column: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inside {
    Sheet,
    Rows,
    Row,
    Cell,
}

impl Walk {
    pub(super) fn new(part: &str) -> Self {
        Self {
            part: part.to_owned(),
            prefix: String::new(),
            depth: 0,
            inside: Inside::Sheet,
            seen_rows: false,
            row: 0,
            column: 0,
        }
    }

    /// The prefix of the sheet's elements with its colon, or nothing.
    pub(super) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The row that was met last.
    pub(super) fn row(&self) -> u32 {
        self.row
    }

    /// Whether `name` is the sheet's own element `local`.
    pub(super) fn is(&self, name: &str, local: &str) -> bool {
        name.strip_prefix(&self.prefix) == Some(local)
    }

    /// Takes the next event in.
    pub(super) fn step(&mut self, token: &Token<'_>) -> Result<Step, WorkbookError> {
        match &token.event {
            Event::Start(start) => {
                self.depth += 1;
                self.open(start, token.raw, self.depth, false)
            }
            Event::Empty(start) => self.open(start, token.raw, self.depth + 1, true),
            Event::End(_) => {
                let step = self.close();
                self.depth = self.depth.saturating_sub(1);
                Ok(step)
            }
            Event::Eof if self.depth > 0 => Err(self.malformed("ends too early".into())),
            Event::Eof if !self.seen_rows => Err(self.malformed("is not a worksheet".into())),
            Event::Eof => Ok(Step::End),
            _ if self.inside == Inside::Cell => Ok(Step::InCell),
            _ => Ok(Step::Other),
        }
    }

    fn open(
        &mut self,
        start: &BytesStart<'_>,
        tag: &[u8],
        depth: u32,
        empty: bool,
    ) -> Result<Step, WorkbookError> {
        let name = start.name().into_inner();
        if depth == 1 {
            let local = name.rfind(':').map_or(0, |colon| colon + 1);
            if &name[local..] != "worksheet" {
                return Err(self.malformed("is not a worksheet".into()));
            }
            name[..local].clone_into(&mut self.prefix);
            return Ok(Step::Other);
        }
        match (self.inside, depth) {
            (Inside::Cell, _) => Ok(Step::InCell),
            (Inside::Sheet, 2) if self.is(name, "sheetData") => self.open_rows(empty),
            (Inside::Sheet, 2) if self.is(name, "dimension") => Ok(Step::Dimension),
            (Inside::Sheet, 3) if self.is(name, "mergeCell") => Ok(Step::Merged),
            (Inside::Rows, 3) if self.is(name, "row") => self.open_row(tag, empty),
            (Inside::Row, 4) if self.is(name, "c") => self.open_cell(tag, empty),
            _ => Ok(Step::Other),
        }
    }

    fn open_rows(&mut self, empty: bool) -> Result<Step, WorkbookError> {
        if std::mem::replace(&mut self.seen_rows, true) {
            return Err(self.malformed("has two lists of rows".into()));
        }
        if !empty {
            self.inside = Inside::Rows;
        }
        Ok(Step::Rows { empty })
    }

    fn open_row(&mut self, tag: &[u8], empty: bool) -> Result<Step, WorkbookError> {
        let row = match tag::value(tag, "r") {
            Some(number) => parse_row(number),
            None => Some(self.row + 1).filter(|row| *row <= LAST_ROW),
        };
        let Some(row) = row.filter(|row| *row > self.row) else {
            let last = self.row;
            return Err(
                self.malformed(format!("has a row out of order or bounds after row {last}"))
            );
        };
        self.row = row;
        self.column = 0;
        if !empty {
            self.inside = Inside::Row;
        }
        Ok(Step::Row { row, empty })
    }

    fn open_cell(&mut self, tag: &[u8], empty: bool) -> Result<Step, WorkbookError> {
        let row = self.row;
        let column = match tag::value(tag, "r") {
            Some(reference) => CellReference::parse(reference)
                .filter(|place| place.row == row)
                .map(|place| place.column),
            None => Some(self.column + 1).filter(|column| *column <= LAST_COLUMN),
        };
        let Some(column) = column.filter(|column| *column > self.column) else {
            return Err(self.malformed(format!("has a cell out of order or bounds in row {row}")));
        };
        self.column = column;
        if !empty {
            self.inside = Inside::Cell;
        }
        Ok(Step::Cell { column, empty })
    }

    fn close(&mut self) -> Step {
        match (self.inside, self.depth) {
            (Inside::Cell, 4) => {
                self.inside = Inside::Row;
                Step::CellEnd
            }
            (Inside::Cell, _) => Step::InCell,
            (Inside::Row, 3) => {
                self.inside = Inside::Rows;
                Step::RowEnd
            }
            (Inside::Rows, 2) => {
                self.inside = Inside::Sheet;
                Step::RowsEnd
            }
            _ => Step::Other,
        }
    }

    fn malformed(&self, what: String) -> WorkbookError {
        WorkbookError::Malformed {
            part: self.part.clone(),
            what,
        }
    }
}
