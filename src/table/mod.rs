//! Reads lists and writes results.
//!
//! A list is a workbook (`.xlsx`, `.xlsm`, `.xls`, `.ods`), delimited text (`.csv`, `.tsv`), JSON
//! Lines (`.jsonl`, `.ndjson`) or lines of text. [`List::open`] finds out which, and its headings;
//! [`List::rows`] streams the columns asked for, as the text that the sheet shows. What a
//! directory holds or a command printed becomes such a file ([`MadeList`]).
//!
//! Results go into a copy of the workbook ([`workbook_copy`]) or beside the list's values into
//! a new file ([`workbook_new`], [`csv_write`], [`jsonl_write`], [`jsonl_copy`]), whole or not at all
//! ([`atomic`]). A sheet that people fill in is a [`form`].

pub mod csv_write;
pub mod form;
pub mod form_write;
pub mod join;
pub mod jsonl_copy;
pub mod jsonl_write;
pub mod result_columns;
pub mod results;
pub mod workbook_copy;
pub mod workbook_new;

mod calm;
mod cell_reference;
mod column;
mod decode;
mod delimiter;
mod directory;
mod encoding;
mod encoding_detect;
mod header;
mod header_words;
mod inline_cell;
mod json_line;
mod list;
mod list_columns;
mod made_list;
mod number_format;
mod ods_table;
mod ods_text;
mod read_csv;
mod read_error;
mod read_jsonl;
mod read_lines;
mod read_ods;
mod read_xls;
mod read_xlsx;
mod row_sink;
mod sheets;
mod source;
mod source_format;
mod xls_formats;
mod xlsx_bounds;

pub use column::{ColumnIndex, MAX_COLUMNS, NotAColumn};
pub use decode::{DecodedText, UndecodableLine, open_text};
pub use directory::{DirEntry, dir_as_jsonl, list_dir};
pub use encoding::{TextEncoding, UnknownEncoding};
pub use header::{FirstRow, Header, HeaderChoice, find_header};
pub use inline_cell::shortened;
pub use list::{List, ReadOptions};
pub use list_columns::{ListColumns, NotFound};
pub use made_list::{MadeList, lines_format};
pub use read_csv::{MAX_CELL_BYTES, csv_reader};
pub use read_error::ReadError;
pub use source::{identify, open_file};
pub use source_format::{Delimiter, FormatWish, SourceFormat};
