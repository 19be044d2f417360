//! Results as CSV: RFC 4180, UTF-8.
//!
//! The file begins with a byte order mark, without which Excel reads it in the system's code
//! page (CP949 on Korean Windows). A text that a spreadsheet could run as a formula gets an
//! apostrophe before it; numbers, also those of the list, stay as they are. In place of control
//! characters, which a terminal could run, stands U+FFFD.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::Write;
use std::path::Path;

use serde_json::Value;

use super::cell::column_letters;
use super::encoding::TextEncoding;
use super::read_error::ReadError;
use super::read_text::{JsonLines, Members};
use super::results::{Cell, ExportError, RowError, RowKind, SourceRow, TableRow, free_headings};

/// Writes the rows as CSV and tells how many there were.
pub fn write_csv(
    out: &mut dyn Write,
    rows: &mut dyn Iterator<Item = Result<TableRow, ExportError>>,
) -> Result<u64, ExportError> {
    out.write_all("\u{FEFF}".as_bytes())
        .map_err(ExportError::Write)?;
    let mut writer = csv::WriterBuilder::new()
        .terminator(csv::Terminator::CRLF)
        .flexible(true)
        .from_writer(out);
    let mut written = 0;
    for row in rows {
        let row = row?;
        let source = row.source.iter().map(|text| safe(text));
        let results = row.results.iter().map(|cell| match cell {
            Cell::Text(text) => safe(text),
            Cell::Number(number) => Cow::Owned(number.to_string()),
        });
        let record: csv::Result<()> = source
            .chain(results)
            .try_for_each(|field| writer.write_field(field.as_bytes()));
        record
            .and_then(|()| writer.write_record(None::<&[u8]>))
            .map_err(|refused| ExportError::Write(refused.into()))?;
        written += 1;
    }
    writer.flush().map_err(ExportError::Write)?;
    Ok(written)
}

/// The text as a cell that neither a spreadsheet nor a terminal runs.
fn safe(text: &str) -> Cow<'_, str> {
    if text.contains(is_control) {
        let plain = text.replace(is_control, "\u{FFFD}");
        return Cow::Owned(harmless(&plain).into_owned());
    }
    harmless(text)
}

/// Whether a terminal could take it for a command; tabs and line breaks are text.
fn is_control(c: char) -> bool {
    c.is_control() && !matches!(c, '\t' | '\r' | '\n')
}

