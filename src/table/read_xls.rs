//! Reading binary Excel workbooks.
//!
//! calamine reads the values of such a workbook whole (a sheet has at most 65,536 rows), and
//! [`XlsFormats`] how its cells show them. Where a format is not known, numbers read as in the
//! format General, dates by ISO 8601 (`2024-03-05`, `2024-03-05 12:00:00`), durations as
//! `30:00:00`.

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
use super::xls_formats::XlsFormats;

/// One sheet of a binary workbook.
pub(super) struct XlsSheet {
    cells: Range<Data>,
    formats: Option<XlsFormats>,
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
        let all = workbook.sheets_metadata().to_vec();
        let sheets: Vec<SheetName> = all
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
        let index = all.iter().position(|sheet| sheet.name == name);
        Ok(Self {
            cells,
            formats: formats(path, index.unwrap_or(usize::MAX))?,
            date_1904,
            name,
        })
    }

    /// Gives the sheet's cells in order.
    pub(super) fn read(&self, sink: &mut RowSink<'_>) {
        let (first_row, first_column) = self.cells.start().unwrap_or_default();
        for (row, cells) in (first_row..).zip(self.cells.rows()) {
            if sink.at_row(row.saturating_add(1)).is_break() {
                return;
            }
            for (column, value) in (first_column..).zip(cells) {
                let text = self.shown(row, column, value);
                sink.put(column as usize, &text);
            }
        }
        let (ControlFlow::Continue(()) | ControlFlow::Break(())) = sink.finish();
    }

    /// The value at this row and column, counted from 0, as its cell shows it.
    fn shown(&self, row: u32, column: u32, value: &Data) -> String {
        let formats = self.formats.as_ref();
        let number = |number| formats.and_then(|formats| formats.number(row, column, number));
        match value {
            Data::Empty => String::new(),
            Data::String(text) | Data::DateTimeIso(text) | Data::DurationIso(text) => {
                formats.map_or_else(|| text.clone(), |formats| formats.text(row, column, text))
            }
            Data::Float(value) => number(*value).unwrap_or_else(|| general(*value)),
            Data::Int(value) => {
                #[expect(clippy::cast_precision_loss, reason = "it came from 30 bits")]
                let exact = *value as f64;
                number(exact).unwrap_or_else(|| value.to_string())
            }
            Data::Bool(true) => "TRUE".to_owned(),
            Data::Bool(false) => "FALSE".to_owned(),
            Data::DateTime(moment) => {
                let serial = moment.as_f64();
                number(serial).unwrap_or_else(|| {
                    if moment.is_duration() {
                        duration(serial)
                    } else {
                        iso_date(serial, self.date_1904)
                    }
                })
            }
            Data::Error(error) => error_text(error),
        }
    }
}

/// The formats of the sheet at `index`; none where the file does not say.
fn formats(path: &Path, index: usize) -> Result<Option<XlsFormats>, ReadError> {
    let file = open_file(path)?;
    let length = file.metadata().map_or(0, |found| found.len());
    calmly(path, || {
        XlsFormats::read(BufReader::new(file), length, index)
    })
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
