//! Results of a list of JSON Lines as JSON Lines: its own objects, with the results behind.
//!
//! What an object holds stays as it is, but that each name comes once. Results that there are
//! none of are null.

use std::io::Write;
use std::path::Path;

use serde_json::Value;

use super::encoding::TextEncoding;
use super::join::TableRow;
use super::json_line::Members;
use super::jsonl_write::value;
use super::read_error::ReadError;
use super::read_jsonl::JsonLines;
use super::result_columns::free_headings;
use super::results::{ExportError, RowError, SourceRow};

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
        let mut line = object(&names, row?)?;
        line.push('\n');
        out.write_all(line.as_bytes()).map_err(ExportError::Write)?;
        written += 1;
    }
    Ok(written)
}

fn object(names: &[String], row: TableRow) -> Result<String, ExportError> {
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
    use crate::table::join::{Keep, Layout, join};
    use crate::table::results::{Cell, ResultRow};

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
