//! Copies of hand-made workbooks, read by another reader and compared byte for byte.

use crate::base::rows;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{Cursor, Read as _, Write as _};

use calamine::{Data, Range, Reader as _, Xlsx};
use proptest::prelude::*;
use regex::Regex;
use serde::Deserialize;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::copy_workbook;
use crate::table::Header;
use crate::table::cell::column_letters;
use crate::table::results::{Cell, ExportError, ResultRow};

const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const RELATIONSHIPS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

#[derive(Clone)]
struct Book(Vec<(String, Vec<u8>)>);

impl Book {
    /// A workbook whose second sheet, `List`, has this XML.
    fn with_sheet(xml: impl Into<Vec<u8>>) -> Self {
        let parts = rows! {
            "[Content_Types].xml" => include_str!("book/types.xml").into();
            "_rels/.rels" => include_str!("book/root_rels.xml").into();
            "xl/workbook.xml" => include_str!("book/workbook.xml").into();
            "xl/_rels/workbook.xml.rels" => include_str!("book/workbook_rels.xml").into();
            "xl/worksheets/sheet1.xml" => include_str!("book/other.xml").into();
            "xl/worksheets/sheet2.xml" => xml.into();
            "xl/sharedStrings.xml" => include_str!("book/strings.xml").into();
            "xl/media/image1.png" => b"\x01not really an image\0".to_vec();
        };
        Self(parts.map(|(name, bytes)| (name.to_owned(), bytes)).to_vec())
    }

    fn edited(mut self, part: &str, from: &str, to: &str) -> Self {
        for (name, bytes) in &mut self.0 {
            if name == part {
                let text = String::from_utf8(bytes.clone()).unwrap();
                assert!(text.contains(from));
                *bytes = text.replace(from, to).into_bytes();
            }
        }
        self
    }

    fn renamed(mut self, from: &str, to: &str) -> Self {
        for (name, _) in &mut self.0 {
            if name == from {
                to.clone_into(name);
            }
        }
        self
    }

    fn zipped(&self) -> Vec<u8> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        zip.set_comment("a comment").unwrap();
        for (name, bytes) in &self.0 {
            let method = if name.contains("image") {
                CompressionMethod::Stored
            } else {
                CompressionMethod::Deflated
            };
            let written = zip::DateTime::from_date_and_time(2011, 2, 3, 4, 5, 6).unwrap();
            let options = SimpleFileOptions::default()
                .compression_method(method)
                .last_modified_time(written);
            zip.start_file(name, options).unwrap();
            zip.write_all(bytes).unwrap();
        }
        zip.finish().unwrap().into_inner()
    }
}

