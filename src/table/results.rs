//! The rows of an export: what the list holds, what the session found, and what can go wrong.
//!
//! Everything flows through iterators, so that no more than a row is in memory at a time.

use std::collections::HashSet;
use std::io;
use std::iter::Peekable;
use std::path::PathBuf;

use jiff::Timestamp;

use super::workbook_copy::WorkbookError;
use crate::quest::{FieldName, Fields};

/// Why a row could not be had from the list or the session.
pub type RowError = Box<dyn std::error::Error + Send + Sync>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cell {
    Text(String),
    Number(u64),
}

impl Cell {
    #[must_use]
    pub const fn empty() -> Self {
        Self::Text(String::new())
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Text(text) if text.is_empty())
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceRow {
    /// Its number, counted from 1 as a spreadsheet counts.
    pub row: u32,
    pub cells: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultRow {
    /// The row's number, counted from 1 as a spreadsheet counts.
    pub row: u32,
    pub cells: Vec<Cell>,
}

#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error(transparent)]
    Workbook(#[from] WorkbookError),
    #[error("cannot read a row; nothing was written")]
    Rows(#[source] RowError),
    #[error("cannot write the results, and nothing was left behind; check that the disk has room")]
    Write(#[source] io::Error),
    #[error(
        "cannot write a temporary file in {}, and nothing was left there; check that the directory exists and that the disk has room",
        folder.display()
    )]
    Temporary { folder: PathBuf, source: io::Error },
    #[error("row {0} is out of order; nothing was written")]
    Order(u32),
    #[error("row {row} has {found} results for {expected} columns; nothing was written")]
    Results {
        row: u32,
        found: usize,
        expected: usize,
    },
    #[error(
        "row {row} of the list has {found} cells, more than its {width} columns; scan the list again"
    )]
    Width {
        row: u32,
        found: usize,
        width: usize,
    },
    #[error("there are results for row {0}, which is not in the list; scan the list again")]
    NoSuchRow(u32),
    #[error(
        "a sheet has at most 1,048,576 rows and 16,384 columns, and this needs {0}; export as csv or jsonl"
    )]
    TooLarge(&'static str),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Column {
    Field(FieldName),
    Status,
    Rule,
    Facts,
    Tries,
    JudgedAt,
    SettledBy,
    Note,
}

impl Column {
    /// The name by which it is chosen, and its heading unless another is given.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Field(field) => field.as_str(),
            Self::Status => "status",
            Self::Rule => "rule",
            Self::Facts => "facts",
            Self::Tries => "tries",
            Self::JudgedAt => "judged at",
            Self::SettledBy => "settled by",
            Self::Note => "note",
        }
    }

    fn is_of_people(&self) -> bool {
        matches!(self, Self::SettledBy | Self::Note)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultColumn {
    pub column: Column,
    pub heading: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns(Vec<ResultColumn>);

/// What became of one quest, as the result columns show it.
#[derive(Debug, Clone, Copy)]
pub struct Outcome<'a> {
    pub fields: Option<&'a Fields>,
    pub status: &'a str,
    pub rule: &'a str,
    pub facts: &'a str,
    pub tries: u32,
    pub judged_at: Option<Timestamp>,
    pub settled_by: &'a str,
    pub note: &'a str,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ColumnsError {
    #[error("there is no column {name:?}{}; there are: {known}", nearest.as_ref().map(|near| format!(", did you mean {near:?}?")).unwrap_or_default())]
    Unknown {
        name: String,
        nearest: Option<String>,
        known: String,
    },
    #[error("the column {0:?} is chosen twice")]
    Twice(String),
    #[error("{heading:?} is the name of another column than {column:?}; choose another heading")]
    Mislabelled { column: String, heading: String },
    #[error(
        "a column name is missing; separate names with commas, such as \"email=E-Mail,status\""
    )]
    NoName,
    #[error("the heading for {0:?} is missing after its \"=\"; add one, or remove the \"=\"")]
    NoHeading(String),
}

impl Columns {
    /// The usual columns, in the usual order: first field, status, other fields, rule, facts,
    /// tries, judged at and, where `settled` says that a person decided anything, settled by and
    /// note.
    #[must_use]
    pub fn usual(fields: &[FieldName], settled: bool) -> Self {
        let columns = known(fields).into_iter();
        let columns = columns.filter(|column| settled || !column.is_of_people());
        let columns = columns.map(|column| ResultColumn {
            heading: column.name().to_owned(),
            column,
        });
        Self(columns.collect())
    }

