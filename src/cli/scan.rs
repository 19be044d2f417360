//! `comail scan`: a list becomes a session.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::{Args, ValueEnum};
use serde::Serialize;

use super::context::{self, Context};
use super::escape::Plain;
use super::exit::{Exit, UsageError};
use super::gate_args::GateArgs;
use super::list_plan::ListPlan;
use super::network_args::NetworkArgs;
use super::operator;
use super::output::Paper;
use crate::drive;
use crate::quest::{Digest, Listing, ListingCounts, Quest};
use crate::session::{self, Appended, FORMAT, Frozen, Manifest, NewSession, Session, SourceRecord};
use crate::table::{Delimiter, HeaderChoice, SourceFormat, identify};

/// Turn a list into a session of quests
///
/// Reads .xlsx, .xlsm, .xls, .ods, .csv, .tsv and plain lines. A session is never replaced.
#[derive(Debug, Args)]
pub struct ScanArgs {
    /// The list
    list: PathBuf,

    /// The column of the company's name, by letter or header text
    #[arg(long, value_name = "COL", conflicts_with = "key_cols")]
    col: Option<String>,

    /// Several columns that make the key together
    #[arg(long, value_name = "COL,COL…", value_delimiter = ',')]
    key_cols: Vec<String>,

    /// The sheet by its name [default: the first]
    #[arg(long, value_name = "NAME")]
    sheet: Option<String>,

    /// Whether there is a header row
    #[arg(long, value_enum, default_value = "auto")]
    header: HeaderArg,

    /// The encoding of a text file, such as euc-kr [default: detected]
    #[arg(long, value_name = "NAME")]
    encoding: Option<String>,

    /// Show this column in the prompt (repeatable)
    #[arg(long, value_name = "COL")]
    show: Vec<String>,

    /// The column of the site that is known already; the gate holds answers against it
    #[arg(long, value_name = "COL")]
    site_col: Option<String>,

    /// Add the list's new keys to the session that is there
    #[arg(long)]
    update: bool,

    /// The FAIL that ends a quest
    #[arg(long, value_name = "N", default_value = "3", conflicts_with = "update")]
    max_tries: NonZeroU32,

    /// Pause after this many quests in a row that ended with nothing proven; 0 for never
    #[arg(
        long,
        value_name = "N",
        default_value_t = 25,
        conflicts_with = "update"
    )]
    pause_after: u32,

    /// The operator's key file; `resume` and --update ask for it from then on
    #[arg(long, value_name = "FILE")]
    operator_key: Option<PathBuf>,

    #[command(flatten)]
    gate: GateArgs,

    #[command(flatten)]
    network: NetworkArgs,
}

/// Whether there is a header row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum HeaderArg {
    /// Look and see.
    Auto,
    /// The first row that is not blank is one.
    Yes,
    /// Every row is data.
    No,
}

/// The JSON form of `scan`.
#[derive(Debug, Serialize)]
struct Scanned {
    session: String,
    source: String,
    #[serde(flatten)]
    counts: ListingCounts,
    quests: usize,
    added: usize,
    updated: bool,
}

pub(super) fn run(context: &mut Context, args: &ScanArgs) -> Result<Exit> {
    let scanned = if args.update {
        update(context, args)?
    } else {
        scan(context, args)?
    };
    context.output.show(&scanned, text)?;
    Ok(Exit::Done)
}

fn scan(context: &Context, args: &ScanArgs) -> Result<Scanned> {
    // Frozen settings first: a mistyped flag should not wait for a million rows.
    let frozen = frozen(args)?;
    let plan = args.plan(None)?;
    let mut planned = plan.open(&args.list)?;
    let mut listing = Listing::new();
    planned.read_into(&mut listing)?;
    let (quests, counts) = listing.finish();
    if quests.is_empty() {
        return Err(empty(&args.list, counts));
    }
    let created = context::now();
    let manifest = Manifest {
        format: FORMAT,
        comail: env!("CARGO_PKG_VERSION").to_owned(),
        created,
        kind: drive::email_record(),
        source: source_record(&args.list, &plan, planned.format(), 1)?,
        frozen,
    };
    let new = NewSession {
        manifest: &manifest,
        source: &args.list,
        quests: &quests,
        now: created,
    };
    session::create(context.session_dir(), &new, &mut context::salt)?;
    Ok(Scanned {
        session: context.session_dir().display().to_string(),
        source: manifest.source.path,
        counts,
        quests: quests.len(),
        added: quests.len(),
        updated: false,
    })
}

fn update(context: &mut Context, args: &ScanArgs) -> Result<Scanned> {
    let mut session = context.open_session()?;
    operator::authority(&session, args.operator_key.as_deref())?;
    let before: ListPlan = serde_json::from_value(session.source().list.clone())
        .context("the session does not say how its list was read")?;
    let plan = args.plan(Some(&before))?;
    let mut planned = plan.open(&args.list)?;
    let mut counts = ListingCounts::default();
    let (mut source, mut added) = (String::new(), 0);
    let appended = session::extend(
        &mut session,
        &args.list,
        context::now(),
        &mut context::salt,
        |session| -> Result<_> {
            let mut listing = Listing::new();
            for quest in known_quests(session)? {
                listing.seed(quest);
            }
            planned.read_into(&mut listing)?;
            let (mut quests, read) = listing.finish();
            let new = quests.split_off(session.board().quests().len());
            let copies = session.board().extensions().len() + 2;
            let record = source_record(&args.list, &plan, planned.format(), copies)?;
            (counts, source, added) = (read, record.path.clone(), new.len());
            Ok((record, new))
        },
    )?;
    match appended {
        Appended::Refused(error) => Err(error),
        Appended::Done => Ok(Scanned {
            session: context.session_dir().display().to_string(),
            source,
            counts,
            quests: session.board().quests().len(),
            added,
            updated: true,
        }),
    }
}

