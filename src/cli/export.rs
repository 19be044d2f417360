//! `comail export`: writes the results next to the values of the list.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, ValueEnum};
use itertools::Itertools as _;
use minijinja::context;
use schemars::JsonSchema;
use serde::Serialize;

use super::closing::Results;
use super::context::{Context, Folded};
use super::exit::{Exit, Found, UsageError, found, refuse};
use super::outcome::OutcomeReader;
use super::output::Output;
use super::output_file::{refuse_in_session, write_atomically};
use super::progress::{self, WorkBar};
use super::source_list::{ListPlan, known_quests};
use super::state_args::StateArgs;
use crate::base::Digest;
use crate::base::files::directory_of;
use crate::base::text::plural;
use crate::judge;
use crate::judge::forgotten::is_forgotten;
use crate::judge::quest_file::Definition;
use crate::quest::{Listing, QuestId, map_schema};
use crate::report::template::RECORDED_WORLD;
use crate::session::{
    Effective, Projection, SessionError, SourceRecord, State, Tally, Totals, WorldKind,
};
use crate::table::new_workbook::write_workbook;
use crate::table::results::{
    Cell, Columns, ExportError, Join, Layout, ResultRow, RowError, TableRow,
};
use crate::table::workbook_copy::copy_workbook;
use crate::table::write_text::{write_csv, write_jsonl, write_objects};
use crate::table::{List, SourceFormat, digest};

/// Write the results to a copy of the list
///
/// For a workbook, the export is a complete copy with more columns; other lists become a new file.
/// The list itself is never overwritten, and a failed export leaves no partial file. For a web page,
/// see `comail report`.
///
/// The column `email` holds only addresses that are proven or that a person accepted. The address of
/// an open REVIEW, or one that somebody disputed, is in the column `email to review`.
#[derive(Debug, Args)]
#[command(override_usage = "comail export [--out FILE] [OPTIONS]")]
pub struct ExportArgs {
    /// The file to write [default: the name of the list with .comail before the extension]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// The format [default: by the extension of FILE, or that of the list]
    #[arg(long, value_enum)]
    format: Option<Format>,

    /// The columns to add, each NAME or NAME=HEADING, such as email=E-Mail,status [default:
    /// email,status,email-to-review,site,source,rule,facts,tries,judged-at, and settled-by,note if a
    /// person decided]
    #[arg(long, value_name = "LIST")]
    columns: Option<String>,

    #[command(flatten)]
    state: StateArgs,

    /// Replace an existing file, but never the list
    #[arg(long)]
    force: bool,
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
}

/// The JSON form of `export`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Exported {
    path: String,
    /// How many rows have results.
    rows: u64,
    /// How many quests have no row in the list any more.
    gone: u32,
    remaining: u32,
    tally: Tally,
    /// What the session is judged by.
    world: WorldKind,
    /// The outcomes of the quests that have rows in the file.
    written: OutcomeCounts,
    /// How many rows of a table got an answer; none if no column shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    answers: Option<AnswerCounts>,
    /// What the file lacks, in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    partial: Option<String>,
    /// Decisions that lack the operator's seal, and changed nothing.
    #[serde(skip_serializing_if = "is_none")]
    unsealed: u32,
    /// PASSes of the session whose pages a browser showed, and those that rest on markup alone.
    rendered: u32,
    from_markup: u32,
}

/// How many rows got an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub(super) struct AnswerCounts {
    /// Rows with an answer that is proven, or that a person accepted.
    filled_in: u64,
    /// Rows with an answer that a person should review, in the column for those.
    to_review: u64,
    /// Rows with such an answer that is left out, because that column was not chosen.
    left_out: u64,
}

