//! A list: its format, its columns and its rows.

use std::path::{Path, PathBuf};
use std::result;

use itertools::Itertools as _;
use serde::{Deserialize, Serialize};

use super::cell::{ColumnIndex, LAST_COLUMN, RowSink, Visit, near};
use super::error::{Fault, ReadError, Result};
use super::header::{Header, HeaderChoice, find_header};
use super::read_text::{JsonColumns, json_lines, read_csv, read_lines};
use super::read_workbook::{HeldSheet, XlsxSheet};
use super::source::{SourceFormat, identify};
use crate::base::text::{fold, single_spaced};
use crate::quest::file::InputFormat;

/// How many rows are looked at to find the headings and the columns.
const FIRST_ROWS: usize = 50;

/// The most columns that a message names.
const MAX_DESCRIBED: usize = 40;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ReadOptions {
    pub sheet: Option<String>,
    pub encoding: Option<String>,
    pub header: HeaderChoice,
    pub format: Option<InputFormat>,
}

/// An open list.
///
/// Rows have numbers that identify them in the file: the row numbers of a sheet, the record numbers
/// of delimited text, or the line numbers of other text. All count from 1 and include the headings
/// and the rows above them. Rows without any text are skipped. The headings of JSON Lines are their
/// keys, which are not a row of the file and have number 0.
pub struct List {
    path: PathBuf,
    format: SourceFormat,
    /// The text of a list that is not a workbook.
    text: String,
    source: Source,
    columns: ListColumns,
    widest: usize,
}

enum Source {
    Xlsx(Box<XlsxSheet>),
    Held(HeldSheet),
    Jsonl(Box<JsonColumns>),
    Csv(u8),
    Lines,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct ListColumns {
    header: Option<Header>,
    width: u32,
}

impl List {
    /// Opens the file at `path`, chooses the sheet and finds the headings.
    ///
    /// Lines of text have headings only with [`HeaderChoice::Yes`]; JSON Lines always have them.
    pub fn open(path: &Path, options: &ReadOptions) -> result::Result<Self, ReadError> {
        let opened = Self::opened(path, options).map_err(|fault| fault.at(path));
        let mut list = opened?;
        list.look(options.header)?;
        Ok(list)
    }

    fn opened(path: &Path, options: &ReadOptions) -> Result<Self> {
        let (format, text) = identify(path, options.encoding.as_deref(), options.format)?;
        let sheet = options.sheet.as_deref();
        let source = match format {
            SourceFormat::Xlsx | SourceFormat::Xlsm => {
                Source::Xlsx(Box::new(XlsxSheet::open(path, sheet)?))
            }
            SourceFormat::Xls => Source::Held(HeldSheet::open_xls(path, sheet)?),
            SourceFormat::Ods => Source::Held(HeldSheet::open_ods(path, sheet)?),
            _ if sheet.is_some() => {
                let why = "this is text and has no sheets; remove --sheet";
                return Err(Fault::NoSuchSheet(why.to_owned()));
            }
            SourceFormat::Jsonl { .. } => Source::Jsonl(Box::new(JsonColumns::find(&text)?)),
            SourceFormat::Csv { delimiter, .. } => Source::Csv(delimiter),
            SourceFormat::Lines { .. } => Source::Lines,
        };
        Ok(Self {
            path: path.to_path_buf(),
            format,
            text,
            source,
            columns: ListColumns::default(),
            widest: 0,
        })
    }

    fn look(&mut self, choice: HeaderChoice) -> result::Result<(), ReadError> {
        let mut rows = Vec::new();
        self.each_row(None, &mut |row, cells| {
            let cells = cells.to_vec();
            rows.push(Header { row, cells });
            if rows.len() < FIRST_ROWS {
                Ok(())
            } else {
                Err(Fault::Enough)
            }
        })?;
        let header = match (self.keys(), self.format, choice) {
            (Some(keys), ..) => Some(Header {
                row: 0,
                cells: keys
                    .iter()
                    .map(|name| single_spaced(name).into_owned())
                    .collect(),
            }),
            (None, SourceFormat::Lines { .. }, HeaderChoice::Auto) => None,
            _ => find_header(choice, &rows),
        };
        let data_from = header.as_ref().map_or(0, |header| header.row);
        if !rows.iter().any(|first| first.row > data_from) {
            return Err(self.empty(header.is_some()).at(&self.path));
        }
        let seen = rows.iter().map(|first| first.cells.len());
        let seen = seen.chain(self.keys().map(<[String]>::len)).max();
        let seen = u32::try_from(seen.unwrap_or(0)).unwrap_or(u32::MAX);
        let declared = match &mut self.source {
            Source::Xlsx(sheet) => {
                let width = sheet.declared_width();
                width.map_err(|fault| fault.at(&self.path))?
            }
            _ => 0,
        };
        self.columns = ListColumns {
            header,
            // A sheet may claim more columns than a sheet can have.
            width: seen.max(declared.min(LAST_COLUMN)),
        };
        Ok(())
    }

