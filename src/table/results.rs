//! The rows of an export: what the list holds, what the session found, and what can go wrong.
//!
//! Rows are handed on one at a time, so no more than a row is in memory.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io;
use std::iter::Peekable;
use std::path::PathBuf;

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
    /// Which of the [`known`] columns, and under which heading.
    chosen: Vec<(usize, String)>,
}

/// What became of one quest, as the result columns show it.
#[derive(Debug, Clone, Copy)]
pub struct Outcome<'a> {
    pub fields: Option<&'a Fields>,
    /// Whether the fields count as right: nothing and nobody is left to doubt them.
    pub proven: bool,
    pub status: &'a str,
    pub rule: &'a str,
    pub facts: &'a str,
    pub tries: u32,
    pub judged_at: Option<Timestamp>,
    pub settled_by: &'a str,
    pub note: &'a str,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ColumnsError(String);

/// The places of the columns of the answer among [`known`], in a kind that has fields.
const ANSWER: usize = 0;
const TO_REVIEW: usize = 2;

/// The columns that only decisions of people fill, at the end of [`known`].
const OF_PEOPLE: usize = 2;

/// The names of all columns. The first field is the answer. Next to it are the status and the
/// column for an answer that is not proven, so that nobody takes it for one that is.
fn known(fields: &[FieldName]) -> Vec<Cow<'_, str>> {
    let (answer, others) = fields.split_at(fields.len().min(1));
    let name = |field: &'_ FieldName| field.as_str().to_owned().into();
    let mut names: Vec<Cow<'_, str>> = answer.iter().map(name).collect();
    names.push("status".into());
    names.extend(
        answer
            .iter()
            .map(|answer| format!("{answer} to review").into()),
    );
    names.extend(others.iter().map(name));
    let rest = ["rule", "facts", "tries", "judged at", "settled by", "note"];
    names.extend(rest.map(Cow::Borrowed));
    names
}

impl Outcome<'_> {
    /// The cells of all columns, in the order of [`known`].
    fn cells(&self, fields: &[FieldName]) -> Vec<Cell> {
        let text = |text: &str| Cell::Text(text.to_owned());
        let field = |name| {
            let value = self.fields.and_then(|fields| fields.get(name)).cloned();
            Cell::Text(value.unwrap_or_default())
        };
        let (answer, others) = fields.split_at(fields.len().min(1));
        let answer_if = |shown: bool| {
            let cell = move |name| if shown { field(name) } else { Cell::empty() };
            answer.iter().map(cell)
        };
        let mut cells: Vec<Cell> = answer_if(self.proven).collect();
        cells.push(text(self.status));
        cells.extend(answer_if(!self.proven));
        cells.extend(others.iter().map(field));
        let judged_at = self.judged_at.map(|at| format!("{at:.0}"));
        cells.extend([
            text(self.rule),
            text(self.facts),
            Cell::Number(self.tries.into()),
            Cell::Text(judged_at.unwrap_or_default()),
            text(self.settled_by),
            text(self.note),
        ]);
        cells
    }
}

impl Columns {
    /// All columns, but those of people's decisions only if `settled` says that there are any.
    pub fn usual(fields: &[FieldName], settled: bool) -> Self {
        let names = known(fields);
        let left_out = if settled { 0 } else { OF_PEOPLE };
        let chosen = names.iter().take(names.len() - left_out).enumerate();
        Self {
            chosen: chosen.map(|(at, name)| (at, name.to_string())).collect(),
            fields: fields.to_vec(),
        }
    }

    /// Parses a choice such as `email=E-Mail,status,site`: names separated by commas, each with
    /// a heading after an equals sign if it should have another one.
    ///
    /// Names are compared without case; `judged-at` and `judged_at` are `judged at` too.
    pub fn parse(text: &str, fields: &[FieldName]) -> Result<Self, ColumnsError> {
        let known = known(fields);
        let mut chosen: Vec<(usize, String)> = Vec::new();
        for item in text.split(',') {
            let (at, heading) = parse_column(item, &known).map_err(ColumnsError)?;
            if chosen.iter().any(|(other, _)| *other == at) {
                let name = &known[at];
                return Err(ColumnsError(format!("the column {name:?} is chosen twice")));
            }
            chosen.push((at, heading));
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

    /// Whether a column shows proven answers.
    pub fn show_answers(&self) -> bool {
        self.has(ANSWER)
    }

    /// Whether a column shows answers that are not proven.
    pub fn show_to_review(&self) -> bool {
        self.has(TO_REVIEW)
    }

    /// For each column, whether it shows the answer, proven or not.
    pub fn of_answer(&self) -> Vec<bool> {
        let is_answer = |at: usize| !self.fields.is_empty() && [ANSWER, TO_REVIEW].contains(&at);
        self.chosen.iter().map(|(at, _)| is_answer(*at)).collect()
    }

    fn has(&self, column: usize) -> bool {
        !self.fields.is_empty() && self.chosen.iter().any(|(at, _)| *at == column)
    }

    /// Whether these fields have an answer for its column.
    pub fn has_answer(&self, fields: &Fields) -> bool {
        let answer = self.fields.first().and_then(|name| fields.get(name));
        answer.is_some_and(|answer| !answer.is_empty())
    }

    /// How wide the columns should be, in digits of the usual font.
    pub fn widths(&self) -> Vec<u16> {
        let known = known(&self.fields);
        let width = |name: &str| match name {
            "status" | "tries" => 12,
            "judged at" | "rule" => 24,
            "facts" => 60,
            _ => 30,
        };
        let chosen = self.chosen.iter().map(|(at, _)| width(&known[*at]));
        chosen.collect()
    }

    /// The cells that show this outcome, one for every column.
    pub fn cells(&self, outcome: &Outcome<'_>) -> Vec<Cell> {
        let cells = outcome.cells(&self.fields);
        let chosen = self.chosen.iter().map(|(at, _)| cells[*at].clone());
        chosen.collect()
    }
}

fn parse_column(item: &str, known: &[Cow<'_, str>]) -> Result<(usize, String), String> {
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
        known.iter().position(|known| spelling(known) == spelled)
    };
    let at = at_name(name).ok_or_else(|| {
        let near = nearest(&spelling(name), known.iter().map(AsRef::as_ref));
        let near = near.map_or(String::new(), |near| format!("; did you mean {near:?}?"));
        let known = known.join(", ");
        format!("there is no column {name:?}; there are: {known}{near}")
    })?;
    let own = known[at].as_ref();
    match heading {
        None => Ok((at, own.to_owned())),
        Some("") => Err(format!(
            "the heading for {own:?} is missing after its \"=\"; add one, or remove the \"=\""
        )),
        Some(heading) if at_name(heading).is_some_and(|other| other != at) => Err(format!(
            "{heading:?} is the name of another column than {own:?}; choose another heading"
        )),
        Some(heading) => Ok((at, heading.to_owned())),
    }
}

fn spelling(name: &str) -> String {
    name.to_lowercase().replace(['-', '_'], " ")
}

/// The headings to use next to `taken`: each as wanted or, where that is taken already, with
/// ` (comail)` behind it, then ` (comail 2)` and so on. Headings that differ only in case and
/// outer white space are the same.
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
    /// A row above the list that is not from it.
    pub fn title(text: &str) -> Self {
        Self {
            row: 0,
            kind: RowKind::Title,
            source: vec![text.to_owned()],
            results: Vec::new(),
        }
    }
}

/// Hands each row to a writer, in order.
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

    /// The row of the list with its results; none if it is left out. A result column whose
    /// heading the list has already gets another (see [`free_headings`]).
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
