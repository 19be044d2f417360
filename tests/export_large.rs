//! A list of 20,000 rows goes in and comes out right.

use std::fmt::Write as _;

use crate::harness::Place;
use crate::sheets::{cells, text, texts, workbook};

const ROWS: u32 = 20_000;

/// The name in `row`: every tenth row is blank, every hundredth repeats the first name.
fn name(row: u32) -> Option<String> {
    match row {
        _ if row.is_multiple_of(10) => None,
        _ if row % 100 == 1 => Some("Company 2".to_owned()),
        _ => Some(format!("Company {row}")),
    }
}

#[test]
fn twenty_thousand_rows() {
    let place = Place::new();
    let mut rows = String::from(
        "<row r=\"1\"><c r=\"A1\" t=\"inlineStr\"><is><t>No</t></is></c>\
         <c r=\"B1\" t=\"inlineStr\"><is><t>Company</t></is></c></row>",
    );
    for row in 2..=ROWS {
        write!(rows, "<row r=\"{row}\"><c r=\"A{row}\"><v>{row}</v></c>").unwrap();
        if let Some(name) = name(row) {
            write!(
                rows,
                "<c r=\"B{row}\" t=\"inlineStr\"><is><t>{name}</t></is></c>"
            )
            .unwrap();
        }
        rows.push_str("</row>");
    }
    workbook(&place.at("list.xlsx"), &rows);

    let (code, answer) = place.json(["scan", "list.xlsx", "--col", "Company"]);
    assert_eq!(code, 0, "{answer}");
    let counts = ["rows", "quests", "blanks", "repeats"].map(|name| answer[name].as_u64().unwrap());
    assert_eq!(counts, [19_999, 17_800, 2_000, 199]);
    let submit = ["submit", "--id=1", "--none=nothing found"];
    place.run(submit).exits(5);

    let (code, answer) = place.json(["export", "out.xlsx", "--columns=status,tries"]);
    assert_eq!(code, 0, "{answer}");
    assert_eq!(answer["rows"], 17_999, "{answer}");
    let found = cells(&place.at("out.xlsx"), "Companies");
    assert_eq!(texts(&found, 1, 3), ["status", "tries"]);
    for row in 2..=ROWS {
        assert_eq!(text(&found, row, 1), row.to_string());
        let name = name(row);
        assert_eq!(text(&found, row, 2), name.clone().unwrap_or_default());
        let expected = match name.as_deref() {
            None => ["", ""],
            Some("Company 2") => ["TODO", "1"],
            Some(_) => ["TODO", "0"],
        };
        assert_eq!(texts(&found, row, 3), expected, "row {row}");
    }
}