    /// Parses a choice such as `email=E-Mail,status,site`: names between commas, each with
    /// another heading behind an equals sign if it should have one.
    ///
    /// Names are compared without case; `judged-at` and `judged_at` are `judged at` too.
    pub fn parse(text: &str, fields: &[FieldName]) -> Result<Self, ColumnsError> {
        let known = known(fields);
        let mut chosen: Vec<ResultColumn> = Vec::new();
        for item in text.split(',') {
            let column = parse_column(item, &known)?;
            if chosen.iter().any(|other| other.column == column.column) {
                return Err(ColumnsError::Twice(column.column.name().to_owned()));
            }
            chosen.push(column);
        }
        Ok(Self(chosen))
    }

    #[must_use]
    pub fn headings(&self) -> Vec<String> {
        self.0.iter().map(|column| column.heading.clone()).collect()
    }

    /// The cells that show this outcome, one for every column.
    #[must_use]
    pub fn cells(&self, outcome: &Outcome<'_>) -> Vec<Cell> {
        let cell = |column: &ResultColumn| outcome.cell(&column.column);
        self.0.iter().map(cell).collect()
    }
}

impl Outcome<'_> {
    fn cell(&self, column: &Column) -> Cell {
        let text = match column {
            Column::Field(name) => self
                .fields
                .and_then(|fields| fields.get(name))
                .cloned()
                .unwrap_or_default(),
            Column::Status => self.status.to_owned(),
            Column::Rule => self.rule.to_owned(),
            Column::Facts => self.facts.to_owned(),
            Column::Tries => return Cell::Number(self.tries.into()),
            Column::JudgedAt => self
                .judged_at
                .map(|at| format!("{at:.0}"))
                .unwrap_or_default(),
            Column::SettledBy => self.settled_by.to_owned(),
            Column::Note => self.note.to_owned(),
        };
        Cell::Text(text)
    }
}

/// The headings to use beside `taken`: each as wanted or, where it is taken already, with
/// ` (comail)` behind it, then ` (comail 2)` and so on. Case and white space around do not
/// tell headings apart.
#[must_use]
pub fn free_headings(taken: &[String], wanted: &[String]) -> Vec<String> {
    let mut taken: HashSet<String> = taken.iter().map(|heading| fold(heading)).collect();
    let candidates = |heading: &str, round: u32| match round {
        0 => heading.to_owned(),
        1 => format!("{heading} (comail)"),
        more => format!("{heading} (comail {more})"),
    };
    let free = |heading: &String| {
        let mut round = 0;
        loop {
            let candidate = candidates(heading, round);
            if taken.insert(fold(&candidate)) {
                return candidate;
            }
            round += 1;
        }
    };
    wanted.iter().map(free).collect()
}

fn fold(heading: &str) -> String {
    heading.trim().to_lowercase()
}

fn known(fields: &[FieldName]) -> Vec<Column> {
    let mut fields = fields.iter().cloned().map(Column::Field);
    let mut known: Vec<Column> = fields.next().into_iter().collect();
    known.push(Column::Status);
    known.extend(fields);
    known.extend([
        Column::Rule,
        Column::Facts,
        Column::Tries,
        Column::JudgedAt,
        Column::SettledBy,
        Column::Note,
    ]);
    known
}

fn parse_column(item: &str, known: &[Column]) -> Result<ResultColumn, ColumnsError> {
    let (name, heading) = match item.split_once('=') {
        Some((name, heading)) => (name.trim(), Some(heading.trim())),
        None => (item.trim(), None),
    };
    if name.is_empty() {
        return Err(ColumnsError::NoName);
    }
    let spelled = spelling(name);
    let column = known
        .iter()
        .find(|column| spelling(column.name()) == spelled)
        .ok_or_else(|| unknown(name, known))?;
    let heading = match heading {
        Some("") => return Err(ColumnsError::NoHeading(column.name().to_owned())),
        Some(heading) if is_of_another(heading, column, known) => {
            return Err(ColumnsError::Mislabelled {
                column: column.name().to_owned(),
                heading: heading.to_owned(),
            });
        }
        Some(heading) => heading,
        None => column.name(),
    };
    Ok(ResultColumn {
        column: column.clone(),
        heading: heading.to_owned(),
    })
}

/// Whether a heading is what another column than its own is called.
fn is_of_another(heading: &str, own: &Column, known: &[Column]) -> bool {
    let spelled = spelling(heading);
    let others = known.iter().filter(|column| *column != own);
    others
        .map(|column| spelling(column.name()))
        .any(|name| name == spelled)
}

