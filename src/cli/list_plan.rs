//! How a list is read into quests: which sheet, which columns, in `session.json` as `list`.

use std::path::Path;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

use super::progress::WorkBar;
use crate::base::Digest;
use crate::quest::{Listing, Quest, Row, Shown, Told, TooManyQuests};
use crate::session::{Board, Session, SourceRecord};
use crate::table::{
    ColumnIndex, FormatWish, HeaderChoice, List, ReadError, ReadOptions, SourceFormat, open_file,
};

/// How a list is read: as the operator said it. The same plan reads the same copy alike.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListPlan {
    /// The sheet, where one was named.
    pub sheet: Option<String>,
    /// The encoding, where one was named.
    pub encoding: Option<String>,
    /// Whether there is a header row.
    pub header: HeaderChoice,
    /// The format, where one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<FormatWish>,
    /// Whether the list was made of what its path names: a directory, or what a command printed.
    #[serde(default, skip_serializing_if = "is_false")]
    pub made: bool,
    /// The columns of the key, by letter or header text.
    pub key: Vec<String>,
    /// The column of the site that is known already.
    pub site: Option<String>,
    /// The columns that the prompt shows.
    pub show: Vec<String>,
    /// The columns that checks go by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<String>,
    /// The column of the keys that must have passed first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// A list that a plan has been found to fit.
pub struct PlannedList {
    list: List,
    cells: Cells,
    columns: Vec<ColumnIndex>,
}

/// Which of the cells that are read are what: key, site, what comes before, shown, known.
struct Cells {
    key: usize,
    site: bool,
    after: bool,
    shown: Vec<String>,
    known: Vec<String>,
}

impl ListPlan {
    /// The plan that a session's list was read by.
    pub fn of(source: &SourceRecord) -> Result<Self> {
        serde_json::from_value(source.list.clone())
            .context("the session does not say how its list was read")
    }

    /// How the file is opened.
    #[must_use]
    pub fn options(&self) -> ReadOptions {
        ReadOptions {
            sheet: self.sheet.clone(),
            encoding: self.encoding.clone(),
            header: self.header,
            format: self.format,
        }
    }

    /// Opens the list at `path`, and finds the columns.
    pub fn open(&self, path: &Path) -> Result<PlannedList> {
        let list = List::open(path, &self.options())?;
        let single = self.key.iter().chain(&self.site).chain(&self.after);
        let names = single.chain(&self.show).chain(&self.known);
        let columns = names
            .map(|name| list.column(name))
            .collect::<Result<Vec<_>, _>>()?;
        let labels = |columns: &[ColumnIndex]| {
            let labels = columns.iter().map(|column| list.label(*column));
            labels.collect::<Vec<_>>()
        };
        let (rest, _) = columns.split_at(columns.len() - self.known.len());
        let (_, shown) = rest.split_at(rest.len() - self.show.len());
        let cells = Cells {
            key: self.key.len(),
            site: self.site.is_some(),
            after: self.after.is_some(),
            shown: labels(shown),
            // As the quest file calls them, since that is how checks name them.
            known: self.known.clone(),
        };
        Ok(PlannedList {
            list,
            cells,
            columns,
        })
    }

    /// The record of the list at `path`, the `number`th that the session has read.
    pub fn record(
        &self,
        path: &Path,
        sha256: Digest,
        format: SourceFormat,
        number: usize,
    ) -> Result<SourceRecord> {
        let absolute = std::path::absolute(path)
            .with_context(|| format!("cannot tell where {} is", path.display()))?;
        let number = match number {
            1 => String::new(),
            more => format!("-{more}"),
        };
        Ok(SourceRecord {
            path: absolute.to_string_lossy().into_owned(),
            sha256,
            copy: format!("source{number}.{}", format.extension()),
            list: serde_json::to_value(self)?,
        })
    }
}

impl PlannedList {
    /// The format of the file.
    #[must_use]
    pub fn format(&self) -> SourceFormat {
        self.list.format()
    }

    /// The list itself.
    #[must_use]
    pub fn list(&self) -> &List {
        &self.list
    }

    /// What the columns of the key are called.
    #[must_use]
    pub fn key_labels(&self) -> Vec<String> {
        let columns = self.columns.iter().take(self.cells.key);
        columns.map(|column| self.list.label(*column)).collect()
    }

    /// Reads every row into `listing`; rows without any text between others count as blank.
    pub fn read_into(&mut self, listing: &mut Listing) -> Result<()> {
        let mut last = self.list.header().map_or(0, |header| header.row);
        let bar = WorkBar::endless("reading the list");
        self.list.rows(&self.columns, |row, cells| -> Result<()> {
            bar.step()?;
            listing.skip(row.saturating_sub(last.saturating_add(1)));
            last = row;
            Ok(self.cells.add_to(listing, row, cells)?)
        })
    }

    /// The list, for reading it whole.
    #[must_use]
    pub fn into_list(self) -> List {
        self.list
    }
}

impl Cells {
    /// Adds the row of these cells.
    fn add_to(
        &self,
        listing: &mut Listing,
        number: u32,
        cells: &[String],
    ) -> Result<(), TooManyQuests> {
        let (key_parts, mut rest) = cells.split_at(self.key);
        let key_parts: Vec<&str> = key_parts.iter().map(String::as_str).collect();
        let mut one = |is_there: bool| match rest.split_first() {
            Some((first, others)) if is_there => {
                rest = others;
                first.as_str()
            }
            _ => "",
        };
        let (anchor, after) = (one(self.site), one(self.after));
        let row = Row {
            number,
            key_parts: &key_parts,
            anchor,
            after,
        };
        listing.add(row, || {
            let (shown, known) = rest.split_at(self.shown.len());
            Told {
                shown: filled(&self.shown, shown),
                known: filled(&self.known, known),
            }
        })
    }
}

/// The digest of the list at `path`.
///
/// Taken before the list is read, it tells whether a copy that is made afterwards holds what
/// was read.
pub fn digest(path: &Path) -> Result<Digest, ReadError> {
    Digest::of_reader(&mut open_file(path)?).map_err(|error| ReadError::opening(path, error))
}

/// A listing of the quests that `session` has by `board`, none with rows: those are of a list that was
/// read before.
pub fn known_quests(session: &Session, board: &Board) -> Result<Listing> {
    let mut listing = Listing::new();
    let mut reader = session.reader()?;
    let bar = WorkBar::of("reading the quests", board.quests().len() as u64);
    for standing in board.quests() {
        bar.step()?;
        let quest = reader.quest(standing)?;
        listing.seed(Quest {
            rows: Vec::new(),
            shown: Vec::new(),
            known: Vec::new(),
            ..quest
        });
    }
    Ok(listing)
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "this is how serde asks whether to skip"
)]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// The cells that are not blank, under their labels.
fn filled(labels: &[String], cells: &[String]) -> Vec<Shown> {
    let filled = labels
        .iter()
        .zip(cells)
        .filter(|(_, text)| !text.trim().is_empty());
    filled
        .map(|(label, text)| Shown {
            label: label.clone(),
            text: text.trim().to_owned(),
        })
        .collect()
}
