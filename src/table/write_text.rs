//! Results as CSV (RFC 4180, UTF-8) and as JSON Lines.
//!
//! A CSV file begins with a byte order mark, without which Excel reads it in the system's code
//! page (CP949 on Korean Windows). A text that a spreadsheet could run as a formula gets an
//! apostrophe before it; numbers, also those of the list, are unchanged. U+FFFD replaces control
//! characters, which a terminal could run.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::Write;

use itertools::Itertools as _;
use serde_json::Value;

use super::cell::{column_letters, starts_formula};
use super::read_text::members;
use super::results::{Cell, ExportError, RowKind, Rows, TableRow, free_headings};

pub fn write_csv(out: &mut dyn Write, rows: Rows<'_>) -> Result<(), ExportError> {
    out.write_all("\u{FEFF}".as_bytes())
        .map_err(ExportError::Write)?;
    let mut writer = csv::WriterBuilder::new()
        .terminator(csv::Terminator::CRLF)
        .flexible(true)
        .from_writer(out);
    rows(&mut |row| {
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
            .map_err(|refused| ExportError::Write(refused.into()))
    })?;
    writer.flush().map_err(ExportError::Write)
}

/// The text as a cell that neither a spreadsheet nor a terminal runs.
fn safe(text: &str) -> Cow<'_, str> {
    if text.contains(is_control) {
        let plain = text.replace(is_control, "\u{FFFD}");
        return Cow::Owned(harmless(&plain).into_owned());
    }
    harmless(text)
}

/// Whether a terminal could run it; tabs and line breaks are text.
fn is_control(c: char) -> bool {
    c.is_control() && !matches!(c, '\t' | '\r' | '\n')
}

