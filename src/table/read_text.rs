//! Reading delimited text.
//!
//! A row's number is that of its record, counted from 1 with the heading record; lines with
//! nothing on them are no records. A record may span lines, by a quoted cell.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use csv::{ErrorKind, StringRecord};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::column::MAX_COLUMNS;
use super::encoding::{DecodedText, Delimiter, TextEncoding, csv_reader, open_text};
use super::read_error::ReadError;
use super::row_sink::RowSink;

/// The longest cell of a text.
///
/// Spreadsheets hold 32,767 characters; far above that, a quote was not closed and has
/// swallowed the rows that follow.
pub const MAX_CELL_BYTES: usize = 1024 * 1024;

/// Reads the delimited file at `path`, record by record.
pub(super) fn read_csv(
    path: &Path,
    delimiter: Delimiter,
    encoding: TextEncoding,
    sink: &mut RowSink<'_>,
) -> Result<(), ReadError> {
    let mut reader = csv_reader(open_text(path, encoding)?, delimiter);
    let mut record = StringRecord::new();
    let mut row = 0_u32;
    while reader
        .read_record(&mut record)
        .map_err(|error| of_csv(path, error))?
    {
        row = next_row(path, row)?;
        if sink.at_row(row).is_break() {
            return Ok(());
        }
        for (column, cell) in record.iter().enumerate() {
            check_length(path, row, cell)?;
            sink.put(column, cell);
        }
    }
    let (ControlFlow::Continue(()) | ControlFlow::Break(())) = sink.finish();
    Ok(())
}

pub(super) fn next_row(path: &Path, row: u32) -> Result<u32, ReadError> {
    row.checked_add(1).ok_or_else(|| ReadError::TooManyRows {
        path: path.to_path_buf(),
        limit: u32::MAX,
    })
}

pub(super) fn check_length(path: &Path, row: u32, cell: &str) -> Result<(), ReadError> {
    if cell.len() <= MAX_CELL_BYTES {
        return Ok(());
    }
    Err(ReadError::CellTooLong {
        path: path.to_path_buf(),
        row,
        limit: MAX_CELL_BYTES,
    })
}

fn of_csv(path: &Path, error: csv::Error) -> ReadError {
    match error.into_kind() {
        ErrorKind::Io(source) => ReadError::of_text(path, source),
        other => ReadError::damaged(path, format!("{other:?}")),
    }
}

/// Reads the file at `path`, line by line; each is a row of one cell.
pub(super) fn read_lines(
    path: &Path,
    encoding: TextEncoding,
    sink: &mut RowSink<'_>,
) -> Result<(), ReadError> {
    let mut lines = BufReader::new(open_text(path, encoding)?);
    let mut line = String::new();
    let mut row = 0_u32;
    loop {
        line.clear();
        let read = lines
            .read_line(&mut line)
            .map_err(|source| ReadError::of_text(path, source))?;
        if read == 0 {
            break;
        }
        row = next_row(path, row)?;
        check_length(path, row, &line)?;
        if sink.at_row(row).is_break() {
            return Ok(());
        }
        sink.put(0, line.trim_end_matches(['\r', '\n']));
    }
    let (ControlFlow::Continue(()) | ControlFlow::Break(())) = sink.finish();
    Ok(())
}

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
                    return Err(ReadError::damaged(path, "it changed while it was read"));
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

/// The members of an object, in the order in which their names come first; of a name that comes
/// again, the last value.
///
/// Values are not looked into, so however deep they nest is nothing to it.
#[derive(Debug)]
pub(super) struct Members<'a>(pub(super) Vec<(String, &'a RawValue)>);

#[derive(Debug, PartialEq, Eq)]
pub(super) struct NotAnObject {
    /// The character at which that shows, counted from 1.
    pub(super) column: usize,
    pub(super) what: String,
}

