//! Results as CSV: RFC 4180, UTF-8.
//!
//! The file begins with a byte order mark, without which Excel reads it in the system's code
//! page (CP949 on Korean Windows). A text that a spreadsheet could run as a formula gets an
//! apostrophe before it; numbers, also those of the list, stay as they are. In place of control
//! characters, which a terminal could run, stands U+FFFD.

use std::borrow::Cow;
use std::io::Write;

use super::join::TableRow;
use super::results::{Cell, ExportError};

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::join::RowKind;
    use proptest::prelude::*;

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
}
