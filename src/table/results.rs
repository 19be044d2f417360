//! The rows of an export: what the list holds, what the session found, and what can go wrong.
//!
//! Rows are passed on one at a time, so only one row is in memory.

use std::collections::HashSet;
use std::io;
use std::iter::Peekable;
use std::path::PathBuf;

use itertools::Itertools as _;
use jiff::Timestamp;

use super::error::ReadError;
use super::workbook_copy::WorkbookError;
use crate::quest::file::nearest;
use crate::quest::{FieldName, Fields};

/// Why a row of the list or the session cannot be read.
pub type RowError = Box<dyn std::error::Error + Send + Sync>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cell {
    Text(String),
    Number(u64),
}

impl Cell {
    pub const fn empty() -> Self {
        Self::Text(String::new())
    }

    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Text(text) if text.is_empty())
    }
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
    #[error("row {row} {why}; nothing was written, scan the list again")]
    Mismatch { row: u32, why: String },
    #[error(
        "a sheet has at most 1,048,576 rows and 16,384 columns, and this needs {0}; export as csv or jsonl"
    )]
    TooLarge(&'static str),
}

impl From<ReadError> for ExportError {
    fn from(error: ReadError) -> Self {
        Self::Rows(error.into())
    }
}

impl ExportError {
    pub(super) fn mismatch(row: u32, why: impl Into<String>) -> Self {
        let why = why.into();
        Self::Mismatch { row, why }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns {
    fields: Vec<FieldName>,
    /// Which columns, and under which heading.
    chosen: Vec<(Column, String)>,
}

/// The outcome of one quest, as shown in the result columns.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The answer, unless it failed or a person rejected it.
    pub fields: Option<Fields>,
    /// Whether the answer counts as right.
    pub holds: bool,
    pub status: String,
    /// The rules that fired, each once.
    pub rules: Vec<String>,
    pub facts: Vec<String>,
    pub tries: u32,
    pub judged_at: Option<Timestamp>,
    /// Who decided on it, and why.
    pub settled_by: Vec<String>,
    pub notes: Vec<String>,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ColumnsError(String);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    /// The first field, if it counts as right.
    Answer,
    Status,
    /// The first field if it does not count as right, kept apart from the right ones.
    ToReview,
    /// One of the other fields.
    Field(usize),
    Rule,
    Facts,
    Tries,
    JudgedAt,
    SettledBy,
    Note,
}

impl Column {
    /// All columns, in their usual order.
    fn all(fields: &[FieldName]) -> Vec<Self> {
        let mut all = vec![Self::Answer, Self::Status, Self::ToReview];
        if fields.is_empty() {
            all = vec![Self::Status];
        }
        all.extend((1..fields.len()).map(Self::Field));
        all.extend([
            Self::Rule,
            Self::Facts,
            Self::Tries,
            Self::JudgedAt,
            Self::SettledBy,
            Self::Note,
        ]);
        all
    }

    fn name(self, fields: &[FieldName]) -> String {
        let field = |at: usize| fields.get(at).map_or("", FieldName::as_str);
        match self {
            Self::Answer => field(0).to_owned(),
            Self::ToReview => format!("{} to review", field(0)),
            Self::Field(at) => field(at).to_owned(),
            Self::Status => "status".to_owned(),
            Self::Rule => "rule".to_owned(),
            Self::Facts => "facts".to_owned(),
            Self::Tries => "tries".to_owned(),
            Self::JudgedAt => "judged at".to_owned(),
            Self::SettledBy => "settled by".to_owned(),
            Self::Note => "note".to_owned(),
        }
    }

    /// Whether only people's decisions fill it.
    fn is_of_people(self) -> bool {
        matches!(self, Self::SettledBy | Self::Note)
    }

    fn shows_answer(self) -> bool {
        matches!(self, Self::Answer | Self::ToReview)
    }

    /// In digits of the default font.
    fn width(self) -> u16 {
        match self {
            Self::Status | Self::Tries => 12,
            Self::JudgedAt | Self::Rule => 24,
            Self::Facts => 60,
            Self::Answer | Self::ToReview | Self::Field(_) | Self::SettledBy | Self::Note => 30,
        }
    }

