//! Writing the results: into a copy of the workbook, or into a new file.

use std::fs::File;
use std::io::{BufReader, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use anyhow::Result;
use clap::ValueEnum;

use super::beside::write_beside;
use super::exit::UsageError;
use super::export_rows::{Comes, Findings, RowMap, results};
use super::list::{ListPlan, PlannedList, known_quests};
use super::progress::WorkBar;
use crate::base::files::directory_of;
use crate::session::State;
use crate::table::new_workbook::write_workbook;
use crate::table::results::{
    Columns, ExportError, Keep, Layout, ResultRow, RowError, SourceRow, join,
};
use crate::table::workbook_copy::{Place, copy_workbook};
use crate::table::write_text::{object_rows, write_csv, write_jsonl, write_objects};
use crate::table::{List, ReadError, SourceFormat, TextEncoding};

pub(super) struct Job {
    pub(super) target: Target,
    pub(super) columns: Columns,
    /// The states to keep; all when empty.
    pub(super) only: Vec<State>,
    pub(super) force: bool,
    /// What heads the keys of a list that is lines and no file of the operator's.
    pub(super) key_heading: Option<String>,
}

impl Job {
    fn keep(&self) -> Keep {
        if self.only.is_empty() {
            Keep::All
        } else {
            Keep::WithResults
        }
    }
}

pub(super) struct Written {
    /// How many rows have results.
    pub(super) rows: u64,
    /// How many quests have no row in the list.
    pub(super) gone: u32,
    /// What the quests come to that have rows in the file.
    pub(super) comes: Comes,
    /// How many quests have no row in a page.
    pub(super) left_out: u32,
}

/// How many rows wait between the reader of the list and the writer.
const ROWS_AHEAD: usize = 256;

/// Writes the results of `session` beside the list that `copy` holds.
pub(super) fn write(findings: Findings<'_>, copy: &Path, job: &Job) -> Result<Written> {
    let Findings { session, board } = findings;
    let mut planned = ListPlan::of(&session.source())?.open(copy)?;
    let mut listing = known_quests(session, board)?;
    planned.read_into(&mut listing)?;
    let map = RowMap::new(board, listing, &job.only)?;
    let comes = Comes::of(findings, &map)?;
    let path = &job.target.path;
    let rows = write_beside(path, job.force, session, board.totals(), |out| {
        Ok(if job.target.in_place {
            copy_with_results(findings, copy, &planned, &map, &job.columns, out)
        } else {
            new_file(findings, planned, &map, job, out)
        }?)
    })?;
    let gone = map.gone();
    Ok(Written {
        rows,
        gone,
        comes,
        left_out: 0,
    })
}

fn copy_with_results(
    findings: Findings<'_>,
    copy: &Path,
    planned: &PlannedList,
    map: &RowMap,
    columns: &Columns,
    out: impl Write + Seek,
) -> Result<u64, ExportError> {
    let source = File::open(copy).map_err(|error| ExportError::Rows(error.into()))?;
    let list = planned.list();
    let place = Place {
        sheet: list.sheet().unwrap_or_default(),
        header_row: list.header().map(|header| header.row),
    };
    let mut rows =
        results(findings, map, columns).map_err(|error| ExportError::Rows(error.into()))?;
    let headings = columns.headings();
    copy_workbook(BufReader::new(source), out, place, &headings, &mut rows)
}

fn new_file(
    findings: Findings<'_>,
    planned: PlannedList,
    map: &RowMap,
    job: &Job,
    mut out: impl Write + Send,
) -> Result<u64, ExportError> {
    let mut list = planned.into_list();
    if let (Format::Jsonl, SourceFormat::Jsonl { encoding }) = (job.target.format, list.format()) {
        return objects(findings, &list, encoding, map, job, out);
    }
    let is_lines = matches!(list.format(), SourceFormat::Lines { .. });
    let heading = job.key_heading.as_ref().filter(|_| is_lines);
    let shift = u32::from(heading.is_some());
    let layout = Layout {
        header_row: match heading {
            Some(_) => Some(shift),
            None => list.header().map(|header| header.row),
        },
        width: width(&mut list).map_err(|error| ExportError::Rows(error.into()))?,
        headings: job.columns.headings(),
        keep: job.keep(),
    };
    std::thread::scope(|scope| {
        let (sender, receiver) = sync_channel(ROWS_AHEAD);
        scope.spawn(move || send_rows(&mut list, &sender));
        let receiver: Receiver<Result<SourceRow, RowError>> = receiver;
        let results = results(findings, map, &job.columns)
            .map_err(|error| ExportError::Rows(error.into()))?;
        let top = heading.map(|heading| SourceRow {
            row: 0,
            cells: vec![heading.clone()],
        });
        let source = top.into_iter().map(Ok).chain(receiver);
        let source = source.map(|row| {
            row.map(|it| SourceRow {
                row: it.row.saturating_add(shift),
                ..it
            })
        });
        let results = results.map(|row| {
            row.map(|it| ResultRow {
                row: it.row.saturating_add(shift),
                ..it
            })
        });
        let mut rows = join(&layout, source, results);
        match job.target.format {
            Format::Xlsx => write_workbook(out, directory_of(&job.target.path), &mut rows),
            Format::Csv => write_csv(&mut out, &mut rows),
            Format::Jsonl => write_jsonl(&mut out, &layout.headings, &mut rows),
            Format::Html => Err(ExportError::Rows("a page is no table".into())),
        }?;
        Ok(map.len())
    })
}

fn objects(
    findings: Findings<'_>,
    list: &List,
    encoding: TextEncoding,
    map: &RowMap,
    job: &Job,
    mut out: impl Write,
) -> Result<u64, ExportError> {
    let layout = Layout {
        header_row: None,
        width: 1,
        headings: job.columns.headings(),
        keep: job.keep(),
    };
    let source = object_rows(list.path(), encoding);
    let source = source.map_err(|error| ExportError::Rows(error.into()))?;
    let results =
        results(findings, map, &job.columns).map_err(|error| ExportError::Rows(error.into()))?;
    let mut rows = join(&layout, source, results);
    let keys = list.keys().unwrap_or_default();
    write_objects(&mut out, keys, &layout.headings, &mut rows)?;
    Ok(map.len())
}

fn width(list: &mut List) -> Result<usize> {
    let mut width = 0;
    let bar = WorkBar::endless("measuring the list");
    list.every_row(|_, cells| {
        width = width.max(cells.len());
        Ok::<_, anyhow::Error>(bar.step()?)
    })?;
    Ok(width)
}

fn send_rows(list: &mut List, sender: &SyncSender<Result<SourceRow, RowError>>) {
    enum Ended {
        NobodyListens,
        Read(ReadError),
    }
    impl From<ReadError> for Ended {
        fn from(error: ReadError) -> Self {
            Self::Read(error)
        }
    }

    let read = list.every_row(|row, cells| {
        let cells = cells.to_vec();
        sender
            .send(Ok(SourceRow { row, cells }))
            .map_err(|_| Ended::NobodyListens)
    });
    if let Err(Ended::Read(error)) = read {
        // A writer that has stopped has an error of its own to report.
        let _ = sender.send(Err(error.into()));
    }
}

/// A format that results can be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// A workbook.
    Xlsx,
    /// Comma-separated values, UTF-8 with a byte order mark.
    Csv,
    /// JSON Lines.
    Jsonl,
    /// A page to look at, which needs nothing beside it.
    Html,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Wish<'a> {
    /// The file to write, where one was named.
    pub(super) path: Option<&'a Path>,
    /// The format, where one was named.
    pub(super) format: Option<Format>,
    /// Whether rows are left out, which no copy of a workbook can do.
    pub(super) filtered: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct ListNames<'a> {
    /// Its path when it was scanned.
    pub(super) path: &'a Path,
    /// The session's copy of it, whose ending tells its format.
    pub(super) copy: &'a Path,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) path: PathBuf,
    pub(super) format: Format,
    /// Whether the workbook is copied whole.
    pub(super) in_place: bool,
}

