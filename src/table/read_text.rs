//! Reading delimited text, lines and JSON Lines.
//!
//! The number of a CSV row is that of its record, counted from 1 with the heading record; lines
//! with nothing on them are no records. A record may span lines, by a quoted cell.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use csv::StringRecord;
use indexmap::IndexMap;
use serde_json::value::RawValue;

use super::cell::{LAST_COLUMN, RowSink};
use super::encoding::{DecodedText, TextEncoding, csv_reader, open_text};
use super::error::{Fault, Result};

/// The longest cell of a text.
///
/// Spreadsheets hold 32,767 characters; far above that, a quote was not closed and has
/// swallowed the rows that follow.
const MAX_CELL_BYTES: usize = 1024 * 1024;

/// The longest line of JSON.
const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

pub(super) fn read_csv(
    path: &Path,
    delimiter: u8,
    encoding: TextEncoding,
    sink: &mut RowSink<'_>,
) -> Result<()> {
    let mut reader = csv_reader(open_text(path, encoding)?, delimiter);
    let mut record = StringRecord::new();
    let mut row = 0_u32;
    while reader.read_record(&mut record)? {
        row = next_row(row)?;
        sink.at_row(row)?;
        for (column, cell) in record.iter().enumerate() {
            check_length(row, cell)?;
            sink.put(column, cell);
        }
    }
    Ok(())
}

fn next_row(row: u32) -> Result<u32> {
    let limit = u32::MAX;
    row.checked_add(1)
        .ok_or_else(|| format!("it has more than {limit} rows; split the list").into())
}

fn check_length(row: u32, cell: &str) -> Result<()> {
    if cell.len() <= MAX_CELL_BYTES {
        return Ok(());
    }
    Err(Fault::Other(format!(
        "a cell of row {row} is longer than {MAX_CELL_BYTES} bytes; a quote may not be closed there"
    )))
}

/// Reads the file at `path`; each line is a row of one cell.
pub(super) fn read_lines(
    path: &Path,
    encoding: TextEncoding,
    sink: &mut RowSink<'_>,
) -> Result<()> {
    let mut lines = BufReader::new(open_text(path, encoding)?);
    let mut line = String::new();
    let mut row = 0_u32;
    while lines.read_line(&mut line)? > 0 {
        row = next_row(row)?;
        check_length(row, &line)?;
        sink.at_row(row)?;
        sink.put(0, line.trim_end_matches(['\r', '\n']));
        line.clear();
    }
    Ok(())
}

/// The lines of a file that are not blank, with their numbers.
pub(super) struct JsonLines {
    text: BufReader<DecodedText<BufReader<File>>>,
    line: Vec<u8>,
    number: u32,
}

impl JsonLines {
    pub(super) fn open(path: &Path, encoding: TextEncoding) -> Result<Self> {
        Ok(Self {
            text: BufReader::new(open_text(path, encoding)?),
            line: Vec::new(),
            number: 0,
        })
    }

    pub(super) fn next(&mut self) -> Result<Option<(u32, &str)>> {
        loop {
            self.line.clear();
            let most = MAX_LINE_BYTES as u64 + 1;
            let mut bounded = (&mut self.text).take(most);
            let read = bounded.read_until(b'\n', &mut self.line)?;
            if read == 0 {
                return Ok(None);
            }
            self.number = next_row(self.number)?;
            if read > MAX_LINE_BYTES {
                let what = format!("the line is longer than {MAX_LINE_BYTES} bytes");
                return Err(refused(self.number, MAX_LINE_BYTES, &what));
            }
            if !self.line.trim_ascii().is_empty() {
                break;
            }
        }
        match std::str::from_utf8(&self.line) {
            Ok(line) => Ok(Some((self.number, line.trim_end_matches(['\r', '\n'])))),
            Err(_) => Err(Fault::damaged("its text does not decode")),
        }
    }
}

/// The columns of a file: its keys, in the order in which they first appear.
pub(super) struct JsonColumns {
    pub(super) names: Vec<String>,
    places: HashMap<String, usize>,
}

impl JsonColumns {
    /// Reads through the file at `path`; every line must be an object.
    pub(super) fn find(path: &Path, encoding: TextEncoding) -> Result<Self> {
        let mut lines = JsonLines::open(path, encoding)?;
        let mut columns = Self {
            names: Vec::new(),
            places: HashMap::new(),
        };
        while let Some((row, line)) = lines.next()? {
            let members = members(line).map_err(|error| not_an_object(row, line, 0, &error))?;
            for (name, _) in members {
                if !columns.places.contains_key(&name) {
                    columns.places.insert(name.clone(), columns.names.len());
                    columns.names.push(name);
                }
            }
            if columns.names.len() > LAST_COLUMN as usize {
                return Err(Fault::Other(format!(
                    "its objects have more than {LAST_COLUMN} keys, and each key is a column; \
                     nest them"
                )));
            }
        }
        Ok(columns)
    }

