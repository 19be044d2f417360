//! The sheet's XML: what is put in, and that all else stays.

use calamine::Data;

use super::*;

/// What one inserted cell looks like.
fn cell(place: &str, text: &str) -> String {
    format!(r#"<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>"#)
}

#[test]
fn bytes_around_the_cells_stay_as_they_were() {
    let before = "\u{FEFF}<?xml version='1.0' encoding=\"utf-8\" ?>\r\n<!-- > --><worksheet  xmlns='http://schemas.openxmlformats.org/spreadsheetml/2006/main'\r\n><sheetPr/><sheetData >\r\n <row r = '2'  ht=\"3\" >\t<c t='inlineStr'><is><t><![CDATA[<a>&]]>&#x41;</t></is></c >";
    let between = " </row ><row r='3'><!-- c --><c r='A3'><f>B1&gt;2</f><v>1</v></c>";
    let after = "</row>\n</sheetData>\r\n<mergeCells/><tableParts count='1'><tablePart/></tableParts></worksheet>\r\n";
    let copy = copied_sheet(
        &[before, between, after].concat(),
        None,
        &[result(2, &[text("x")]), result(3, &[text("y")])],
    );
    // The white space before the end of a row is before the new cell.
    let between = between.strip_prefix(' ').unwrap();
    let expected = [
        before,
        " ",
        &cell("B2", "x"),
        between,
        &cell("B3", "y"),
        after,
    ]
    .concat();
    assert_eq!(copy, expected);
}

#[test]
fn rows_without_numbers_and_empty_rows_are_counted() {
    let rows = r#"<row><c><v>1</v></c></row><row/><row r="5"/><row><c><v>2</v></c></row>"#;
    let results = [1, 2, 5, 6].map(|row| result(row, &[text("x")]));
    let expected = format!(
        r#"<row><c><v>1</v></c>{}</row><row>{}</row><row r="5">{}</row><row><c><v>2</v></c>{}</row>"#,
        cell("B1", "x"),
        cell("B2", "x"),
        cell("B5", "x"),
        cell("B6", "x")
    );
    assert_eq!(
        copied_sheet(&sheet_of(rows), None, &results),
        sheet_of(&expected)
    );
}

#[test]
fn rows_that_the_sheet_has_not_are_put_in() {
    let rows = r#"<row r="3"><c r="A3"><v>1</v></c></row>"#;
    let results = [2, 3, 9].map(|row| result(row, &[text("x")]));
    let expected = format!(
        r#"<row r="2">{}</row><row r="3"><c r="A3"><v>1</v></c>{}</row><row r="9">{}</row>"#,
        cell("B2", "x"),
        cell("B3", "x"),
        cell("B9", "x")
    );
    assert_eq!(
        copied_sheet(&sheet_of(rows), None, &results),
        sheet_of(&expected)
    );
    let empty = format!("<worksheet xmlns=\"{MAIN}\"><sheetData/></worksheet>");
    let expected = sheet_of(&format!(r#"<row r="4">{}</row>"#, cell("A4", "x")));
    assert_eq!(
        copied_sheet(&empty, None, &[result(4, &[text("x")])]),
        expected
    );
    assert_eq!(copied_sheet(&empty, None, &[]), empty);
}

#[test]
fn prefixed_elements_keep_their_prefix() {
    let prefixed = |cells: [&str; 2]| {
        format!(
            r#"<x:worksheet xmlns:x="{MAIN}"><x:sheetData><x:row r="1"><x:c r="A1"><x:v>1</x:v></x:c>{}</x:row>{}</x:sheetData></x:worksheet>"#,
            cells[0], cells[1]
        )
    };
    let own = r#"<x:c r="B1" t="inlineStr"><x:is><x:t xml:space="preserve">x</x:t></x:is></x:c>"#;
    let row = r#"<x:row r="2"><x:c r="B2" t="inlineStr"><x:is><x:t xml:space="preserve">y</x:t></x:is></x:c></x:row>"#;
    let results = [result(1, &[text("x")]), result(2, &[text("y")])];
    let source = Book::with_sheet(prefixed(["", ""])).zipped();
    let copy = copied(&source, None, &["email"], &results).unwrap();
    assert_eq!(
        part(&copy, "xl/worksheets/sheet2.xml"),
        prefixed([own, row]).into_bytes()
    );
    assert_eq!(at(&read_back(&copy), 2, 2), Data::String("y".into()));
}

#[test]
fn dimension_and_spans_grow_and_nothing_else_does() {
    let xml = |area: &str, spans: &str, cells: &str| {
        format!(
            r#"<worksheet xmlns="{MAIN}"><dimension ref="{area}"/><sheetData><row r="1" spans="{spans}"><c r="C1"><v>1</v></c>{cells}</row><row r="2" spans="1:3"/></sheetData><autoFilter ref="A1:C2"/></worksheet>"#
        )
    };
    let copy = copied_sheet(&xml("A1:C2", "1:3", ""), None, &[result(1, &[text("x")])]);
    assert_eq!(copy, xml("A1:D2", "1:4", &cell("D1", "x")));
    let odd = copied_sheet(&xml("?", "odd", ""), None, &[result(1, &[text("x")])]);
    assert_eq!(odd, xml("?", "odd", &cell("D1", "x")));
}

#[test]
fn the_header_grows_in_its_own_style_and_taken_headings_are_set_apart() {
    let rows = r#"<row r="1"><c r="A1" t="s" s="7"><v>0</v></c><c r="B1" t="s" s="8"><v>1</v></c></row><row r="2"><c r="A2" t="s"><v>2</v></c></row>"#;
    let expected = format!(
        r#"<row r="1"><c r="A1" t="s" s="7"><v>0</v></c><c r="B1" t="s" s="8"><v>1</v></c>{}</row><row r="2"><c r="A2" t="s"><v>2</v></c>{}</row>"#,
        cell("C1", "email (comail)").replacen("\"C1\"", "\"C1\" s=\"8\"", 1),
        cell("C2", "=x")
    );
    let copy = copied_sheet(&sheet_of(rows), Some(1), &[result(2, &[text("=x")])]);
    assert_eq!(copy, sheet_of(&expected));
    let without = copied_sheet(&sheet_of(rows), None, &[result(2, &[text("=x")])]);
    assert!(!without.contains("comail"));
}

#[test]
fn an_empty_cell_gives_its_format_to_the_result_in_its_place() {
    let rows = r#"<row r="1"><c r="A1"><v>1</v></c><c r="B1" s="3"/><c r="C1" s="4"></c><c r="D1" s="5"/></row><row r="2"><c r="A2"/><c r="B2" s="6"/></row>"#;
    let source = Book::with_sheet(sheet_of(rows)).zipped();
    let copy = copied(
        &source,
        None,
        &["a", "b"],
        &[result(1, &[text("x"), text("")])],
    )
    .unwrap();
    let expected = format!(
        r#"<row r="1"><c r="A1"><v>1</v></c>{}<c r="C1" s="4"/><c r="D1" s="5"/></row><row r="2"><c r="A2"/><c r="B2" s="6"/></row>"#,
        cell("B1", "x").replacen("\"B1\"", "\"B1\" s=\"3\"", 1)
    );
    assert_eq!(
        String::from_utf8(part(&copy, "xl/worksheets/sheet2.xml")).unwrap(),
        sheet_of(&expected)
    );
}

#[test]
fn the_last_column_of_a_sheet_is_the_end() {
    let full = sheet_of(r#"<row r="1"><c r="XFC1"><v>1</v></c></row>"#);
    let source = Book::with_sheet(full).zipped();
    let one = copied(&source, None, &["a"], &[result(1, &[text("x")])]).unwrap();
    assert_eq!(at(&read_back(&one), 1, 16_384), Data::String("x".into()));
    let two = copied(&source, None, &["a", "b"], &[]);
    assert!(matches!(two, Err(ExportError::TooLarge(_))));
    let formats = sheet_of(r#"<row r="1" s="1"><c r="A1"><v>1</v></c><c r="XFD1" s="1"/></row>"#);
    let source = Book::with_sheet(formats).zipped();
    let beside = copied(&source, None, &["a"], &[result(1, &[text("x")])]).unwrap();
    assert_eq!(at(&read_back(&beside), 1, 2), Data::String("x".into()));
}

#[test]
fn another_reader_sees_text_and_numbers() {
    let source = Book::with_sheet(sheet_of(r#"<row r="1"><c r="A1"><v>1</v></c></row>"#)).zipped();
    let cells = [text("=1+1 & <b>\r\u{7}_x0041_ "), Cell::Number(3)];
    let copy = copied(&source, None, &["a", "tries"], &[result(1, &cells)]).unwrap();
    let range = read_back(&copy);
    assert_eq!(
        at(&range, 1, 2),
        Data::String("=1+1 & <b>\r\u{7}_x0041_ ".into())
    );
    assert_eq!(at(&range, 1, 3), Data::Float(3.0));
}
