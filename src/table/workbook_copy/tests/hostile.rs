//! Workbooks that are damaged or made to mislead are refused.

use super::*;
use crate::table::workbook_copy::WorkbookError;

const ROWS: &str = r#"<row r="1"><c r="A1"><v>2</v></c></row>"#;

fn refusal(source: &[u8]) -> WorkbookError {
    match copied(source, Some(1), &["email"], &[result(2, &[text("x")])]) {
        Err(ExportError::Workbook(refused)) => refused,
        other => panic!("{other:?}"),
    }
}

fn refused_sheet(xml: impl Into<Vec<u8>>) -> WorkbookError {
    refusal(&Book::with_sheet(xml).zipped())
}

/// Replaces equally long bytes wherever they stand, also in the zip's own records.
fn overwritten(mut bytes: Vec<u8>, from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    for at in 0..=bytes.len() - from.len() {
        if bytes[at..].starts_with(from) {
            bytes[at..at + to.len()].copy_from_slice(to);
        }
    }
    bytes
}

#[test]
fn what_is_no_package_is_refused() {
    for bytes in [
        &b""[..],
        b"PK",
        b"company,email\r\n",
        &[0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1],
    ] {
        assert!(matches!(refusal(bytes), WorkbookError::NotAPackage(_)));
    }
    let whole = Book::with_sheet(sheet_of(ROWS)).zipped();
    assert!(matches!(
        refusal(&whole[..whole.len() / 2]),
        WorkbookError::NotAPackage(_)
    ));
}

#[test]
fn duplicate_parts_are_refused() {
    let mut book = Book::with_sheet(sheet_of(ROWS));
    book.0.push((
        "xl/worksheets/sheet3.xml".into(),
        sheet_of(ROWS).into_bytes(),
    ));
    let twice = overwritten(book.zipped(), b"sheet3.xml", b"sheet2.xml");
    assert!(matches!(refusal(&twice), WorkbookError::DuplicateParts));
    let other_case = overwritten(book.zipped(), b"sheet3.xml", b"Sheet2.xml");
    assert!(matches!(
        refusal(&other_case),
        WorkbookError::DuplicateParts
    ));
}

#[test]
fn an_encrypted_part_is_refused() {
    let mut zip = Book::with_sheet(sheet_of(ROWS)).zipped();
    // Bit 0 of the flags at offset 8 of a central record (APPNOTE 4.4.4).
    let central = zip
        .windows(4)
        .position(|bytes| bytes == b"PK\x01\x02")
        .unwrap();
    zip[central + 8] |= 1;
    assert!(matches!(refusal(&zip), WorkbookError::Encrypted(_)));
}

#[test]
fn truncated_and_broken_xml_is_refused() {
    let whole = sheet_of(ROWS);
    for end in 1..whole.len() {
        let refused = refused_sheet(&whole[..end]);
        assert!(
            matches!(
                refused,
                WorkbookError::Xml { .. } | WorkbookError::Malformed { .. }
            ),
            "{end}"
        );
    }
    assert!(matches!(refused_sheet(""), WorkbookError::Malformed { .. }));
    for xml in [
        "<worksheet><sheetData></worksheet>",
        "<a></b>",
        "<worksheet><sheetData><row r=\"1\"><c>\u{0}&</c></row></sheetData></worksheet>",
    ] {
        assert!(
            matches!(
                refused_sheet(xml),
                WorkbookError::Xml { .. } | WorkbookError::Malformed { .. }
            ),
            "{xml}"
        );
    }
    let latin: &[u8] =
        b"<worksheet><sheetData><row><c><v>\xE9</v></c></row></sheetData></worksheet>";
    assert!(matches!(refused_sheet(latin), WorkbookError::Xml { .. }));
    let utf16: Vec<u8> = format!("\u{FEFF}{whole}")
        .encode_utf16()
        .flat_map(u16::to_be_bytes)
        .collect();
    assert!(matches!(
        refused_sheet(utf16),
        WorkbookError::Malformed { .. }
    ));
}

#[test]
fn damaged_compressed_data_is_refused() {
    let source = Book::with_sheet(sheet_of(ROWS)).zipped();
    let start = ZipArchive::new(Cursor::new(&source))
        .unwrap()
        .by_name("xl/worksheets/sheet2.xml")
        .unwrap()
        .data_start()
        .unwrap();
    let start = usize::try_from(start).unwrap();
    let mut damaged = source.clone();
    for byte in &mut damaged[start + 10..start + 30] {
        *byte ^= 0x55;
    }
    let refused = refusal(&damaged);
    assert!(
        matches!(
            refused,
            WorkbookError::Xml { .. }
                | WorkbookError::Unreadable { .. }
                | WorkbookError::Malformed { .. }
        ),
        "{refused:?}"
    );
}

#[test]
fn a_deep_sheet_does_not_overflow() {
    let deep = format!("{}{}", "<a>".repeat(200_000), "</a>".repeat(200_000));
    let xml = format!("<worksheet>{deep}<sheetData/></worksheet>");
    assert!(copied(&Book::with_sheet(xml).zipped(), None, &["email"], &[]).is_ok());
}

#[test]
fn a_sheet_that_is_not_there_is_named_with_those_that_are() {
    let book = Book::with_sheet(sheet_of(ROWS)).edited("xl/workbook.xml", "\"List\"", "\"Lists\"");
    let message = refusal(&book.zipped()).to_string();
    assert!(message.contains("\"Other\", \"Lists\""), "{message}");
    let chart = Book::with_sheet(sheet_of(ROWS)).edited(
        "xl/_rels/workbook.xml.rels",
        "/worksheet\" Target=\"worksheets/sheet2",
        "/chartsheet\" Target=\"worksheets/sheet2",
    );
    assert!(matches!(
        refusal(&chart.zipped()),
        WorkbookError::NoSheet { .. }
    ));
    let dangling =
        Book::with_sheet(sheet_of(ROWS)).renamed("xl/worksheets/sheet2.xml", "xl/other.xml");
    assert!(matches!(
        refusal(&dangling.zipped()),
        WorkbookError::NoPart(_)
    ));
}

#[test]
fn results_out_of_order_or_shape_are_refused() {
    let source = Book::with_sheet(sheet_of(ROWS)).zipped();
    let one = |row| result(row, &[text("x")]);
    let refused = |rows: &[ResultRow]| copied(&source, Some(1), &["email"], rows).unwrap_err();
    for (rows, expected) in [
        (&[one(3), one(2)][..], "row 2 is out of order"),
        (&[one(2), one(2)], "row 2 is out of order"),
        (&[one(1)], "row 1 is out of order"),
        (&[result(2, &[])], "row 2 has 0 results for 1 columns"),
        (&[one(1_048_577)], "this needs more rows"),
    ] {
        let refused = refused(rows).to_string();
        assert!(refused.contains(expected), "{refused}");
    }
}