/// Decides where and how. A file's name never promises another format than its content has.
pub(super) fn target(wish: Wish<'_>, list: ListNames<'_>) -> Result<Target, UsageError> {
    let list_ending = ending(list.copy);
    let named = wish.path.map(ending).unwrap_or_default();
    let format = match (wish.format, by_ending(&named)) {
        (Some(format), Some(other)) if format != other => {
            return Err(UsageError(format!(
                "--format says {}, and {} is the name of another format; change one of them",
                format.ending(),
                shown(wish.path)
            )));
        }
        (Some(format), _) | (None, Some(format)) => format,
        (None, None) if named.is_empty() => by_list(&list_ending),
        (None, None) => {
            return Err(UsageError(format!(
                "{}: results are not written as .{named}; name it .xlsx, .csv, .jsonl or .html, or \
                 say --format",
                shown(wish.path)
            )));
        }
    };
    let workbook = matches!(list_ending.as_str(), "xlsx" | "xlsm");
    let in_place = format == Format::Xlsx && !wish.filtered && workbook;
    let right = if in_place {
        list_ending.as_str()
    } else {
        format.ending()
    };
    if by_ending(&named).is_some_and(|by_name| by_name == Format::Xlsx) && named != right {
        let macros = if right == "xlsm" { "has" } else { "has no" };
        return Err(UsageError(format!(
            "{}: this workbook {macros} macros; name it .{right}, or take another --format",
            shown(wish.path)
        )));
    }
    let path = wish.path.map_or_else(
        || {
            let stem = list.path.file_stem().unwrap_or_default();
            PathBuf::from(format!("{}.comail.{right}", stem.to_string_lossy()))
        },
        Path::to_owned,
    );
    Ok(Target {
        path,
        format,
        in_place,
    })
}

