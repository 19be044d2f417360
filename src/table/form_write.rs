//! A form as a workbook of one sheet.
//!
//! Text is written as text: never as a formula, not even when somebody edits the cell and leaves
//! it as it was. The heading row stays in sight (ECMA-376 part 1, 18.3.1).

use std::io::{self, BufWriter, Seek, Write};

use quick_xml::escape::escape;
use zip::ZipWriter;
use zip::result::ZipError;
use zip::write::SimpleFileOptions;

use super::cell_reference::{CellReference, LAST_COLUMN, LAST_ROW, column_letters};
use super::form::{ColumnRole, Form, FormCell, links};
use super::inline_cell::write_cell;
use super::results::Cell;
use crate::base::files::AtomicError;

/// Why a form could not be written.
#[derive(Debug, thiserror::Error)]
pub enum FormError {
    /// The destination could not be written whole.
    #[error(transparent)]
    Place(#[from] AtomicError),
    /// A sheet cannot hold so much.
    #[error("a sheet ends at row 1048576 and column XFD, and this would need more {0}")]
    TooLarge(&'static str),
    /// The system refused a write.
    #[error(
        "the workbook could not be written, and nothing was left behind; check that the disk has \
         room"
    )]
    Write(#[source] io::Error),
}

/// The parts that are the same whatever the form holds.
const PARTS: [(&str, &str); 4] = [
    (
        "[Content_Types].xml",
        include_str!("form_write/content_types.xml"),
    ),
    ("_rels/.rels", include_str!("form_write/package.rels")),
    (
        "xl/_rels/workbook.xml.rels",
        include_str!("form_write/workbook.rels"),
    ),
    ("xl/styles.xml", include_str!("form_write/styles.xml")),
];

const SHEET_START: &str = r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>"#;

/// What is invalid in a cell of choices, as a spreadsheet program says it.
const NO_CHOICE: &str = "Choose one of the list, or leave it empty.";

/// The formats of `styles.xml`.
#[derive(Debug, Clone, Copy)]
#[repr(u32)]
enum Style {
    Heading = 1,
    Value = 2,
    /// Text that a spreadsheet program would take for a formula once somebody edits it.
    Quoted = 3,
    Link = 4,
}

/// Writes `form` as a workbook.
pub fn write_form(out: impl Write + Seek, form: &Form) -> Result<(), FormError> {
    if form.columns.len() > LAST_COLUMN as usize {
        return Err(FormError::TooLarge("columns"));
    }
    if form.rows.len() >= LAST_ROW as usize {
        return Err(FormError::TooLarge("rows"));
    }
    write(out, form).map_err(FormError::Write)
}

fn write(out: impl Write + Seek, form: &Form) -> io::Result<()> {
    let mut package = ZipWriter::new(out);
    for (name, text) in PARTS {
        start(&mut package, name)?;
        package.write_all(text.as_bytes())?;
    }
    start(&mut package, "xl/workbook.xml")?;
    write!(
        package,
        "{XML}<workbook xmlns=\"{MAIN}\" xmlns:r=\"{RELATIONS}\"><sheets><sheet name=\"{}\" \
         sheetId=\"1\" r:id=\"rId1\"/></sheets></workbook>",
        escape(form.sheet)
    )?;
    start(&mut package, "xl/worksheets/sheet1.xml")?;
    let mut sheet = BufWriter::with_capacity(64 * 1024, &mut package);
    write_sheet(&mut sheet, form)?;
    sheet.flush()?;
    drop(sheet);
    if !links(form).is_empty() {
        start(&mut package, "xl/worksheets/_rels/sheet1.xml.rels")?;
        write_targets(&mut package, form)?;
    }
    package.finish().map_err(unwritten)?.flush()
}

const XML: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n";
const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const RELATIONS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

fn write_sheet(out: &mut dyn Write, form: &Form) -> io::Result<()> {
    out.write_all(SHEET_START.as_bytes())?;
    write_widths(out, form)?;
    out.write_all(b"<sheetData><row r=\"1\">")?;
    for (column, it) in (1..).zip(&form.columns) {
        let place = CellReference { column, row: 1 };
        let heading = Cell::Text(it.heading.clone());
        write_cell(out, "", place, Some(Style::Heading as u32), &heading)?;
    }
    out.write_all(b"</row>")?;
    for (row, cells) in (2..).zip(&form.rows) {
        write!(out, "<row r=\"{row}\">")?;
        for (column, cell) in (1..).zip(cells) {
            write_one(out, CellReference { column, row }, cell)?;
        }
        out.write_all(b"</row>")?;
    }
    out.write_all(b"</sheetData>")?;
    write_choices(out, form)?;
    write_links(out, form)?;
    out.write_all(b"</worksheet>")
}

fn write_widths(out: &mut dyn Write, form: &Form) -> io::Result<()> {
    if form.columns.is_empty() {
        return Ok(());
    }
    out.write_all(b"<cols>")?;
    for (number, column) in (1..).zip(&form.columns) {
        let hidden = match column.role {
            ColumnRole::Hidden => " hidden=\"1\"",
            ColumnRole::Free | ColumnRole::Choice(_) => "",
        };
        let number: u32 = number;
        let width = column.width;
        write!(
            out,
            "<col min=\"{number}\" max=\"{number}\" width=\"{width}\"{hidden} customWidth=\"1\"/>"
        )?;
    }
    out.write_all(b"</cols>")
}

fn write_one(out: &mut dyn Write, place: CellReference, cell: &FormCell) -> io::Result<()> {
    let (value, style) = match cell {
        FormCell::Link(url) => (&Cell::Text(url.to_string()), Style::Link),
        FormCell::Value(value @ Cell::Text(text)) if text.starts_with(['=', '+', '-', '@']) => {
            (value, Style::Quoted)
        }
        FormCell::Value(value) => (value, Style::Value),
    };
    write_cell(out, "", place, Some(style as u32), value)
}

/// The words to choose from, for all rows of each column that has any.
fn write_choices(out: &mut dyn Write, form: &Form) -> io::Result<()> {
    let columns = (1_u32..).zip(&form.columns);
    let choices: Vec<_> = columns
        .filter_map(|(number, column)| match column.role {
            ColumnRole::Choice(words) => Some((column_letters(number), words.join(","))),
            ColumnRole::Free | ColumnRole::Hidden => None,
        })
        .collect();
    if choices.is_empty() || form.rows.is_empty() {
        return Ok(());
    }
    write!(out, "<dataValidations count=\"{}\">", choices.len())?;
    let last = form.rows.len() + 1;
    for (letters, words) in choices {
        write!(
            out,
            "<dataValidation type=\"list\" allowBlank=\"1\" showErrorMessage=\"1\" \
             error=\"{NO_CHOICE}\" sqref=\"{letters}2:{letters}{last}\"><formula1>\"{}\"\
             </formula1></dataValidation>",
            escape(&words)
        )?;
    }
    out.write_all(b"</dataValidations>")
}

/// Which cells open something: what they open stands in the sheet's relations, the part of an
/// address after `#` here.
fn write_links(out: &mut dyn Write, form: &Form) -> io::Result<()> {
    let links = links(form);
    if links.is_empty() {
        return Ok(());
    }
    out.write_all(b"<hyperlinks>")?;
    for (number, ((row, column), url)) in (1_u32..).zip(links) {
        let letters = column_letters(u32::try_from(column + 1).unwrap_or(LAST_COLUMN));
        let row = row + 2;
        write!(
            out,
            "<hyperlink ref=\"{letters}{row}\" r:id=\"rId{number}\""
        )?;
        if let Some(fragment) = url.fragment() {
            write!(out, " location=\"{}\"", escape(fragment))?;
        }
        out.write_all(b"/>")?;
    }
    out.write_all(b"</hyperlinks>")
}

fn write_targets(out: &mut dyn Write, form: &Form) -> io::Result<()> {
    let package = "http://schemas.openxmlformats.org/package/2006/relationships";
    write!(out, "{XML}<Relationships xmlns=\"{package}\">")?;
    for (number, url) in (1_u32..).zip(links(form).into_values()) {
        let mut bare = url.clone();
        bare.set_fragment(None);
        write!(
            out,
            "<Relationship Id=\"rId{number}\" Type=\"{RELATIONS}/hyperlink\" Target=\"{}\" \
             TargetMode=\"External\"/>",
            escape(bare.as_str())
        )?;
    }
    out.write_all(b"</Relationships>")
}

/// Starts an entry in the plain form, which every spreadsheet program reads.
fn start<W: Write + Seek>(package: &mut ZipWriter<W>, name: &str) -> io::Result<()> {
    let options = SimpleFileOptions::default();
    package.start_file(name, options).map_err(unwritten)
}

fn unwritten(refused: ZipError) -> io::Error {
    match refused {
        ZipError::Io(source) => source,
        other => other.into(),
    }
}

#[cfg(test)]
mod tests;