impl AnswerCounts {
    fn count(&mut self, holds: bool, shown: bool) {
        match (holds, shown) {
            (true, _) => self.filled_in += 1,
            (false, true) => self.to_review += 1,
            (false, false) => self.left_out += 1,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_none(count: &u32) -> bool {
    *count == 0
}

pub(super) fn run(context: &mut Context, args: &ExportArgs) -> Result<Exit> {
    // Handled so that an incomplete file is removed, and the file to be replaced is kept.
    progress::handle_ctrl_c();
    let folded = &found(context.open_whole())?;
    let Folded {
        session,
        projection,
    } = folded;
    context.report_repairs(session);
    if let Some(command) = Definition::command_of(session.manifest())
        && args.out.is_none()
    {
        return Err(UsageError(format!(
            "`{command}` has no list to write results to: the work is in the tree; nothing was written"
        ))
        .hint("`comail show 1` prints what was judged; --out FILE writes it as a table")
        .into());
    }
    let source = session.source();
    let copy = session.dir().join(&source.copy);
    check_copy(&copy, projection.totals().forgetting.copy_of(source.sha256))?;
    let target = target(args, Path::new(&source.path), &copy)?;
    let tally = projection.totals().tally;
    let only = &args.state.states;
    let mut exported = Exported {
        path: target.path.display().to_string(),
        rows: 0,
        gone: 0,
        remaining: tally.todo,
        tally,
        world: session.manifest().frozen.world_kind(),
        written: OutcomeCounts::default(),
        answers: None,
        partial: partial(&tally, only),
        unsealed: projection.totals().counts.unsealed,
        rendered: projection.totals().counts.rendered,
        from_markup: projection.totals().counts.from_markup,
    };
    let recorded = (exported.world == WorldKind::Recorded).then_some(RECORDED_WORLD);
    let mut notices = recorded.into_iter().chain(exported.partial.as_deref());
    let notice = notices.join(" ");
    let notice = Some(&*notice).filter(|notice| !notice.is_empty());
    let (map, answers) = write_table(&mut context.output, folded, &copy, &target, args, notice)?;
    exported.answers = answers;
    exported.rows = map.rows.len() as u64;
    exported.gone = map.gone;
    exported.written = OutcomeCounts::of(folded, map.rows.iter().map(|(_, id)| *id))?;
    if exported.gone > 0 {
        context.output.note(&format!(
            "left out because the list no longer has a row for them: {}",
            plural(exported.gone, "quest")
        ));
    }
    tracing::info!(path = %exported.path, rows = exported.rows, "wrote the export");
    let addresses = session.manifest().kind.definition.is_none();
    let nouns = if addresses {
        ["address", "addresses"]
    } else {
        ["answer", "answers"]
    };
    let filtered = !only.is_empty();
    if let Some(partial) = exported.partial.as_deref().filter(|_| !filtered) {
        context.output.note(&format!(
            "{partial}; export again with --force when they are done"
        ));
    }
    // The file is written; a closed pipe does not change the exit code.
    let _ = context.output.show(&exported, |out, export| {
        let values = context! { export, addresses, nouns, filtered };
        out.template(include_str!("text/export.txt"), values);
    });
    Ok(note_unsealed(exported.unsealed, &mut context.output))
}

/// Refuses a copy of the list that is not the one that was scanned.
fn check_copy(copy: &Path, expected: Digest) -> Result<()> {
    match digest(copy) {
        Ok(found) if found == expected => Ok(()),
        Ok(_) => Err(Found(SessionError::CopyChanged(copy.to_owned())).into()),
        Err(error) => Err(anyhow::Error::new(error).context("cannot read the session's copy")),
    }
}

/// Notes that the list is no longer what was scanned. The export uses the copy.
fn note_original(source: &SourceRecord, output: &mut Output) {
    let what = match digest(Path::new(&source.path)) {
        Ok(found) if found == source.sha256 => return,
        Ok(_) => "has changed since it was scanned",
        Err(_) => "can no longer be read",
    };
    output.note(&format!(
        "{} {what}; the export uses the copy that scan kept",
        source.path
    ));
}

/// Notes decisions in the ledger without the operator's signature: they changed nothing, but may be
/// forged.
fn note_unsealed(unsealed: u32, output: &mut Output) -> Exit {
    if unsealed == 0 {
        return Exit::Done;
    }
    output.note(&format!(
        "{} not signed with the operator's key, and ignored; `comail audit` shows where they \
         are",
        plural(unsealed, "decision")
    ));
    Exit::Finding
}

/// Where the results are written, and how.
#[derive(Debug, PartialEq, Eq)]
struct Target {
    path: PathBuf,
    format: Format,
    in_place: bool,
}

/// Decides where and in which format to write the results of the scanned `list`, whose own format is
/// the extension of the session's `copy`. The extension of a file always matches its content.
fn target(args: &ExportArgs, list: &Path, copy: &Path) -> Result<Target> {
    let copied = ending(copy);
    let named = args.out.as_deref().map(ending).unwrap_or_default();
    let shown = args.out.as_deref().unwrap_or(Path::new("")).display();
    if named == "html" || named == "htm" {
        let refused = UsageError(format!("{shown}: results are not written as a web page"));
        return Err(refused
            .hint("`comail report --out FILE.html` writes one")
            .into());
    }
    let format = match (args.format, by_ending(&named)) {
        (Some(format), Some(other)) if format != other => {
            return refuse(format!(
                "--format says {}, and {shown} is the name of another format; change one of them",
                format.ending(),
            ));
        }
        (Some(format), _) | (None, Some(format)) => format,
        (None, None) if named.is_empty() => match copied.as_str() {
            "xls" | "ods" => Format::Xlsx,
            other => by_ending(other).unwrap_or(Format::Csv),
        },
        (None, None) => {
            return refuse(format!(
                "{shown}: results are not written as .{named}; name it .xlsx, .csv or .jsonl, \
                 or use --format"
            ));
        }
    };
    let is_workbook = matches!(copied.as_str(), "xlsx" | "xlsm");
    // A copy of a workbook cannot leave rows out.
    let in_place = format == Format::Xlsx && args.state.states.is_empty() && is_workbook;
    let right = if in_place { &*copied } else { format.ending() };
    if by_ending(&named) == Some(Format::Xlsx) && named != right {
        let macros = if right == "xlsm" { "has" } else { "has no" };
        return refuse(format!(
            "{shown}: this workbook {macros} macros; name it .{right}, or use another --format"
        ));
    }
    let path = args.out.clone().unwrap_or_else(|| {
        let stem = list.file_stem().unwrap_or_default();
        PathBuf::from(format!("{}.comail.{right}", stem.to_string_lossy()))
    });
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
        _ => None,
    }
}

fn write_table(
    output: &mut Output,
    folded: &Folded,
    copy: &Path,
    target: &Target,
    args: &ExportArgs,
    notice: Option<&str>,
) -> Result<(RowMap, Option<AnswerCounts>)> {
    let Folded {
        session,
        projection,
    } = folded;
    let totals = projection.totals();
    let source = session.source();
    let plan = ListPlan::of(&source)?;
    if !plan.made && Results::of(session) != Results::Tree {
        note_original(&source, output);
    }
    refuse_in_session(&target.path, session.dir())?;
    let kind = judge::kind_of(session.manifest())?;
    let fields = kind.result_fields();
    let columns = match args.columns.as_deref() {
        None => Columns::usual(&fields, is_settled(totals)),
        Some(text) => {
            Columns::parse(text, &fields).map_err(|refused| UsageError(refused.to_string()))?
        }
    };
    let mut planned = plan.open(copy)?;
    let mut listing = known_quests(session, projection)?;
    planned.read_into(&mut listing)?;
    let map = RowMap::new(projection, listing, &args.state.states)?;
    let mut answers = AnswerCounts::default();
    write_atomically(&target.path, args.force, session, totals, |out| {
        let mut results = results(folded, &map, &columns, &mut answers)?;
        let mut list = planned.list;
        let mut headings = columns.headings();
        if target.in_place {
            let place = (list.sheet().unwrap_or_default(), list.header());
            let source = BufReader::new(File::open(copy)?);
            // A copy has room only at its right, so the notice is the heading of an empty column.
            headings.extend(notice.map(str::to_owned));
            let width = headings.len();
            let mut results = results.map(|row| {
                let mut row = row?;
                row.cells.resize(width, Cell::empty());
                Ok(row)
            });
            let widths = columns.widths();
            copy_workbook(source, out, place, &headings, &widths, &mut results)?;
            return Ok(());
        }
        let only_results = !args.state.states.is_empty();
        let table = NewTable {
            headings,
            only_results,
            notice,
        };
        new_file(&mut list, target, table, &mut results, out)
    })?;
    let answers = columns.show_answers().then_some(answers);
    Ok((map, answers))
}

/// What is missing in an export: quests in states other than `only`, and quests that are TODO.
fn partial(tally: &Tally, only: &[State]) -> Option<String> {
    let left_out = |state: &State| tally.of(*state) > 0 && !only.contains(state);
    let filtered = (!only.is_empty() && State::ALL.iter().any(left_out)).then(|| {
        let chosen = State::ALL.iter().filter(|state| only.contains(state));
        format!("only {}", chosen.map(|state| state.name()).join(", "))
    });
    let total: u32 = State::ALL.map(|state| tally.of(state)).iter().sum();
    let open = (tally.todo > 0).then(|| format!("{} of {total} quests are still TODO", tally.todo));
    let lacks: Vec<String> = filtered.into_iter().chain(open).collect();
    (!lacks.is_empty()).then(|| format!("partial export: {}", lacks.join("; ")))
}

fn is_settled(totals: &Totals) -> bool {
    let settled = [Effective::Accepted, Effective::Rejected];
    let settled = settled.map(|effective| totals.effective.of(effective));
    settled.iter().any(|count| *count > 0) || totals.counts.disputed > 0
}

struct NewTable<'a> {
    headings: Vec<String>,
    only_results: bool,
    /// The text above the rows of a workbook.
    notice: Option<&'a str>,
}

fn new_file(
    list: &mut List,
    target: &Target,
    table: NewTable<'_>,
    results: impl Iterator<Item = Result<ResultRow, RowError>>,
    mut out: impl Write + Send,
) -> Result<()> {
    let has_objects = matches!(list.format(), SourceFormat::Jsonl { .. });
    let as_objects = has_objects && target.format == Format::Jsonl;
    let header = list.header().filter(|_| !as_objects);
    let layout = Layout {
        header_row: header.map(|header| header.row),
        width: if as_objects { 1 } else { list.width() },
        headings: table.headings,
        only_results: table.only_results,
    };
    let mut join = Join::new(&layout, results);
    let keys = list.keys().unwrap_or_default().to_vec();
    let notice = table.notice.filter(|_| target.format == Format::Xlsx);
    let rows = &mut |put: &mut dyn FnMut(TableRow) -> Result<(), ExportError>| {
        if let Some(notice) = notice {
            put(TableRow::title(notice))?;
        }
        let mut take = |row: u32, cells: Vec<String>| {
            let row = join.row(row, cells)?;
            row.map_or(Ok(()), &mut *put)
        };
        if as_objects {
            return list.each_object(|row, line| take(row, vec![line.to_owned()]));
        }
        list.every_row(|row, cells| take(row, cells.to_vec()))
    };
    match target.format {
        Format::Xlsx => write_workbook(out, directory_of(&target.path), rows)?,
        Format::Csv => write_csv(&mut out, rows)?,
        Format::Jsonl if as_objects => {
            write_objects(&mut out, &keys, &layout.headings, rows)?;
        }
        Format::Jsonl => write_jsonl(&mut out, &layout.headings, rows)?,
    }
    Ok(join.finish()?)
}

/// Which quest each row of the list belongs to, in the order of the rows.
struct RowMap {
    rows: Vec<(u32, QuestId)>,
    gone: u32,
}

/// The outcomes of the quests that have rows in the file, each counted once.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub(super) struct OutcomeCounts {
    /// How many have each outcome.
    #[schemars(schema_with = "map_schema::<Effective, u32>")]
    pub(super) effective: BTreeMap<Effective, u32>,
    /// How many of them the world contradicted.
    pub(super) disputed: u32,
    /// How many have answers that were redacted.
    pub(super) forgotten: u32,
}