impl<'a> Members<'a> {
    /// The members of the object that `line` spells.
    pub(super) fn of(line: &'a str) -> Result<Self, NotAnObject> {
        serde_json::from_str(line).map_err(|error| not_an_object(line, 0, &error))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Object)
    }
}

struct Object;

impl<'de> Visitor<'de> for Object {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members: Vec<(String, &RawValue)> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        while let Some((name, value)) = map.next_entry::<String, &RawValue>()? {
            if let Some(place) = places.get(&name) {
                members[*place].1 = value;
            } else {
                places.insert(name.clone(), members.len());
                members.push((name, value));
            }
        }
        Ok(Members(members))
    }
}

/// The text of a value in `line`: a string's own, none of null, and of others their JSON without
/// white space.
pub(super) fn text<'a>(line: &str, value: &'a RawValue) -> Result<Cow<'a, str>, NotAnObject> {
    let json = value.get();
    match json.as_bytes().first() {
        Some(b'"') => serde_json::from_str::<String>(json)
            .map(Cow::Owned)
            .map_err(|error| {
                // The value is a part of the line.
                let before = json.as_ptr().addr().saturating_sub(line.as_ptr().addr());
                not_an_object(line, before, &error)
            }),
        Some(b'n') => Ok(Cow::Borrowed("")),
        Some(b'{' | b'[') => Ok(Cow::Owned(compact(json))),
        _ => Ok(Cow::Borrowed(json)),
    }
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

/// What `error` says of the part of `line` that begins after so many bytes.
fn not_an_object(line: &str, before: usize, error: &serde_json::Error) -> NotAnObject {
    let bytes = line.bytes().take(before + error.column());
    // Bytes that go on with a character are none of their own.
    let characters = bytes.filter(|byte| byte & 0xc0 != 0x80).count();
    let said = error.to_string();
    let what = said
        .rsplit_once(" at line ")
        .map_or(said.as_str(), |(what, _)| what);
    NotAnObject {
        column: characters.max(1),
        what: what.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(line: &str) -> Vec<(String, String)> {
        let members = Members::of(line).unwrap();
        let pairs = members.0.into_iter();
        pairs
            .map(|(name, value)| (name, text(line, value).unwrap().into_owned()))
            .collect()
    }

    fn text_of(value: &str) -> String {
        texts(&format!("{{\"a\": {value} }}"))[0].1.clone()
    }

    #[test]
    fn values_have_the_text_that_people_expect() {
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
    fn of_a_name_that_comes_again_the_last_value_counts_in_the_first_place() {
        let pairs = texts(r#"{"a":1,"b":2,"\u0061":null}"#);
        assert_eq!(
            pairs,
            [("a".into(), String::new()), ("b".into(), "2".into())]
        );
    }

    #[test]
    fn what_is_no_object_is_told_with_its_place() {
        for (line, column, what) in [
            ("[1]", 1, "invalid type: sequence, expected an object"),
            ("\"é\"", 3, "invalid type: string \"é\", expected an object"),
            ("{\"é\": tru}", 10, "expected ident"),
            ("{\"a\":1} x", 9, "trailing characters"),
            ("{\"a\":1", 6, "EOF while parsing an object"),
            ("{'a':1}", 2, "key must be a string"),
        ] {
            let refused = Members::of(line).unwrap_err();
            assert_eq!(
                (refused.column, refused.what.as_str()),
                (column, what),
                "{line}"
            );
        }
        let line = r#"{"é": "\ud800"}"#;
        let members = Members::of(line).unwrap();
        let refused = text(line, members.0[0].1).unwrap_err();
        assert_eq!(refused.column, 14, "{refused:?}");
    }

    #[test]
    fn nesting_may_be_as_deep_as_it_likes() {
        let deep = format!("{}{}", "[ ".repeat(300_000), "]".repeat(300_000));
        assert_eq!(text_of(&deep).len(), 600_000);
        assert!(Members::of(&deep).is_err());
        assert!(Members::of(&format!("{{\"a\":{}", "{\"a\":".repeat(300_000))).is_err());
    }
}
