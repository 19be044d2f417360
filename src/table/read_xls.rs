//! Reading binary Excel workbooks.
//!
//! calamine reads the values of such a workbook whole (a sheet has at most 65,536 rows) and
//! does not give number formats. So numbers read as in the format General, dates by ISO 8601
//! (`2024-03-05`, `2024-03-05 12:00:00`), durations as `30:00:00`, whatever the sheet shows.

use std::io::BufReader;
use std::ops::ControlFlow;
use std::path::Path;

use calamine::{Data, Range, Reader as _, SheetType, SheetVisible, Xls, XlsError, Xlsx, XlsxError};

use super::calm::calmly;
use super::number_format::{duration, general, iso_date};
use super::read_error::ReadError;
use super::read_xlsx::error_text;
use super::row_sink::RowSink;
use super::sheets::{SheetName, choose_sheet};
use super::source::open_file;

/// One sheet of a binary workbook.
pub(super) struct XlsSheet {
    cells: Range<Data>,
    date_1904: bool,
    /// The sheet's name.
    pub name: String,
}

impl XlsSheet {
    /// Reads the workbook at `path`.
    pub(super) fn open(path: &Path, wanted: Option<&str>) -> Result<Self, ReadError> {
        check_encrypted(path)?;
        let file = BufReader::new(open_file(path)?);
        let mut workbook = calmly(path, || Xls::new(file))?.map_err(|error| of_xls(path, error))?;
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
        let date_1904 = workbook.has_1904_epoch();
        let cells = workbook
            .worksheet_range(&name)
            .map_err(|error| of_xls(path, error))?;
        Ok(Self {
            cells,
            date_1904,
            name,
        })
    }

    /// Gives the sheet's cells in order.
    pub(super) fn read(&self, sink: &mut RowSink<'_>) {
        let (first_row, first_column) = self.cells.start().unwrap_or_default();
        for (row, cells) in (first_row.saturating_add(1)..).zip(self.cells.rows()) {
            if sink.at_row(row).is_break() {
                return;
            }
            for (column, value) in (first_column as usize..).zip(cells) {
                let text = self.shown(value);
                sink.put(column, &text);
            }
        }
        let (ControlFlow::Continue(()) | ControlFlow::Break(())) = sink.finish();
    }

    fn shown(&self, value: &Data) -> String {
        match value {
            Data::Empty => String::new(),
            Data::String(text) | Data::DateTimeIso(text) | Data::DurationIso(text) => text.clone(),
            Data::Float(number) => general(*number),
            Data::Int(number) => number.to_string(),
            Data::Bool(true) => "TRUE".to_owned(),
            Data::Bool(false) => "FALSE".to_owned(),
            Data::DateTime(moment) if moment.is_duration() => duration(moment.as_f64()),
            Data::DateTime(moment) => iso_date(moment.as_f64(), self.date_1904),
            Data::Error(error) => error_text(error),
        }
    }
}

/// An encrypted Office Open XML workbook is wrapped in the container of the binary ones.
fn check_encrypted(path: &Path) -> Result<(), ReadError> {
    let file = BufReader::new(open_file(path)?);
    match calmly(path, || Xlsx::new(file))? {
        Err(XlsxError::Password) => Err(ReadError::Encrypted {
            path: path.to_path_buf(),
        }),
        Ok(_) | Err(_) => Ok(()),
    }
}

fn of_xls(path: &Path, error: XlsError) -> ReadError {
    match error {
        XlsError::Password => ReadError::Encrypted {
            path: path.to_path_buf(),
        },
        XlsError::Io(source) => ReadError::Io {
            path: path.to_path_buf(),
            source,
        },
        other => ReadError::damaged(path, other),
    }
}
