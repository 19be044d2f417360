//! How a list is read into quests: which sheet, which columns, in `session.json` as `list`.

use std::path::Path;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

use crate::quest::{Digest, Listing, Quest, Shown};
use crate::session::{Board, Session, SourceRecord};
use crate::table::{
    ColumnIndex, HeaderChoice, List, ReadError, ReadOptions, SourceFormat, open_file,
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
    /// The columns of the key, by letter or header text.
    pub key: Vec<String>,
    /// The column of the site that is known already.
    pub site: Option<String>,
    /// The columns that the prompt shows.
    pub show: Vec<String>,
}

/// A list that a plan has been found to fit.
pub struct PlannedList {
    list: List,
    key: usize,
    site: bool,
    labels: Vec<String>,
    columns: Vec<ColumnIndex>,
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
        }
    }

    /// Opens the list at `path`, and finds the columns.
    pub fn open(&self, path: &Path) -> Result<PlannedList> {
        let list = List::open(path, &self.options())?;
        let names = self.key.iter().chain(&self.site).chain(&self.show);
        let columns = names
            .map(|name| list.column(name))
            .collect::<Result<Vec<_>, _>>()?;
        let shown = &columns[columns.len() - self.show.len()..];
        let labels = shown.iter().map(|column| list.label(*column)).collect();
        Ok(PlannedList {
            key: self.key.len(),
            site: self.site.is_some(),
            labels,
            columns,
            list,
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
        let columns = self.columns.iter().take(self.key);
        columns.map(|column| self.list.label(*column)).collect()
    }

    /// Reads every row into `listing`; rows without any text between others count as blank.
    pub fn read_into(&mut self, listing: &mut Listing) -> Result<()> {
        let (key, site, labels) = (self.key, usize::from(self.site), &self.labels);
        let mut last = self.list.header().map_or(0, |header| header.row);
        self.list.rows(&self.columns, |row, cells| -> Result<()> {
            listing.skip(row.saturating_sub(last + 1));
            last = row;
            let parts: Vec<&str> = cells[..key].iter().map(String::as_str).collect();
            let anchor = if site == 1 { cells[key].as_str() } else { "" };
            let shown = || shown(labels, &cells[key + site..]);
            Ok(listing.add(row, &parts, anchor, shown)?)
        })
    }

    /// The list, for reading it whole.
    #[must_use]
    pub fn into_list(self) -> List {
        self.list
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
    for standing in board.quests() {
        let quest = reader.quest(standing)?;
        listing.seed(Quest {
            rows: Vec::new(),
            shown: Vec::new(),
            ..quest
        });
    }
    Ok(listing)
}

fn shown(labels: &[String], cells: &[String]) -> Vec<Shown> {
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
