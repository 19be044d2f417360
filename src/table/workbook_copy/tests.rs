//! Copies of hand-made workbooks, read by another reader and compared byte for byte.

mod hostile;
mod package;
mod random;
mod sheet;

use std::io::{Cursor, Read as _, Write as _};

use calamine::{Data, Range, Reader as _, Xlsx};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::copy_workbook;
use crate::table::Header;
use crate::table::results::{Cell, ExportError, ResultRow};

const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const RELATIONSHIPS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const TYPES: &str = r#"<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/></Types>"#;

#[derive(Clone)]
struct Book(Vec<(String, Vec<u8>)>);

impl Book {
    /// A workbook whose second sheet, `List`, has this XML.
    fn with_sheet(xml: impl Into<Vec<u8>>) -> Self {
        let relationships = |entries: &[(&str, &str, &str)]| {
            let entry = |(id, kind, target): &(&str, &str, &str)| {
                format!(
                    r#"<Relationship Id="{id}" Type="{RELATIONSHIPS}/{kind}" Target="{target}"/>"#
                )
            };
            let entries: String = entries.iter().map(entry).collect();
            format!(
                r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{entries}</Relationships>"#
            )
        };
        let root = relationships(&[("r1", "officeDocument", "xl/workbook.xml")]);
        let book = format!(
            r#"<workbook xmlns="{MAIN}" xmlns:r="{RELATIONSHIPS}"><sheets><sheet name="Other" sheetId="1" r:id="r1"/><sheet name="List" sheetId="2" r:id="r2"/></sheets></workbook>"#
        );
        let parts = relationships(&[
            ("r1", "worksheet", "worksheets/sheet1.xml"),
            ("r2", "worksheet", "worksheets/sheet2.xml"),
            ("r3", "sharedStrings", "sharedStrings.xml"),
        ]);
        let other = sheet_of(r#"<row r="1"><c r="A1"><f>1+1</f><v>2</v></c></row>"#);
        let strings = format!(
            r#"<sst xmlns="{MAIN}"><si><t>company</t></si><si><t>email</t></si><si><t>Acme</t></si></sst>"#
        );
        let parts = [
            ("[Content_Types].xml", TYPES.into()),
            ("_rels/.rels", root.into_bytes()),
            ("xl/workbook.xml", book.into_bytes()),
            ("xl/_rels/workbook.xml.rels", parts.into_bytes()),
            ("xl/worksheets/sheet1.xml", other.into_bytes()),
            ("xl/worksheets/sheet2.xml", xml.into()),
            ("xl/sharedStrings.xml", strings.into_bytes()),
            ("xl/media/image1.png", b"\x01not really an image\0".to_vec()),
        ];
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
    copy_workbook(Cursor::new(source), &mut out, place, &headings, &mut rows)?;
    Ok(out.into_inner())
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
    String::from_utf8(part(&copy, "xl/worksheets/sheet2.xml")).unwrap()
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