    /// Reads the file at `path` again; each line is a row.
    pub(super) fn read(
        &self,
        path: &Path,
        encoding: TextEncoding,
        sink: &mut RowSink<'_>,
    ) -> Result<()> {
        let mut lines = JsonLines::open(path, encoding)?;
        while let Some((row, line)) = lines.next()? {
            sink.at_row(row)?;
            let members = members(line).map_err(|error| not_an_object(row, line, 0, &error))?;
            for (name, value) in members {
                // A key that was not there during the first reading was added since.
                let Some(column) = self.places.get(&name) else {
                    return Err(Fault::damaged("it changed while it was read"));
                };
                let text = text(value).map_err(|error| {
                    // The value is a part of the line.
                    let before = value.get().as_ptr().addr() - line.as_ptr().addr();
                    not_an_object(row, line, before, &error)
                })?;
                check_length(row, &text)?;
                sink.put(*column, &text);
            }
        }
        Ok(())
    }
}

/// The members of an object, in the order in which their names first appear; of a name that is
/// repeated, the last value.
///
/// Values are not parsed, so they may be nested to any depth, and numbers keep all their digits.
pub(super) fn members(line: &str) -> serde_json::Result<IndexMap<String, &RawValue>> {
    serde_json::from_str(line)
}

/// The text of a value: that of a string, nothing for null, and for others their JSON without
/// white space.
fn text(value: &RawValue) -> serde_json::Result<Cow<'_, str>> {
    let json = value.get();
    Ok(match json.as_bytes().first() {
        Some(b'"') => Cow::Owned(serde_json::from_str(json)?),
        Some(b'n') => Cow::Borrowed(""),
        Some(b'{' | b'[') => Cow::Owned(compact(json)),
        _ => Cow::Borrowed(json),
    })
}

fn compact(json: &str) -> String {
    let (mut quoted, mut escaped) = (false, false);
    let mut kept = String::with_capacity(json.len());
    for character in json.chars() {
        if quoted {
            quoted = escaped || character != '"';
            escaped = !escaped && character == '\\';
        } else if character.is_ascii_whitespace() {
            continue;
        } else {
            quoted = character == '"';
        }
        kept.push(character);
    }
    kept
}

/// The error in the part of `line` that begins after so many bytes.
fn not_an_object(row: u32, line: &str, before: usize, error: &serde_json::Error) -> Fault {
    let bytes = line.bytes().take(before + error.column());
    // Continuation bytes of UTF-8 are no characters of their own.
    let column = bytes.filter(|byte| byte & 0xc0 != 0x80).count();
    let what = error.to_string();
    let what = what
        .rsplit_once(" at line ")
        .map_or(&*what, |(what, _)| what);
    refused(row, column.max(1), what)
}

fn refused(row: u32, column: usize, what: &str) -> Fault {
    Fault::Other(format!(
        "line {row}, column {column}: {what}; each line of JSON Lines is one object"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(line: &str) -> Vec<(String, String)> {
        let texts = members(line).unwrap().into_iter();
        texts
            .map(|(name, value)| (name, text(value).unwrap().into_owned()))
            .collect()
    }

    fn text_of(value: &str) -> String {
        texts(&format!("{{\"a\": {value} }}"))[0].1.clone()
    }

    #[test]
    fn json_values_become_text() {
        for (value, expected) in [
            (r#""a\n\u00e9 \"b\"""#, "a\né \"b\""),
            ("null", ""),
            ("true", "true"),
            ("-1.50e+400", "-1.50e+400"),
            (
                "123456789012345678901234567890",
                "123456789012345678901234567890",
            ),
            (
                r#"[ 1, "a b" , {"x" : "\" ," } ]"#,
                r#"[1,"a b",{"x":"\" ,"}]"#,
            ),
            (r#"{ "c:\\" : [ ] }"#, r#"{"c:\\":[]}"#),
        ] {
            assert_eq!(text_of(value), expected);
        }
    }

    #[test]
    fn a_repeated_key_keeps_its_place_and_takes_the_last_value() {
        let pairs = texts(r#"{"a":1,"b":2,"\u0061":null}"#);
        assert_eq!(
            pairs,
            [("a".into(), String::new()), ("b".into(), "2".into())]
        );
    }

    #[test]
    fn deeply_nested_values_are_read() {
        let deep = format!("{}{}", "[ ".repeat(300_000), "]".repeat(300_000));
        assert_eq!(text_of(&deep).len(), 600_000);
        assert!(members(&deep).is_err());
        assert!(members(&format!("{{\"a\":{}", "{\"a\":".repeat(300_000))).is_err());
    }
}
