//! Reading Office Open XML workbooks, cell by cell.
//!
//! Cells show what the sheet shows: numbers and dates in their number formats, booleans as
//! TRUE and FALSE, formulas by their cached value, rich text joined, phonetic runs left out. Of
//! merged cells the top left one holds the text. An error value that calamine does not know
//! reads as blank.

use std::fs::File;
use std::io::BufReader;
use std::ops::ControlFlow;
use std::path::Path;

use calamine::{
    Cell, CellErrorType, DataRef, Reader as _, SheetType, SheetVisible, Xlsx, XlsxError,
};

use super::calm::calmly;
use super::number_format::NumberFormats;
use super::read_error::ReadError;
use super::row_sink::RowSink;
use super::sheets::{SheetName, choose_sheet};
use super::source::open_file;
use super::xlsx_bounds::check_bounds;

/// How many rows a sheet has at most.
const MAX_ROWS: u32 = 1_048_576;

/// A workbook, with one sheet chosen.
pub(super) struct XlsxSheet {
    workbook: Xlsx<BufReader<File>>,
    /// The sheet's name.
    pub name: String,
}

impl XlsxSheet {
    /// Opens the workbook at `path`; its sheets are read later.
    pub(super) fn open(path: &Path, wanted: Option<&str>) -> Result<Self, ReadError> {
        check_bounds(path, open_file(path)?)?;
        let file = BufReader::new(open_file(path)?);
        let workbook = calmly(path, || Xlsx::new(file))?.map_err(|error| of_xlsx(path, error))?;
        let sheets: Vec<SheetName> = workbook
            .sheets_metadata()
            .iter()
            .filter(|sheet| sheet.typ == SheetType::WorkSheet)
            .map(|sheet| SheetName {
                name: sheet.name.clone(),
                visible: sheet.visible == SheetVisible::Visible,
            })
            .collect();
        let name = choose_sheet(path, wanted, &sheets)?;
        Ok(Self { workbook, name })
    }

    /// How many columns the sheet says it has.
    pub(super) fn declared_width(&mut self, path: &Path) -> Result<u32, ReadError> {
        let (workbook, name) = (&mut self.workbook, &self.name);
        let reader = calmly(path, || workbook.worksheet_cells_reader(name))?;
        let dimensions = reader.map_err(|error| of_xlsx(path, error))?.dimensions();
        Ok(dimensions.end.1.saturating_add(1))
    }

    /// Reads the sheet's cells in order.
    pub(super) fn read(&mut self, path: &Path, sink: &mut RowSink<'_>) -> Result<(), ReadError> {
        let date_1904 = self.workbook.has_1904_epoch();
        let (workbook, name) = (&mut self.workbook, &self.name);
        let mut cells = calmly(path, || workbook.worksheet_cells_reader(name))?
            .map_err(|error| of_xlsx(path, error))?;
        let formats = NumberFormats::new(cells.styles(), date_1904);
        loop {
            match calmly(path, || cells.next_cell_with_style_id())? {
                Ok(Some((cell, style))) => {
                    if cell.get_position().0 >= MAX_ROWS {
                        let why = format!("a cell stands below row {MAX_ROWS}, a sheet's last");
                        return Err(ReadError::damaged(path, why));
                    }
                    if put(&formats, &cell, style, sink).is_break() {
                        return Ok(());
                    }
                }
                Ok(None) => break,
                Err(XlsxError::CellError(_)) => {}
                Err(error) => return Err(of_xlsx(path, error)),
            }
        }
        let (ControlFlow::Continue(()) | ControlFlow::Break(())) = sink.finish();
        Ok(())
    }
}

fn put(
    formats: &NumberFormats,
    cell: &Cell<DataRef<'_>>,
    style: usize,
    sink: &mut RowSink<'_>,
) -> ControlFlow<()> {
    let (row, column) = cell.get_position();
    let value = cell.get_value();
    let is_blank = match value {
        DataRef::Empty => true,
        DataRef::String(text) => text.trim().is_empty(),
        DataRef::SharedString(text) => text.trim().is_empty(),
        _ => false,
    };
    if is_blank {
        return ControlFlow::Continue(());
    }
    sink.at_row(row.saturating_add(1))?;
    if let Some(place) = sink.cell(column as usize) {
        show(formats, value, style, place);
    }
    ControlFlow::Continue(())
}

fn show(formats: &NumberFormats, value: &DataRef<'_>, style: usize, place: &mut String) {
    match value {
        DataRef::Empty => {}
        DataRef::String(text) => formats.text(style, text, place),
        DataRef::SharedString(text) => formats.text(style, text, place),
        DataRef::Float(number) => formats.number(style, *number, place),
        DataRef::DateTime(moment) => formats.number(style, moment.as_f64(), place),
        DataRef::Int(number) => place.push_str(&number.to_string()),
        DataRef::Bool(true) => place.push_str("TRUE"),
        DataRef::Bool(false) => place.push_str("FALSE"),
        DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => place.push_str(text),
        DataRef::Error(error) => place.push_str(&error_text(error)),
    }
}

/// An error value as a sheet shows it.
pub(super) fn error_text(error: &CellErrorType) -> String {
    match error {
        CellErrorType::GettingData => "#GETTING_DATA".to_owned(),
        known => known.to_string(),
    }
}

fn of_xlsx(path: &Path, error: XlsxError) -> ReadError {
    match error {
        XlsxError::Password => ReadError::Encrypted {
            path: path.to_path_buf(),
        },
        XlsxError::Io(source) => ReadError::Io {
            path: path.to_path_buf(),
            source,
        },
        other => ReadError::damaged(path, other),
    }
}
