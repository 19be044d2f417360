//! What can go wrong when a list is read.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::quest::file::nearest;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not an encoding; known are utf-8, utf-16le, utf-16be, cp949, euc-kr, shift_jis, euc-jp, gbk, big5, windows-1252 and the other labels of the WHATWG Encoding standard"
)]
pub struct UnknownEncoding(pub(super) String);

#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("{}: there is no such file; check the path", path.display())]
    Missing { path: PathBuf },
    #[error("{}: this is a directory; name a file in it", path.display())]
    Directory { path: PathBuf },
    #[error("{}: this is not a regular file, but a list is read more than once; save it to a file first", path.display())]
    NotAFile { path: PathBuf },
    #[error("{}: cannot be read; check its permissions and the disk", path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{}: the workbook is encrypted; save a copy without a password", path.display())]
    Encrypted { path: PathBuf },
    #[error("{}: the format should be {wanted}, but this is {found}; name another format, or none", path.display())]
    OtherFormat {
        path: PathBuf,
        wanted: &'static str,
        found: &'static str,
    },
    #[error("{}: line {line}, column {column}: {what}; each line of JSON Lines is one object", path.display())]
    NotJson {
        path: PathBuf,
        /// The line, counted from 1.
        line: u32,
        /// The character in it, counted from 1.
        column: usize,
        what: String,
    },
    #[error("{}: its objects have more than {limit} keys, and each key is a column; nest them", path.display())]
    TooManyKeys { path: PathBuf, limit: u32 },
    #[error("{}: this is not a directory; name one whose files are the list", path.display())]
    NotADirectory { path: PathBuf },
    #[error("{}: no file in it matches `{glob}`, or all that match are ignored", path.display())]
    NoFile { path: PathBuf, glob: String },
    #[error("{}: the file pattern `{}` is not valid", path.display(), source.glob().unwrap_or_default())]
    BadGlob {
        path: PathBuf,
        source: globset::Error,
    },
    #[error("{}: the name of this file is not valid Unicode; rename it, or ignore it", path.display())]
    NameNotText { path: PathBuf },
    #[error("{}: {found}, not a workbook that can be read; save it as .xlsx or .csv", path.display())]
    NotAWorkbook { path: PathBuf, found: &'static str },
    #[error("{}: the workbook is damaged ({what}); open it in a spreadsheet program and save it again", path.display())]
    Damaged { path: PathBuf, what: String },
    #[error("{}: {what} is larger than {limit} bytes; split the list", path.display())]
    TooLarge {
        path: PathBuf,
        what: String,
        limit: u64,
    },
    #[error("{}: this is neither a workbook nor text; a list is .xlsx, .xlsm, .xls, .ods, .csv, .tsv, .jsonl or lines of text", path.display())]
    NotText { path: PathBuf },
    #[error("{}: {place} has no rows{others}", path.display())]
    Empty {
        path: PathBuf,
        place: String,
        /// What else could be read, as the end of the sentence.
        others: String,
    },
    #[error("{}: there is no sheet `{sheet}`; there are {}{}", path.display(), sheets.join(", "), near(sheet, sheets))]
    NoSuchSheet {
        path: PathBuf,
        sheet: String,
        sheets: Vec<String>,
    },
    #[error("{}: this is text and has no sheets; remove --sheet", path.display())]
    NoSheets { path: PathBuf },
    #[error("{}: there is no column `{column}`; there are {}{}", path.display(), columns.join(", "), near(column, columns))]
    NoSuchColumn {
        path: PathBuf,
        column: String,
        columns: Vec<String>,
    },
    #[error("{}: several columns are headed `{column}`: {}; name one by its letter", path.display(), columns.join(", "))]
    AmbiguousColumn {
        path: PathBuf,
        column: String,
        columns: Vec<String>,
    },
    #[error("{}: this encoding cannot be used", path.display())]
    UnknownEncoding {
        path: PathBuf,
        source: UnknownEncoding,
    },
    #[error("{}: this is a workbook, which has no encoding to choose; remove --encoding", path.display())]
    EncodingOfWorkbook { path: PathBuf },
    #[error("{}: line {line} is not text in {encoding}; name the file's encoding with --encoding, or correct that line", path.display())]
    Undecodable {
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        encoding: &'static str,
    },
    #[error("{}: a cell of row {row} is longer than {limit} bytes; a quote may not be closed there", path.display())]
    CellTooLong {
        path: PathBuf,
        row: u32,
        limit: usize,
    },
    #[error("{}: it has more than {limit} rows; split the list", path.display())]
    TooManyRows { path: PathBuf, limit: u32 },
}

impl ReadError {
    /// The error of opening the file at `path`.
    #[must_use]
    pub fn opening(path: &Path, source: io::Error) -> Self {
        let path = path.to_path_buf();
        match source.kind() {
            io::ErrorKind::NotFound => Self::Missing { path },
            io::ErrorKind::IsADirectory => Self::Directory { path },
            _ => Self::Io { path, source },
        }
    }

    pub(super) fn damaged(path: &Path, what: impl fmt::Display) -> Self {
        Self::Damaged {
            path: path.to_path_buf(),
            what: what.to_string(),
        }
    }
}

/// The suggestion of the one among `known` whose quoted name is nearest to `name`, if one is near.
fn near(name: &str, known: &[String]) -> String {
    let quoted = known.iter().filter_map(|known| known.split('`').nth(1));
    let near = nearest(name, quoted);
    near.map_or(String::new(), |near| format!("; did you mean `{near}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_sheet_or_column_brings_the_nearest() {
        let error = |column: &str| {
            let columns = vec!["A `Company`".to_owned(), "B `Website`".to_owned()];
            let (path, column) = ("list.csv".into(), column.to_owned());
            let error = ReadError::NoSuchColumn {
                path,
                column,
                columns,
            };
            error.to_string()
        };
        assert_eq!(
            error("Comapny"),
            "list.csv: there is no column `Comapny`; there are A `Company`, B `Website`; did you \
             mean `Company`?"
        );
        assert!(!error("Fax").contains("did you mean"));
    }
}
