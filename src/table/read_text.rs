//! Reading delimited text, lines and JSON Lines.
//!
//! The number of a CSV row is that of its record, counted from 1 with the heading record; lines
//! with nothing on them are no records. A record may span lines, by a quoted cell.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use csv::StringRecord;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::cell::LAST_COLUMN;
use super::encoding::{DecodedText, Delimiter, TextEncoding, csv_reader, open_text};
use super::error::{Fault, Result};
use super::list::RowSink;

/// The longest cell of a text.
///
/// Spreadsheets hold 32,767 characters; far above that, a quote was not closed and has
/// swallowed the rows that follow.
const MAX_CELL_BYTES: usize = 1024 * 1024;

/// The longest line of JSON.
const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

pub(super) fn read_csv(
    path: &Path,
    delimiter: Delimiter,
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
                let column = MAX_LINE_BYTES;
                let what = format!("the line is longer than {MAX_LINE_BYTES} bytes");
                return Err(NotAnObject { column, what }.at_line(self.number));
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
            let members = Members::of(line).map_err(|why| why.at_line(row))?;
            for (name, _) in members.0 {
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
            let refused = |why: NotAnObject| why.at_line(row);
            sink.at_row(row)?;
            for (name, value) in Members::of(line).map_err(refused)?.0 {
                // A key that was not there during the first reading was added since.
                let Some(column) = self.places.get(&name) else {
                    return Err(Fault::damaged("it changed while it was read"));
                };
                let text = text(line, value).map_err(refused)?;
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
/// Values are not parsed, so they may be nested to any depth.
#[derive(Debug)]
pub(super) struct Members<'a>(pub(super) Vec<(String, &'a RawValue)>);

#[derive(Debug, PartialEq, Eq)]
pub(super) struct NotAnObject {
    /// The character at which the error is, counted from 1.
    column: usize,
    what: String,
}

impl NotAnObject {
    fn at_line(self, line: u32) -> Fault {
        let Self { column, what } = self;
        Fault::Other(format!(
            "line {line}, column {column}: {what}; each line of JSON Lines is one object"
        ))
    }
}

impl<'a> Members<'a> {
    pub(super) fn of(line: &'a str) -> std::result::Result<Self, NotAnObject> {
        serde_json::from_str(line).map_err(|error| not_an_object(line, 0, &error))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_map(Object)
    }
}

struct Object;

impl<'de> Visitor<'de> for Object {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(
        self,
        mut map: A,
    ) -> std::result::Result<Self::Value, A::Error> {
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

/// The text of a value in `line`: that of a string, nothing for null, and for others their JSON
/// without white space.
fn text<'a>(line: &str, value: &'a RawValue) -> std::result::Result<Cow<'a, str>, NotAnObject> {
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

/// The error in the part of `line` that begins after so many bytes.
fn not_an_object(line: &str, before: usize, error: &serde_json::Error) -> NotAnObject {
    let bytes = line.bytes().take(before + error.column());
    // Continuation bytes of UTF-8 are no characters of their own.
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
