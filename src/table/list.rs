//! A list: what its file is, which columns it has, and its rows.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::column::{ColumnIndex, MAX_COLUMNS};
use super::column::{ListColumns, NotFound};
use super::encoding::TextEncoding;
use super::header::{FirstRow, Header, HeaderChoice, find_header};
use super::read_error::ReadError;
use super::read_text::JsonColumns;
use super::read_text::read_csv;
use super::read_text::read_lines;
use super::read_workbook::{HeldSheet, XlsxSheet};
use super::row_sink::{RowSink, Visit, Wanted};
use super::source::identify;
use super::source::{FormatWish, SourceFormat};
use crate::base::text::single_spaced;

/// How many rows are looked at to find the headings and the columns.
const FIRST_ROWS: usize = 50;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReadOptions {
    pub sheet: Option<String>,
    pub encoding: Option<String>,
    pub header: HeaderChoice,
    pub format: Option<FormatWish>,
}

/// A list that was opened.
///
/// Rows have numbers that identify them in the file: in a workbook those that the sheet shows,
/// in delimited text that of the record, in other text that of the line; all counted from 1,
/// headings and whatever stands above them counted too. Rows without any text are passed over.
/// The headings of JSON Lines are their keys, which are no row of the file and have number 0.
pub struct List {
    path: PathBuf,
    format: SourceFormat,
    source: Source,
    columns: ListColumns,
}

enum Source {
    Xlsx(Box<XlsxSheet>),
    Held(HeldSheet),
    Jsonl(Box<JsonColumns>, TextEncoding),
    Text,
}

impl List {
    /// Opens the file at `path`, chooses the sheet and finds the headings.
    ///
    /// Lines of text have no headings unless [`HeaderChoice::Yes`] is said; JSON Lines have always.
    pub fn open(path: &Path, options: &ReadOptions) -> Result<Self, ReadError> {
        let format = identify(path, options.encoding.as_deref(), options.format)?;
        let sheet = options.sheet.as_deref();
        if sheet.is_some() && !format.is_workbook() {
            return Err(ReadError::NoSheets {
                path: path.to_path_buf(),
            });
        }
        let source = match format {
            SourceFormat::Xlsx | SourceFormat::Xlsm => {
                Source::Xlsx(Box::new(XlsxSheet::open(path, sheet)?))
            }
            SourceFormat::Xls => Source::Held(HeldSheet::open_xls(path, sheet)?),
            SourceFormat::Ods => Source::Held(HeldSheet::open_ods(path, sheet)?),
            SourceFormat::Jsonl { encoding } => {
                Source::Jsonl(Box::new(JsonColumns::find(path, encoding)?), encoding)
            }
            SourceFormat::Csv { .. } | SourceFormat::Lines { .. } => Source::Text,
        };
        let mut list = Self {
            path: path.to_path_buf(),
            format,
            source,
            columns: ListColumns {
                header: None,
                width: 0,
            },
        };
        list.look(options.header)?;
        Ok(list)
    }