impl OutcomeCounts {
    pub(super) fn of(
        folded: &Folded,
        ids: impl Iterator<Item = QuestId>,
    ) -> Result<Self, SessionError> {
        let mut reader = folded.session.reader()?;
        let forgets = !folded.projection.totals().forgetting.is_empty();
        let mut counts = Self::default();
        let mut counted = vec![false; folded.projection.count()];
        for id in ids {
            let Some(record) = folded.projection.get(id)? else {
                continue;
            };
            if std::mem::replace(&mut counted[record.id.index()], true) {
                continue;
            }
            *counts.effective.entry(Effective::of(&record)).or_default() += 1;
            counts.disputed += u32::from(record.is_disputed());
            counts.forgotten += u32::from(forgets && is_forgotten(&mut reader, &record)?);
        }
        Ok(counts)
    }
}

impl RowMap {
    /// The rows of `listing` that belong to quests in the wanted states; of all when none is
    /// named.
    fn new(projection: &Projection, listing: Listing, only: &[State]) -> Result<Self> {
        let listed = listing.finish()?;
        let gone = u32::try_from(listed.without_row()).unwrap_or(u32::MAX);
        let mut wanted = vec![only.is_empty(); projection.count()];
        if !only.is_empty() {
            for quest in projection.quests() {
                let quest = quest?;
                wanted[quest.id.index()] = only.contains(&quest.progress.state);
            }
        }
        let mut rows = listed.known_rows();
        rows.retain(|(_, id)| wanted.get(id.index()) == Some(&true));
        Ok(Self { rows, gone })
    }
}

