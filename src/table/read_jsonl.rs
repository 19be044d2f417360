//! Reading JSON Lines: one object a line, whose keys name the columns.
//!
//! A row's number is that of its line, counted from 1; blank lines count, and are passed over.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::column::MAX_COLUMNS;
use super::decode::{DecodedText, open_text};
use super::encoding::TextEncoding;
use super::json_line::{Members, NotAnObject, text};
use super::read_csv::{check_length, next_row};
use super::read_error::ReadError;
use super::row_sink::RowSink;

/// The longest line.
const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

/// The lines of a file that are not blank, with their numbers.
pub(super) struct JsonLines {
    path: PathBuf,
    text: BufReader<DecodedText<BufReader<File>>>,
    line: Vec<u8>,
    number: u32,
}

impl JsonLines {
    /// The lines of the file at `path`.
    pub(super) fn open(path: &Path, encoding: TextEncoding) -> Result<Self, ReadError> {
        Ok(Self {
            path: path.to_path_buf(),
            text: BufReader::new(open_text(path, encoding)?),
            line: Vec::new(),
            number: 0,
        })
    }

    /// The next line and its number.
    pub(super) fn next(&mut self) -> Result<Option<(u32, &str)>, ReadError> {
        loop {
            self.line.clear();
            let most = MAX_LINE_BYTES as u64 + 1;
            let read = (&mut self.text)
                .take(most)
                .read_until(b'\n', &mut self.line);
            let read = read.map_err(|source| ReadError::of_text(&self.path, source))?;
            if read == 0 {
                return Ok(None);
            }
            self.number = next_row(&self.path, self.number)?;
            if read > MAX_LINE_BYTES {
                let column = MAX_LINE_BYTES;
                let what = format!("the line is longer than {MAX_LINE_BYTES} bytes");
                return Err(self.refused(NotAnObject { column, what }));
            }
            if !self.line.trim_ascii().is_empty() {
                break;
            }
        }
        match std::str::from_utf8(&self.line) {
            Ok(line) => Ok(Some((self.number, line.trim_end_matches(['\r', '\n'])))),
            Err(_) => Err(ReadError::damaged(&self.path, "its text does not decode")),
        }
    }

    fn refused(&self, why: NotAnObject) -> ReadError {
        not_json(&self.path, self.number, why)
    }
}

fn not_json(path: &Path, line: u32, why: NotAnObject) -> ReadError {
    ReadError::NotJson {
        path: path.to_path_buf(),
        line,
        column: why.column,
        what: why.what,
    }
}

/// The columns of a file: its keys, in the order in which they come first.
pub(super) struct JsonColumns {
    /// The keys, as they are spelled.
    pub(super) names: Vec<String>,
    places: HashMap<String, usize>,
}

impl JsonColumns {
    /// Reads through the file at `path`; every line must be an object.
    pub(super) fn find(path: &Path, encoding: TextEncoding) -> Result<Self, ReadError> {
        let mut lines = JsonLines::open(path, encoding)?;
        let mut columns = Self {
            names: Vec::new(),
            places: HashMap::new(),
        };
        while let Some((row, line)) = lines.next()? {
            let members = Members::of(line).map_err(|why| not_json(path, row, why))?;
            for (name, _) in members.0 {
                columns.add(name);
            }
            if columns.names.len() > MAX_COLUMNS as usize {
                let path = path.to_path_buf();
                return Err(ReadError::TooManyKeys {
                    path,
                    limit: MAX_COLUMNS,
                });
            }
        }
        Ok(columns)
    }

    fn add(&mut self, name: String) {
        if !self.places.contains_key(&name) {
            self.places.insert(name.clone(), self.names.len());
            self.names.push(name);
        }
    }

    /// Reads the file at `path` again, line by line; each is a row.
    pub(super) fn read(
        &self,
        path: &Path,
        encoding: TextEncoding,
        sink: &mut RowSink<'_>,
    ) -> Result<(), ReadError> {
        let mut lines = JsonLines::open(path, encoding)?;
        while let Some((row, line)) = lines.next()? {
            let refused = |why| not_json(path, row, why);
            if sink.at_row(row).is_break() {
                return Ok(());
            }
            for (name, value) in Members::of(line).map_err(refused)?.0 {
                // A key that was not there when the file was read through came in meanwhile.
                let Some(column) = self.places.get(&name) else {
                    return Err(ReadError::damaged(path, "it was changed while it was read"));
                };
                let text = text(line, value).map_err(refused)?;
                check_length(path, row, &text)?;
                sink.put(*column, &text);
            }
        }
        let (ControlFlow::Continue(()) | ControlFlow::Break(())) = sink.finish();
        Ok(())
    }
}
