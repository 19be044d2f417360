//! How a list is read into quests. The choice of sheet and columns is `list` in `session.json`.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::Args;
use serde::{Deserialize, Serialize};
use walkdir::DirEntry;

use super::exit::{UsageError, refuse};
use super::progress::WorkBar;
use crate::base::Digest;
use crate::base::files::same_inode;
use crate::gate::email::site::anchor_sites;
use crate::judge::quest_file::{Definition, FrozenTree};
use crate::quest::file::{InputFormat, InputTable};
use crate::quest::{Listing, OtherCells, Quest, Row, Shown};
use crate::session::{Projection, Session, SourceRecord};
use crate::table::{
    ColumnIndex, HeaderChoice, List, MadeList, ReadError, ReadOptions, SourceFormat, TextEncoding,
    UnknownEncoding,
};
use crate::world::tree::{Ignored, TreePath};

/// How a list is read, by the choice of the operator or the quest file. A plan always reads a copy in
/// the same way.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ListPlan {
    #[serde(flatten)]
    pub options: ReadOptions,
    /// Whether the list was made from the directory that its path names.
    #[serde(default)]
    pub made: bool,
    /// The columns of the key, by letter or heading.
    pub key: Vec<String>,
    /// The column of the site that is already known.
    pub site: Option<String>,
    /// The columns that the prompt shows.
    pub show: Vec<String>,
    /// The columns that checks use.
    #[serde(default)]
    pub known: Vec<String>,
    /// The column of the keys that must have passed first.
    pub after: Option<String>,
}

/// How many rows are searched for a column with websites.
const SITE_ROWS: u32 = 100;

pub struct PlannedList {
    pub(super) list: List,
    plan: ListPlan,
    columns: Vec<ColumnIndex>,
}

impl ListPlan {
    pub fn of(source: &SourceRecord) -> Result<Self> {
        serde_json::from_value(source.list.clone())
            .context("the session does not record how its list was read")
    }

