//! What can go wrong when a list is read.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::encoding::{TextEncoding, UnknownEncoding};
use crate::quest::file::nearest;

/// A list that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// There is no such file.
    #[error("{}: there is no such file; check the path", path.display())]
    Missing {
        /// The path.
        path: PathBuf,
    },
    /// It is a directory.
    #[error("{}: this is a directory; name a file in it", path.display())]
    Directory {
        /// The path.
        path: PathBuf,
    },
    /// It is a pipe or a device.
    #[error("{}: this is not a regular file, and a list is read more than once; save it to a file first", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// The system did not let it be read.
    #[error("{}: cannot be read; check its permissions and the disk", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// It is a workbook behind a password.
    #[error("{}: the workbook is encrypted; open it with its password and save a copy without one", path.display())]
    Encrypted {
        /// The path.
        path: PathBuf,
    },
    /// It has another format than was said.
    #[error("{}: said to be {wanted}, and this is {found}; say another format, or none", path.display())]
    OtherFormat {
        /// The path.
        path: PathBuf,
        /// The format that was said.
        wanted: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// A line of JSON Lines is no object.
    #[error("{}: line {line}, column {column}: {what}; each line of JSON Lines is one object", path.display())]
    NotJson {
        /// The path.
        path: PathBuf,
        /// The line, counted from 1.
        line: u32,
        /// The character in it, counted from 1.
        column: usize,
        /// What is wrong.
        what: String,
    },
    /// Its objects have more keys than there can be columns.
    #[error("{}: its objects have more than {limit} keys, and each is a column; nest them", path.display())]
    TooManyKeys {
        /// The path.
        path: PathBuf,
        /// The bound.
        limit: u32,
    },
    /// A directory was wanted.
    #[error("{}: this is no directory; name one whose files are the list", path.display())]
    NotADirectory {
        /// The path.
        path: PathBuf,
    },
    /// No file in the directory matches.
    #[error("{}: no file in it matches `{glob}`, or all that do are ignored", path.display())]
    NoFile {
        /// The directory.
        path: PathBuf,
        /// The pattern.
        glob: String,
    },
    /// A pattern of paths cannot be read.
    #[error("{}: the pattern `{}` of files in it cannot be read", path.display(), source.glob().unwrap_or_default())]
    BadGlob {
        /// The directory.
        path: PathBuf,
        /// What is wrong with which pattern.
        source: globset::Error,
    },
    /// The name of a file is no text.
    #[error("{}: the name of this file is not Unicode; rename it, or ignore it", path.display())]
    NameNotText {
        /// The path.
        path: PathBuf,
    },
    /// It is named as a workbook, or packed as one, and is none.
    #[error("{}: {found}, not a workbook that can be read; save it as .xlsx or .csv", path.display())]
    NotAWorkbook {
        /// The path.
        path: PathBuf,
        /// What it is.
        found: &'static str,
    },
    /// It is a damaged workbook.
    #[error("{}: the workbook is damaged ({what}); open it in a spreadsheet program and save it again", path.display())]
    Damaged {
        /// The path.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// It unpacks to more than is read.
    #[error("{}: {what} is larger than {limit} bytes; split the list", path.display())]
    TooLarge {
        /// The path.
        path: PathBuf,
        /// What is too large.
        what: String,
        /// The bound.
        limit: u64,
    },
    /// It is neither a workbook nor text.
    #[error("{}: this is neither a workbook nor text; a list is .xlsx, .xlsm, .xls, .ods, .csv, .tsv, .jsonl or lines of text", path.display())]
    NotText {
        /// The path.
        path: PathBuf,
    },
    /// It has no rows.
    #[error("{}: {place} has no rows{others}", path.display())]
    Empty {
        /// The path.
        path: PathBuf,
        /// The sheet, or the list.
        place: String,
        /// What else could be read, as the end of the sentence.
        others: String,
    },
    /// It has no such sheet.
    #[error("{}: there is no sheet `{sheet}`; there are {}{}", path.display(), sheets.join(", "), near(sheet, sheets))]
    NoSuchSheet {
        /// The path.
        path: PathBuf,
        /// The sheet asked for.
        sheet: String,
        /// Those that are, quoted.
        sheets: Vec<String>,
    },
    /// A sheet was named, and it is a text.
    #[error("{}: this is text and has no sheets; leave --sheet away", path.display())]
    NoSheets {
        /// The path.
        path: PathBuf,
    },
    /// It has no such column.
    #[error("{}: there is no column `{column}`; there are {}{}", path.display(), columns.join(", "), near(column, columns))]
    NoSuchColumn {
        /// The path.
        path: PathBuf,
        /// The column asked for.
        column: String,
        /// Those that are: letter and heading.
        columns: Vec<String>,
    },
    /// Several columns have the heading.
    #[error("{}: several columns are headed `{column}`: {}; name one by its letter", path.display(), columns.join(", "))]
    AmbiguousColumn {
        /// The path.
        path: PathBuf,
        /// The heading asked for.
        column: String,
        /// The letters of those that have it.
        columns: Vec<String>,
    },
    /// The encoding that was named is none.
    #[error("{}: the encoding that was named cannot be used", path.display())]
    UnknownEncoding {
        /// The path.
        path: PathBuf,
        /// The name.
        source: UnknownEncoding,
    },
    /// An encoding was named, and it is a workbook.
    #[error("{}: this is a workbook, which says itself how it is encoded; leave --encoding away", path.display())]
    EncodingOfWorkbook {
        /// The path.
        path: PathBuf,
    },
    /// Some bytes are not text in its encoding.
    #[error("{}: line {line} is not text in {encoding}; name the file's encoding with --encoding, or mend that line", path.display())]
    Undecodable {
        /// The path.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// The encoding, named or detected.
        encoding: TextEncoding,
    },
    /// One cell is longer than any that people write.
    #[error("{}: a cell of row {row} is longer than {limit} bytes; a quote may not be closed there", path.display())]
    CellTooLong {
        /// The path.
        path: PathBuf,
        /// The row, as it is numbered.
        row: u32,
        /// The bound.
        limit: usize,
    },
    /// It has more rows than are counted.
    #[error("{}: it has more than {limit} rows; split the list", path.display())]
    TooManyRows {
        /// The path.
        path: PathBuf,
        /// The bound.
        limit: u32,
    },
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