fn results<'a>(
    folded: &'a Folded,
    map: &'a RowMap,
    columns: &'a Columns,
    answers: &'a mut AnswerCounts,
) -> Result<impl Iterator<Item = Result<ResultRow, RowError>> + 'a, SessionError> {
    let mut outcomes = OutcomeReader::new(&folded.session, folded.projection.waiting()?)?;
    let bar = WorkBar::of("writing the results", map.rows.len() as u64);
    Ok(map.rows.iter().map(move |(row, id)| {
        bar.step()?;
        let record = folded
            .projection
            .get(*id)?
            .ok_or("a row belongs to a quest that is not there")?;
        let outcome = outcomes.read(&record)?.shown;
        let answer = outcome.fields.as_ref();
        if answer.is_some_and(|fields| columns.has_answer(fields)) {
            answers.count(outcome.holds, columns.show_to_review());
        }
        let cells = columns.cells(&outcome);
        Ok(ResultRow { row: *row, cells })
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rows;

    /// The path, the format and whether it is a whole copy, for a list of this ending; or that it
    /// is refused, with the path in the message.
    fn decided(list: &str, path: &str, format: Option<Format>, filtered: bool) -> String {
        let args = ExportArgs {
            out: (!path.is_empty()).then(|| path.into()),
            format,
            columns: None,
            state: StateArgs {
                states: filtered.then_some(State::Pass).into_iter().collect(),
            },
            force: false,
        };
        let list_path = format!("/lists/업체.v2.{list}");
        let copy = format!("source.{list}");
        match target(&args, Path::new(&list_path), Path::new(&copy)) {
            Ok(target) => {
                let whole = if target.in_place { ", whole" } else { "" };
                format!(
                    "{} {}{whole}",
                    target.path.display(),
                    target.format.ending()
                )
            }
            Err(refused) if refused.to_string().contains(path) => "refused".to_owned(),
            Err(refused) => refused.to_string(),
        }
    }

    #[test]
    fn the_format_follows_the_flag_the_name_or_the_list() {
        let (csv, jsonl) = (Some(Format::Csv), Some(Format::Jsonl));
        for (list, path, format, filtered, expected) in [
            ("xlsx", "", None, false, "업체.v2.comail.xlsx xlsx, whole"),
            ("xlsm", "", None, false, "업체.v2.comail.xlsm xlsx, whole"),
            ("xlsm", "", None, true, "업체.v2.comail.xlsx xlsx"),
            ("xls", "", None, false, "업체.v2.comail.xlsx xlsx"),
            ("ods", "", None, false, "업체.v2.comail.xlsx xlsx"),
            ("tsv", "", None, false, "업체.v2.comail.csv csv"),
            ("txt", "", None, false, "업체.v2.comail.csv csv"),
            ("jsonl", "", None, false, "업체.v2.comail.jsonl jsonl"),
            ("xlsx", "a.CSV", None, false, "a.CSV csv"),
            ("xlsx", "a.ndjson", None, false, "a.ndjson jsonl"),
            ("xlsx", "a.dat", csv, false, "a.dat csv"),
            ("xlsx", "a", None, false, "a xlsx, whole"),
            ("xlsx", "", jsonl, false, "업체.v2.comail.jsonl jsonl"),
            ("xlsx", "a.html", None, false, "refused"),
            ("xlsx", "a.HTM", None, false, "refused"),
            ("xlsx", "a.pdf", None, false, "refused"),
            ("xlsx", "a.html", csv, false, "refused"),
            ("xlsx", "a.csv", jsonl, false, "refused"),
            ("xlsx", "a.xlsx", csv, false, "refused"),
            ("xlsm", "a.xlsx", None, false, "refused"),
            ("xlsx", "a.xlsm", None, false, "refused"),
            ("xlsm", "a.xlsm", None, true, "refused"),
            ("csv", "a.xlsm", None, false, "refused"),
        ] {
            let decided = decided(list, path, format, filtered);
            assert_eq!(decided, expected, "{list} {path} {format:?}");
        }
    }

    #[test]
    fn an_export_names_what_is_missing() {
        use State::{Done, Pass, Review, Todo};
        let tally = |todo| Tally {
            todo,
            pass: 3,
            review: 1,
            done: 0,
        };
        for (todo, only, expected) in rows! {
            0, &[][..] => "";
            0, &[Review, Pass] => "";
            2, &[] => "partial export: 2 of 6 quests are still TODO";
            0, &[Done, Pass] => "partial export: only PASS, DONE";
            2, &[Pass] => "partial export: only PASS; 2 of 6 quests are still TODO";
            2, &[Todo] => "partial export: only TODO; 2 of 6 quests are still TODO";
        } {
            let found = partial(&tally(todo), only).unwrap_or_default();
            assert_eq!(found, expected, "{only:?}");
        }
    }
}