fn sheet_of(rows: &str) -> String {
    format!(r#"<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>"#)
}

fn text(text: &str) -> Cell {
    Cell::Text(text.to_owned())
}

fn result(row: u32, cells: &[Cell]) -> ResultRow {
    ResultRow {
        row,
        cells: cells.to_vec(),
    }
}

fn x(row: u32) -> ResultRow {
    result(row, &[text("x")])
}

/// The copy of `source` with these results in its sheet `List`.
fn copied(
    source: &[u8],
    header_row: Option<u32>,
    headings: &[&str],
    rows: &[ResultRow],
) -> Result<Vec<u8>, ExportError> {
    let headings: Vec<String> = headings.iter().map(ToString::to_string).collect();
    let cells = vec!["company".to_owned(), "email".to_owned()];
    let header = header_row.map(|row| Header { row, cells });
    let place = ("List", header.as_ref());
    let mut out = Cursor::new(Vec::new());
    let mut rows = rows.iter().cloned().map(Ok);
    let source = Cursor::new(source);
    copy_workbook(source, &mut out, place, &headings, &[], &mut rows)?;
    Ok(out.into_inner())
}

#[test]
fn the_columns_of_the_results_get_widths_unless_the_sheet_gives_them_some() {
    let rows = "<sheetData><row r=\"1\"><c r=\"A1\"><v>1</v></c></row></sheetData>";
    let added = "<col min=\"2\" max=\"2\" width=\"30\" customWidth=\"1\"/>";
    let own = "<col min=\"1\" max=\"1\" width=\"9\"/>";
    for (before, after) in rows! {
        String::new() => format!("<cols>{added}</cols>");
        format!("<cols>{own}</cols>") => format!("<cols>{own}{added}</cols>");
        "<cols><col min=\"1\" max=\"9\"/></cols>".to_owned() => "<cols><col min=\"1\" max=\"9\"/></cols>".to_owned();
        "<cols/>".to_owned() => "<cols/>".to_owned();
    } {
        let sheet =
            |widths: &str| format!(r#"<worksheet xmlns="{MAIN}">{widths}{rows}</worksheet>"#);
        let book = Book::with_sheet(sheet(&before)).zipped();
        let mut out = Cursor::new(Vec::new());
        let headings = ["email".to_owned()];
        let place = ("List", None);
        copy_workbook(
            Cursor::new(book),
            &mut out,
            place,
            &headings,
            &[30],
            &mut std::iter::empty(),
        )
        .unwrap();
        assert_eq!(sheet_xml(&out.into_inner()), sheet(&after));
    }
}

/// The sheet's XML in the copy of a workbook with this sheet; one column `email`.
fn copied_sheet(xml: &str, header_row: Option<u32>, rows: &[ResultRow]) -> String {
    let copy = copied(
        &Book::with_sheet(xml).zipped(),
        header_row,
        &["email"],
        rows,
    )
    .unwrap();
    sheet_xml(&copy)
}

fn sheet_xml(zip: &[u8]) -> String {
    String::from_utf8(part(zip, "xl/worksheets/sheet2.xml")).unwrap()
}

fn part(zip: &[u8], name: &str) -> Vec<u8> {
    let mut archive = ZipArchive::new(Cursor::new(zip)).unwrap();
    let mut bytes = Vec::new();
    archive
        .by_name(name)
        .unwrap()
        .read_to_end(&mut bytes)
        .unwrap();
    bytes
}

/// The sheet `List` as another reader sees it.
fn read_back(zip: &[u8]) -> Range<Data> {
    let mut book: Xlsx<_> = Xlsx::new(Cursor::new(zip.to_vec())).unwrap();
    book.worksheet_range("List").unwrap()
}

fn at(range: &Range<Data>, row: u32, column: u32) -> Data {
    range
        .get_value((row - 1, column - 1))
        .cloned()
        .unwrap_or_default()
}

const ROWS: &str = r#"<row r="1"><c r="A1" t="s"><v>2</v></c></row>"#;

fn refusal(source: &[u8]) -> String {
    match copied(source, Some(1), &["email"], &[x(2)]) {
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
fn damaged_and_encrypted_packages_are_refused() {
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
    for (source, expected) in rows! {
        &b""[..] => not_a_package;
        b"PK" => not_a_package;
        b"company,email\r\n" => not_a_package;
        &[0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1] => not_a_package;
        &whole[..whole.len() / 2] => not_a_package;
        &overwritten(two.clone(), b"sheet3.xml", b"sheet2.xml") => twice;
        &overwritten(two, b"sheet3.xml", b"Sheet2.xml") => twice;
        &encrypted => "is encrypted";
    } {
        let refused = refusal(source);
        assert!(refused.contains(expected), "{refused}");
    }
}

#[test]
fn truncated_and_broken_xml_is_refused() {
    let whole = sheet_of(ROWS);
    for end in 0..whole.len() {
        let refused = refused_sheet(&whole[..end]);
        assert!(refused.contains("sheet2.xml"), "{end}: {refused}");
    }
    let latin: &[u8] =
        b"<worksheet><sheetData><row><c><v>\xE9</v></c></row></sheetData></worksheet>";
    let control: &[u8] =
        b"<worksheet><sheetData><row r=\"1\"><c>\0&</c></row></sheetData></worksheet>";
    let declared: &[u8] =
        b"<?xml version=\"1.0\" encoding=\"EUC-KR\"?><worksheet><sheetData/></worksheet>";
    let marked = format!("\u{FEFF}{whole}");
    let utf16: Vec<u8> = marked.encode_utf16().flat_map(u16::to_be_bytes).collect();
    for (xml, expected) in [
        (&b""[..], "is not a worksheet"),
        (b"<worksheet><sheetData></worksheet>", "not well-formed XML"),
        (b"<a></b>", "is not a worksheet"),
        (control, "not well-formed XML"),
        (latin, "not well-formed XML"),
        (&utf16, "is not in UTF-8"),
        (&utf16[2..], "is not in UTF-8"),
        (declared, "is not in UTF-8"),
        (b"<chartsheet/>", "is not a worksheet"),
        (b"<worksheet/>", "is not a worksheet"),
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
fn a_missing_sheet_is_reported_with_the_existing_ones() {
    let renamed = book().edited("xl/workbook.xml", "\"List\"", "\"Lists\"");
    let chart = book().edited(
        "xl/_rels/workbook.xml.rels",
        "/worksheet\" Target=\"worksheets/sheet2",
        "/chartsheet\" Target=\"worksheets/sheet2",
    );
    let dangling = book().renamed("xl/worksheets/sheet2.xml", "xl/other.xml");
    let broken = book().edited("xl/workbook.xml", "</sheets>", "</sheet>");
    for (book, expected) in rows! {
        renamed => "no worksheet \"List\"; its worksheets: \"Other\", \"Lists\"";
        chart => "no worksheet \"List\"; its worksheets: \"Other\"";
        dangling => "has no part \"xl/worksheets/sheet2.xml\"";
        broken => "is not well-formed XML";
    } {
        let refused = refusal(&book.zipped());
        assert!(refused.contains(expected), "{refused}");
    }
}

#[test]
fn results_out_of_order_or_shape_are_refused() {
    let source = book().zipped();
    let refused = |rows: &[ResultRow]| copied(&source, Some(1), &["email"], rows).unwrap_err();
    for (rows, expected) in [
        (&[x(3), x(2)][..], "row 2 is out of order"),
        (&[x(2), x(2)], "row 2 is out of order"),
        (&[x(1)], "row 1 is out of order"),
        (&[result(2, &[])], "row 2 has 0 results for 1 columns"),
        (&[x(1_048_577)], "this needs more rows"),
    ] {
        let refused = refused(rows).to_string();
        assert!(refused.contains(expected), "{refused}");
    }
}

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
    let archive = |zip| ZipArchive::new(Cursor::new(zip)).unwrap();
    assert_eq!(archive(source).comment(), archive(copy).comment());
}

#[test]
fn targets_may_be_absolute_relative_or_spelled_otherwise() {
    let relationships = "xl/_rels/workbook.xml.rels";
    let book = Book::with_sheet(sheet_of(ROWS));
    for (target, name) in rows! {
        "/xl/worksheets/sheet2.xml" => "xl/worksheets/sheet2.xml";
        "worksheets/deep/er/list.xml" => "xl/worksheets/deep/er/list.xml";
        "../sheets/list.xml" => "sheets/list.xml";
        "WorkSheets/Sheet2.xml" => "xl/worksheets/sheet2.xml";
        "worksheets\\sheet2.xml" => "xl/worksheets/sheet2.xml";
        ".././../a/../xl/sheet.xml" => "xl/sheet.xml";
    } {
        let source = book
            .clone()
            .edited(relationships, "worksheets/sheet2.xml", target)
            .renamed("xl/worksheets/sheet2.xml", name)
            .zipped();
        let copy = copied(&source, None, &["email"], &[x(1)]).unwrap();
        assert_only_the_sheet_differs(&source, &copy, name);
        let written = String::from_utf8(part(&copy, name)).unwrap();
        assert!(written.contains(">x</t>"), "{target}");
    }
}

#[test]
fn strict_namespaces_and_other_prefixes_are_understood() {
    let strict = "http://purl.oclc.org/ooxml/officeDocument/relationships";
    let mut book = Book::with_sheet(
        sheet_of(ROWS).replace(MAIN, "http://purl.oclc.org/ooxml/spreadsheetml/main"),
    )
    .edited("xl/workbook.xml", "r:id", "rel:id")
    .edited("xl/workbook.xml", "xmlns:r=", "xmlns:rel=")
    .edited("xl/workbook.xml", "\"List\"", "\"L&#105;st\"");
    for part in [
        "_rels/.rels",
        "xl/_rels/workbook.xml.rels",
        "xl/workbook.xml",
    ] {
        book = book.edited(part, RELATIONSHIPS, strict);
    }
    let copy = copied(&book.zipped(), None, &["email"], &[x(1)]).unwrap();
    assert!(sheet_xml(&copy).contains(">x</t>"));
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
fn entries_with_data_descriptors_or_in_the_zip64_form_are_copied() {
    let mut streamed = ZipWriter::new_stream(Vec::new());
    let mut large = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in Book::with_sheet(sheet_of(ROWS)).0 {
        let options = SimpleFileOptions::default();
        streamed.start_file(&name, options).unwrap();
        streamed.write_all(&bytes).unwrap();
        large.start_file(&name, options.large_file(true)).unwrap();
        large.write_all(&bytes).unwrap();
    }
    let streamed = streamed.finish().unwrap().into_inner();
    let large = large.finish().unwrap().into_inner();
    for source in [streamed, large] {
        let copy = copied(&source, None, &["email"], &[x(1)]).unwrap();
        assert_only_the_sheet_differs(&source, &copy, "xl/worksheets/sheet2.xml");
        let range = read_back(&copy);
        assert_eq!(at(&range, 1, 1), Data::String("Acme".into()));
        assert_eq!(at(&range, 1, 2), Data::String("x".into()));
    }
}

/// How a sheet writes what it may write in several ways.
#[derive(Debug, Clone, Copy)]
struct Style {
    prefix: &'static str,
    row_numbers: bool,
    cell_references: bool,
    gap: &'static str,
}

fn style() -> impl Strategy<Value = Style> {
    let gap = prop::sample::select(vec!["", "\r\n  ", "<!-- <row r=\"1\"> -->", "\t"]);
    (any::<bool>(), any::<bool>(), any::<bool>(), gap).prop_map(
        |(prefixed, row_numbers, cell_references, gap)| Style {
            prefix: if prefixed { "x:" } else { "" },
            row_numbers,
            cell_references,
            gap,
        },
    )
}

/// Values by row and column, counted from 1; none is a cell that has a format alone.
type Values = BTreeMap<u32, BTreeMap<u32, Option<u32>>>;

fn values() -> impl Strategy<Value = Values> {
    let row = prop::collection::btree_map(1..6_u32, prop::option::of(0..99_u32), 0..4);
    prop::collection::btree_map(1..12_u32, row, 0..8)
}

/// Places are written where the style says so, and otherwise every place before is taken.
fn xml(style: Style, values: &Values) -> String {
    let Style { prefix: p, gap, .. } = style;
    let mut rows = String::new();
    for row in 1..=values.keys().last().copied().unwrap_or(0) {
        let number = if style.row_numbers {
            format!(" r=\"{row}\"")
        } else {
            String::new()
        };
        let Some((cells, last)) = values.get(&row).zip(last_column(values, row)) else {
            if values.contains_key(&row) || !style.row_numbers {
                write!(rows, "<{p}row{number}/>{gap}").unwrap();
            }
            continue;
        };
        write!(rows, "<{p}row{number}>{gap}").unwrap();
        for column in 1..=last {
            let reference = match (style.cell_references, cells.contains_key(&column)) {
                (true, true) => format!(" r=\"{}{row}\"", column_letters(column)),
                (true, false) => continue,
                (false, _) => String::new(),
            };
            match cells.get(&column).copied().flatten() {
                Some(value) => write!(rows, "<{p}c{reference}><{p}v>{value}</{p}v></{p}c>{gap}"),
                None => write!(rows, "<{p}c{reference} s=\"1\"/>{gap}"),
            }
            .unwrap();
        }
        write!(rows, "</{p}row>{gap}").unwrap();
    }
    let namespace = if p.is_empty() { "xmlns" } else { "xmlns:x" };
    format!(
        "<{p}worksheet {namespace}=\"{MAIN}\">{gap}<{p}sheetData>{gap}{rows}</{p}sheetData></{p}worksheet>"
    )
}

fn last_column(values: &Values, row: u32) -> Option<u32> {
    values.get(&row)?.keys().last().copied()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn another_reader_finds_every_cell(
        style in style(),
        values in values(),
        rows in prop::collection::btree_set(1..16_u32, 0..8),
        header in prop::option::of(1..4_u32),
    ) {
        let shown = |row: u32| format!("=r{row} & <b>\r\u{7}_x0041_ ");
        let rows: BTreeSet<u32> = rows.into_iter().filter(|row| Some(*row) != header).collect();
        let results: Vec<ResultRow> = rows.iter()
            .map(|&row| result(row, &[text(&shown(row)), Cell::Number(row.into())]))
            .collect();
        let source = Book::with_sheet(xml(style, &values)).zipped();
        let copy = copied(&source, header, &["mail", "tries"], &results).unwrap();
        let range = read_back(&copy);

        let used = |cells: &BTreeMap<u32, Option<u32>>| cells.iter().filter(|cell| cell.1.is_some()).map(|cell| *cell.0).max();
        let first = values.values().filter_map(used).max().unwrap_or(0) + 1;
        for row in 1..17 {
            for column in 1..first {
                let expected = values.get(&row).and_then(|cells| cells.get(&column).copied().flatten());
                let expected = expected.map_or(Data::Empty, |value| Data::Float(value.into()));
                prop_assert_eq!(at(&range, row, column), expected);
            }
            let (email, tries) = if rows.contains(&row) {
                (Data::String(shown(row)), Data::Float(row.into()))
            } else if header == Some(row) {
                (Data::String("mail".into()), Data::String("tries".into()))
            } else {
                (Data::Empty, Data::Empty)
            };
            prop_assert_eq!(at(&range, row, first), email);
            prop_assert_eq!(at(&range, row, first + 1), tries);
        }
    }

    #[test]
    fn without_results_the_sheet_stays_as_it_was(style in style(), values in values()) {
        let xml = xml(style, &values);
        prop_assert_eq!(copied_sheet(&xml, None, &[]), xml);
    }

    #[test]
    fn no_bytes_make_it_panic(damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        let mut source = Book::with_sheet(sheet_of("<row r=\"1\"><c r=\"A1\" t=\"s\"><v>0</v></c></row>")).zipped();
        for (index, byte) in damage {
            let index = index.index(source.len());
            source[index] = byte;
        }
        let _refused_or_not = copied(&source, Some(1), &["email"], &[x(2)]);
    }
}

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
        &[x(2), result(3, &[text("y")])],
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

/// A sheet before and after results are put in.
#[derive(Deserialize)]
struct Case {
    name: String,
    before: String,
    after: String,
    header: Option<u32>,
    /// `email` where there is none.
    #[serde(default)]
    headings: Vec<String>,
    results: Vec<(u32, Vec<String>)>,
}

#[test]
fn sheets_gain_results() {
    #[derive(Deserialize)]
    struct Table {
        case: Vec<Case>,
    }

    let table: Table = toml::from_str(include_str!("sheets.toml")).unwrap();
    let inserted = Regex::new(r#"\{([A-Z]+[0-9]+)( s="[0-9]+")? ([^}]*)\}"#).unwrap();
    let as_cell = r#"<c r="$1"$2 t="inlineStr"><is><t xml:space="preserve">$3</t></is></c>"#;
    let whole = |inner: &str| format!(r#"<worksheet xmlns="{MAIN}">{inner}</worksheet>"#);
    for case in table.case {
        let source = Book::with_sheet(whole(&case.before)).zipped();
        let mut headings: Vec<&str> = case.headings.iter().map(String::as_str).collect();
        if headings.is_empty() {
            headings.push("email");
        }
        let results = case.results.into_iter().map(|(row, texts)| ResultRow {
            row,
            cells: texts.into_iter().map(Cell::Text).collect(),
        });
        let results: Vec<ResultRow> = results.collect();
        let copy = copied(&source, case.header, &headings, &results).unwrap();
        let after = inserted.replace_all(&case.after, as_cell);
        assert_eq!(sheet_xml(&copy), whole(&after), "{}", case.name);
    }
}

#[test]
fn results_must_fit_before_the_last_column() {
    let full = sheet_of(r#"<row r="1"><c r="XFC1"><v>1</v></c></row>"#);
    let source = Book::with_sheet(full).zipped();
    let one = copied(&source, None, &["a"], &[x(1)]).unwrap();
    assert_eq!(at(&read_back(&one), 1, 16_384), Data::String("x".into()));
    let two = copied(&source, None, &["a", "b"], &[]);
    assert!(matches!(two, Err(ExportError::TooLarge(_))));
    let formats = sheet_of(r#"<row r="1" s="1"><c r="A1"><v>1</v></c><c r="XFD1" s="1"/></row>"#);
    let source = Book::with_sheet(formats).zipped();
    let beside = copied(&source, None, &["a"], &[x(1)]).unwrap();
    assert_eq!(at(&read_back(&beside), 1, 2), Data::String("x".into()));
}