    fn empty(&self, headed: bool) -> Fault {
        let (place, hint) = match self.sheet() {
            Some(name) => (
                format!("the sheet `{name}`"),
                "; name another sheet with --sheet",
            ),
            None => ("the list".to_owned(), ""),
        };
        let below = if headed { " below its headings" } else { "" };
        Fault::Empty(format!("{place} has no rows{below}{hint}"))
    }

    pub fn format(&self) -> SourceFormat {
        self.format
    }

    pub fn sheet(&self) -> Option<&str> {
        match &self.source {
            Source::Xlsx(sheet) => Some(&sheet.name),
            Source::Held(sheet) => Some(&sheet.name),
            _ => None,
        }
    }

    /// The keys of JSON Lines as they are spelled: the names of its columns.
    pub fn keys(&self) -> Option<&[String]> {
        match &self.source {
            Source::Jsonl(columns) => Some(&columns.names),
            _ => None,
        }
    }

    pub fn header(&self) -> Option<&Header> {
        self.columns.header.as_ref()
    }

    /// How many columns have text in the rows that were read so far.
    pub fn width(&self) -> usize {
        self.keys().map_or(self.widest, <[String]>::len)
    }

    /// Its columns as messages show them: letter and heading.
    pub fn columns(&self) -> Vec<String> {
        self.columns.described()
    }

    /// The column with this heading, or else with this letter.
    pub fn column(&self, name: &str) -> result::Result<ColumnIndex, ReadError> {
        let found = self.columns.find(name).map_err(|fault| match self.format {
            SourceFormat::Lines { .. } if self.header().is_none() => Fault::Other(format!(
                "there is no column `{name}`: this file is read as one key per line, without \
                 headings; leave --col out, or save the list as .csv, .xlsx or .jsonl"
            )),
            _ => fault,
        });
        found.map_err(|fault| fault.at(&self.path))
    }

    pub fn label(&self, column: ColumnIndex) -> String {
        match self.columns.heading(column) {
            Some(heading) => heading.to_owned(),
            None => format!("column {column}"),
        }
    }

    /// Passes the rows below the headings to `visit`, in order: each one's number and the texts of
    /// `columns`, which may be empty.
    ///
    /// Only one row is in memory at a time. An error of `visit` ends the reading.
    pub fn rows<E: From<ReadError>>(
        &mut self,
        columns: &[ColumnIndex],
        mut visit: impl FnMut(u32, &[String]) -> result::Result<(), E>,
    ) -> result::Result<(), E> {
        let above = self.header().map_or(0, |header| header.row);
        self.visit_rows(Some(columns), |row, cells| {
            if row > above {
                visit(row, cells)
            } else {
                Ok(())
            }
        })
    }

    /// Passes every row to `visit`, including the headings and the rows above them: each one's number
    /// and all its texts.
    ///
    /// Only one row is in memory at a time. An error of `visit` ends the reading.
    pub fn every_row<E: From<ReadError>>(
        &mut self,
        mut visit: impl FnMut(u32, &[String]) -> result::Result<(), E>,
    ) -> result::Result<(), E> {
        if let Some(keys) = self.keys() {
            visit(0, keys)?;
        }
        self.visit_rows(None, visit)
    }

    /// Passes each line of JSON Lines to `visit`: its number and its text.
    pub fn each_object<E: From<ReadError>>(
        &mut self,
        mut visit: impl FnMut(u32, &str) -> result::Result<(), E>,
    ) -> result::Result<(), E> {
        let mut refused = None;
        let read = json_lines(&self.text, |row, line| {
            visit(row, line).map_err(|error| {
                refused = Some(error);
                Fault::Enough
            })
        });
        match refused {
            Some(error) => Err(error),
            None => Ok(read.map_err(|fault| fault.at(&self.path))?),
        }
    }

