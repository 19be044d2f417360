//! Forms, read back by another reader.

use std::io::{Cursor, Read as _};

use calamine::{Data, Reader as _, Xlsx};
use proptest::prelude::*;
use url::Url;
use zip::ZipArchive;

use super::super::form::FormColumn;
use super::*;

fn column(heading: &str, role: ColumnRole) -> FormColumn {
    FormColumn {
        heading: heading.to_owned(),
        width: 12,
        role,
    }
}

fn form(rows: Vec<Vec<FormCell>>) -> Form {
    let columns = vec![
        column("key", ColumnRole::Free),
        column("page", ColumnRole::Free),
        column("decision", ColumnRole::Choice(&["accept", "reject"])),
        column("session", ColumnRole::Hidden),
    ];
    Form {
        sheet: "review",
        columns,
        rows,
    }
}

fn written(form: &Form) -> Vec<u8> {
    let mut out = Cursor::new(Vec::new());
    write_form(&mut out, form).unwrap();
    out.into_inner()
}

fn part(workbook: &[u8], name: &str) -> String {
    let mut package = ZipArchive::new(Cursor::new(workbook)).unwrap();
    let mut text = String::new();
    let mut part = package.by_name(name).unwrap();
    part.read_to_string(&mut text).unwrap();
    text
}

fn cells(workbook: Vec<u8>) -> Vec<Vec<Data>> {
    let mut book: Xlsx<_> = Xlsx::new(Cursor::new(workbook)).unwrap();
    assert_eq!(
        book.worksheet_formula("review")
            .unwrap()
            .used_cells()
            .count(),
        0
    );
    let range = book.worksheet_range("review").unwrap();
    range.rows().map(<[Data]>::to_vec).collect()
}

fn link(text: &str) -> FormCell {
    FormCell::Link(Url::parse(text).unwrap())
}

#[test]
fn what_looks_like_a_formula_is_text_and_stays_it() {
    let evil = "=HYPERLINK(\"http://evil.kr\",\"here\")";
    let workbook = written(&form(vec![vec![
        FormCell::text(evil),
        FormCell::text("plain"),
        FormCell::number(3_u32),
    ]]));
    let sheet = part(&workbook, "xl/worksheets/sheet1.xml");
    assert!(
        sheet.contains("<c r=\"A2\" s=\"3\" t=\"inlineStr\">"),
        "{sheet}"
    );
    assert!(!sheet.contains("<f>"), "{sheet}");
    let rows = cells(workbook);
    assert_eq!(rows[1][0], Data::String(evil.to_owned()));
    assert_eq!(rows[1][2], Data::Float(3.0));
}

#[test]
fn a_link_opens_exactly_what_it_shows() {
    let shown = "https://acme.co.kr/%EC%97%B0%EB%9D%BD?a=%B0%A1&b=%2F#at";
    let workbook = written(&form(vec![
        vec![FormCell::text("a"), link("javascript:alert(1)")],
        vec![FormCell::text("b"), link(shown)],
    ]));
    let sheet = part(&workbook, "xl/worksheets/sheet1.xml");
    let opened = "<hyperlinks><hyperlink ref=\"B3\" r:id=\"rId1\" location=\"at\"/></hyperlinks>";
    assert!(sheet.contains(opened), "{sheet}");
    let targets = part(&workbook, "xl/worksheets/_rels/sheet1.xml.rels");
    assert!(
        targets.contains("Target=\"https://acme.co.kr/%EC%97%B0%EB%9D%BD?a=%B0%A1&amp;b=%2F\""),
        "{targets}"
    );
    assert_eq!(targets.matches("Target=").count(), 1, "{targets}");
    assert_eq!(cells(workbook)[2][1], Data::String(shown.to_owned()));
}

#[test]
fn headings_stay_in_sight_and_choices_are_offered() {
    let rows = vec![vec![FormCell::text("a")], vec![FormCell::text("b")]];
    let sheet = part(&written(&form(rows)), "xl/worksheets/sheet1.xml");
    for expected in [
        "<pane ySplit=\"1\" topLeftCell=\"A2\" activePane=\"bottomLeft\" state=\"frozen\"/>",
        "<col min=\"4\" max=\"4\" width=\"12\" hidden=\"1\" customWidth=\"1\"/>",
        "sqref=\"C2:C3\"><formula1>\"accept,reject\"</formula1>",
    ] {
        assert!(sheet.contains(expected), "{expected} in {sheet}");
    }
    let empty = part(&written(&form(Vec::new())), "xl/worksheets/sheet1.xml");
    assert!(!empty.contains("dataValidation"), "{empty}");
}

#[test]
fn what_no_sheet_holds_is_refused() {
    let wide = Form {
        sheet: "review",
        columns: vec![column("a", ColumnRole::Free); 16_385],
        rows: Vec::new(),
    };
    let refused = write_form(Cursor::new(Vec::new()), &wide);
    assert!(matches!(refused, Err(FormError::TooLarge("columns"))));
    let long = form(vec![Vec::new(); 1_048_576]);
    let refused = write_form(Cursor::new(Vec::new()), &long);
    assert!(matches!(refused, Err(FormError::TooLarge("rows"))));
}

proptest! {
    #[test]
    fn every_text_comes_back(texts in prop::collection::vec(
        "(_x|[0-9A-Fa-f]{4}_|\\PC|[\\x00-\\x1F&<>\"'=\u{FFFE}\u{FFFF}]){1,12}", 1..4))
    {
        let row = texts.iter().map(|text| FormCell::text(text.as_str())).collect();
        let rows = cells(written(&form(vec![row])));
        for (found, text) in rows[1].iter().zip(texts) {
            prop_assert_eq!(found, &Data::String(text));
        }
    }
}
