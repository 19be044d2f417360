//! Reading lines of text, one item a line.
//!
//! A row's number is that of its line, counted from 1; blank lines count, and are passed over.

use std::io::{BufRead as _, BufReader};
use std::ops::ControlFlow;
use std::path::Path;

use super::decode::open_text;
use super::encoding::TextEncoding;
use super::read_csv::{check_length, next_row};
use super::read_error::ReadError;
use super::row_sink::RowSink;

/// Reads the file at `path`, line by line; each is a row of one cell.
pub(super) fn read_lines(
    path: &Path,
    encoding: TextEncoding,
    sink: &mut RowSink<'_>,
) -> Result<(), ReadError> {
    let mut lines = BufReader::new(open_text(path, encoding)?);
    let mut line = String::new();
    let mut row = 0_u32;
    loop {
        line.clear();
        let read = lines
            .read_line(&mut line)
            .map_err(|source| ReadError::of_text(path, source))?;
        if read == 0 {
            break;
        }
        row = next_row(path, row)?;
        check_length(path, row, &line)?;
        if sink.at_row(row).is_break() {
            return Ok(());
        }
        sink.put(0, line.trim_end_matches(['\r', '\n']));
    }
    let (ControlFlow::Continue(()) | ControlFlow::Break(())) = sink.finish();
    Ok(())
}
