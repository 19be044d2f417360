//! The sheet of the queue: which columns it has, and what stands in them.

use std::collections::BTreeSet;

use super::columns::{Column, SHEET};
use super::decided::{WORDS, bound};
use super::row::OfficeRow;
use crate::base::Digest;
use crate::table::new_workbook::{ColumnRole, Form, FormCell, FormColumn};

/// The sheet of these rows of the session whose `session.json` has this digest.
#[must_use]
pub fn form(rows: &[OfficeRow], session: Digest) -> Form {
    let columns = columns(rows);
    let session = session.to_string();
    let cells = |row| {
        let cells = columns.iter().map(|column| column.cell(row, &session));
        cells.collect()
    };
    let rows = rows.iter().map(cells).collect();
    Form {
        sheet: SHEET,
        columns: columns.iter().map(Shows::column).collect(),
        rows,
    }
}

/// What a column shows.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Shows {
    /// What a row is taken back by.
    Own(Column),
    /// A column of the list.
    List(String),
    /// A field that was submitted.
    Field(String),
    Nothing,
    Rules,
    Facts,
    Excerpt,
    Doubts,
    Source,
}

/// All columns. Those that most rows cannot have stand there only where one has them.
fn columns(rows: &[OfficeRow]) -> Vec<Shows> {
    let mut shown: Vec<&String> = Vec::new();
    for (label, _) in rows.iter().flat_map(|row| &row.shown) {
        if !shown.contains(&label) {
            shown.push(label);
        }
    }
    let fields: BTreeSet<&String> = rows.iter().flat_map(|row| row.fields.keys()).collect();
    let mut columns = vec![Shows::Own(Column::Id), Shows::Own(Column::Key)];
    columns.extend(shown.into_iter().cloned().map(Shows::List));
    columns.extend(fields.into_iter().cloned().map(Shows::Field));
    if rows.iter().any(|row| !row.nothing.is_empty()) {
        columns.push(Shows::Nothing);
    }
    columns.extend([Shows::Source, Shows::Rules, Shows::Facts, Shows::Excerpt]);
    if rows.iter().any(|row| !row.doubts.is_empty()) {
        columns.push(Shows::Doubts);
    }
    let own = [Column::Decision, Column::Note, Column::Judged];
    columns.extend(own.map(Shows::Own));
    columns.extend([Column::Attempt, Column::Session].map(Shows::Own));
    columns
}

impl Shows {
    fn column(&self) -> FormColumn {
        let role = match self {
            Self::Own(Column::Decision) => ColumnRole::Choice(&WORDS),
            Self::Own(Column::Session) => ColumnRole::Hidden,
            _ => ColumnRole::Free,
        };
        FormColumn {
            heading: self.heading(),
            width: self.width(),
            role,
        }
    }

    /// What stands above it. What the list or the submission names is marked as theirs, so that
    /// nothing of theirs is taken for a column of the queue.
    fn heading(&self) -> String {
        match self {
            Self::Own(column) => column.heading().to_owned(),
            Self::List(label) => format!("list: {label}"),
            Self::Field(name) => format!("submitted: {name}"),
            Self::Nothing => "submitted: nothing, because".to_owned(),
            Self::Rules => "rules".to_owned(),
            Self::Facts => "facts".to_owned(),
            Self::Excerpt => "excerpt".to_owned(),
            Self::Doubts => "reviewers".to_owned(),
            Self::Source => "source".to_owned(),
        }
    }

    fn width(&self) -> u8 {
        match self {
            Self::Own(Column::Id) => 6,
            Self::Own(Column::Attempt) => 9,
            Self::Own(Column::Decision) => 11,
            Self::Own(Column::Key | Column::Judged) | Self::List(_) => 24,
            Self::Rules => 20,
            Self::Field(_) | Self::Nothing => 28,
            Self::Own(Column::Note) | Self::Source | Self::Doubts => 36,
            Self::Facts | Self::Excerpt => 52,
            Self::Own(Column::Session) => 64,
        }
    }

    fn cell(&self, row: &OfficeRow, session: &str) -> FormCell {
        let text = |text: Option<&String>| FormCell::text(text.map_or("", String::as_str));
        match self {
            Self::Own(Column::Id) => FormCell::number(row.id.index() as u64 + 1),
            Self::Own(Column::Key) => FormCell::text(row.key.as_str()),
            Self::Own(Column::Judged) => FormCell::text(row.since.to_string()),
            Self::Own(Column::Attempt) => FormCell::number(row.attempt),
            Self::Own(Column::Decision | Column::Note) => FormCell::text(""),
            Self::Own(Column::Session) => FormCell::text(bound(session, row.settled)),
            Self::List(label) => {
                let mut shown = row.shown.iter();
                text(shown.find(|(it, _)| it == label).map(|(_, text)| text))
            }
            Self::Field(name) => text(row.fields.get(name)),
            Self::Nothing => FormCell::text(&*row.nothing),
            Self::Rules => FormCell::text(&*row.rules),
            Self::Facts => FormCell::text(&*row.facts),
            Self::Excerpt => FormCell::text(&*row.excerpt),
            Self::Doubts => FormCell::text(&*row.doubts),
            Self::Source => {
                let link = row.source.clone().map(FormCell::Link);
                link.unwrap_or_else(|| FormCell::text(""))
            }
        }
    }
}
