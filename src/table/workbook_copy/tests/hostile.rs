//! Workbooks that are damaged or made to mislead are refused.

use super::*;

const ROWS: &str = r#"<row r="1"><c r="A1"><v>2</v></c></row>"#;

fn refusal(source: &[u8]) -> String {
    match copied(source, Some(1), &["email"], &[result(2, &[text("x")])]) {
        Err(ExportError::Workbook(refused)) => refused.to_string(),
        other => panic!("{other:?}"),
    }
}

fn refused_sheet(xml: impl Into<Vec<u8>>) -> String {
    refusal(&Book::with_sheet(xml).zipped())
}

fn book() -> Book {
    Book::with_sheet(sheet_of(ROWS))
}

/// Replaces equally long bytes everywhere, also in the zip's own records.
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
fn what_is_no_sound_package_is_refused() {
    let whole = book().zipped();
    let mut two = book();
    let third = ("xl/worksheets/sheet3.xml".to_owned(), ROWS.into());
    two.0.push(third);
    let two = two.zipped();
    // Bit 0 of the flags at offset 8 of a central record (APPNOTE 4.4.4).
    let mut encrypted = whole.clone();
    let mut records = encrypted.windows(4);
    let central = records.position(|bytes| bytes == b"PK\x01\x02").unwrap();
    encrypted[central + 8] |= 1;
    let not_a_package = "this is not an .xlsx or .xlsm workbook";
    let twice = "two parts with the same name";
    for (source, expected) in [
        (&b""[..], not_a_package),
        (b"PK", not_a_package),
        (b"company,email\r\n", not_a_package),
        (
            &[0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1],
            not_a_package,
        ),
        (&whole[..whole.len() / 2], not_a_package),
        (
            &overwritten(two.clone(), b"sheet3.xml", b"sheet2.xml"),
            twice,
        ),
        (&overwritten(two, b"sheet3.xml", b"Sheet2.xml"), twice),
        (&encrypted, "is encrypted"),
    ] {
        let refused = refusal(source);
        assert!(refused.contains(expected), "{refused}");
    }
}

#[test]
fn truncated_and_broken_xml_is_refused() {
    let whole = sheet_of(ROWS);
    for end in 0..whole.len() {
        let refused = refused_sheet(&whole[..end]);
        assert!(refused.contains("the workbook's part"), "{end}: {refused}");
    }
    let latin: &[u8] =
        b"<worksheet><sheetData><row><c><v>\xE9</v></c></row></sheetData></worksheet>";
    let control: &[u8] =
        b"<worksheet><sheetData><row r=\"1\"><c>\0&</c></row></sheetData></worksheet>";
    let marked = format!("\u{FEFF}{whole}");
    let utf16: Vec<u8> = marked.encode_utf16().flat_map(u16::to_be_bytes).collect();
    for (xml, expected) in [
        (&b""[..], "is not a worksheet"),
        (b"<worksheet><sheetData></worksheet>", "not well-formed XML"),
        (b"<a></b>", "is not a worksheet"),
        (control, "not well-formed XML"),
        (latin, "not well-formed XML"),
        (&utf16, "is not in UTF-8"),
    ] {
        let refused = refused_sheet(xml);
        assert!(refused.contains(expected), "{refused}");
    }
}

#[test]
fn damaged_compressed_data_is_refused() {
    let source = book().zipped();
    let mut archive = ZipArchive::new(Cursor::new(&source)).unwrap();
    let part = archive.by_name("xl/worksheets/sheet2.xml").unwrap();
    let start = usize::try_from(part.data_start().unwrap()).unwrap();
    drop(part);
    let mut damaged = source.clone();
    for byte in &mut damaged[start + 10..start + 30] {
        *byte ^= 0x55;
    }
    let refused = refusal(&damaged);
    assert!(refused.contains("xl/worksheets/sheet2.xml"), "{refused}");
}

#[test]
fn a_deep_sheet_does_not_overflow() {
    let deep = format!("{}{}", "<a>".repeat(200_000), "</a>".repeat(200_000));
    let xml = format!("<worksheet>{deep}<sheetData/></worksheet>");
    assert!(copied(&Book::with_sheet(xml).zipped(), None, &["email"], &[]).is_ok());
}

#[test]
fn a_sheet_that_is_not_there_is_named_with_those_that_are() {
    let renamed = book().edited("xl/workbook.xml", "\"List\"", "\"Lists\"");
    let chart = book().edited(
        "xl/_rels/workbook.xml.rels",
        "/worksheet\" Target=\"worksheets/sheet2",
        "/chartsheet\" Target=\"worksheets/sheet2",
    );
    let dangling = book().renamed("xl/worksheets/sheet2.xml", "xl/other.xml");
    for (book, expected) in [
        (
            renamed,
            "no worksheet \"List\"; its worksheets: \"Other\", \"Lists\"",
        ),
        (chart, "no worksheet \"List\"; its worksheets: \"Other\""),
        (dangling, "has no part \"xl/worksheets/sheet2.xml\""),
    ] {
        let refused = refusal(&book.zipped());
        assert!(refused.contains(expected), "{refused}");
    }
}

#[test]
fn results_out_of_order_or_shape_are_refused() {
    let source = book().zipped();
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
