//! A copy of a workbook with result columns in one sheet.
//!
//! Every part of the package except that sheet is copied as compressed bytes: other sheets, styles,
//! charts, images, formulas, macros. The sheet's own XML is not rewritten; cells are inserted between
//! its bytes. Only these change: the `ref` of `dimension`, the `spans` of a row that grows, and an
//! empty cell (one with a format and no value) in the place of a result, which gives its format to
//! the result. The result columns get a width unless the sheet sets one.
//!
//! The sheet is read twice, as a stream: once to find where its columns end (`scan`), once to copy it
//! (`insert`). A digital signature over the workbook does not cover the copy.

mod package;
mod sheet;
#[cfg(test)]
mod tests;

use std::io::{BufWriter, Read, Seek, Write};

use zip::ZipWriter;
use zip::result::ZipError;

use super::header::Header;
use super::results::{ExportError, ResultRow, RowError, free_headings};
use super::workbook_copy::package::{Package, Tokens};
use super::workbook_copy::sheet::{Results, insert, scan};

pub use package::WorkbookError;

/// A sheet with more XML than this is written in the zip64 form, because the results might push it
/// over the 4 GiB limit of the plain form. Smaller sheets are not, because some spreadsheet programs
/// refuse the zip64 form.
const LARGE_SHEET: u64 = 3 << 30;

/// Copies a workbook with the results right of the last column that the sheet uses.
///
/// `widths` are the widths of the first result columns. `rows` come in the order of their numbers. A
/// heading that `header` already has is changed (see [`free_headings`]).
///
/// # Errors
///
/// [`ExportError::Workbook`] if the workbook is faulty; then `out` is incomplete.
pub fn copy_workbook(
    source: impl Read + Seek,
    out: impl Write + Seek,
    (sheet, header): (&str, Option<&Header>),
    headings: &[String],
    widths: &[u16],
    rows: &mut dyn Iterator<Item = Result<ResultRow, RowError>>,
) -> Result<(), ExportError> {
    let mut package = Package::open(source)?;
    let sheet = package.sheet(sheet)?;
    let header_row = header.map(|header| header.row);
    let taken = header.map_or(&[][..], |header| &header.cells);
    let tokens = Tokens::new(&package.name(sheet), package.content(sheet)?)?;
    let scan = scan(tokens, header_row)?;
    let headings = free_headings(taken, headings);
    let mut results = Some(Results::new(&scan, header_row, headings, rows)?.wide(&scan, widths));

    let mut copy = ZipWriter::new(out);
    let comment = package.archive.comment().into();
    copy.set_raw_comment(comment).map_err(unwritten)?;
    for index in 0..package.archive.len() {
        if let Some(results) = results.take_if(|_| index == sheet) {
            copy_sheet(&mut package, index, &mut copy, results)?;
        } else {
            let name = package.name(index);
            let raw = package.archive.by_index_raw(index);
            let raw = raw.map_err(|refused| WorkbookError::unreadable(name, refused))?;
            copy.raw_copy_file(raw).map_err(unwritten)?;
        }
    }
    let mut out = copy.finish().map_err(unwritten)?;
    out.flush().map_err(ExportError::Write)
}

/// Writes the sheet's part with the results in it.
fn copy_sheet<R: Read + Seek, W: Write + Seek>(
    package: &mut Package<R>,
    index: usize,
    copy: &mut ZipWriter<W>,
    results: Results<'_>,
) -> Result<(), ExportError> {
    let name = package.name(index);
    let old = package.archive.by_index_raw(index);
    let old = old.map_err(|refused| WorkbookError::unreadable(name.clone(), refused))?;
    let large = old.size() > LARGE_SHEET;
    let mut options = old.options().large_file(large).into_full_options();
    if !old.comment().is_empty() {
        options = options.with_file_comment(old.comment());
    }
    drop(old);
    copy.start_file(&name, options).map_err(unwritten)?;
    let tokens = Tokens::new(&name, package.content(index)?)?;
    let mut out = BufWriter::with_capacity(64 * 1024, copy);
    insert(tokens, &mut out, results)?;
    out.flush().map_err(ExportError::Write)
}

fn unwritten(refused: ZipError) -> ExportError {
    ExportError::Write(refused.into())
}
