//! Reading delimited text, lines and JSON Lines.
//!
//! The number of a CSV row is that of its record, counted from 1 with the heading record; empty lines
//! are not records. A record with a quoted cell may span several lines. A record with text in more
//! cells than there are headings is an error: its cells may be under the wrong headings.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;

use csv::{Position, StringRecord};
use indexmap::IndexMap;
use serde_json::value::RawValue;

use super::cell::{LAST_COLUMN, RowSink};
use super::encoding::csv_reader;
use super::error::{Fault, Result};
use crate::base::text::is_blank;

/// The longest cell of a text.
///
/// Spreadsheets allow 32,767 characters. In a far longer cell, an unclosed quote has swallowed the
/// following rows.
const MAX_CELL_BYTES: usize = 1024 * 1024;

const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

/// Reads delimited text. The record `header`, if there is one, limits the cells of the records below.
pub(super) fn read_csv(
    text: &str,
    delimiter: u8,
    header: Option<u32>,
    sink: &mut RowSink<'_>,
) -> Result<()> {
    let mut reader = csv_reader(text.as_bytes(), delimiter);
    let mut record = StringRecord::new();
    let (mut row, mut headings) = (0, usize::MAX);
    while reader.read_record(&mut record).map_err(io::Error::from)? {
        row = next_row(row)?;
        if header == Some(row) {
            headings = record.len();
        }
        if !record.iter().skip(headings).all(is_blank) {
            let line = record.position().map_or(1, |start| line_of(text, start));
            let (cells, delimiter) = (record.len(), char::from(delimiter).escape_default());
            return Err(Fault::Other(format!(
                "line {line}: the row has {cells} cells, but the header has {headings}; put quotes \
                 around a cell that contains `{delimiter}`"
            )));
        }
        sink.at_row(row)?;
        for (column, cell) in record.iter().enumerate() {
            check_length(row, cell)?;
            sink.put(column, cell);
        }
    }
    Ok(())
}

/// The line of the record that begins at `start`, or after the empty lines there.
fn line_of(text: &str, start: &Position) -> u64 {
    let bytes = text
        .bytes()
        .skip(usize::try_from(start.byte()).unwrap_or(usize::MAX));
    let empty = bytes.take_while(|byte| matches!(byte, b'\n' | b'\r'));
    let breaks = empty.filter(|byte| *byte == b'\n').count();
    start.line() + breaks as u64
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

pub(super) fn read_lines(text: &str, sink: &mut RowSink<'_>) -> Result<()> {
    each_line(text, |row, line| {
        check_length(row, line)?;
        sink.at_row(row)?;
        sink.put(0, line);
        Ok(())
    })
}

/// Passes each line to `visit`: its number and its text.
fn each_line(text: &str, mut visit: impl FnMut(u32, &str) -> Result<()>) -> Result<()> {
    let mut row = 0;
    for line in text.split_terminator('\n') {
        row = next_row(row)?;
        visit(row, line.trim_end_matches('\r'))?;
    }
    Ok(())
}

/// Passes each line of JSON Lines that is not blank to `visit`: its number and its text.
pub(super) fn json_lines(text: &str, mut visit: impl FnMut(u32, &str) -> Result<()>) -> Result<()> {
    each_line(text, |row, line| {
        if line.len() > MAX_LINE_BYTES {
            let what = format!("the line is longer than {MAX_LINE_BYTES} bytes");
            return Err(refused(row, MAX_LINE_BYTES, &what));
        }
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        visit(row, line)
    })
}

/// The columns of JSON Lines: their keys, in the order in which they first appear.
pub(super) struct JsonColumns {
    pub(super) names: Vec<String>,
    places: HashMap<String, usize>,
}

impl JsonColumns {
    /// Reads through the text; every line must be an object.
    pub(super) fn find(text: &str) -> Result<Self> {
        let mut columns = Self {
            names: Vec::new(),
            places: HashMap::new(),
        };
        json_lines(text, |row, line| {
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
            Ok(())
        })?;
        Ok(columns)
    }

    pub(super) fn read(&self, text: &str, sink: &mut RowSink<'_>) -> Result<()> {
        json_lines(text, |row, line| {
            sink.at_row(row)?;
            let members = members(line).map_err(|error| not_an_object(row, line, 0, &error))?;
            for (name, value) in members {
                let text = text_of(value).map_err(|error| {
                    // The value is a part of the line.
                    let before = value.get().as_ptr().addr() - line.as_ptr().addr();
                    not_an_object(row, line, before, &error)
                })?;
                check_length(row, &text)?;
                sink.put(self.places[&name], &text);
            }
            Ok(())
        })
    }
}

/// The members of an object, in the order of the first appearance of their names; a repeated name has
/// its last value.
///
/// Values are not parsed, so they may be nested to any depth, and numbers keep all their digits.
pub(super) fn members(line: &str) -> serde_json::Result<IndexMap<String, &RawValue>> {
    serde_json::from_str(line)
}

/// The text of a value: a string as it is, null as empty, anything else as JSON without white space.
fn text_of(value: &RawValue) -> serde_json::Result<Cow<'_, str>> {
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

/// The error in the part of `line` after the first `before` bytes.
fn not_an_object(row: u32, line: &str, before: usize, error: &serde_json::Error) -> Fault {
    let bytes = line.bytes().take(before + error.column());
    // Continuation bytes of UTF-8 do not count as characters.
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
    use crate::base::rows;

    fn texts(line: &str) -> Vec<(String, String)> {
        let texts = members(line).unwrap().into_iter();
        texts
            .map(|(name, value)| (name, text_of(value).unwrap().into_owned()))
            .collect()
    }

    fn shown(value: &str) -> String {
        texts(&format!("{{\"a\": {value} }}"))[0].1.clone()
    }

    #[test]
    fn json_values_become_text() {
        for (value, expected) in rows! {
            r#""a\n\u00e9 \"b\"""# => "a\né \"b\"";
            "null" => "";
            "true" => "true";
            "-1.50e+400" => "-1.50e+400";
            "123456789012345678901234567890" => "123456789012345678901234567890";
            r#"[ 1, "a b" , {"x" : "\" ," } ]"# => r#"[1,"a b",{"x":"\" ,"}]"#;
            r#"{ "c:\\" : [ ] }"# => r#"{"c:\\":[]}"#;
        } {
            assert_eq!(shown(value), expected);
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
        assert_eq!(shown(&deep).len(), 600_000);
        assert!(members(&deep).is_err());
        assert!(members(&format!("{{\"a\":{}", "{\"a\":".repeat(300_000))).is_err());
    }
}