impl Format {
    fn ending(self) -> &'static str {
        match self {
            Self::Xlsx => "xlsx",
            Self::Csv => "csv",
            Self::Jsonl => "jsonl",
            Self::Html => "html",
        }
    }
}

fn shown(path: Option<&Path>) -> String {
    path.unwrap_or(Path::new("")).display().to_string()
}

fn ending(path: &Path) -> String {
    let extension = path.extension().unwrap_or_default();
    extension.to_string_lossy().to_ascii_lowercase()
}

fn by_ending(ending: &str) -> Option<Format> {
    match ending {
        "xlsx" | "xlsm" => Some(Format::Xlsx),
        "csv" => Some(Format::Csv),
        "jsonl" | "ndjson" => Some(Format::Jsonl),
        "html" | "htm" => Some(Format::Html),
        _ => None,
    }
}

fn by_list(ending: &str) -> Format {
    match ending {
        "xlsx" | "xlsm" | "xls" | "ods" => Format::Xlsx,
        "jsonl" => Format::Jsonl,
        _ => Format::Csv,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The outcome for a list of this ending: path, format, whether it is a whole copy.
    fn decided(
        list: &str,
        path: Option<&str>,
        format: Option<Format>,
        filtered: bool,
    ) -> Result<(String, Format, bool), String> {
        let list_path = format!("/lists/업체.v2.{list}");
        let copy = format!("source.{list}");
        let names = ListNames {
            path: Path::new(&list_path),
            copy: Path::new(&copy),
        };
        let wish = Wish {
            path: path.map(Path::new),
            format,
            filtered,
        };
        let target = target(wish, names).map_err(|refused| refused.to_string())?;
        let path = target.path.display().to_string();
        Ok((path, target.format, target.in_place))
    }

    #[test]
    fn without_a_name_it_stays_closest_to_the_list() {
        for (list, name, format, in_place) in [
            ("xlsx", "업체.v2.comail.xlsx", Format::Xlsx, true),
            ("xlsm", "업체.v2.comail.xlsm", Format::Xlsx, true),
            ("xls", "업체.v2.comail.xlsx", Format::Xlsx, false),
            ("ods", "업체.v2.comail.xlsx", Format::Xlsx, false),
            ("tsv", "업체.v2.comail.csv", Format::Csv, false),
            ("txt", "업체.v2.comail.csv", Format::Csv, false),
            ("jsonl", "업체.v2.comail.jsonl", Format::Jsonl, false),
        ] {
            let expected = Ok((name.to_owned(), format, in_place));
            assert_eq!(decided(list, None, None, false), expected);
        }
        let filtered = decided("xlsm", None, None, true).unwrap();
        assert_eq!(
            filtered,
            ("업체.v2.comail.xlsx".into(), Format::Xlsx, false)
        );
    }

    #[test]
    fn a_name_or_a_flag_decides() {
        let format = |path, flag| decided("xlsx", path, flag, false).map(|(_, format, _)| format);
        assert_eq!(format(Some("a.CSV"), None), Ok(Format::Csv));
        assert_eq!(format(Some("a.ndjson"), None), Ok(Format::Jsonl));
        assert_eq!(format(Some("a.dat"), Some(Format::Csv)), Ok(Format::Csv));
        assert_eq!(format(Some("a"), None), Ok(Format::Xlsx));
        assert_eq!(format(None, Some(Format::Jsonl)), Ok(Format::Jsonl));
        for page in ["a.html", "a.HTM"] {
            assert_eq!(format(Some(page), None), Ok(Format::Html));
        }
        let page = decided("xlsx", None, Some(Format::Html), false).unwrap();
        assert_eq!(page, ("업체.v2.comail.html".into(), Format::Html, false));
    }

    #[test]
    fn no_name_promises_what_is_not_in_the_file() {
        let refused = |list, path, flag, filtered| {
            decided(list, Some(path), flag, filtered)
                .expect_err("a refusal")
                .contains(path)
        };
        assert!(refused("xlsx", "a.pdf", None, false));
        assert!(refused("xlsx", "a.html", Some(Format::Csv), false));
        assert!(refused("xlsx", "a.csv", Some(Format::Html), false));
        assert!(refused("xlsx", "a.xlsx", Some(Format::Csv), false));
        assert!(refused("xlsm", "a.xlsx", None, false));
        assert!(refused("xlsx", "a.xlsm", None, false));
        assert!(refused("xlsm", "a.xlsm", None, true));
        assert!(refused("csv", "a.xlsm", None, false));
    }
}
