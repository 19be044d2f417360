//! The rows of one sheet of an `OpenDocument` spreadsheet.

use std::io::BufRead;
use std::ops::ControlFlow;
use std::path::Path;

use quick_xml::Reader;
use quick_xml::events::{BytesRef, BytesStart, Event};

use super::column::MAX_COLUMNS;
use super::ods_text::{CellText, MAX_TEXT};
use super::read_error::ReadError;
use super::read_ods::attribute;
use super::row_sink::RowSink;

/// The most rows that a sheet can have in any program.
const MAX_ROWS: u32 = 1 << 24;

/// Reads the events that follow the start of a `table:table`.
pub(super) struct TableReader<'a, 's, R> {
    path: &'a Path,
    xml: Reader<R>,
    sink: &'a mut RowSink<'s>,
    /// Rows read, repeated ones counted.
    rows: u32,
    row_repeats: u32,
    /// Texts of the row: from column, how many columns, text.
    cells: Vec<(usize, usize, String)>,
    column: usize,
    cell_repeats: usize,
    covered: bool,
    text: CellText,
    /// How deep inside something that is no text of the cell.
    skipped: usize,
    /// How deep inside tables in cells.
    nested: usize,
}

impl<'a, 's, R: BufRead> TableReader<'a, 's, R> {
    pub(super) fn new(path: &'a Path, xml: Reader<R>, sink: &'a mut RowSink<'s>) -> Self {
        Self {
            path,
            xml,
            sink,
            rows: 0,
            row_repeats: 1,
            cells: Vec::new(),
            column: 0,
            cell_repeats: 1,
            covered: false,
            text: CellText::default(),
            skipped: 0,
            nested: 0,
        }
    }

    /// Reads up to the table's end.
    pub(super) fn read(mut self) -> Result<(), ReadError> {
        let mut buffer = Vec::new();
        loop {
            buffer.clear();
            let event = self.xml.read_event_into(&mut buffer);
            match event.map_err(|error| ReadError::damaged(self.path, error))? {
                Event::Start(start) => self
                    .start(&start)
                    .map_err(|error| ReadError::damaged(self.path, error))?,
                Event::Text(text) if self.skipped == 0 => self.text.push_str(&text.xml10_content()),
                Event::CData(text) if self.skipped == 0 => {
                    self.text.push_str(&text.xml10_content());
                }
                Event::GeneralRef(reference) if self.skipped == 0 => self.reference(&reference)?,
                Event::End(end) => match self.end(end.name().as_ref())? {
                    ControlFlow::Continue(()) => {}
                    ControlFlow::Break(()) => return Ok(()),
                },
                Event::Eof => {
                    return Err(ReadError::damaged(self.path, "its sheet is cut off"));
                }
                _ => {}
            }
            self.check_length()?;
        }
    }

    fn start(&mut self, start: &BytesStart<'_>) -> Result<(), quick_xml::Error> {
        let name = start.name();
        let name = name.as_ref();
        if self.skipped > 0 || is_skipped(name) {
            self.skipped += 1;
            return Ok(());
        }
        match name {
            "table:table" => self.nested += 1,
            _ if self.nested > 0 => {}
            "table:table-row" => {
                self.row_repeats = repeats(start, "table:number-rows-repeated")?;
                self.column = 0;
                self.cells.clear();
            }
            "table:table-cell" | "table:covered-table-cell" => {
                let count = repeats(start, "table:number-columns-repeated")?;
                self.cell_repeats = count as usize;
                self.covered = name == "table:covered-table-cell";
                self.text.clear();
            }
            "text:p" | "text:h" => self.text.start_paragraph(),
            "text:s" => {
                let count = repeats(start, "text:c")?;
                self.text.push_kept(' ', count as usize);
            }
            "text:tab" => self.text.push_kept('\t', 1),
            "text:line-break" => self.text.push_kept('\n', 1),
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, name: &str) -> Result<ControlFlow<()>, ReadError> {
        if self.skipped > 0 {
            self.skipped -= 1;
            return Ok(ControlFlow::Continue(()));
        }
        match name {
            "table:table" if self.nested == 0 => {
                let (ControlFlow::Continue(()) | ControlFlow::Break(())) = self.sink.finish();
                return Ok(ControlFlow::Break(()));
            }
            "table:table" => self.nested -= 1,
            _ if self.nested > 0 => {}
            "table:table-row" => return self.end_row(),
            "table:table-cell" | "table:covered-table-cell" => self.end_cell(),
            "text:p" | "text:h" => self.text.end_paragraph(),
            _ => {}
        }
        Ok(ControlFlow::Continue(()))
    }

    fn end_cell(&mut self) {
        let text = self.text.as_str();
        if !self.covered && !text.trim().is_empty() {
            self.cells
                .push((self.column, self.cell_repeats, text.to_owned()));
        }
        self.text.clear();
        self.column = self.column.saturating_add(self.cell_repeats);
    }

    fn end_row(&mut self) -> Result<ControlFlow<()>, ReadError> {
        let first = self.rows;
        self.rows = self.rows.saturating_add(self.row_repeats);
        // Blank rows fill the rest of many sheets, beyond any bound.
        if self.cells.is_empty() {
            return Ok(ControlFlow::Continue(()));
        }
        if self.rows > MAX_ROWS {
            return Err(ReadError::TooManyRows {
                path: self.path.to_path_buf(),
                limit: MAX_ROWS,
            });
        }
        for row in first..self.rows {
            if self.sink.at_row(row + 1).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            for (from, count, text) in &self.cells {
                let to = from.saturating_add(*count).min(MAX_COLUMNS as usize);
                for column in *from..to {
                    self.sink.put(column, text);
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn reference(&mut self, reference: &BytesRef<'_>) -> Result<(), ReadError> {
        let damaged = |error| ReadError::damaged(self.path, error);
        if let Some(letter) = reference.resolve_char_ref().map_err(damaged)? {
            self.text.push_str(letter.encode_utf8(&mut [0; 4]));
        } else if let Some(known) =
            quick_xml::escape::resolve_predefined_entity(&reference.xml10_content())
        {
            self.text.push_str(known);
        }
        Ok(())
    }

    fn check_length(&self) -> Result<(), ReadError> {
        if self.text.as_str().len() <= MAX_TEXT {
            return Ok(());
        }
        Err(ReadError::CellTooLong {
            path: self.path.to_path_buf(),
            row: self.rows.saturating_add(1),
            limit: MAX_TEXT,
        })
    }
}

/// Whether an element in a cell holds no text of the cell.
fn is_skipped(name: &str) -> bool {
    name == "office:annotation"
        || name == "text:ruby-text"
        || name == "table:shapes"
        || name.starts_with("draw:")
}

fn repeats(start: &BytesStart<'_>, name: &str) -> Result<u32, quick_xml::Error> {
    let count = attribute(start, name)?;
    Ok(count.map_or(1, |count| count.trim().parse().unwrap_or(1)))
}