    fn visit_rows<E: From<ReadError>>(
        &mut self,
        wanted: Option<&[ColumnIndex]>,
        mut visit: impl FnMut(u32, &[String]) -> result::Result<(), E>,
    ) -> result::Result<(), E> {
        let mut refused = None;
        self.each_row(wanted, &mut |row, cells| {
            visit(row, cells).map_err(|error| {
                refused = Some(error);
                Fault::Enough
            })
        })?;
        refused.map_or(Ok(()), Err)
    }

    fn each_row(
        &mut self,
        wanted: Option<&[ColumnIndex]>,
        visit: &mut Visit<'_>,
    ) -> result::Result<(), ReadError> {
        let mut sink = RowSink::new(wanted, visit);
        let read = match &mut self.source {
            Source::Xlsx(sheet) => sheet.read(&mut sink),
            Source::Held(sheet) => sheet.read(&mut sink),
            Source::Jsonl(columns) => columns.read(&self.text, &mut sink),
            Source::Csv(delimiter) => {
                // A caller that asks for columns relies on the headings.
                let header = self.columns.header.as_ref().filter(|_| wanted.is_some());
                let header = header.map(|header| header.row);
                read_csv(&self.text, *delimiter, header, &mut sink)
            }
            Source::Lines => read_lines(&self.text, &mut sink),
        };
        let read = read.and_then(|()| sink.finish());
        self.widest = self.widest.max(sink.widest);
        match read {
            Ok(()) | Err(Fault::Enough) => Ok(()),
            Err(fault) => Err(fault.at(&self.path)),
        }
    }
}

impl ListColumns {
    /// The column that `name` names.
    ///
    /// A heading with exactly that text wins (after NFKC, trimmed, with runs of white space as one
    /// space), then a column letter in either case, then a heading that differs only in case.
    fn find(&self, name: &str) -> Result<ColumnIndex> {
        let wanted = single_spaced(name).into_owned();
        if let Some(column) = self.headed(name, |heading| heading == wanted)? {
            return Ok(column);
        }
        if let Some(column) = ColumnIndex::parse(&wanted)
            && column.index() < self.width as usize
        {
            return Ok(column);
        }
        let folded = fold(&wanted);
        if let Some(column) = self.headed(name, |heading| fold(heading) == folded)? {
            return Ok(column);
        }
        let columns = self.described();
        // A single letter is meant as a column letter, not as a misspelled heading.
        let is_letter = wanted.chars().nth(1).is_none();
        let near = if is_letter {
            String::new()
        } else {
            near(name, &columns)
        };
        let known = columns.join(", ");
        Err(Fault::Other(format!(
            "there is no column `{name}`; there are {known}{near}"
        )))
    }

    /// The one column whose heading is `wanted`.
    fn headed(&self, name: &str, wanted: impl Fn(&str) -> bool) -> Result<Option<ColumnIndex>> {
        let is_headed = |column: &ColumnIndex| self.heading(*column).is_some_and(&wanted);
        let headed: Vec<ColumnIndex> = self.all().filter(is_headed).collect();
        if headed.len() > 1 {
            return Err(Fault::Other(format!(
                "several columns are headed `{name}`: {}; name one by its letter",
                headed.iter().join(", ")
            )));
        }
        Ok(headed.first().copied())
    }

    fn heading(&self, column: ColumnIndex) -> Option<&str> {
        let cell = self.header.as_ref()?.cells.get(column.index())?;
        Some(cell.as_str()).filter(|text| !text.is_empty())
    }

    fn all(&self) -> impl Iterator<Item = ColumnIndex> {
        (0..self.width.min(LAST_COLUMN)).filter_map(ColumnIndex::new)
    }

    fn described(&self) -> Vec<String> {
        let described = |column: ColumnIndex| match self.heading(column) {
            Some(text) => format!("{column} `{text}`"),
            None => column.to_string(),
        };
        let mut shown: Vec<String> = self.all().take(MAX_DESCRIBED).map(described).collect();
        let more = self.all().count() - shown.len();
        if more > 0 {
            shown.push(format!("{more} more"));
        }
        shown
    }
}

#[cfg(test)]
mod tests;