/// The text, with an apostrophe before it if a spreadsheet could run it.
fn harmless(text: &str) -> Cow<'_, str> {
    let breaks = text.starts_with(['\t', '\r', '\n']);
    if (breaks || starts_formula(text)) && !is_number(text) {
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

/// Writes the rows as JSON Lines, without the header and what is above it.
///
/// `headings` are the headings of the result columns, for lists without a header.
pub fn write_jsonl(
    out: &mut dyn Write,
    headings: &[String],
    rows: Rows<'_>,
) -> Result<(), ExportError> {
    let mut names: Option<Vec<String>> = None;
    rows(&mut |row| {
        match row.kind {
            RowKind::Title => return Ok(()),
            RowKind::Header => {
                names = Some(names_of(&row.source, headings));
                return Ok(());
            }
            RowKind::Body => {}
        }
        let names =
            names.get_or_insert_with(|| names_of(&vec![String::new(); row.source.len()], headings));
        let source = row
            .source
            .into_iter()
            .map(|text| json(Cell::Text(text), false));
        let results = row.results.into_iter().map(|cell| json(cell, true));
        let number = ("row".to_owned(), row.row.to_string());
        let members = names.iter().cloned().zip(source.chain(results));
        write_object(out, std::iter::once(number).chain(members))
    })
}

fn names_of(source: &[String], headings: &[String]) -> Vec<String> {
    let mut names = vec!["row".to_owned()];
    let mut taken = HashSet::from(["row".to_owned()]);
    for (index, heading) in (1..).zip(source) {
        let mut name = heading.trim().to_owned();
        while name.is_empty() || !taken.insert(name.to_lowercase()) {
            name.push_str(&column_letters(index));
        }
        names.push(name);
    }
    names.extend(free_headings(&names, headings));
    names.split_off(1)
}

/// A cell as JSON; an empty result is null.
fn json(cell: Cell, is_result: bool) -> String {
    match cell {
        Cell::Text(text) if text.is_empty() && is_result => Value::Null.to_string(),
        Cell::Text(text) => Value::String(text).to_string(),
        Cell::Number(number) => number.to_string(),
    }
}

/// Writes one object as a line; the values are JSON.
fn write_object(
    out: &mut dyn Write,
    members: impl Iterator<Item = (String, String)>,
) -> Result<(), ExportError> {
    let mut members = members.map(|(name, json)| format!("{}:{json}", Value::from(name)));
    writeln!(out, "{{{}}}", members.join(",")).map_err(ExportError::Write)
}

/// Writes rows with an object as their only cell, with the results added to it.
///
/// The results are named `headings`, or otherwise if `keys`, the keys of the list, contain that name.
pub fn write_objects(
    out: &mut dyn Write,
    keys: &[String],
    headings: &[String],
    rows: Rows<'_>,
) -> Result<(), ExportError> {
    let names = free_headings(keys, headings);
    rows(&mut |row| {
        let TableRow {
            row,
            source,
            results,
            ..
        } = row;
        let line = source.first().map_or("{}", String::as_str);
        let Ok(own) = members(line) else {
            return Err(ExportError::mismatch(row, "is no longer an object"));
        };
        let own = own
            .into_iter()
            .map(|(name, value)| (name, value.get().to_owned()));
        let results = results.into_iter().map(|cell| json(cell, true));
        write_object(out, own.chain(names.iter().cloned().zip(results)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Map;

    /// A row; bars separate the values of the list.
    fn row(number: u32, kind: RowKind, source: &str, results: &[Cell]) -> TableRow {
        TableRow {
            row: number,
            kind,
            source: source.split('|').map(str::to_owned).collect(),
            results: results.to_vec(),
        }
    }

    fn csv(rows: &[TableRow]) -> Vec<u8> {
        let mut out = Vec::new();
        write_csv(&mut out, &mut |put| rows.iter().cloned().try_for_each(put)).unwrap();
        out
    }

    #[test]
    fn quotes_by_rfc_4180_behind_a_byte_order_mark() {
        let lines = [Cell::Text("two\nlines".into()), Cell::Number(3)];
        let out = csv(&[
            row(1, RowKind::Body, "a,b|say \"hi\"", &lines),
            row(2, RowKind::Body, "|한빛", &[Cell::empty(), Cell::Number(0)]),
        ]);
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "\u{FEFF}\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\",3\r\n,한빛,,0\r\n"
        );
    }

    #[test]
    fn formulas_get_an_apostrophe_and_numbers_do_not() {
        for text in "=1|+82-2-555|-x|@a|\tx|\r=1|＝1|－1| =1|--1|-|+1e5|-1.|\n1".split('|') {
            assert_eq!(harmless(text), format!("'{text}"));
        }
        for text in "|a=1|-5|+3.25|1-2|info@acme.com|한빛|'=1".split('|') {
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
        let results = [Cell::Text("\u{9d}".into())];
        let out = csv(&[row(1, RowKind::Body, "\u{1b}[2J", &results)]);
        assert!(!String::from_utf8(out).unwrap().contains(is_control));
    }

    proptest! {
        #[test]
        fn another_reader_gets_every_field_back(rows in prop::collection::vec(prop::collection::vec(any::<String>(), 2..4), 0..6)) {
            let width = rows.first().map_or(2, Vec::len);
            let rows: Vec<Vec<String>> = rows.into_iter().map(|mut row| { row.resize(width, String::new()); row }).collect();
            let written: Vec<TableRow> = rows.iter().map(|cells| TableRow {
                source: cells.clone(),
                ..row(1, RowKind::Body, "", &[Cell::Number(1)])
            }).collect();
            let out = csv(&written);
            let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(&out[3..]);
            let read: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
            prop_assert_eq!(read.len(), rows.len());
            for (read, cells) in read.iter().zip(&rows) {
                let expected: Vec<String> = cells.iter().map(|text| safe(text).into_owned()).chain(["1".to_owned()]).collect();
                prop_assert_eq!(read.iter().collect::<Vec<_>>(), expected);
            }
        }
    }

    fn lines(rows: &[TableRow]) -> String {
        let headings = ["email".to_owned(), "tries".into()];
        let mut out = Vec::new();
        let rows: Rows<'_> = &mut |put| rows.iter().cloned().try_for_each(put);
        write_jsonl(&mut out, &headings, rows).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn names_come_from_the_header_or_are_letters_and_titles_are_skipped() {
        use RowKind::{Body, Header, Title};
        let results = [Cell::Text("=1".into()), Cell::Number(2)];
        let none = [Cell::empty(), Cell::Number(0)];
        let out = lines(&[
            row(1, Title, "A list||||", &none),
            row(2, Header, "company|email||Row|company", &results),
            row(3, Body, "Acme \"x\"|a|b|c|d", &results),
        ]);
        assert_eq!(
            out,
            "{\"row\":3,\"company\":\"Acme \\\"x\\\"\",\"email\":\"a\",\"C\":\"b\",\"RowD\":\"c\",\"companyE\":\"d\",\"email (comail)\":\"=1\",\"tries\":2}\n"
        );
        let out = lines(&[row(7, Body, "Acme|", &none)]);
        let expected = "{\"row\":7,\"A\":\"Acme\",\"B\":\"\",\"email\":null,\"tries\":0}\n";
        assert_eq!(out, expected);
        let out = lines(&[
            row(1, Header, "a|A|aB|B|", &[]),
            row(2, Body, "\u{7}\u{2028}||||", &none),
        ]);
        let object: Map<String, Value> = serde_json::from_str(out.trim_end()).unwrap();
        assert_eq!((object.len(), out.lines().count()), (8, 1));
    }

    #[test]
    fn objects_keep_their_members_and_gain_the_results() {
        let results = [Cell::Text("=1 \"x\"".into()), Cell::Number(2)];
        let none = [Cell::empty(), Cell::empty()];
        let line = "{\"a\": 1.50, \"b\\u0022\" :[ 1,{} ], \"a\":\"é\"}";
        let rows = [
            row(2, RowKind::Body, line, &results),
            row(4, RowKind::Body, "{ }", &none),
        ];
        let keys = ["a".to_owned(), "Email".into()];
        let headings = ["email".to_owned(), "tries".into()];
        let mut out = Vec::new();
        let rows: Rows<'_> = &mut |put| rows.iter().cloned().try_for_each(put);
        write_objects(&mut out, &keys, &headings, rows).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "{\"a\":\"é\",\"b\\\"\":[ 1,{} ],\"email (comail)\":\"=1 \\\"x\\\"\",\"tries\":2}\n\
             {\"email (comail)\":null,\"tries\":null}\n"
        );
    }
}
