//! Reading delimited text.
//!
//! A row's number is that of its record, counted from 1 with the heading record; lines with
//! nothing on them are no records. A record may span lines, by a quoted cell.

use std::io::Read;
use std::ops::ControlFlow;
use std::path::Path;

use csv::{ErrorKind, Reader, ReaderBuilder, StringRecord};

use super::decode::open_text;
use super::encoding::TextEncoding;
use super::read_error::ReadError;
use super::row_sink::RowSink;
use super::source_format::Delimiter;

/// The longest cell of a text.
///
/// Spreadsheets hold 32,767 characters; far above that, a quote was not closed and has
/// swallowed the rows that follow.
pub const MAX_CELL_BYTES: usize = 1024 * 1024;

/// A reader of records of UTF-8 as lists are read: RFC 4180, any number of cells a record, no
/// record taken for headings.
///
/// Whatever identifies rows by their numbers must read with it.
pub fn csv_reader<R: Read>(text: R, delimiter: Delimiter) -> Reader<R> {
    ReaderBuilder::new()
        .delimiter(delimiter.byte())
        .has_headers(false)
        .flexible(true)
        .from_reader(text)
}

/// Reads the delimited file at `path`, record by record.
pub(super) fn read_csv(
    path: &Path,
    delimiter: Delimiter,
    encoding: TextEncoding,
    sink: &mut RowSink<'_>,
) -> Result<(), ReadError> {
    let mut reader = csv_reader(open_text(path, encoding)?, delimiter);
    let mut record = StringRecord::new();
    let mut row = 0_u32;
    while reader
        .read_record(&mut record)
        .map_err(|error| of_csv(path, error))?
    {
        row = next_row(path, row)?;
        if sink.at_row(row).is_break() {
            return Ok(());
        }
        for (column, cell) in record.iter().enumerate() {
            check_length(path, row, cell)?;
            sink.put(column, cell);
        }
    }
    let (ControlFlow::Continue(()) | ControlFlow::Break(())) = sink.finish();
    Ok(())
}

pub(super) fn next_row(path: &Path, row: u32) -> Result<u32, ReadError> {
    row.checked_add(1).ok_or_else(|| ReadError::TooManyRows {
        path: path.to_path_buf(),
        limit: u32::MAX,
    })
}

pub(super) fn check_length(path: &Path, row: u32, cell: &str) -> Result<(), ReadError> {
    if cell.len() <= MAX_CELL_BYTES {
        return Ok(());
    }
    Err(ReadError::CellTooLong {
        path: path.to_path_buf(),
        row,
        limit: MAX_CELL_BYTES,
    })
}

fn of_csv(path: &Path, error: csv::Error) -> ReadError {
    match error.into_kind() {
        ErrorKind::Io(source) => ReadError::of_text(path, source),
        other => ReadError::damaged(path, format!("{other:?}")),
    }
}
