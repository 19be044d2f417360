//! Lists of JSON Lines, and formats that somebody says.

use std::fs;

use tempfile::TempDir;

use super::*;

fn written(name: &str, text: &str) -> (TempDir, PathBuf) {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join(name);
    fs::write(&path, text).unwrap();
    (dir, path)
}

fn said(format: InputFormat) -> ReadOptions {
    ReadOptions {
        format: Some(format),
        ..ReadOptions::default()
    }
}

fn refused(name: &str, text: &str, options: &ReadOptions) -> String {
    let (_dir, path) = written(name, text);
    match List::open(&path, options) {
        Err(error) => error.to_string(),
        Ok(list) => panic!("{name} was opened as {:?}", list.format()),
    }
}

const LIST: &str = "{\"name\":\"a\",\"at\":{\"line\": 1}}\r\n\n{\"first line\":7,\"name\":\"b\",\"name\":null}\n{}\n{\"name\":\"c\"}";

#[test]
fn keys_are_the_columns_and_lines_the_rows() {
    for name in ["list.jsonl", "list.NDJSON"] {
        let (_dir, path) = written(name, LIST);
        let mut list = List::open(&path, &ReadOptions::default()).unwrap();
        assert_eq!(list.format().extension(), "jsonl");
        assert_eq!(list.columns(), ["A `name`", "B `at`", "C `first line`"]);
        assert_eq!(list.keys().unwrap(), ["name", "at", "first line"]);
        let column = list.column("first line").unwrap();
        assert_eq!(list.label(column), "first line");
        let expected = texts(&[(1, "|a|{\"line\":1}"), (3, "7||"), (5, "|c|")]);
        assert_eq!(rows(&mut list, &["C", "name", "at"]), expected);
        let mut every = Vec::new();
        list.every_row(|row, cells| {
            every.push((row, cells.len()));
            Ok::<_, ReadError>(())
        })
        .unwrap();
        assert_eq!(every, [(0, 3), (1, 2), (3, 3), (5, 1)]);
    }
}

#[test]
fn a_line_that_is_no_object_is_told_with_its_place() {
    let plain = ReadOptions::default();
    let refusal = refused("a.jsonl", "{\"a\":1}\n\n[2]\n", &plain);
    assert!(
        refusal.contains("a.jsonl: line 3, column 1: invalid type: sequence"),
        "{refusal}"
    );
    let refusal = refused("a.jsonl", "{\"a\":1}\n{\"a\":x}\n", &plain);
    assert!(
        refusal.contains("line 2, column 6: expected value"),
        "{refusal}"
    );
    for nothing in ["{}\n{\"a\":null}\n", "\n\n", ""] {
        let refusal = refused("a.jsonl", nothing, &plain);
        assert!(refusal.contains("has no rows"), "{refusal}");
    }
    let wide: Vec<_> = (0..20_000).map(|key| format!("\"{key}\":1")).collect();
    let refusal = refused("a.jsonl", &format!("{{{}}}", wide.join(",")), &plain);
    assert!(refusal.contains("more than 16384 keys"), "{refusal}");
}

#[test]
fn a_format_that_is_said_goes_before_the_name_and_not_against_the_content() {
    for (name, format, ending) in [
        ("a.txt", InputFormat::Jsonl, "jsonl"),
        ("a.jsonl", InputFormat::Lines, "txt"),
        ("a.xlsx", InputFormat::Csv, "csv"),
    ] {
        let (_dir, path) = written(name, LIST);
        let list = List::open(&path, &said(format)).unwrap();
        assert_eq!(list.format().extension(), ending);
    }
    let refusal = refused("a.txt", LIST, &said(InputFormat::Xlsx));
    assert!(
        refusal.contains("the format should be xlsx, but this is no workbook"),
        "{refusal}"
    );
    let workbook = fixture("companies.xlsx");
    assert!(List::open(&workbook, &said(InputFormat::Xlsx)).is_ok());
    let refusal = List::open(&workbook, &said(InputFormat::Csv))
        .err()
        .unwrap();
    let expected = "the format should be text, but this is a workbook";
    assert!(refusal.to_string().contains(expected), "{refusal}");
}
