//! Reads lists and writes results.
//!
//! A list is a workbook (`.xlsx`, `.xlsm`, `.xls`, `.ods`), delimited text (`.csv`, `.tsv`), JSON
//! Lines (`.jsonl`, `.ndjson`) or lines of text. [`List::open`] detects the format and the headings;
//! [`List::rows`] passes on the requested columns as text. A [`MadeList`] is such a file, made from
//! a directory.
//!
//! Results go into a copy of the workbook ([`workbook_copy`]), or next to the values of the list
//! into a new file ([`new_workbook`], [`write_text`]). A [`new_workbook::Form`] is a sheet for people
//! to fill in.

pub mod new_workbook;
pub mod results;
pub mod workbook_copy;
pub mod write_text;

mod cell;
mod encoding;
mod error;
mod header;
mod list;
mod made_list;
mod read_text;
mod read_workbook;
mod source;

pub use cell::{ColumnIndex, shortened};
pub use encoding::TextEncoding;
pub use error::{ReadError, UnknownEncoding};
pub use header::{Header, HeaderChoice};
pub use list::{List, ReadOptions};
pub use made_list::MadeList;
pub use source::{SourceFormat, digest};
