//! Reading lists.
//!
//! A list is a workbook (`.xlsx`, `.xlsm`, `.xls`, `.ods`), delimited text (`.csv`, `.tsv`) or
//! lines of text. [`List::open`] finds out which, and its headings; [`List::rows`] streams the
//! columns asked for, as the text that the sheet shows.

mod calm;
mod column;
mod columns;
mod decode;
mod delimiter;
mod encoding;
mod encoding_detect;
mod header;
mod header_words;
mod list;
mod number_format;
mod ods_table;
mod ods_text;
mod read_csv;
mod read_error;
mod read_lines;
mod read_ods;
mod read_xls;
mod read_xlsx;
mod row_sink;
mod sheets;
mod source;
mod source_format;
mod xlsx_bounds;

pub use column::{ColumnIndex, MAX_COLUMNS, NotAColumn};
pub use columns::{Columns, NotFound};
pub use decode::{DecodedText, UndecodableLine, open_text};
pub use encoding::{TextEncoding, UnknownEncoding};
pub use header::{FirstRow, Header, HeaderChoice, find_header};
pub use list::{List, ReadOptions};
pub use read_csv::{MAX_CELL_BYTES, csv_reader};
pub use read_error::ReadError;
pub use source_format::{Delimiter, SourceFormat};
