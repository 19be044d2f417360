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

mod copy;
mod error;
mod insert;
mod package;
mod pending;
mod scan;
mod shared_strings;
mod tag;
mod tokens;
mod walk;

#[cfg(test)]
mod tests;

pub use copy::{Place, copy_workbook};
pub use error::WorkbookError;