    fn look(&mut self, choice: HeaderChoice) -> Result<(), ReadError> {
        let mut rows = Vec::new();
        self.each_row(&Wanted::All, &mut |row, cells| {
            rows.push(FirstRow {
                row,
                cells: cells.to_vec(),
            });
            if rows.len() < FIRST_ROWS {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        })?;
        let choice = match (self.format, choice) {
            (SourceFormat::Lines { .. }, HeaderChoice::Auto) => HeaderChoice::No,
            (_, choice) => choice,
        };
        let header = match &self.source {
            Source::Jsonl(columns, _) => Some(Header {
                row: 0,
                cells: columns
                    .names
                    .iter()
                    .map(|name| single_spaced(name).into_owned())
                    .collect(),
            }),
            _ => find_header(choice, &rows),
        };
        let data_from = header.as_ref().map_or(0, |header| header.row);
        if !rows.iter().any(|first| first.row > data_from) {
            return Err(self.empty(header.is_some()));
        }
        let seen = rows.iter().map(|first| first.cells.len());
        let seen = seen.chain(self.keys().map(<[String]>::len)).max();
        let seen = u32::try_from(seen.unwrap_or(0)).unwrap_or(u32::MAX);
        let declared = match &mut self.source {
            Source::Xlsx(sheet) => sheet.declared_width(&self.path)?,
            Source::Held(_) | Source::Jsonl(..) | Source::Text => 0,
        };
        self.columns = ListColumns {
            header,
            // A sheet may claim more columns than any has.
            width: seen.max(declared.min(MAX_COLUMNS)),
        };
        Ok(())
    }

    fn empty(&self, headed: bool) -> ReadError {
        let place = match self.sheet() {
            Some(name) => format!("the sheet `{name}`"),
            None => "the list".to_owned(),
        };
        let below = if headed { " below its headings" } else { "" };
        let other = match self.sheet() {
            Some(_) => "; name another sheet with --sheet",
            None => "",
        };
        let others = format!("{below}{other}");
        ReadError::Empty {
            path: self.path.clone(),
            place,
            others,
        }
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    #[must_use]
    pub fn format(&self) -> SourceFormat {
        self.format
    }

    #[must_use]
    pub fn sheet(&self) -> Option<&str> {
        match &self.source {
            Source::Xlsx(sheet) => Some(&sheet.name),
            Source::Held(sheet) => Some(&sheet.name),
            Source::Jsonl(..) | Source::Text => None,
        }
    }

    /// The keys of JSON Lines, as they are spelled: the names of its columns.
    #[must_use]
    pub fn keys(&self) -> Option<&[String]> {
        match &self.source {
            Source::Jsonl(columns, _) => Some(&columns.names),
            _ => None,
        }
    }

    #[must_use]
    pub fn header(&self) -> Option<&Header> {
        self.columns.header.as_ref()
    }

    /// Its columns as messages show them: letter and heading.
    #[must_use]
    pub fn columns(&self) -> Vec<String> {
        self.columns.described()
    }

    /// The column that `name` names: by its heading, or by its letter where no heading is
    /// exactly that; see [`ListColumns::find`].
    pub fn column(&self, name: &str) -> Result<ColumnIndex, ReadError> {
        self.columns.find(name).map_err(|not_found| {
            let (path, column) = (self.path.clone(), name.to_owned());
            match not_found {
                NotFound::Missing(columns) => ReadError::NoSuchColumn {
                    path,
                    column,
                    columns,
                },
                NotFound::Ambiguous(columns) => ReadError::AmbiguousColumn {
                    path,
                    column,
                    columns,
                },
            }
        })
    }

    /// What `column` is called: its heading, or `column B`.
    #[must_use]
    pub fn label(&self, column: ColumnIndex) -> String {
        match self.columns.heading(column) {
            Some(heading) => heading.to_owned(),
            None => format!("column {column}"),
        }
    }

    /// Gives the rows below the headings to `visit`, in order: each one's number and the texts
    /// of `columns`, blank where it has none.
    ///
    /// One row is held at a time. What `visit` refuses ends the reading.
    pub fn rows<E: From<ReadError>>(
        &mut self,
        columns: &[ColumnIndex],
        mut visit: impl FnMut(u32, &[String]) -> Result<(), E>,
    ) -> Result<(), E> {
        let above = self.header().map_or(0, |header| header.row);
        let mut refused = None;
        self.each_row(&Wanted::These(columns.to_vec()), &mut |row, cells| {
            if row <= above {
                return ControlFlow::Continue(());
            }
            match visit(row, cells) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    refused = Some(error);
                    ControlFlow::Break(())
                }
            }
        })?;
        refused.map_or(Ok(()), Err)
    }

    /// Gives every row to `visit`, headings and what stands above them too: each one's number
    /// and all its texts.
    ///
    /// One row is held at a time. What `visit` refuses ends the reading.
    pub fn every_row<E: From<ReadError>>(
        &mut self,
        mut visit: impl FnMut(u32, &[String]) -> Result<(), E>,
    ) -> Result<(), E> {
        if let Some(keys) = self.keys() {
            visit(0, keys)?;
        }
        let mut refused = None;
        self.each_row(&Wanted::All, &mut |row, cells| match visit(row, cells) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                refused = Some(error);
                ControlFlow::Break(())
            }
        })?;
        refused.map_or(Ok(()), Err)
    }

    fn each_row(&mut self, wanted: &Wanted, visit: &mut Visit<'_>) -> Result<(), ReadError> {
        let mut sink = RowSink::new(wanted, visit);
        match (&mut self.source, self.format) {
            (Source::Xlsx(sheet), _) => sheet.read(&self.path, &mut sink),
            (Source::Jsonl(columns, encoding), _) => columns.read(&self.path, *encoding, &mut sink),
            (Source::Held(sheet), _) => {
                sheet.rows(&mut sink);
                Ok(())
            }
            (
                Source::Text,
                SourceFormat::Csv {
                    delimiter,
                    encoding,
                },
            ) => read_csv(&self.path, delimiter, encoding, &mut sink),
            (Source::Text, format) => {
                let encoding = format.encoding().unwrap_or(TextEncoding::UTF_8);
                read_lines(&self.path, encoding, &mut sink)
            }
        }
    }
}

#[cfg(test)]
mod tests;
