//! How a list is read into quests: which sheet, which columns, in `session.json` as `list`.

use std::path::Path;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::quest::{Listing, Shown};
use crate::table::{ColumnIndex, HeaderChoice, List, ReadOptions, SourceFormat};

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
    /// Opens the list at `path`, and finds the columns.
    pub fn open(&self, path: &Path) -> Result<PlannedList> {
        let options = ReadOptions {
            sheet: self.sheet.clone(),
            encoding: self.encoding.clone(),
            header: self.header,
        };
        let list = List::open(path, &options)?;
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

    /// Reads every row into `listing`.
    pub fn read_into(&mut self, listing: &mut Listing) -> Result<()> {
        let (key, site, labels) = (self.key, usize::from(self.site), &self.labels);
        self.list.rows(&self.columns, |row, cells| -> Result<()> {
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