    fn cell(self, outcome: &Outcome, fields: &[FieldName]) -> Cell {
        let field = |at: usize| {
            let shown = outcome.fields.as_ref().zip(fields.get(at));
            let value = shown.and_then(|(shown, name)| shown.get(name));
            value.cloned().unwrap_or_default()
        };
        Cell::Text(match self {
            Self::Answer if outcome.holds => field(0),
            Self::ToReview if !outcome.holds => field(0),
            Self::Answer | Self::ToReview => String::new(),
            Self::Field(at) => field(at),
            Self::Status => outcome.status.clone(),
            Self::Rule => outcome.rules.join(", "),
            Self::Facts => outcome.facts.join("\n"),
            Self::Tries => return Cell::Number(outcome.tries.into()),
            Self::JudgedAt => {
                let judged_at = outcome.judged_at.map(|at| format!("{at:.0}"));
                judged_at.unwrap_or_default()
            }
            Self::SettledBy => outcome.settled_by.join("\n"),
            Self::Note => outcome.notes.join("\n"),
        })
    }
}

impl Columns {
    /// All columns; those of people's decisions only if there are any (`settled`).
    pub fn usual(fields: &[FieldName], settled: bool) -> Self {
        let all = Column::all(fields).into_iter();
        let usual = all.filter(|column| settled || !column.is_of_people());
        Self {
            chosen: usual.map(|it| (it, it.name(fields))).collect(),
            fields: fields.to_vec(),
        }
    }

    /// Parses a choice such as `email=E-Mail,status,site`: names separated by commas, each with
    /// a heading after an equals sign if it should have another one.
    ///
    /// Names are compared without case; `judged-at` and `judged_at` are `judged at` too.
    pub fn parse(text: &str, fields: &[FieldName]) -> Result<Self, ColumnsError> {
        let known = Column::all(fields).into_iter();
        let known: Vec<_> = known.map(|column| (column, column.name(fields))).collect();
        let mut chosen: Vec<(Column, String)> = Vec::new();
        for item in text.split(',') {
            let (column, heading) = parse_column(item, &known).map_err(ColumnsError)?;
            if chosen.iter().any(|(other, _)| *other == column) {
                let name = column.name(fields);
                return Err(ColumnsError(format!("the column {name:?} is chosen twice")));
            }
            chosen.push((column, heading));
        }
        Ok(Self {
            fields: fields.to_vec(),
            chosen,
        })
    }

    pub fn headings(&self) -> Vec<String> {
        let headings = self.chosen.iter().map(|(_, heading)| heading.clone());
        headings.collect()
    }

    /// Whether a column shows answers that count as right.
    pub fn show_answers(&self) -> bool {
        self.has(Column::Answer)
    }

    /// Whether a column shows answers that do not.
    pub fn show_to_review(&self) -> bool {
        self.has(Column::ToReview)
    }

    /// For each column, whether it shows the answer, right or not.
    pub fn of_answer(&self) -> Vec<bool> {
        let chosen = self.chosen.iter();
        chosen.map(|(column, _)| column.shows_answer()).collect()
    }

    fn has(&self, column: Column) -> bool {
        self.chosen.iter().any(|(chosen, _)| *chosen == column)
    }

    /// Whether these fields have an answer for its column.
    pub fn has_answer(&self, fields: &Fields) -> bool {
        let answer = self.fields.first().and_then(|name| fields.get(name));
        answer.is_some_and(|answer| !answer.is_empty())
    }

    /// The widths of the columns, in digits of the default font.
    pub fn widths(&self) -> Vec<u16> {
        let chosen = self.chosen.iter();
        chosen.map(|(column, _)| column.width()).collect()
    }

