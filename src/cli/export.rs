//! `comail export`: the results, beside the list.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, ValueEnum};
use serde::Serialize;

use super::context::Context;
use super::escape::Plain;
use super::exit::{Exit, Found, UsageError};
use super::export_write::{Target, write};
use super::output::{Output, Paper};
use crate::drive;
use crate::quest::{Digest, FieldName};
use crate::session::{Session, SessionError, SourceRecord, State, Tally};
use crate::table::result_columns::Columns;

/// Write the results, beside what the list holds
///
/// A workbook is copied whole and its sheet gains columns; other lists become a new file. The
/// list itself is never written over, and a file is written whole or not at all.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// The file to write [default: the list's name with .comail before its ending, here]
    path: Option<PathBuf>,

    /// The format [default: by the ending of PATH, else that of the list]
    #[arg(long, value_enum)]
    format: Option<Format>,

    /// The columns to add, in order, each NAME or NAME=HEADING
    #[arg(long, value_name = "LIST")]
    columns: Option<String>,

    /// Only the rows of quests in these states, in a new file
    #[arg(
        long,
        value_name = "STATE,STATE…",
        value_delimiter = ',',
        ignore_case = true
    )]
    only: Vec<StateArg>,

    /// Replace a file that is there; never the list itself
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

/// A state, as a flag spells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StateArg {
    /// Proven.
    Pass,
    /// For a person.
    Review,
    /// Tries used up.
    Done,
    /// To be worked on.
    Todo,
}

/// The JSON form of `export`.
#[derive(Debug, Serialize)]
struct Exported {
    path: String,
    rows: u64,
    remaining: u32,
    tally: Tally,
}

pub(super) fn run(context: &mut Context, args: &ExportArgs) -> Result<Exit> {
    let session = match Session::open(context.session_dir()) {
        Ok(session) => session,
        Err(error @ (SessionError::Damaged { .. } | SessionError::ManifestChanged { .. })) => {
            return Err(Found(error).into());
        }
        Err(error) => return Err(error.into()),
    };
    context.report_healed(&session);
    let source = session.source().clone();
    let copy = session.dir().join(&source.copy);
    check_copy(&copy, &source)?;
    note_original(&source, &mut context.output);
    let target = target(&session, &source, args)?;
    let rows = write(&session, &copy, &target)?;
    let tally = session.board().tally();
    let exported = Exported {
        path: target.path.display().to_string(),
        rows,
        remaining: tally.todo,
        tally,
    };
    context.output.show(&exported, text)?;
    Ok(Exit::Done)
}

/// Refuses a copy of the list that is not the one that was scanned.
fn check_copy(copy: &Path, source: &SourceRecord) -> Result<()> {
    match digest(copy) {
        Ok(found) if found == source.sha256 => Ok(()),
        Ok(_) => Err(Found(SessionError::CopyChanged {
            path: copy.to_owned(),
        })
        .into()),
        Err(error) => Err(anyhow::Error::new(error)
            .context(format!("cannot read the session's copy {}", copy.display()))),
    }
}

/// Says when the list is no longer what was scanned: the export goes by the copy.
fn note_original(source: &SourceRecord, output: &mut Output) {
    let what = match digest(Path::new(&source.path)) {
        Ok(found) if found == source.sha256 => return,
        Ok(_) => "was changed since it was scanned",
        Err(_) => "cannot be read any more",
    };
    output.note(&format!(
        "note: {} {what}; the export is made from the copy that scan kept",
        source.path
    ));
}

fn digest(path: &Path) -> std::io::Result<Digest> {
    Digest::of_reader(&mut std::fs::File::open(path)?)
}

fn target(session: &Session, source: &SourceRecord, args: &ExportArgs) -> Result<Target> {
    let kind = drive::kind_of(session.manifest())?;
    let fields: Vec<FieldName> = kind.fields.iter().map(|field| field.name.clone()).collect();
    let columns = match &args.columns {
        Some(text) => {
            Columns::parse(text, &fields).map_err(|error| UsageError(error.to_string()))?
        }
        None => Columns::all(&fields),
    };
    let extension = extension(Path::new(&source.copy));
    let format = match (args.format, &args.path) {
        (Some(format), _) => format,
        (None, Some(path)) => by_extension(&self::extension(path)).unwrap_or(by_list(&extension)),
        (None, None) => by_list(&extension),
    };
    let only: Vec<State> = args.only.iter().copied().map(State::from).collect();
    let in_place =
        format == Format::Xlsx && only.is_empty() && matches!(extension.as_str(), "xlsx" | "xlsm");
    let ending = match format {
        Format::Xlsx if in_place => extension.as_str(),
        Format::Xlsx => "xlsx",
        Format::Csv => "csv",
        Format::Jsonl => "jsonl",
    };
    let path = args.path.clone().unwrap_or_else(|| {
        let stem = Path::new(&source.path).file_stem().unwrap_or_default();
        PathBuf::from(format!("{}.comail.{ending}", stem.to_string_lossy()))
    });
    if in_place && extension == "xlsm" && self::extension(&path) != "xlsm" {
        let text = "the list has macros, and so has its copy: name it .xlsm, or take another \
                    --format";
        return Err(UsageError(text.to_owned()).into());
    }
    Ok(Target {
        path,
        format,
        in_place,
        columns,
        only,
        force: args.force,
        original: PathBuf::from(&source.path),
    })
}

fn extension(path: &Path) -> String {
    let extension = path.extension().unwrap_or_default();
    extension.to_string_lossy().to_ascii_lowercase()
}

fn by_extension(extension: &str) -> Option<Format> {
    match extension {
        "xlsx" | "xlsm" => Some(Format::Xlsx),
        "csv" => Some(Format::Csv),
        "jsonl" | "ndjson" => Some(Format::Jsonl),
        _ => None,
    }
}

/// The format that stays closest to the list's own.
fn by_list(extension: &str) -> Format {
    match extension {
        "xlsx" | "xlsm" | "xls" | "ods" => Format::Xlsx,
        _ => Format::Csv,
    }
}

impl From<StateArg> for State {
    fn from(state: StateArg) -> Self {
        match state {
            StateArg::Pass => Self::Pass,
            StateArg::Review => Self::Review,
            StateArg::Done => Self::Done,
            StateArg::Todo => Self::Todo,
        }
    }
}

fn text(paper: &mut Paper, exported: &Exported) {
    let tally = exported.tally;
    paper.line(format!(
        "{} rows with results written to {}",
        exported.rows,
        Plain(&exported.path)
    ));
    paper.line(format!(
        "{} PASS, {} REVIEW, {} DONE, {} still TODO",
        tally.pass, tally.review, tally.done, tally.todo
    ));
    paper.line("An address that was found is not a consent to mail it.");
}
