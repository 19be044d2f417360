//! A copy of a workbook with result columns in one sheet.
//!
//! Every part of the package but that sheet is carried over as it is, compressed bytes and
//! all: other sheets, styles, charts, images, formulas, macros. In the sheet's own XML nothing
//! is rewritten; cells are put between the bytes that were there. Only these change: the `ref` of
//! `dimension`, the `spans` of a row that grows, and an empty cell (one that has a format and no
//! value) where a result goes, which gives its format to the result. The columns of the results get
//! a width where the sheet gives them none.
//!
//! The sheet is read twice, as a stream: once to learn where its columns end (`scan`), once
//! to copy it (`insert`). A digital signature over the workbook does not cover the copy.

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

/// Above this size of the sheet's XML its entry is written in the zip64 form, as the results
/// might take it over the 4 GiB that the plain form ends at. Below it never is: some
/// spreadsheet programs refuse that form.
const LARGE_SHEET: u64 = 3 << 30;

/// Copies a workbook with the results right of the last column that the sheet uses.
///
/// `widths` are those of the first columns of the results. `rows` come in the order of their
/// numbers. A heading that `header` has already is changed (see
/// [`free_headings`]).
///
/// # Errors
///
/// [`ExportError::Workbook`] for what is wrong with the workbook; what was written to `out`
/// until then is of no use.
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
