//! How a list is read into quests: which sheet, which columns, in `session.json` as `list`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

use super::exit::UsageError;
use super::progress::WorkBar;
use crate::base::Digest;
use crate::base::text::truncate;
use crate::quest::file::{InputFormat, InputTable};
use crate::quest::{Listing, ListingError, OtherCells, Quest, Row, Shown};
use crate::session::{Board, Session, SourceRecord};
use crate::table::{
    ColumnIndex, HeaderChoice, List, MadeList, ReadOptions, SourceFormat, TextEncoding,
    UnknownEncoding,
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
    pub format: Option<InputFormat>,
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

pub struct PlannedList {
    pub(super) list: List,
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
    pub fn of(source: &SourceRecord) -> Result<Self> {
        serde_json::from_value(source.list.clone())
            .context("the session does not record how its list was read")
    }

    pub fn options(&self) -> ReadOptions {
        ReadOptions {
            sheet: self.sheet.clone(),
            encoding: self.encoding.clone(),
            header: self.header,
            format: self.format,
        }
    }

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
            .with_context(|| format!("cannot resolve the path {}", path.display()))?;
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
}

impl Cells {
    fn add_to(
        &self,
        listing: &mut Listing,
        number: u32,
        cells: &[String],
    ) -> Result<(), ListingError> {
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
            OtherCells {
                shown: filled(&self.shown, shown),
                known: filled(&self.known, known),
            }
        })
    }
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
        listing.seed(&Quest {
            rows: Vec::new(),
            shown: Vec::new(),
            known: Vec::new(),
            ..quest
        })?;
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
    pub fn path(&self) -> Result<&Path> {
        self.named().ok_or_else(|| {
            let text = "no list given; name a workbook, a text file or, with --quest, a directory";
            UsageError(text.to_owned()).into()
        })
    }

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
                None => input.and_then(|input| input.format),
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
        Some(_) => ", or set `key` in the quest file's [input]",
        None => "",
    };
    let text = format!(
        "which column names the {unit}? Use --col with a letter or a heading{or_there}; {sheet}{} \
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

/// The files of a directory that are quests where the quest file does not say.
const EVERY_FILE: &str = "**";

/// The column of a directory's list in which each file's path stands.
const PATH: &str = "path";

/// The most characters of a command that are told.
const LONGEST_COMMAND: usize = 60;

pub(super) struct ListFile {
    place: PathBuf,
    made: Option<MadeList>,
    /// What it is, in words, where its place does not say.
    words: Option<String>,
    /// The column of the key where nobody names one.
    key: Option<&'static str>,
}

impl ListFile {
    /// Finds the list, and makes a file of a directory or of what a command prints.
    ///
    /// The command is the operator's own, and runs as they would run it: unconfined, beside the
    /// quest file, by whose name its list goes.
    pub(super) fn find(
        args: &ListArgs,
        input: Option<&InputTable>,
        quest: Option<&Path>,
    ) -> Result<Self> {
        let format = input.and_then(|input| input.format);
        if let (Some(input), Some(InputFormat::Command), None) = (input, format, args.named()) {
            let here = quest.and_then(Path::parent).unwrap_or(Path::new("."));
            let bytes = printed(&input.argv, here)?;
            return Ok(Self {
                place: quest.unwrap_or(Path::new("list")).to_owned(),
                made: Some(MadeList::of_lines(&bytes)?),
                words: Some(what_printed(&input.argv)),
                key: None,
            });
        }
        let place = args.path()?.to_owned();
        let made = match input {
            Some(input) if place.is_dir() => {
                let glob = input.glob.as_deref().unwrap_or(EVERY_FILE);
                Some(MadeList::of_dir(&place, glob)?)
            }
            _ => None,
        };
        let key = made.as_ref().map(|_| PATH);
        Ok(Self {
            place,
            made,
            words: None,
            key,
        })
    }

    pub(super) fn path(&self) -> &Path {
        match &self.made {
            Some(made) => made.path(),
            None => &self.place,
        }
    }

    /// The column of the key where nobody names one, and the list has one by itself.
    pub(super) fn own_key(&self) -> Option<&'static str> {
        self.key
    }

    pub(super) fn words(&self) -> Option<&str> {
        self.words.as_deref()
    }

    pub(super) fn said(&self) -> String {
        match &self.words {
            Some(words) => words.clone(),
            None => self.place.display().to_string(),
        }
    }

    /// What the operator named, or the quest file whose command printed it.
    pub(super) fn place(&self) -> &Path {
        &self.place
    }

    pub(super) fn note_in(&self, plan: &mut ListPlan) {
        if let Some(made) = &self.made {
            plan.format = Some(made.format());
            plan.made = true;
        }
    }
}

/// The list of a command in words: on one line, and not too long for it.
fn what_printed(argv: &[String]) -> String {
    let words = argv.join(" ");
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("what `{}` printed", truncate(&words, LONGEST_COMMAND))
}

fn printed(argv: &[String], here: &Path) -> Result<Vec<u8>> {
    let Some((program, arguments)) = argv.split_first() else {
        let text = "[input] says that a command prints the list, but `argv` is empty";
        return Err(UsageError(text.to_owned()).into());
    };
    let place = here.display();
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .current_dir(here)
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot run {program}, which prints the list, in {place}"))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    anyhow::bail!(
        "{program}, which prints the list, failed in {place} with {}",
        output.status
    )
}
