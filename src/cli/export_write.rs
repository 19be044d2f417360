//! Writing the results: into a copy of the workbook, or into a new file.

use std::fs::File;
use std::io::{BufReader, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use anyhow::{Context as _, Result};

use super::export::Format;
use super::export_rows::{RowMap, results};
use super::list_plan::{ListPlan, PlannedList};
use super::scan::seed;
use crate::quest::Listing;
use crate::session::{Session, State};
use crate::table::atomic::{Overwrite, write_whole};
use crate::table::csv_write::write_csv;
use crate::table::join::{Keep, Layout, join};
use crate::table::jsonl_write::write_jsonl;
use crate::table::result_columns::Columns;
use crate::table::results::{ExportError, RowError, SourceRow};
use crate::table::workbook_copy::{Place, copy_workbook};
use crate::table::workbook_new::write_workbook;
use crate::table::{List, ReadError};

/// What is to be written, and where.
pub(super) struct Target {
    pub(super) path: PathBuf,
    pub(super) format: Format,
    /// Whether the workbook is copied whole.
    pub(super) in_place: bool,
    pub(super) columns: Columns,
    /// The states to keep; all when empty.
    pub(super) only: Vec<State>,
    pub(super) force: bool,
    /// The list as it was named, which is never written over.
    pub(super) original: PathBuf,
}

/// How many rows wait between the reader of the list and the writer.
const ROWS_AHEAD: usize = 256;

/// Writes the results of `session` beside the list that `copy` holds; tells how many rows have
/// results.
pub(super) fn write(session: &Session, copy: &Path, target: &Target) -> Result<u64> {
    let plan: ListPlan = serde_json::from_value(session.source().list.clone())
        .context("the session does not say how its list was read")?;
    let mut planned = plan.open(copy)?;
    let mut listing = Listing::new();
    seed(&mut listing, session)?;
    planned.read_into(&mut listing)?;
    let map = RowMap::new(session, listing, &target.only);
    let ledger = session.dir().join("ledger.jsonl");
    let manifest = session.dir().join("session.json");
    let sources = [target.original.as_path(), copy, &ledger, &manifest];
    let overwrite = if target.force {
        Overwrite::Replace
    } else {
        Overwrite::Never
    };
    let rows = write_whole(&target.path, overwrite, &sources, |out| {
        if target.in_place {
            copy_with_results(session, copy, &planned, &map, &target.columns, out)
        } else {
            new_file(session, planned, &map, target, out)
        }
    })?;
    Ok(rows)
}

fn copy_with_results(
    session: &Session,
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
        results(session, map, columns).map_err(|error| ExportError::Rows(error.into()))?;
    let headings = columns.headings();
    copy_workbook(BufReader::new(source), out, place, &headings, &mut rows)
}

fn new_file(
    session: &Session,
    planned: PlannedList,
    map: &RowMap,
    target: &Target,
    mut out: impl Write + Seek,
) -> Result<u64, ExportError> {
    let mut list = planned.into_list();
    let layout = Layout {
        header_row: list.header().map(|header| header.row),
        width: width(&mut list).map_err(|error| ExportError::Rows(error.into()))?,
        headings: target.columns.headings(),
        keep: if target.only.is_empty() {
            Keep::All
        } else {
            Keep::WithResults
        },
    };
    std::thread::scope(|scope| {
        let (sender, receiver) = sync_channel(ROWS_AHEAD);
        scope.spawn(move || send_rows(&mut list, &sender));
        let receiver: Receiver<Result<SourceRow, RowError>> = receiver;
        let results = results(session, map, &target.columns)
            .map_err(|error| ExportError::Rows(error.into()))?;
        let mut rows = join(&layout, receiver.into_iter(), results);
        match target.format {
            Format::Xlsx => write_workbook(out, &mut rows),
            Format::Csv => write_csv(&mut out, &mut rows),
            Format::Jsonl => write_jsonl(&mut out, &layout.headings, &mut rows),
        }?;
        Ok(map.len())
    })
}

/// The columns of the widest row.
fn width(list: &mut List) -> Result<usize, ReadError> {
    let mut width = 0;
    list.every_row(|_, cells| {
        width = width.max(cells.len());
        Ok::<_, ReadError>(())
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
