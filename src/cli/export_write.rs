//! Writing the results: into a copy of the workbook, or into a new file.

use std::fs::File;
use std::io::{BufReader, Seek, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::ValueEnum;

use super::exit::UsageError;
use super::export_rows::{Comes, Findings, RowMap, results};
use super::list::{ListPlan, PlannedList, known_quests};
use super::output_file::write_beside;
use crate::base::files::directory_of;
use crate::session::State;
use crate::table::SourceFormat;
use crate::table::new_workbook::write_workbook;
use crate::table::results::{Columns, ExportError, Join, Layout, ResultRow, TableRow};
use crate::table::workbook_copy::copy_workbook;
use crate::table::write_text::{each_object, write_csv, write_jsonl, write_objects};

pub(super) struct Job {
    pub(super) target: Target,
    pub(super) columns: Columns,
    /// The states to keep; all when empty.
    pub(super) only: Vec<State>,
    pub(super) force: bool,
    /// The heading for the keys of a list that a command printed as lines.
    pub(super) key_heading: Option<String>,
}

pub(super) struct Written {
    /// How many rows have results.
    pub(super) rows: u64,
    /// How many quests have no row in the list.
    pub(super) gone: u32,
    pub(super) comes: Comes,
    /// How many quests have no row in a page.
    pub(super) left_out: u32,
}

/// Writes the results of `session` next to the values of the list that `copy` holds.
pub(super) fn write(findings: Findings<'_>, copy: &Path, job: &Job) -> Result<Written> {
    let Findings { session, board } = findings;
    let mut planned = ListPlan::of(&session.source())?.open(copy)?;
    let mut listing = known_quests(session, board)?;
    planned.read_into(&mut listing)?;
    let map = RowMap::new(board, listing, &job.only)?;
    let comes = Comes::of(findings, map.quests())?;
    let path = &job.target.path;
    write_beside(path, job.force, session, board.totals(), |out| {
        if job.target.in_place {
            copy_with_results(findings, copy, &planned, &map, &job.columns, out)?;
        } else {
            new_file(findings, planned, &map, job, out)?;
        }
        Ok(())
    })?;
    Ok(Written {
        rows: map.len(),
        gone: map.gone(),
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
) -> Result<()> {
    let source = BufReader::new(File::open(copy)?);
    let list = &planned.list;
    let place = (list.sheet().unwrap_or_default(), list.header());
    let mut rows = results(findings, map, columns)?;
    copy_workbook(source, out, place, &columns.headings(), &mut rows)?;
    Ok(())
}

fn new_file(
    findings: Findings<'_>,
    planned: PlannedList,
    map: &RowMap,
    job: &Job,
    mut out: impl Write + Send,
) -> Result<()> {
    let mut list = planned.list;
    let objects = match (job.target.format, list.format()) {
        (Format::Jsonl, SourceFormat::Jsonl { encoding }) => Some(encoding),
        _ => None,
    };
    let is_lines = matches!(list.format(), SourceFormat::Lines { .. });
    let heading = job.key_heading.clone().filter(|_| is_lines);
    // A heading that the list lacks moves its rows down.
    let shift = u32::from(heading.is_some());
    let layout = Layout {
        header_row: match (&heading, objects) {
            (Some(_), _) => Some(shift),
            (None, Some(_)) => None,
            (None, None) => list.header().map(|header| header.row),
        },
        width: if objects.is_some() { 1 } else { list.width() },
        headings: job.columns.headings(),
        only_results: !job.only.is_empty(),
    };
    let results = results(findings, map, &job.columns)?.map(|row| {
        row.map(|it| ResultRow {
            row: it.row.saturating_add(shift),
            ..it
        })
    });
    let mut join = Join::new(&layout, results);
    let keys = list.keys().unwrap_or_default().to_vec();
    let rows = &mut |put: &mut dyn FnMut(TableRow) -> Result<(), ExportError>| {
        let mut take = |row: u32, cells: Vec<String>| {
            let row = join.row(row, cells)?;
            row.map_or(Ok(()), &mut *put)
        };
        if let Some(encoding) = objects {
            return each_object(list.path(), encoding, |row, line| {
                take(row, vec![line.to_owned()])
            });
        }
        if let Some(heading) = &heading {
            take(shift, vec![heading.clone()])?;
        }
        list.every_row(|row, cells| take(row.saturating_add(shift), cells.to_vec()))
    };
    match job.target.format {
        Format::Xlsx => write_workbook(out, directory_of(&job.target.path), rows)?,
        Format::Csv => write_csv(&mut out, rows)?,
        Format::Jsonl if objects.is_some() => {
            write_objects(&mut out, &keys, &layout.headings, rows)?;
        }
        Format::Jsonl => write_jsonl(&mut out, &layout.headings, rows)?,
        Format::Html => anyhow::bail!("a page is not a table"),
    }
    Ok(join.finish()?)
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
    /// A web page in one file.
    Html,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Wish<'a> {
    /// The file to write, if one was named.
    pub(super) path: Option<&'a Path>,
    /// The format, if one was named.
    pub(super) format: Option<Format>,
    /// Whether rows are left out, which a copy of a workbook cannot do.
    pub(super) filtered: bool,
    /// The path of the list when it was scanned.
    pub(super) list: &'a Path,
    /// The session's copy of the list, whose extension tells its format.
    pub(super) copy: &'a Path,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) path: PathBuf,
    pub(super) format: Format,
    /// Whether the workbook is copied whole.
    pub(super) in_place: bool,
}

/// Decides where to write, and how. The extension of a file never promises another format than
/// its content has.
pub(super) fn target(wish: Wish<'_>) -> Result<Target, UsageError> {
    let copied = ending(wish.copy);
    let named = wish.path.map(ending).unwrap_or_default();
    let shown = wish.path.unwrap_or(Path::new("")).display();
    let format = match (wish.format, by_ending(&named)) {
        (Some(format), Some(other)) if format != other => {
            return Err(UsageError(format!(
                "--format says {}, and {shown} is the name of another format; change one of them",
                format.ending(),
            )));
        }
        (Some(format), _) | (None, Some(format)) => format,
        (None, None) if named.is_empty() => match copied.as_str() {
            "xls" | "ods" => Format::Xlsx,
            other => by_ending(other).unwrap_or(Format::Csv),
        },
        (None, None) => {
            return Err(UsageError(format!(
                "{shown}: results are not written as .{named}; name it .xlsx, .csv, .jsonl or \
                 .html, or use --format"
            )));
        }
    };
    let workbook = matches!(copied.as_str(), "xlsx" | "xlsm");
    let in_place = format == Format::Xlsx && !wish.filtered && workbook;
    let right = if in_place { &*copied } else { format.ending() };
    if by_ending(&named) == Some(Format::Xlsx) && named != right {
        let macros = if right == "xlsm" { "has" } else { "has no" };
        return Err(UsageError(format!(
            "{shown}: this workbook {macros} macros; name it .{right}, or use another --format"
        )));
    }
    let path = wish.path.map_or_else(
        || {
            let stem = wish.list.file_stem().unwrap_or_default();
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
        let wish = Wish {
            path: path.map(Path::new),
            format,
            filtered,
            list: Path::new(&list_path),
            copy: Path::new(&copy),
        };
        let target = target(wish).map_err(|refused| refused.to_string())?;
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
