//! Writing the results: into a copy of the workbook, or into a new file.

use std::fs::File;
use std::io::{BufReader, Seek, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use anyhow::Result;

use super::beside::write_beside;
use super::export_rows::{Comes, Findings, RowMap, results};
use super::export_target::{Format, Target};
use super::list_plan::{ListPlan, PlannedList, known_quests};
use super::progress::WorkBar;
use crate::session::State;
use crate::table::csv_write::write_csv;
use crate::table::join::{Keep, Layout, join};
use crate::table::jsonl_copy::{object_rows, write_objects};
use crate::table::jsonl_write::write_jsonl;
use crate::table::result_columns::Columns;
use crate::table::results::{ExportError, ResultRow, RowError, SourceRow};
use crate::table::workbook_copy::{Place, copy_workbook};
use crate::table::workbook_new::write_workbook;
use crate::table::{List, ReadError, SourceFormat, TextEncoding};

/// What is to be written, and where.
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
    /// Which rows come along.
    fn keep(&self) -> Keep {
        if self.only.is_empty() {
            Keep::All
        } else {
            Keep::WithResults
        }
    }
}

/// What was written.
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
    let map = RowMap::new(board, listing, &job.only);
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
    mut out: impl Write + Seek,
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
            Format::Xlsx => write_workbook(out, &mut rows),
            Format::Csv => write_csv(&mut out, &mut rows),
            Format::Jsonl => write_jsonl(&mut out, &layout.headings, &mut rows),
            Format::Html => Err(ExportError::Rows("a page is no table".into())),
        }?;
        Ok(map.len())
    })
}

/// Writes the list's own objects with the results in them.
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

/// The columns of the widest row.
fn width(list: &mut List) -> Result<usize> {
    let mut width = 0;
    let bar = WorkBar::endless("measuring the list");
    list.every_row(|_, cells| {
        width = width.max(cells.len());
        Ok::<_, anyhow::Error>(bar.step()?)
    })?;
    Ok(width)
}

/// Reads the list for somebody who may stop listening.
fn send_rows(list: &mut List, sender: &SyncSender<Result<SourceRow, RowError>>) {
    /// Why the reading ended before the list did.
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
