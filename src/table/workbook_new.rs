//! A new workbook of one sheet, with the values of the list and the results beside them.
//!
//! Text is written as text and never as a formula, a number or a link. The rows go straight
//! into the archive, so memory does not grow with them.

use std::io::{self, BufWriter, Seek, Write};

use zip::ZipWriter;
use zip::result::ZipError;
use zip::write::SimpleFileOptions;

use super::cell_reference::{CellReference, LAST_COLUMN, LAST_ROW};
use super::inline_cell::write_cell;
use super::join::{RowKind, TableRow};
use super::results::{Cell, ExportError};

/// Every part but the sheet, in the order in which they stand in the package.
const PARTS: [(&str, &str); 5] = [
    (
        "[Content_Types].xml",
        r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>"#,
    ),
    (
        "_rels/.rels",
        r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>"#,
    ),
    (
        "xl/workbook.xml",
        r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="comail" sheetId="1" r:id="rId1"/></sheets></workbook>"#,
    ),
    (
        "xl/_rels/workbook.xml.rels",
        r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/></Relationships>"#,
    ),
    (
        "xl/styles.xml",
        r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="2"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/><xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/></cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>"#,
    ),
];

const SHEET_START: &str = r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>"#;
const SHEET_END: &str = "</sheetData></worksheet>";

/// The format of the header's cells: bold.
const HEADER_STYLE: u32 = 1;

/// Writes a new workbook and tells how many rows it has. The rows stand one under the other,
/// without gaps.
pub fn write_workbook(
    out: impl Write + Seek,
    rows: &mut dyn Iterator<Item = Result<TableRow, ExportError>>,
) -> Result<u64, ExportError> {
    let mut package = ZipWriter::new(out);
    for (name, text) in PARTS {
        start(&mut package, name)?;
        package
            .write_all(text.as_bytes())
            .map_err(ExportError::Write)?;
    }
    start(&mut package, "xl/worksheets/sheet1.xml")?;
    let mut sheet = BufWriter::with_capacity(64 * 1024, &mut package);
    sheet
        .write_all(SHEET_START.as_bytes())
        .map_err(ExportError::Write)?;
    let mut written = 0;
    for row in rows {
        let row = row?;
        if row.source.len() + row.results.len() > LAST_COLUMN as usize {
            return Err(ExportError::TooLarge("more columns"));
        }
        if written == LAST_ROW {
            return Err(ExportError::TooLarge("more rows"));
        }
        written += 1;
        write_row(&mut sheet, written, row).map_err(ExportError::Write)?;
    }
    sheet
        .write_all(SHEET_END.as_bytes())
        .and_then(|()| sheet.flush())
        .map_err(ExportError::Write)?;
    drop(sheet);
    let mut out = package.finish().map_err(unwritten)?;
    out.flush().map_err(ExportError::Write)?;
    Ok(written.into())
}

fn write_row(out: &mut dyn Write, number: u32, row: TableRow) -> io::Result<()> {
    let style = (row.kind == RowKind::Header).then_some(HEADER_STYLE);
    write!(out, "<row r=\"{number}\">")?;
    let cells = row.source.into_iter().map(Cell::Text).chain(row.results);
    for (column, cell) in (1..).zip(cells) {
        let place = CellReference {
            column,
            row: number,
        };
        write_cell(out, "", place, style, &cell)?;
    }
    out.write_all(b"</row>")
}

/// Starts an entry in the plain form, which ends at 4 GiB: some spreadsheet programs refuse
/// entries in the zip64 form.
fn start<W: Write + Seek>(package: &mut ZipWriter<W>, name: &str) -> Result<(), ExportError> {
    let options = SimpleFileOptions::default();
    package.start_file(name, options).map_err(unwritten)
}

fn unwritten(refused: ZipError) -> ExportError {
    ExportError::Write(match refused {
        ZipError::Io(source) => source,
        other => other.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use calamine::{Data, Reader as _, Xlsx};
    use proptest::prelude::*;
    use std::io::Cursor;

    fn row(kind: RowKind, source: &[String], results: Vec<Cell>) -> TableRow {
        TableRow {
            row: 1,
            kind,
            source: source.to_vec(),
            results,
        }
    }

    fn read_back(rows: Vec<TableRow>) -> Vec<Vec<Data>> {
        let mut out = Cursor::new(Vec::new());
        write_workbook(&mut out, &mut rows.into_iter().map(Ok)).unwrap();
        let mut book: Xlsx<_> = Xlsx::new(Cursor::new(out.into_inner())).unwrap();
        let range = book.worksheet_range("comail").unwrap();
        range.rows().map(<[Data]>::to_vec).collect()
    }

    #[test]
    fn another_reader_finds_text_and_numbers() {
        let text = |text: &str| text.to_owned();
        let rows = read_back(vec![
            row(
                RowKind::Header,
                &[text("company")],
                vec![Cell::Text(text("email")), Cell::Text(text("tries"))],
            ),
            row(
                RowKind::Body,
                &[text("=cmd|' /C calc'!A0")],
                vec![Cell::Text(text("https://acme.com")), Cell::Number(3)],
            ),
        ]);
        assert_eq!(
            rows,
            [
                vec![
                    Data::String(text("company")),
                    Data::String(text("email")),
                    Data::String(text("tries"))
                ],
                vec![
                    Data::String(text("=cmd|' /C calc'!A0")),
                    Data::String(text("https://acme.com")),
                    Data::Float(3.0)
                ],
            ]
        );
    }

    #[test]
    fn an_empty_list_is_an_empty_sheet() {
        assert!(read_back(Vec::new()).is_empty());
    }

    #[test]
    fn no_entry_is_in_the_zip64_form() {
        let mut out = Cursor::new(Vec::new());
        write_workbook(&mut out, &mut std::iter::empty()).unwrap();
        let bytes = out.into_inner();
        // The length of the extra field at offset 28 of a local record (APPNOTE 4.3.7).
        let extras = bytes
            .windows(30)
            .filter(|record| record.starts_with(b"PK\x03\x04"))
            .map(|record| [record[28], record[29]]);
        assert_eq!(extras.collect::<Vec<_>>(), [[0, 0]; 6]);
    }

    #[test]
    fn more_columns_than_a_sheet_has_are_refused() {
        let wide = vec![String::new(); 16_384];
        let mut rows = [row(RowKind::Body, &wide, vec![Cell::Number(1)])]
            .into_iter()
            .map(Ok);
        let refused = write_workbook(Cursor::new(Vec::new()), &mut rows);
        assert!(matches!(refused, Err(ExportError::TooLarge(_))));
    }

    proptest! {
        #[test]
        fn every_text_comes_back(cells in prop::collection::vec("(_x|[0-9A-Fa-f]{4}_|\\PC|[\\x00-\\x1F&<>\"'=\u{FFFE}\u{FFFF}]){1,12}", 1..5)) {
            let rows = read_back(vec![row(RowKind::Body, &cells, vec![])]);
            let expected: Vec<Data> = cells.into_iter().map(Data::String).collect();
            prop_assert_eq!(rows, [expected]);
        }
    }
}