fn spelling(name: &str) -> String {
    name.to_lowercase().replace(['-', '_'], " ")
}

fn unknown(name: &str, known: &[Column]) -> ColumnsError {
    let likeness =
        |column: &Column| strsim::jaro_winkler(&spelling(column.name()), &spelling(name));
    let nearest = known
        .iter()
        .map(|column| (likeness(column), column))
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .filter(|(likeness, _)| *likeness > 0.7)
        .map(|(_, column)| column.name().to_owned());
    let names: Vec<&str> = known.iter().map(Column::name).collect();
    ColumnsError::Unknown {
        name: name.to_owned(),
        nearest,
        known: names.join(", "),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowKind {
    Title,
    Header,
    Body,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableRow {
    /// The row's number in the list, counted from 1.
    pub row: u32,
    pub kind: RowKind,
    pub source: Vec<String>,
    pub results: Vec<Cell>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    All,
    WithResults,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    pub header_row: Option<u32>,
    pub width: usize,
    pub headings: Vec<String>,
    pub keep: Keep,
}

/// Joins the rows of the list with their results.
///
/// Both inputs come in the order of their rows. The heading of a result column that the list
/// has already is made free (see [`free_headings`]).
pub fn join<S, R>(
    layout: &Layout,
    source: S,
    results: R,
) -> impl Iterator<Item = Result<TableRow, ExportError>> + use<'_, S, R>
where
    S: Iterator<Item = Result<SourceRow, RowError>>,
    R: Iterator<Item = Result<ResultRow, RowError>>,
{
    let mut join = Join {
        layout,
        source,
        results: results.peekable(),
        last: None,
        done: false,
    };
    std::iter::from_fn(move || join.next_row().transpose())
}

struct Join<'a, S, R: Iterator> {
    layout: &'a Layout,
    source: S,
    results: Peekable<R>,
    last: Option<u32>,
    done: bool,
}

impl<S, R> Join<'_, S, R>
where
    S: Iterator<Item = Result<SourceRow, RowError>>,
    R: Iterator<Item = Result<ResultRow, RowError>>,
{
    /// The next row that comes along; nothing more after the last one or an error.
    fn next_row(&mut self) -> Result<Option<TableRow>, ExportError> {
        while !self.done {
            self.done = true;
            let Some(source) = self.source.next() else {
                return self.results.next().map_or(Ok(None), |left| {
                    Err(left
                        .map_or_else(ExportError::Rows, |left| ExportError::NoSuchRow(left.row)))
                });
            };
            let row = self.combine(source.map_err(ExportError::Rows)?)?;
            self.done = false;
            if row.is_some() {
                return Ok(row);
            }
        }
        Ok(None)
    }

    fn combine(&mut self, source: SourceRow) -> Result<Option<TableRow>, ExportError> {
        let SourceRow { row, mut cells } = source;
        if self.last.is_some_and(|last| row <= last) {
            return Err(ExportError::Order(row));
        }
        self.last = Some(row);
        let width = self.layout.width;
        if cells.len() > width {
            let found = cells.len();
            return Err(ExportError::Width { row, found, width });
        }
        cells.resize(width, String::new());

        let found = self.results_of(row)?;
        let kind = match self.layout.header_row {
            Some(header) if row < header => RowKind::Title,
            Some(header) if row == header => RowKind::Header,
            _ => RowKind::Body,
        };
        let header = kind == RowKind::Header;
        let results = match (header, found) {
            (true, _) => free_headings(&cells, &self.layout.headings)
                .into_iter()
                .map(Cell::Text)
                .collect(),
            (false, Some(results)) => results,
            (false, None) if self.layout.keep == Keep::WithResults => return Ok(None),
            (false, None) => vec![Cell::empty(); self.layout.headings.len()],
        };
        Ok(Some(TableRow {
            row,
            kind,
            source: cells,
            results,
        }))
    }

    fn results_of(&mut self, row: u32) -> Result<Option<Vec<Cell>>, ExportError> {
        match self.results.peek() {
            Some(Ok(next)) if next.row < row => return Err(ExportError::NoSuchRow(next.row)),
            Some(Ok(next)) if next.row > row => return Ok(None),
            _ => {}
        }
        let Some(next) = self.results.next() else {
            return Ok(None);
        };
        let cells = next.map_err(ExportError::Rows)?.cells;
        let (found, expected) = (cells.len(), self.layout.headings.len());
        if found != expected {
            return Err(ExportError::Results {
                row,
                found,
                expected,
            });
        }
        Ok(Some(cells))
    }
}

#[cfg(test)]
mod tests;
