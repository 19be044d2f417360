//! The result columns: which there are, which are chosen, and what stands in them.

use std::collections::HashSet;

use jiff::Timestamp;

use super::results::Cell;
use crate::quest::{FieldName, Fields};

/// What a result column holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Column {
    /// A field of the submission.
    Field(FieldName),
    /// The quest's state.
    Status,
    /// The rules that fired.
    Rule,
    /// What was found.
    Facts,
    /// How many tries it took.
    Tries,
    /// When the last judgement was made.
    JudgedAt,
    /// Who settled or disputed it.
    SettledBy,
    /// Why they did.
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

    /// Whether it says what a person decided.
    fn is_of_people(&self) -> bool {
        matches!(self, Self::SettledBy | Self::Note)
    }
}

/// A column and its heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultColumn {
    /// What it holds.
    pub column: Column,
    /// The text above it.
    pub heading: String,
}

/// The chosen columns, in order. There is at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns(Vec<ResultColumn>);

/// What became of one quest, as the result columns show it.
#[derive(Debug, Clone, Copy)]
pub struct Outcome<'a> {
    /// The last submission's fields, if it had any.
    pub fields: Option<&'a Fields>,
    /// The quest's state.
    pub status: &'a str,
    /// The rules that fired.
    pub rule: &'a str,
    /// What was found.
    pub facts: &'a str,
    /// How many tries it took.
    pub tries: u32,
    /// When the last judgement was made.
    pub judged_at: Option<Timestamp>,
    /// Who settled or disputed it.
    pub settled_by: &'a str,
    /// Why they did.
    pub note: &'a str,
}

/// Why a choice of columns cannot be followed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ColumnsError {
    /// There is no such column.
    #[error("there is no column {name:?}{}; there are: {known}", nearest.as_ref().map(|near| format!(", did you mean {near:?}?")).unwrap_or_default())]
    Unknown {
        /// What was asked for.
        name: String,
        /// The column with the most similar name.
        nearest: Option<String>,
        /// All columns.
        known: String,
    },
    /// A column was chosen twice.
    #[error("the column {0:?} is chosen twice; name it once")]
    Twice(String),
    /// A heading is the name of another column.
    #[error(
        "{heading:?} is the name of another column, and would say of {column:?} what is not so; \
         choose another heading"
    )]
    Mislabelled {
        /// The column.
        column: String,
        /// The heading that it was to have.
        heading: String,
    },
    /// Nothing stands between two commas, or nothing at all was chosen.
    #[error(
        "a column's name is missing; write names between commas, such as \"email=E-Mail,status\""
    )]
    NoName,
    /// Nothing stands behind an equals sign.
    #[error("the heading for {0:?} is missing behind its \"=\"; write one, or leave the \"=\" out")]
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

    /// The headings, in order.
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

#[cfg(test)]
mod tests;