    /// The cells that show this outcome, one for every column.
    pub fn cells(&self, outcome: &Outcome) -> Vec<Cell> {
        let chosen = self.chosen.iter();
        let cells = chosen.map(|(column, _)| column.cell(outcome, &self.fields));
        cells.collect()
    }
}

fn parse_column(item: &str, known: &[(Column, String)]) -> Result<(Column, String), String> {
    let (name, heading) = match item.split_once('=') {
        Some((name, heading)) => (name.trim(), Some(heading.trim())),
        None => (item.trim(), None),
    };
    if name.is_empty() {
        let example = "separate names with commas, such as \"email=E-Mail,status\"";
        return Err(format!("a column name is missing; {example}"));
    }
    let at_name = |name: &str| {
        let spelled = spelling(name);
        known.iter().find(|(_, known)| spelling(known) == spelled)
    };
    let names = || known.iter().map(|(_, name)| name.as_str());
    let (column, own) = at_name(name).ok_or_else(|| {
        let near = nearest(&spelling(name), names());
        let near = near.map_or(String::new(), |near| format!("; did you mean {near:?}?"));
        let known = names().join(", ");
        format!("there is no column {name:?}; there are: {known}{near}")
    })?;
    match heading {
        None => Ok((*column, own.clone())),
        Some("") => Err(format!(
            "the heading for {own:?} is missing after its \"=\"; add one, or remove the \"=\""
        )),
        Some(heading) if at_name(heading).is_some_and(|(other, _)| other != column) => {
            Err(format!(
                "{heading:?} is the name of another column than {own:?}; choose another heading"
            ))
        }
        Some(heading) => Ok((*column, heading.to_owned())),
    }
}

fn spelling(name: &str) -> String {
    name.to_lowercase().replace(['-', '_'], " ")
}

/// The headings to use next to `taken`: each as wanted or, if that is taken, with the suffix
/// ` (comail)`, then ` (comail 2)` and so on. Headings that differ only in case and outer white space
/// are the same.
pub fn free_headings(taken: &[String], wanted: &[String]) -> Vec<String> {
    let fold = |heading: &str| heading.trim().to_lowercase();
    let mut taken: HashSet<String> = taken.iter().map(|heading| fold(heading)).collect();
    let mut free = Vec::with_capacity(wanted.len());
    for heading in wanted {
        let mut candidate = heading.clone();
        let mut round = 1;
        while !taken.insert(fold(&candidate)) {
            candidate = match round {
                1 => format!("{heading} (comail)"),
                more => format!("{heading} (comail {more})"),
            };
            round += 1;
        }
        free.push(candidate);
    }
    free
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

impl TableRow {
    /// A row above the list that is not part of it.
    pub fn title(text: &str) -> Self {
        Self {
            row: 0,
            kind: RowKind::Title,
            source: vec![text.to_owned()],
            results: Vec::new(),
        }
    }
}

/// Passes each row to a writer, in order.
pub type Rows<'a> = &'a mut dyn FnMut(
    &mut dyn FnMut(TableRow) -> Result<(), ExportError>,
) -> Result<(), ExportError>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    pub header_row: Option<u32>,
    pub width: usize,
    pub headings: Vec<String>,
    /// Whether rows without results are left out.
    pub only_results: bool,
}

/// Joins the rows of a list with their results. Both come in the order of their numbers.
pub struct Join<'a, R: Iterator> {
    layout: &'a Layout,
    results: Peekable<R>,
    last: Option<u32>,
}

impl<'a, R: Iterator<Item = Result<ResultRow, RowError>>> Join<'a, R> {
    pub fn new(layout: &'a Layout, results: R) -> Self {
        Self {
            layout,
            results: results.peekable(),
            last: None,
        }
    }

    /// The row of the list with its results; none if it is left out. A result column with a heading
    /// that the list already has gets another one (see [`free_headings`]).
    pub fn row(
        &mut self,
        row: u32,
        mut source: Vec<String>,
    ) -> Result<Option<TableRow>, ExportError> {
        if self.last.replace(row).is_some_and(|last| row <= last) {
            return Err(ExportError::mismatch(row, "is out of order"));
        }
        let Layout {
            width, headings, ..
        } = self.layout;
        if source.len() > *width {
            let why = format!("of the list has more than its {width} columns");
            return Err(ExportError::mismatch(row, why));
        }
        source.resize(*width, String::new());
        let found = self.results_of(row)?;
        let kind = match self.layout.header_row {
            Some(header) if row < header => RowKind::Title,
            Some(header) if row == header => RowKind::Header,
            _ => RowKind::Body,
        };
        let results = match found {
            _ if kind == RowKind::Header => {
                let headings = free_headings(&source, headings).into_iter();
                headings.map(Cell::Text).collect()
            }
            Some(results) => results,
            None if self.layout.only_results => return Ok(None),
            None => vec![Cell::empty(); headings.len()],
        };
        Ok(Some(TableRow {
            row,
            kind,
            source,
            results,
        }))
    }

    fn results_of(&mut self, row: u32) -> Result<Option<Vec<Cell>>, ExportError> {
        match self.results.peek() {
            Some(Ok(next)) if next.row < row => return Err(missing(next.row)),
            Some(Ok(next)) if next.row > row => return Ok(None),
            _ => {}
        }
        let next = self.results.next().transpose().map_err(ExportError::Rows)?;
        Ok(next.map(|next| next.cells))
    }

    pub fn finish(mut self) -> Result<(), ExportError> {
        match self.results.next() {
            None => Ok(()),
            Some(Ok(left)) => Err(missing(left.row)),
            Some(Err(error)) => Err(ExportError::Rows(error)),
        }
    }
}

fn missing(row: u32) -> ExportError {
    ExportError::mismatch(row, "has results, but is not in the list")
}

#[cfg(test)]
mod tests;
