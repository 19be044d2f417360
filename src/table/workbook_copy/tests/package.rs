//! The package: every other part stays as it is, and the sheet is found wherever it stands.

use super::*;

const ROWS: &str = r#"<row r="1"><c r="A1" t="s"><v>2</v></c></row>"#;

/// Every part's name, and all that the package says of it but its place.
fn raw_parts(zip: &[u8]) -> Vec<(String, String, Vec<u8>)> {
    let mut archive = ZipArchive::new(Cursor::new(zip)).unwrap();
    (0..archive.len())
        .map(|index| {
            let mut part = archive.by_index_raw(index).unwrap();
            let mut bytes = Vec::new();
            part.read_to_end(&mut bytes).unwrap();
            let facts = format!(
                "{:?} {:08x} {} {:?} {:?}",
                part.compression(),
                part.crc32(),
                part.size(),
                part.last_modified(),
                part.comment()
            );
            (part.name().unwrap().into_owned(), facts, bytes)
        })
        .collect()
}

fn assert_only_the_sheet_differs(source: &[u8], copy: &[u8], sheet: &str) {
    let (source_parts, copy_parts) = (raw_parts(source), raw_parts(copy));
    assert_eq!(source_parts.len(), copy_parts.len());
    for (one, other) in source_parts.iter().zip(&copy_parts) {
        assert_eq!(one.0, other.0);
        assert_eq!(one == other, one.0 != sheet, "{}", one.0);
    }
    let comment = |zip: &[u8]| {
        ZipArchive::new(Cursor::new(zip))
            .unwrap()
            .comment()
            .to_vec()
    };
    assert_eq!(comment(source), comment(copy));
}

#[test]
fn targets_may_be_absolute_elsewhere_or_of_other_case() {
    let relationships = "xl/_rels/workbook.xml.rels";
    let book = Book::with_sheet(sheet_of(ROWS));
    for (target, name) in [
        ("/xl/worksheets/sheet2.xml", "xl/worksheets/sheet2.xml"),
        (
            "worksheets/deep/er/list.xml",
            "xl/worksheets/deep/er/list.xml",
        ),
        ("../sheets/list.xml", "sheets/list.xml"),
        ("WorkSheets/Sheet2.xml", "xl/worksheets/sheet2.xml"),
    ] {
        let source = book
            .clone()
            .edited(relationships, "worksheets/sheet2.xml", target)
            .renamed("xl/worksheets/sheet2.xml", name)
            .zipped();
        let copy = copied(&source, None, &["email"], &[result(1, &[text("x")])]).unwrap();
        assert_only_the_sheet_differs(&source, &copy, name);
        assert!(
            String::from_utf8(part(&copy, name))
                .unwrap()
                .contains(">x</t>"),
            "{target}"
        );
    }
}

#[test]
fn strict_namespaces_and_other_prefixes_are_understood() {
    let strict = "http://purl.oclc.org/ooxml/officeDocument/relationships";
    let mut book = Book::with_sheet(
        sheet_of(ROWS).replace(MAIN, "http://purl.oclc.org/ooxml/spreadsheetml/main"),
    )
    .edited("xl/workbook.xml", "r:id", "rel:id")
    .edited("xl/workbook.xml", "xmlns:r=", "xmlns:rel=");
    for part in [
        "_rels/.rels",
        "xl/_rels/workbook.xml.rels",
        "xl/workbook.xml",
    ] {
        book = book.edited(part, RELATIONSHIPS, strict);
    }
    let copy = copied(&book.zipped(), None, &["email"], &[result(1, &[text("x")])]).unwrap();
    assert!(
        String::from_utf8(part(&copy, "xl/worksheets/sheet2.xml"))
            .unwrap()
            .contains(">x</t>")
    );
}

#[test]
fn a_workbook_in_utf_16_and_under_another_name_is_found() {
    let mut book = Book::with_sheet(sheet_of(ROWS))
        .edited("_rels/.rels", "xl/workbook.xml", "xl/book.xml")
        .renamed("xl/workbook.xml", "xl/book.xml")
        .renamed("xl/_rels/workbook.xml.rels", "xl/_rels/book.xml.rels");
    for (name, bytes) in &mut book.0 {
        if name == "xl/book.xml" {
            let text = format!("\u{FEFF}{}", String::from_utf8(bytes.clone()).unwrap());
            *bytes = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        }
    }
    assert!(copied(&book.zipped(), None, &["email"], &[]).is_ok());
}

#[test]
fn entries_with_data_descriptors_are_copied() {
    let mut zip = ZipWriter::new_stream(Vec::new());
    for (name, bytes) in Book::with_sheet(sheet_of(ROWS)).0 {
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
        zip.write_all(&bytes).unwrap();
    }
    let source = zip.finish().unwrap().into_inner();
    let copy = copied(&source, None, &["email"], &[result(1, &[text("x")])]).unwrap();
    assert_only_the_sheet_differs(&source, &copy, "xl/worksheets/sheet2.xml");
    assert_eq!(at(&read_back(&copy), 1, 2), Data::String("x".into()));
}

#[test]
fn entries_in_the_zip64_form_are_copied() {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in Book::with_sheet(sheet_of(ROWS)).0 {
        zip.start_file(name, SimpleFileOptions::default().large_file(true))
            .unwrap();
        zip.write_all(&bytes).unwrap();
    }
    let source = zip.finish().unwrap().into_inner();
    let copy = copied(&source, None, &["email"], &[result(1, &[text("x")])]).unwrap();
    assert_only_the_sheet_differs(&source, &copy, "xl/worksheets/sheet2.xml");
    assert_eq!(at(&read_back(&copy), 1, 1), Data::String("Acme".into()));
}
