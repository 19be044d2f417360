//! `comail export`: writes the results next to the values of the list.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use schemars::JsonSchema;
use serde::Serialize;

use super::context;
use super::context::Context;
use super::exit::{Exit, Found, UsageError, found};
use super::export_rows::{Comes, Findings};
use super::export_write::{Format, Job, Target, Wish, Written, target, write};
use super::list::ListPlan;
use super::output::{Output, TextOutput};
use super::output_file::{refuse_in_session, write_beside};
use super::progress::Interrupt;
use crate::base::Digest;
use crate::base::text::{Escaped, plural};
use crate::judge;
use crate::report::draw::{Asked, MOST_QUESTS};
use crate::report::picture::{Picture, Word};
use crate::report::{draw, page};
use crate::session::{Effective, Session, SessionError, SourceRecord, State, Tally, Totals, Watch};
use crate::table::digest;
use crate::table::results::Columns;

/// Write the results to a copy of the list
///
/// For a workbook, the export is a complete copy with more columns; other lists become a new file.
/// `--format html` makes a web page instead, with the progress, the rules that fired, and the evidence
/// of every quest. The list itself is never overwritten, and a failed export leaves no partial file.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// The file to write [default: the name of the list with .comail before the extension]
    path: Option<PathBuf>,

    /// The format [default: by the extension of PATH, or that of the list]
    #[arg(long, value_enum)]
    format: Option<Format>,

    /// The columns to add, each NAME or NAME=HEADING, such as email=E-Mail,status [default:
    /// email,status,site,source,rule,facts,tries,judged-at, and settled-by,note if a person decided]
    #[arg(long, value_name = "LIST")]
    columns: Option<String>,

    /// Only rows of quests in these states, in a new file or a page
    #[arg(
        long,
        value_name = "STATE,STATE…",
        value_delimiter = ',',
        ignore_case = true,
        value_parser = state()
    )]
    only: Vec<State>,

    /// Replace an existing file, but never the list
    #[arg(long)]
    force: bool,
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
    /// What the quests come to that have rows in the file.
    written: Comes,
    /// Decisions that lack the operator's seal, and changed nothing.
    #[serde(skip_serializing_if = "is_none")]
    unsealed: u32,
    /// How many quests have no row in the page.
    #[serde(skip_serializing_if = "is_none")]
    left_out: u32,
    /// Whether it is a page to look at.
    #[serde(skip)]
    page: bool,
    /// Whether the results are people's addresses.
    #[serde(skip)]
    addresses: bool,
}

pub(super) fn run(context: &mut Context, args: &ExportArgs) -> Result<Exit> {
    // A file that is half written is removed, and the one that it was to replace stays.
    Interrupt::heed();
    let mut session = found(Session::open_watched(
        context.session_dir(),
        context.watch(),
    ))?;
    let board = found(session.fold())?;
    context.report_repairs(&session);
    let source = session.source();
    let copy = session.dir().join(&source.copy);
    let expected = board.totals().forgetting.copy_of(source.sha256);
    check_copy(&copy, expected)?;
    let wish = Wish {
        path: args.path.as_deref(),
        format: args.format,
        filtered: !args.only.is_empty(),
        list: Path::new(&source.path),
        copy: &copy,
    };
    let target = target(wish)?;
    let findings = Findings {
        session: &session,
        board: &board,
    };
    let page = target.format == Format::Html;
    let path = target.path.clone();
    let written = if page {
        if args.columns.is_some() {
            let text = "--columns is for tables; a page shows every field";
            return Err(UsageError(text.to_owned()).into());
        }
        let wanted = PageWanted {
            path: &path,
            force: args.force,
            only: &args.only,
            completeness: None,
        };
        write_page(findings, wanted, context.watch().as_ref())?
    } else {
        let list = (&source, copy.as_path());
        write_table(&mut context.output, findings, list, target, args)?
    };
    if written.gone > 0 {
        context.output.note(&format!(
            "left out because the list no longer has a row for them: {}",
            plural(written.gone, "quest")
        ));
    }
    let tally = board.totals().tally;
    let exported = Exported {
        path: path.display().to_string(),
        rows: written.rows,
        gone: written.gone,
        remaining: tally.todo,
        tally,
        written: written.comes,
        unsealed: board.totals().counts.unsealed,
        left_out: written.left_out,
        page,
        addresses: session.manifest().kind.definition.is_none(),
    };
    tracing::info!(path = %exported.path, rows = exported.rows, "wrote the export");
    // What is written is written; a reader who has gone does not change how it ended.
    let _ = context.output.show(&exported, text);
    Ok(note_unsealed(exported.unsealed, &mut context.output))
}

