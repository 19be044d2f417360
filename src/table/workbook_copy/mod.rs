//! A copy of a workbook with result columns in one sheet.
//!
//! Every part of the package but that sheet is carried over as it is, compressed bytes and
//! all: other sheets, styles, charts, images, formulas, macros. In the sheet's own XML nothing
//! is written anew; cells are put between the bytes that were there. What changes besides: the
//! `ref` of `dimension`, the `spans` of a row that grows, and an empty cell (one that has a
//! format and no value) that stands where a result goes, which gives its format to the result.
//!
//! The sheet is read twice, as a stream: once to learn where its columns end (`scan`), once
//! to copy it (`insert`). A digital signature over the workbook does not cover the copy.

mod insert;
mod package;
mod scan;
#[cfg(test)]
mod tests;
mod xml;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufWriter, Read, Seek, Write};

use zip::ZipWriter;
use zip::result::ZipError;

use super::workbook_copy::insert::{Header, Plan, insert};
use super::workbook_copy::package::{Package, SheetPart, shared_strings};
use super::workbook_copy::scan::{Heading, Scan, scan};
use super::workbook_copy::xml::Tokens;
use crate::table::results::{ExportError, ResultRow, RowError, free_headings};

pub use xml::WorkbookError;

/// Above this size of the sheet's XML its entry is written in the zip64 form, as the results
/// might take it over the 4 GiB that the plain form ends at. Below it never is: some
/// spreadsheet programs refuse that form.
const LARGE_SHEET: u64 = 3 << 30;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place<'a> {
    pub sheet: &'a str,
    /// The row that holds the headings, counted from 1, if one does.
    pub header_row: Option<u32>,
}

/// Copies a workbook with the results right of the last column that the sheet uses, and tells
/// how many rows have results.
///
/// `rows` come in the order of their numbers. A heading that the sheet has already is made
/// free (see [`free_headings`]).
///
/// # Errors
///
/// [`ExportError::Workbook`] for what is wrong with the workbook; what was written to `out`
/// until then is of no use.
pub fn copy_workbook(
    source: impl Read + Seek,
    out: impl Write + Seek,
    place: Place<'_>,
    headings: &[String],
    rows: &mut dyn Iterator<Item = Result<ResultRow, RowError>>,
) -> Result<u64, ExportError> {
    let mut package = Package::open(source)?;
    let part = package.sheet(place.sheet)?;
    let plan = plan(&mut package, &part, place, headings)?;

    let mut copy = ZipWriter::new(out);
    let comment = package.archive.comment().into();
    copy.set_raw_comment(comment).map_err(unwritten)?;
    let mut written = 0;
    for index in 0..package.archive.len() {
        if index == part.sheet {
            written = copy_sheet(&mut package, index, &mut copy, &plan, rows)?;
        } else {
            let name = package.name(index);
            let raw = package.archive.by_index_raw(index);
            let raw = raw.map_err(|refused| unreadable(name, refused))?;
            copy.raw_copy_file(raw).map_err(unwritten)?;
        }
    }
    let mut out = copy.finish().map_err(unwritten)?;
    out.flush().map_err(ExportError::Write)?;
    Ok(written)
}

/// Reads the sheet once to learn where the results go and what stands above them.
fn plan<R: Read + Seek>(
    package: &mut Package<R>,
    part: &SheetPart,
    place: Place<'_>,
    headings: &[String],
) -> Result<Plan, ExportError> {
    let name = package.name(part.sheet);
    let tokens = Tokens::new(&name, package.content(part.sheet)?)?;
    let scan = scan(tokens, place.header_row)?;
    let taken = texts(package, part, &scan)?;
    let header = place.header_row.map(|row| Header {
        row,
        headings: free_headings(&taken, headings),
        style: scan.header_style,
    });
    Plan::new(scan.last_column + 1, headings.len(), header)
}

fn texts<R: Read + Seek>(
    package: &mut Package<R>,
    part: &SheetPart,
    scan: &Scan,
) -> Result<Vec<String>, WorkbookError> {
    let index = |heading: &Heading| match heading {
        Heading::Shared(index) => Some(*index),
        Heading::Text(_) => None,
    };
    let wanted: BTreeSet<usize> = scan.headings.iter().filter_map(index).collect();
    let shared = match part.shared_strings {
        Some(strings) if !wanted.is_empty() => {
            let name = package.name(strings);
            let tokens = Tokens::new(&name, package.content(strings)?)?;
            shared_strings(tokens, &wanted)?
        }
        _ => BTreeMap::new(),
    };
    let text = |heading: &Heading| match heading {
        Heading::Shared(index) => shared.get(index).cloned(),
        Heading::Text(text) => Some(text.clone()),
    };
    Ok(scan.headings.iter().filter_map(text).collect())
}

/// Writes the sheet's part anew, with the results in it.
fn copy_sheet<R: Read + Seek, W: Write + Seek>(
    package: &mut Package<R>,
    index: usize,
    copy: &mut ZipWriter<W>,
    plan: &Plan,
    rows: &mut dyn Iterator<Item = Result<ResultRow, RowError>>,
) -> Result<u64, ExportError> {
    let name = package.name(index);
    let old = package.archive.by_index_raw(index);
    let old = old.map_err(|refused| unreadable(name.clone(), refused))?;
    let large = old.size() > LARGE_SHEET;
    let mut options = old.options().large_file(large).into_full_options();
    if !old.comment().is_empty() {
        options = options.with_file_comment(old.comment());
    }
    drop(old);
    copy.start_file(&name, options).map_err(unwritten)?;
    let tokens = Tokens::new(&name, package.content(index)?)?;
    let mut out = BufWriter::with_capacity(64 * 1024, copy);
    let written = insert(tokens, &mut out, plan, rows)?;
    out.flush().map_err(ExportError::Write)?;
    Ok(written)
}

fn unwritten(refused: ZipError) -> ExportError {
    ExportError::Write(io_error(refused))
}

fn unreadable(part: String, refused: ZipError) -> WorkbookError {
    let source = io_error(refused);
    WorkbookError::Unreadable { part, source }
}

fn io_error(refused: ZipError) -> std::io::Error {
    match refused {
        ZipError::Io(source) => source,
        other => other.into(),
    }
}