/// Every quest of `session`, without its rows: those are of a list that was read before.
pub(super) fn known_quests(session: &Session) -> Result<Vec<Quest>> {
    let whole = |standing| -> Result<Quest> {
        let quest = session.quest(standing)?;
        Ok(Quest {
            rows: Vec::new(),
            ..quest
        })
    };
    session.board().quests().iter().map(whole).collect()
}

impl ScanArgs {
    /// How the list is read: as the flags say, else as the list before was.
    fn plan(&self, old: Option<&ListPlan>) -> Result<ListPlan> {
        let key: Vec<String> = match &self.col {
            Some(col) => vec![col.clone()],
            None => self.key_cols.clone(),
        };
        let key = match (key.is_empty(), old) {
            (false, _) => key,
            (true, Some(before)) => before.key.clone(),
            (true, None) if is_lines(&self.list, self.encoding.as_deref())? => vec!["A".to_owned()],
            (true, None) => {
                let text =
                    "which column names the company? Say --col COLUMN (a letter or a header)";
                return Err(UsageError(text.to_owned()).into());
            }
        };
        let or_old = |mine: &Option<String>, old: Option<&Option<String>>| {
            mine.clone().or_else(|| old.cloned().flatten())
        };
        let header = match (self.header, old) {
            (HeaderArg::Auto, Some(before)) => before.header,
            (HeaderArg::Auto, None) => HeaderChoice::Auto,
            (HeaderArg::Yes, _) => HeaderChoice::Yes,
            (HeaderArg::No, _) => HeaderChoice::No,
        };
        Ok(ListPlan {
            sheet: or_old(&self.sheet, old.map(|plan| &plan.sheet)),
            encoding: or_old(&self.encoding, old.map(|plan| &plan.encoding)),
            header,
            key,
            site: or_old(&self.site_col, old.map(|plan| &plan.site)),
            show: match old {
                Some(before) if self.show.is_empty() => before.show.clone(),
                _ => self.show.clone(),
            },
        })
    }
}

/// Whether the list has but one column anyway.
fn is_lines(path: &Path, encoding: Option<&str>) -> Result<bool> {
    let format = identify(path, encoding)?;
    Ok(matches!(format, SourceFormat::Lines { .. }))
}

/// The ending of the copy's name.
fn extension(format: SourceFormat) -> &'static str {
    match format {
        SourceFormat::Xlsx => "xlsx",
        SourceFormat::Xlsm => "xlsm",
        SourceFormat::Xls => "xls",
        SourceFormat::Ods => "ods",
        SourceFormat::Csv {
            delimiter: Delimiter::Tab,
            ..
        } => "tsv",
        SourceFormat::Csv { .. } => "csv",
        SourceFormat::Lines { .. } => "txt",
    }
}

fn frozen(args: &ScanArgs) -> Result<Frozen> {
    let operator_key = args
        .operator_key
        .as_deref()
        .map(operator::key_digest)
        .transpose()?;
    Ok(Frozen {
        max_tries: args.max_tries,
        pause_after: args.pause_after,
        operator_key,
        gate: serde_json::to_value(args.gate.settings(&args.network)?)?,
        network: serde_json::to_value(args.network.settings()?)?,
    })
}

/// The record of the list at `path`, the `number`th that the session has read.
fn source_record(
    path: &Path,
    plan: &ListPlan,
    format: SourceFormat,
    number: usize,
) -> Result<SourceRecord> {
    let place = path.display();
    let reading = || format!("cannot read {place}");
    let absolute = std::path::absolute(path).with_context(reading)?;
    let sha256 = std::fs::File::open(path)
        .and_then(|mut file| Digest::of_reader(&mut file))
        .with_context(reading)?;
    let number = match number {
        1 => String::new(),
        more => format!("-{more}"),
    };
    Ok(SourceRecord {
        path: absolute.to_string_lossy().into_owned(),
        sha256,
        copy: format!("source{number}.{}", extension(format)),
        list: serde_json::to_value(plan)?,
    })
}

fn empty(path: &Path, counts: ListingCounts) -> anyhow::Error {
    anyhow::anyhow!(
        "{}: no quest can be made of it: {} rows read, {} of them blank in the key's column; \
         no session was made",
        path.display(),
        counts.rows,
        counts.blanks
    )
}

fn text(paper: &mut Paper, scanned: &Scanned) {
    let counts = scanned.counts;
    paper.line(format!(
        "{} rows read from {}",
        counts.rows,
        Plain(&scanned.source)
    ));
    if scanned.updated {
        paper.line(format!(
            "{} quests added, {} in all",
            scanned.added, scanned.quests
        ));
    } else {
        paper.line(format!("{} quests made", scanned.quests));
    }
    paper.line(format!(
        "{} blank rows skipped, {} repeats merged",
        counts.blanks, counts.repeats
    ));
    paper.line(format!("session {}", Plain(&scanned.session)));
}