fn write_table(
    output: &mut Output,
    findings: Findings<'_>,
    (source, copy): (&SourceRecord, &Path),
    target: Target,
    args: &ExportArgs,
) -> Result<Written> {
    let Findings { session, board } = findings;
    let made = ListPlan::of(source)?.made;
    if !made {
        note_original(source, output);
    }
    let unit = judge::kind_of(session.manifest())?.unit;
    let job = Job {
        key_heading: made.then(|| unit.into_owned()),
        target,
        columns: columns(session, board.totals(), args.columns.as_deref())?,
        only: args.only.clone(),
        force: args.force,
    };
    refuse_in_session(&job.target.path, session.dir())?;
    write(findings, copy, &job)
}

/// Refuses a copy of the list that is not the one that was scanned.
fn check_copy(copy: &Path, expected: Digest) -> Result<()> {
    match digest(copy) {
        Ok(found) if found == expected => Ok(()),
        Ok(_) => Err(Found(SessionError::CopyChanged {
            path: copy.to_owned(),
        })
        .into()),
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

/// Notes decisions in the ledger without the operator's signature. They changed nothing, but
/// somebody wrote them.
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

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_none(count: &u32) -> bool {
    *count == 0
}

fn columns(session: &Session, totals: &Totals, chosen: Option<&str>) -> Result<Columns> {
    let fields = judge::kind_of(session.manifest())?.result_fields();
    let Some(text) = chosen else {
        return Ok(Columns::usual(&fields, is_settled(totals)));
    };
    Columns::parse(text, &fields).map_err(|refused| UsageError(refused.to_string()).into())
}

fn is_settled(totals: &Totals) -> bool {
    let settled = [Effective::Accepted, Effective::Rejected];
    let settled = settled.map(|effective| totals.effective.of(effective));
    settled.iter().any(|count| *count > 0) || totals.counts.disputed > 0
}

fn state() -> impl TypedValueParser<Value = State> {
    let value = |name: &'static str, help: &'static str| PossibleValue::new(name).help(help);
    let values = [
        value("pass", "Proven"),
        value("review", "For a person"),
        value("done", "Tries used up"),
        value("todo", "To be worked on"),
    ];
    PossibleValuesParser::new(values).map(|name| match &*name.to_lowercase() {
        "pass" => State::Pass,
        "review" => State::Review,
        "done" => State::Done,
        _ => State::Todo,
    })
}

fn text(paper: &mut TextOutput, exported: &Exported) {
    let path = Escaped(&exported.path);
    if exported.page {
        let rows = plural(exported.rows, "quest");
        paper.line(format!("a page about {rows}, written to {path}"));
        if exported.left_out > 0 {
            let left_out = plural(exported.left_out, "other quest");
            paper.line(format!("{left_out} counted, but not listed"));
        }
    } else {
        let rows = plural(exported.rows, "row");
        paper.line(format!("{rows} filled in, written to {path}"));
    }
    paper.line(exported.written.text());
    if exported.addresses {
        paper.line("An address that was found is not a consent to mail it.");
    }
}

pub(super) struct PageWanted<'a> {
    pub(super) path: &'a Path,
    /// Whether a file that is there is replaced.
    pub(super) force: bool,
    /// The states of the quests that have rows; all where none is named.
    pub(super) only: &'a [State],
    /// Whether the session is complete, where that was looked into.
    pub(super) completeness: Option<Word>,
}

pub(super) struct Page {
    pub(super) picture: Picture,
    pub(super) html: String,
}

pub(super) fn page(
    findings: Findings<'_>,
    completeness: Option<Word>,
    only: &[State],
    watch: &dyn Watch,
) -> Result<Page> {
    let asked = Asked {
        at: context::now(),
        completeness,
        only,
        most: MOST_QUESTS,
        watch,
    };
    let picture = draw::picture(findings.session, findings.board, asked)?;
    let html = page::html(&picture)?;
    Ok(Page { picture, html })
}

/// Writes the page about a session, whole or not at all, and never over a list.
pub(super) fn write_page(
    findings: Findings<'_>,
    wanted: PageWanted<'_>,
    watch: &dyn Watch,
) -> Result<Written> {
    let Findings { session, board } = findings;
    let PageWanted { path, force, .. } = wanted;
    refuse_in_session(path, session.dir())?;
    let picture = write_beside(path, force, session, board.totals(), |out| {
        let page = page(findings, wanted.completeness, wanted.only, watch)?;
        out.write_all(page.html.as_bytes())?;
        Ok(page.picture)
    })?;
    let shown = picture.quests.iter().map(|row| row.id);
    Ok(Written {
        rows: picture.quests.len() as u64,
        gone: 0,
        comes: Comes::of(findings, shown)?,
        left_out: picture.left_out,
    })
}