/// The text with an apostrophe before it where a spreadsheet could run it.
fn harmless(text: &str) -> Cow<'_, str> {
    let breaks = text.starts_with(['\t', '\r', '\n']);
    let starts_formula = text
        .trim_start_matches(|letter: char| letter.is_whitespace() || letter == '\u{FEFF}')
        .starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
    if (breaks || starts_formula) && !is_number(text) {
        Cow::Owned(format!("'{text}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// Whether the text is a signed decimal number and nothing else.
fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let all_digits =
        |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    all_digits(whole) && all_digits(fraction)
}

/// Writes the rows as JSON Lines and tells how many there were, without the header and what
/// stands above it.
///
/// `headings` are those of the result columns, for lists without a header.
pub fn write_jsonl(
    out: &mut dyn Write,
    headings: &[String],
    rows: &mut dyn Iterator<Item = Result<TableRow, ExportError>>,
) -> Result<u64, ExportError> {
    let mut names: Option<Vec<String>> = None;
    let mut written = 0;
    for row in rows {
        let row = row?;
        match row.kind {
            RowKind::Title => continue,
            RowKind::Header => {
                names = Some(names_of(&row.source, headings));
                continue;
            }
            RowKind::Body => {}
        }
        let names =
            names.get_or_insert_with(|| names_of(&vec![String::new(); row.source.len()], headings));
        let mut line = object(names, row);
        line.push('\n');
        out.write_all(line.as_bytes()).map_err(ExportError::Write)?;
        written += 1;
    }
    Ok(written)
}

fn names_of(source: &[String], headings: &[String]) -> Vec<String> {
    let mut taken = HashSet::from(["row".to_owned()]);
    let mut names: Vec<String> = Vec::with_capacity(source.len() + headings.len());
    for (index, heading) in (1..).zip(source) {
        let heading = heading.trim();
        let mut name = heading.to_owned();
        while name.is_empty() || !taken.insert(name.to_lowercase()) {
            name = format!("{name}{}", column_letters(index));
        }
        names.push(name);
    }
    let mut reserved = names.clone();
    reserved.push("row".to_owned());
    names.extend(free_headings(&reserved, headings));
    names
}

/// The row as one line of JSON, its members in the order of the columns.
fn object(names: &[String], row: TableRow) -> String {
    let source = row.source.into_iter().map(Value::String);
    let results = row.results.into_iter().map(value);
    let mut line = format!("{{\"row\":{}", row.row);
    for (name, value) in names.iter().zip(source.chain(results)) {
        line.push(',');
        line.push_str(&Value::from(name.as_str()).to_string());
        line.push(':');
        line.push_str(&value.to_string());
    }
    line.push('}');
    line
}

pub(super) fn value(cell: Cell) -> Value {
    match cell {
        Cell::Text(text) if text.is_empty() => Value::Null,
        Cell::Text(text) => Value::String(text),
        Cell::Number(number) => Value::from(number),
    }
}

/// The lines of the file at `path`, as rows of one cell each, which is the line itself.
pub fn object_rows(
    path: &Path,
    encoding: TextEncoding,
) -> Result<impl Iterator<Item = Result<SourceRow, RowError>> + use<>, ReadError> {
    let mut lines = JsonLines::open(path, encoding)?;
    Ok(std::iter::from_fn(move || match lines.next() {
        Ok(None) => None,
        Ok(Some((row, line))) => Some(Ok(SourceRow {
            row,
            cells: vec![line.to_owned()],
        })),
        Err(error) => Some(Err(error.into())),
    }))
}

/// Writes the rows, whose one cell is an object, with their results in it, and tells how many
/// there were.
///
/// The results are named `headings`, or otherwise where `keys`, those of the list, have that.
pub fn write_objects(
    out: &mut dyn Write,
    keys: &[String],
    headings: &[String],
    rows: &mut dyn Iterator<Item = Result<TableRow, ExportError>>,
) -> Result<u64, ExportError> {
    let names = free_headings(keys, headings);
    let mut written = 0;
    for row in rows {
        let mut line = extended(&names, row?)?;
        line.push('\n');
        out.write_all(line.as_bytes()).map_err(ExportError::Write)?;
        written += 1;
    }
    Ok(written)
}

fn extended(names: &[String], row: TableRow) -> Result<String, ExportError> {
    let line = row.source.first().map_or("{}", String::as_str);
    let Ok(members) = Members::of(line) else {
        return Err(ExportError::Rows("a line is no object any more".into()));
    };
    let own = members.0.iter();
    let own = own.map(|(name, value)| (name.as_str(), value.get().to_owned()));
    let results = row.results.into_iter().map(|cell| value(cell).to_string());
    let added = names.iter().map(String::as_str).zip(results);
    let parts: Vec<_> = own
        .chain(added)
        .map(|(name, json)| format!("{}:{json}", Value::from(name)))
        .collect();
    Ok(format!("{{{}}}", parts.join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::results::RowKind;
    use crate::table::results::{Cell, ResultRow};
    use crate::table::results::{Keep, Layout, join};
    use proptest::prelude::*;
    use serde_json::Map;

    fn row(source: &[&str], results: Vec<Cell>) -> TableRow {
        TableRow {
            row: 1,
            kind: RowKind::Body,
            source: source.iter().map(ToString::to_string).collect(),
            results,
        }
    }

    fn csv(rows: Vec<TableRow>) -> Vec<u8> {
        let mut out = Vec::new();
        write_csv(&mut out, &mut rows.into_iter().map(Ok)).unwrap();
        out
    }

    #[test]
    fn quotes_by_rfc_4180_behind_a_byte_order_mark() {
        let out = csv(vec![
            row(
                &["a,b", "say \"hi\""],
                vec![Cell::Text("two\nlines".into()), Cell::Number(3)],
            ),
            row(&["", "한빛"], vec![Cell::empty(), Cell::Number(0)]),
        ]);
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "\u{FEFF}\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\",3\r\n,한빛,,0\r\n"
        );
    }

    #[test]
    fn a_formula_never_runs_and_a_number_stays() {
        for text in [
            "=1",
            "+82-2-555",
            "-x",
            "@a",
            "\tx",
            "\r=1",
            "＝1",
            "－1",
            " =1",
            "--1",
            "-",
            "+1e5",
            "-1.",
            "\n1",
        ] {
            assert_eq!(harmless(text), format!("'{text}"));
        }
        for text in [
            "",
            "a=1",
            "-5",
            "+3.25",
            "1-2",
            "info@acme.com",
            "한빛",
            "'=1",
        ] {
            assert_eq!(harmless(text), text);
        }
    }

    #[test]
    fn no_control_character_reaches_a_terminal() {
        assert_eq!(
            safe("a\u{1b}]0;x\u{7}b\u{9b}2J\u{7f}\0"),
            "a\u{FFFD}]0;x\u{FFFD}b\u{FFFD}2J\u{FFFD}\u{FFFD}"
        );
        assert_eq!(safe("one\r\ntwo\tthree"), "one\r\ntwo\tthree");
        assert_eq!(safe("\t=1"), "'\t=1");
        let out = csv(vec![row(&["\u{1b}[2J"], vec![Cell::Text("\u{9d}".into())])]);
        assert!(!String::from_utf8(out).unwrap().contains(is_control));
    }

    proptest! {
        #[test]
        fn another_reader_gets_every_field_back(rows in prop::collection::vec(prop::collection::vec(any::<String>(), 2..4), 0..6)) {
            let width = rows.first().map_or(2, Vec::len);
            let rows: Vec<Vec<String>> = rows.into_iter().map(|mut row| { row.resize(width, String::new()); row }).collect();
            let written = rows.iter().map(|cells| {
                let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
                row(&cells, vec![Cell::Number(1)])
            }).collect();
            let out = csv(written);
            let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(&out[3..]);
            let read: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
            prop_assert_eq!(read.len(), rows.len());
            for (read, cells) in read.iter().zip(&rows) {
                let expected: Vec<String> = cells.iter().map(|text| safe(text).into_owned()).chain(["1".to_owned()]).collect();
                prop_assert_eq!(read.iter().collect::<Vec<_>>(), expected);
            }
        }
    }

    fn numbered(number: u32, kind: RowKind, source: &[&str], results: &[Cell]) -> TableRow {
        TableRow {
            row: number,
            kind,
            source: source.iter().map(ToString::to_string).collect(),
            results: results.to_vec(),
        }
    }

    fn lines(rows: Vec<TableRow>) -> String {
        let headings = ["email".to_owned(), "tries".into()];
        let mut out = Vec::new();
        write_jsonl(&mut out, &headings, &mut rows.into_iter().map(Ok)).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn names_come_from_the_header() {
        let results = [Cell::Text("=1".into()), Cell::Number(2)];
        let out = lines(vec![
            numbered(
                1,
                RowKind::Header,
                &["company", "email", "", "Row", "company"],
                &results,
            ),
            numbered(
                2,
                RowKind::Body,
                &["Acme \"x\"", "a", "b", "c", "d"],
                &results,
            ),
        ]);
        assert_eq!(
            out,
            "{\"row\":2,\"company\":\"Acme \\\"x\\\"\",\"email\":\"a\",\"C\":\"b\",\"RowD\":\"c\",\"companyE\":\"d\",\"email (comail)\":\"=1\",\"tries\":2}\n"
        );
    }

    #[test]
    fn without_a_header_columns_have_letters() {
        let out = lines(vec![numbered(
            7,
            RowKind::Body,
            &["Acme"],
            &[Cell::empty(), Cell::Number(0)],
        )]);
        assert_eq!(
            out,
            "{\"row\":7,\"A\":\"Acme\",\"email\":null,\"tries\":0}\n"
        );
    }

    #[test]
    fn a_title_is_no_record() {
        let results = [Cell::empty(), Cell::empty()];
        let out = lines(vec![
            numbered(1, RowKind::Title, &["A list", ""], &results),
            numbered(2, RowKind::Header, &["company", "city"], &results),
            numbered(3, RowKind::Body, &["Acme", ""], &results),
        ]);
        assert_eq!(
            out,
            "{\"row\":3,\"company\":\"Acme\",\"city\":\"\",\"email\":null,\"tries\":null}\n"
        );
    }

    #[test]
    fn every_line_is_an_object_without_repeated_names() {
        let out = lines(vec![
            numbered(1, RowKind::Header, &["a", "A", "aB", "B", ""], &[]),
            numbered(
                2,
                RowKind::Body,
                &["\u{7}\u{2028}", "", "", "", ""],
                &[Cell::empty(), Cell::Number(1)],
            ),
        ]);
        let object: Map<String, Value> = serde_json::from_str(out.trim_end()).unwrap();
        assert_eq!(object.len(), 8);
        assert_eq!(out.lines().count(), 1);
    }

    fn written(list: &str, keep: Keep, results: &[u32]) -> String {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("list.jsonl");
        std::fs::write(&path, list).unwrap();
        let layout = Layout {
            header_row: None,
            width: 1,
            headings: vec!["email".into(), "tries".into()],
            keep,
        };
        let results = results.iter().map(|row| {
            Ok(ResultRow {
                row: *row,
                cells: vec![Cell::Text("=1 \"x\"".into()), Cell::Number(2)],
            })
        });
        let source = object_rows(&path, TextEncoding::UTF_8).unwrap();
        let mut rows = join(&layout, source, results);
        let keys = ["a".to_owned(), "Email".into()];
        let mut out = Vec::new();
        write_objects(&mut out, &keys, &layout.headings, &mut rows).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn an_object_keeps_what_it_holds_and_gains_the_results() {
        let list = "\n{\"a\": 1.50, \"b\\u0022\" :[ 1,{} ], \"a\":\"é\"}\r\n\n{ }\n";
        assert_eq!(
            written(list, Keep::All, &[2]),
            "{\"a\":\"é\",\"b\\\"\":[ 1,{} ],\"email (comail)\":\"=1 \\\"x\\\"\",\"tries\":2}\n\
             {\"email (comail)\":null,\"tries\":null}\n"
        );
        let with_results = written(list, Keep::WithResults, &[2]);
        assert_eq!(with_results.lines().count(), 1);
    }
}