    pub fn open(&self, path: &Path) -> Result<PlannedList> {
        let list = List::open(path, &self.options)?;
        let single = self.key.iter().chain(&self.site).chain(&self.after);
        let names = single.chain(&self.show).chain(&self.known);
        let columns = names.map(|name| list.column(name));
        Ok(PlannedList {
            columns: columns.collect::<Result<_, _>>()?,
            plan: self.clone(),
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
        let columns = self.columns.iter().take(self.plan.key.len());
        columns.map(|column| self.list.label(*column)).collect()
    }

    /// The label of the column of known sites, if the list has one.
    pub fn site_label(&self) -> Option<String> {
        self.site_column().map(|column| self.list.label(column))
    }

    fn site_column(&self) -> Option<ColumnIndex> {
        self.plan.site.as_ref()?;
        self.columns.get(self.plan.key.len()).copied()
    }

    /// The name of a column whose first texts are mostly websites, other than the key.
    pub fn column_of_sites(&mut self) -> Result<Option<String>> {
        let header = self.list.header().map_or(0, |header| header.row);
        let (mut counts, mut rows) = (Vec::<(u32, u32)>::new(), 0);
        let read = self
            .list
            .every_row(|row, cells| -> Result<_, Option<ReadError>> {
                if row <= header {
                    return Ok(());
                }
                counts.resize(counts.len().max(cells.len()), (0, 0));
                for ((texts, sites), cell) in counts.iter_mut().zip(cells) {
                    *texts += u32::from(!cell.trim().is_empty());
                    // An address is not a website, although its domain may be one.
                    *sites += u32::from(!cell.contains('@') && !anchor_sites(cell).is_empty());
                }
                rows += 1;
                if rows < SITE_ROWS { Ok(()) } else { Err(None) }
            });
        if let Err(Some(error)) = read {
            return Err(error.into());
        }
        let mostly = |(texts, sites): &(u32, u32)| sites * 2 > *texts;
        let columns = counts.iter().enumerate().filter(|(_, count)| mostly(count));
        let mut columns = columns.filter_map(|(at, _)| ColumnIndex::new(u32::try_from(at).ok()?));
        let found = columns.find(|column| !self.columns[..self.plan.key.len()].contains(column));
        // `column B` is a label, but flags need the letter alone.
        Ok(found.map(|column| match self.list.header() {
            Some(_) => self.list.label(column),
            None => column.to_string(),
        }))
    }

    /// Refuses a column of known sites other than `own`, the session's. A list without that column may
    /// have its sites in another one.
    pub fn refuse_other_site(&self, own: &str) -> Result<()> {
        match (self.site_column(), self.list.column(own)) {
            (Some(given), Ok(own)) if given != own => {
                let text = format!(
                    "the known sites of this session are in the column `{}`, not `{}`",
                    self.list.label(own),
                    self.list.label(given)
                );
                let hint = "leave --site-col out, or make another session with `comail scan`";
                Err(UsageError(text).hint(hint).into())
            }
            _ => Ok(()),
        }
    }

    /// Reads every row into `listing`; rows without any text between others count as blank.
    pub fn read_into(&mut self, listing: &mut Listing) -> Result<()> {
        let plan = &self.plan;
        let shown = &self.columns[self.columns.len() - plan.known.len() - plan.show.len()..];
        let shown = shown.iter().take(plan.show.len());
        let labels: Vec<String> = shown.map(|column| self.list.label(*column)).collect();
        let mut last = self.list.header().map_or(0, |header| header.row);
        let bar = WorkBar::endless("reading the list");
        self.list
            .rows(&self.columns, |number, cells| -> Result<()> {
                bar.step()?;
                listing.skip(number.saturating_sub(last.saturating_add(1)));
                last = number;
                // The cells come in the order of the columns: see `ListPlan::open`.
                let (key, rest) = cells.split_at(plan.key.len());
                let (site, rest) = rest.split_at(usize::from(plan.site.is_some()));
                let (after, rest) = rest.split_at(usize::from(plan.after.is_some()));
                let (shown, known) = rest.split_at(labels.len());
                let key_parts: Vec<&str> = key.iter().map(String::as_str).collect();
                let row = Row {
                    number,
                    key_parts: &key_parts,
                    anchor: site.first().map_or("", String::as_str),
                    after: after.first().map_or("", String::as_str),
                };
                listing.add(row, || OtherCells {
                    shown: filled(&labels, shown),
                    // With the names of the quest file, which checks use.
                    known: filled(&plan.known, known),
                })?;
                Ok(())
            })
    }
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

/// A listing of the quests of `session`, without their rows, which belong to an earlier list.
pub fn known_quests(session: &Session, projection: &Projection) -> Result<Listing> {
    let mut listing = Listing::default();
    let mut reader = session.reader()?;
    let bar = WorkBar::of("reading the quests", projection.count() as u64);
    for record in projection.quests() {
        bar.step()?;
        let quest = reader.quest(&record?)?;
        listing.seed(Quest {
            rows: Vec::new(),
            shown: Vec::new(),
            known: Vec::new(),
            ..quest
        });
    }
    Ok(listing)
}

/// How the list is read.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "The list")]
pub struct ListArgs {
    /// The list: a workbook, delimited text, JSON Lines, a text file with one key per line or, with
    /// --quest, a directory
    #[arg(help_heading = None::<&'static str>)]
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
    header: Option<HeaderChoice>,

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

fn known_encoding(name: &str) -> Result<String, UnknownEncoding> {
    TextEncoding::named(name).map(|_| name.to_owned())
}

impl ListArgs {
    pub(super) fn of(list: &Path) -> Self {
        Self {
            list: Some(list.to_owned()),
            ..Self::default()
        }
    }

    /// Whether the flags name a column of sites, and the list was read without one `before`.
    pub(super) fn adds_site(&self, before: &ListPlan) -> bool {
        self.site_col.is_some() && before.site.is_none()
    }

    /// Whether the flags name another column of sites than when the list was read `before`.
    pub(super) fn renames_site(&self, before: &ListPlan) -> bool {
        self.site_col.is_some() && self.site_col != before.site
    }

    /// How `file` is read: as the flags say, otherwise as the list was read `before`, otherwise as
    /// the quest file says.
    pub(super) fn plan(
        &self,
        file: &ListFile,
        before: Option<&ListPlan>,
        input: Option<&InputTable>,
        unit: &str,
    ) -> Result<ListPlan> {
        let mut plan = match (before, input) {
            (Some(before), _) => before.clone(),
            (None, Some(input)) => ListPlan {
                options: ReadOptions {
                    sheet: input.sheet.clone(),
                    format: input.format.filter(|format| *format != InputFormat::Dir),
                    ..ReadOptions::default()
                },
                key: input.key.clone(),
                show: input.show.clone(),
                known: input.anchor.clone(),
                after: input.after.clone(),
                ..ListPlan::default()
            },
            (None, None) => ListPlan::default(),
        };
        let set = |value: &mut Option<String>, flag: &Option<String>| {
            if flag.is_some() {
                value.clone_from(flag);
            }
        };
        set(&mut plan.options.sheet, &self.sheet);
        set(&mut plan.options.encoding, &self.encoding);
        set(&mut plan.site, &self.site_col);
        plan.options.header = self.header.unwrap_or(plan.options.header);
        plan.made = file.made.is_some();
        if plan.made {
            plan.options.format = Some(InputFormat::Jsonl);
        }
        if !self.show.is_empty() {
            // The columns of the quest file are always shown, those of the last list are replaced.
            let own = if before.is_some() {
                Vec::new()
            } else {
                std::mem::take(&mut plan.show)
            };
            let more = own.into_iter().filter(|name| !self.show.contains(name));
            plan.show = self.show.iter().cloned().chain(more).collect();
        }
        match &self.col {
            Some(column) => plan.key = vec![column.clone()],
            None if !self.key_cols.is_empty() => plan.key.clone_from(&self.key_cols),
            None => {}
        }
        if plan.key.is_empty() {
            let in_file = match input {
                Some(_) => ", or set `key` in the quest file's [input]",
                None => "",
            };
            plan.key = vec![only_column(file, &plan.options, unit, in_file)?];
        }
        Ok(plan)
    }
}

/// The key column of plain lines or a directory. In other lists it is not guessed.
fn only_column(
    file: &ListFile,
    options: &ReadOptions,
    unit: &str,
    in_file: &str,
) -> Result<String> {
    if file.made.is_some() {
        return Ok(PATH.to_owned());
    }
    let list = List::open(file.path(), options)?;
    if matches!(list.format(), SourceFormat::Lines { .. }) {
        return Ok("A".to_owned());
    }
    let sheet = match list.sheet() {
        Some(name) => format!("the sheet `{name}` of "),
        None => String::new(),
    };
    refuse(format!(
        "which column names the {unit}? Use --col with a letter or a heading{in_file}; {sheet}{} \
         has {}",
        file.place.display(),
        list.columns().join(", ")
    ))
}

/// The default pattern for the files of a directory that are quests.
const EVERY_FILE: &str = "**";

/// The column with the paths in the list of a directory.
const PATH: &str = "path";

pub(super) struct ListFile {
    /// What the operator named.
    pub(super) place: PathBuf,
    made: Option<MadeList>,
}

impl ListFile {
    /// Finds the list, by default the one that was scanned `last`, and makes a file of a directory.
    pub(super) fn find(
        args: &ListArgs,
        last: Option<&Path>,
        definition: Option<&Definition>,
        session: &Path,
    ) -> Result<Self> {
        let Some(place) = args.list.clone().or(last.map(Path::to_owned)) else {
            return refuse(
                "no list given; name a workbook, a text file or, with --quest, a directory",
            );
        };
        let made = match definition {
            Some(definition) if place.is_dir() => {
                let file = definition.file()?;
                let glob = file.input.glob.as_deref().unwrap_or(EVERY_FILE);
                let filter = DirFilter::new(&place, definition.tree.as_ref(), session)?;
                Some(MadeList::of_dir(&place, glob, &|entry| {
                    filter.keeps(entry)
                })?)
            }
            _ => None,
        };
        Ok(Self { place, made })
    }

    pub(super) fn path(&self) -> &Path {
        self.made.as_ref().map_or(&*self.place, MadeList::path)
    }
}

/// Removes from a directory's list what does not belong to the tree: git's folder, the session, and
/// what the session's rules ignore.
struct DirFilter {
    place: PathBuf,
    session: Option<Metadata>,
    /// The directory within the tree, and the tree's rules; none if it is elsewhere.
    tree: Option<(PathBuf, Ignored)>,
}

impl DirFilter {
    fn new(place: &Path, tree: Option<&FrozenTree>, session: &Path) -> Result<Self> {
        let mut within = None;
        if let Some(tree) = tree
            && let (Ok(real), Ok(root)) = (fs::canonicalize(place), fs::canonicalize(&tree.root))
            && let Ok(folder) = real.strip_prefix(root)
        {
            within = Some((folder.to_owned(), tree.ignored()?));
        }
        Ok(Self {
            place: place.to_owned(),
            session: fs::metadata(session).ok(),
            tree: within,
        })
    }

    fn keeps(&self, entry: &DirEntry) -> bool {
        if entry.depth() == 0 {
            return true;
        }
        let is_folder = entry.file_type().is_dir();
        let is_session = self.session.as_ref().is_some_and(|session| {
            is_folder && entry.metadata().is_ok_and(|it| same_inode(&it, session))
        });
        if is_session || entry.file_name() == ".git" {
            return false;
        }
        let Some((folder, ignored)) = &self.tree else {
            return true;
        };
        let name = entry.path().strip_prefix(&self.place);
        let path = name.map(|name| folder.join(name)).unwrap_or_default();
        let path = path.to_str().and_then(|path| TreePath::parse(path).ok());
        let rule = path.as_ref().and_then(|path| {
            if is_folder {
                ignored.rule_of_folder(path)
            } else {
                ignored.rule_of_file(path)
            }
        });
        rule.is_none()
    }
}
