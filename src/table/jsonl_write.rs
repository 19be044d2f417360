//! Results as JSON Lines: one object for every row below the header.
//!
//! `row` is the row's number in the list; then come the list's own cells under their headings
//! (without a header, or where a heading is blank or taken: the column's letters) and the
//! results under theirs. Every value is a string but `row`, counts, and results that there are
//! none of, which are null.

use std::collections::HashSet;
use std::io::Write;

use serde_json::Value;

use super::cell_reference::column_letters;
use super::join::{RowKind, TableRow};
use super::result_columns::free_headings;
use super::results::{Cell, ExportError};

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

/// A name of its own for every column.
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

/// A result as JSON.
pub(super) fn value(cell: Cell) -> Value {
    match cell {
        Cell::Text(text) if text.is_empty() => Value::Null,
        Cell::Text(text) => Value::String(text),
        Cell::Number(number) => Value::from(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Map;

    fn row(number: u32, kind: RowKind, source: &[&str], results: &[Cell]) -> TableRow {
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
            row(
                1,
                RowKind::Header,
                &["company", "email", "", "Row", "company"],
                &results,
            ),
            row(
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
        let out = lines(vec![row(
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
            row(1, RowKind::Title, &["A list", ""], &results),
            row(2, RowKind::Header, &["company", "city"], &results),
            row(3, RowKind::Body, &["Acme", ""], &results),
        ]);
        assert_eq!(
            out,
            "{\"row\":3,\"company\":\"Acme\",\"city\":\"\",\"email\":null,\"tries\":null}\n"
        );
    }

    #[test]
    fn every_line_is_an_object_without_repeated_names() {
        let out = lines(vec![
            row(1, RowKind::Header, &["a", "A", "aB", "B", ""], &[]),
            row(
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
}
