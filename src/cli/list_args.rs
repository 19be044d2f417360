//! The flags of `scan` that say how the list is read.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, ValueEnum};

use super::exit::UsageError;
use super::list_file::{ListFile, wish};
use super::list_plan::ListPlan;
use crate::quest::file::InputTable;
use crate::table::{HeaderChoice, List, ReadOptions, SourceFormat, TextEncoding, UnknownEncoding};

/// How the list is read.
#[derive(Debug, Args)]
#[command(next_help_heading = "The list")]
pub struct ListArgs {
    /// The list: a workbook, delimited text, JSON Lines, a text file with one key per line or, with
    /// --quest, a directory
    list: Option<PathBuf>,

    /// The column with the key, such as the company name, by letter or heading; not needed for plain
    /// lines
    #[arg(long, value_name = "COL", conflicts_with = "key_cols")]
    col: Option<String>,

    /// Several columns that form the key together
    #[arg(long, value_name = "COL,COL…", value_delimiter = ',')]
    key_cols: Vec<String>,

    /// The name of the sheet [default: the first visible sheet]
    #[arg(long, value_name = "NAME")]
    sheet: Option<String>,

    /// Whether the list has a row of headings [default: auto]
    #[arg(long, value_enum, value_name = "WHETHER")]
    header: Option<HeaderArg>,

    /// The encoding of a text file, such as euc-kr [default: detected]
    #[arg(long, value_name = "NAME", value_parser = known_encoding)]
    encoding: Option<String>,

    /// Show this column in the prompt (repeatable)
    #[arg(long, value_name = "COL")]
    show: Vec<String>,

    /// The column with the known website; the gate compares answers with it
    #[arg(long, value_name = "COL")]
    site_col: Option<String>,
}

/// Whether there is a row of headings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum HeaderArg {
    /// Detect it
    Auto,
    /// The list has one: the row that looks like headings, or else the first row with text
    Yes,
    /// Every row is data
    No,
}

impl ListArgs {
    /// The list.
    pub fn path(&self) -> Result<&Path> {
        self.named().ok_or_else(|| {
            let text = "which list? Name a workbook, a text or, with --quest, a directory";
            UsageError(text.to_owned()).into()
        })
    }

    /// The list, where one is named.
    #[must_use]
    pub fn named(&self) -> Option<&Path> {
        self.list.as_deref()
    }

    /// How the list at `path` is read: as the flags say, else as the list before was, else as the
    /// quest file says.
    pub fn plan(
        &self,
        path: &ListFile,
        before: Option<&ListPlan>,
        input: Option<&InputTable>,
        unit: &str,
    ) -> Result<ListPlan> {
        let or_before = |mine: &Option<String>, theirs: fn(&ListPlan) -> &Option<String>| {
            mine.clone()
                .or_else(|| before.and_then(|before| theirs(before).clone()))
        };
        let header = self.header.map(HeaderChoice::from);
        let mut plan = ListPlan {
            sheet: or_before(&self.sheet, |before| &before.sheet)
                .or_else(|| input.and_then(|input| input.sheet.clone())),
            encoding: or_before(&self.encoding, |before| &before.encoding),
            header: header
                .or(before.map(|before| before.header))
                .unwrap_or_default(),
            format: match before {
                Some(before) => before.format,
                None => input.and_then(|input| wish(input.format?)),
            },
            made: false,
            key: match &self.col {
                Some(column) => vec![column.clone()],
                None => self.key_cols.clone(),
            },
            site: or_before(&self.site_col, |before| &before.site),
            show: self.show.clone(),
            known: match before {
                Some(before) => before.known.clone(),
                None => input.map(|input| input.anchor.clone()).unwrap_or_default(),
            },
            after: match before {
                Some(before) => before.after.clone(),
                None => input.and_then(|input| input.after.clone()),
            },
        };
        path.note_in(&mut plan);
        if let Some(before) = before
            && plan.show.is_empty()
        {
            plan.show.clone_from(&before.show);
        }
        if let Some(input) = input {
            let more = input.show.iter().filter(|name| !self.show.contains(name));
            plan.show.extend(more.cloned());
            if plan.key.is_empty() {
                plan.key.clone_from(&input.key);
            }
        }
        if plan.key.is_empty() {
            plan.key = match before {
                Some(before) => before.key.clone(),
                None => vec![only_column(path, &plan.options(), unit, input)?],
            };
        }
        Ok(plan)
    }
}

/// The column of a list that has but one, or of a directory; which of several holds the keys is not guessed.
fn only_column(
    file: &ListFile,
    options: &ReadOptions,
    unit: &str,
    input: Option<&InputTable>,
) -> Result<String> {
    if let Some(key) = file.own_key() {
        return Ok(key.to_owned());
    }
    let list = List::open(file.path(), options)?;
    if matches!(list.format(), SourceFormat::Lines { .. }) {
        return Ok("A".to_owned());
    }
    let sheet = match list.sheet() {
        Some(name) => format!("the sheet `{name}` of "),
        None => String::new(),
    };
    let or_there = match input {
        Some(_) => ", or name it in `key` of the quest file's [input]",
        None => "",
    };
    let text = format!(
        "which column names the {unit}? Say --col with a letter or a heading{or_there}; {sheet}{} \
         has {}",
        file.said(),
        list.columns().join(", ")
    );
    Err(UsageError(text).into())
}

fn known_encoding(name: &str) -> Result<String, UnknownEncoding> {
    TextEncoding::named(name).map(|_| name.to_owned())
}

impl From<HeaderArg> for HeaderChoice {
    fn from(header: HeaderArg) -> Self {
        match header {
            HeaderArg::Auto => Self::Auto,
            HeaderArg::Yes => Self::Yes,
            HeaderArg::No => Self::No,
        }
    }
}
