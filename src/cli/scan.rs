//! `comail scan`: a list becomes a session.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;

use super::context::{self, Context};
use super::exit::Exit;
use super::gate_args::GateArgs;
use super::gate_args::NetworkArgs;
use super::list_args::ListArgs;
use super::list_file::ListFile;
use super::list_plan;
use super::person;
use super::progress::Interrupt;
use super::scan_carry::CarryArgs;
use super::scan_kind::{KindArgs, ScanKind};
use super::scan_summary::{Scanned, text};
use super::scan_update::update;
use crate::base::text::plural;
use crate::gate::email::anchor::is_anchored;
use crate::quest::{Listing, ListingCounts, Quest};
use crate::session::{self, FORMAT, Frozen, Lease, Manifest, NewSession};

/// Make a session of quests from a list
///
/// Reads .xlsx, .xlsm, .xls, .ods, .csv, .tsv, .jsonl and plain lines. With --quest, it can also read
/// a directory or the output of a command in the quest file. Rows without a key are skipped, and rows
/// with the same key become one quest. An existing session is never replaced: --update adds new rows
/// to it, and --carry makes another session that takes over what an earlier one has proven.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct ScanArgs {
    #[command(flatten)]
    pub(super) list: ListArgs,

    #[command(flatten)]
    pub(super) kind: KindArgs,

    /// Add the new rows of the list to the existing session
    #[arg(long)]
    update: bool,

    /// Number of tries for each quest [default: set by the quest file, or 3]
    #[arg(long, value_name = "N", conflicts_with = "update")]
    max_tries: Option<NonZeroU32>,

    /// Pause after this many quests in a row without proof; 0 to never pause
    #[arg(
        long,
        value_name = "N",
        default_value_t = 25,
        conflicts_with = "update"
    )]
    pause_after: u32,

    /// Default length of a worker's claim
    #[arg(
        long,
        value_name = "TIME",
        default_value = "15m",
        conflicts_with = "update"
    )]
    lease: Lease,

    /// The operator's key file, which `resume`, `review` and --update then require
    #[arg(long, value_name = "FILE")]
    operator_key: Option<PathBuf>,

    #[command(flatten)]
    carry: CarryArgs,

    #[command(flatten)]
    gate: GateArgs,

    #[command(flatten)]
    network: NetworkArgs,
}

const EXAMPLES: &str = "\
Examples:
  comail scan companies.xlsx --col A             # column A names the companies
  comail scan companies.csv --col Company --site-col Website
  comail scan names.txt                          # one name per line
  comail scan --update companies.xlsx            # add the new rows
  comail scan letters.jsonl --quest total.toml   # quests of another kind
  comail scan companies.xlsx --col A --level freemail=fail \\
    --operator-key operator.key
  comail scan new.xlsx --col A --carry .comail --session .comail-2";

/// The FAIL that ends a quest where nobody says another.
const DEFAULT_TRIES: NonZeroU32 = NonZeroU32::new(3).unwrap();

pub(super) fn run(context: &mut Context, args: &ScanArgs) -> Result<Exit> {
    // A session that is half made is removed.
    Interrupt::heed();
    let scanned = if args.update {
        update(context, &args.list, args.operator_key.as_deref())?
    } else {
        scan(context, args)?
    };
    let session = context.named_session().map(Path::to_owned);
    // The session is made; a reader who has gone does not change how it ended.
    let _ = context.output.show(&scanned, |paper, scanned| {
        text(paper, scanned, session.as_deref());
    });
    Ok(Exit::Done)
}

fn scan(context: &mut Context, args: &ScanArgs) -> Result<Scanned> {
    // What needs no list comes first: a mistyped flag should not wait for a million rows.
    args.carry.refuse_same(context.session_dir())?;
    session::refuse_existing(context.session_dir())?;
    let kind = args.kind.choose(context)?;
    kind.prove()?;
    let record = args.kind.record(&kind)?;
    let frozen = frozen(args, &kind)?;
    let input = kind.input()?;
    let file = ListFile::find(&args.list, input.as_ref(), kind.path())?;
    let path = file.path();
    let sha256 = list_plan::digest(path)?;
    let plan = args.list.plan(&file, None, input.as_ref(), &kind.unit()?)?;
    let mut planned = plan.open(path)?;
    let mut listing = Listing::new();
    planned.read_into(&mut listing)?;
    let (quests, counts) = listing.finish_linked()?;
    if quests.is_empty() {
        return Err(empty(&file.said(), &planned.key_labels(), counts));
    }
    kind.prompts(&quests)?;
    let carry = args.carry.open(context)?;
    let forgotten = carry.as_ref().map(|carry| carry.forgotten(path));
    let forgotten = forgotten.transpose()?;
    let created = context::now();
    let manifest = Manifest {
        format: FORMAT,
        comail: env!("CARGO_PKG_VERSION").to_owned(),
        created,
        kind: record,
        source: plan.record(file.place(), sha256, planned.format(), 1)?,
        frozen,
        forgotten: forgotten.unwrap_or_default(),
    };
    let watch = context.watch();
    let new = NewSession {
        manifest: &manifest,
        source: path,
        quests: &quests,
        now: created,
        stock: &|store| kind.stock(store),
        watch: watch.as_ref(),
    };
    let carried = carry.map(|carry| carry.create(context, &new)).transpose()?;
    if carried.is_none() {
        session::create(context.session_dir(), &new, &mut context::clock())?;
    }
    note_unusable_sites(context, &quests);
    let mut scanned = Scanned::new(context.session_dir(), &manifest.source, &planned);
    scanned.counts = counts;
    scanned.quests = quests.len();
    scanned.added = quests.len();
    scanned.words = file.words().map(str::to_owned);
    scanned.carried = carried;
    scanned.reviewers = manifest.kind.reviewers.is_some();
    Ok(scanned)
}

/// Says how many sites that the list names are none that an answer can be held against.
fn note_unusable_sites(context: &mut Context, quests: &[Quest]) {
    let unusable = quests
        .iter()
        .filter(|quest| quest.anchor.is_some() && !is_anchored(quest));
    let Some(first) = unusable.clone().next() else {
        return;
    };
    let count = u32::try_from(unusable.count()).unwrap_or(u32::MAX);
    context.output.note(&format!(
        "{} with a site that the gate cannot hold answers against (the first is {} in row \
         {}); judged as if none were known",
        plural(count, "quest"),
        first.key,
        first.rows.first().copied().unwrap_or_default()
    ));
}

fn frozen(args: &ScanArgs, kind: &ScanKind) -> Result<Frozen> {
    let operator_key = args
        .operator_key
        .as_deref()
        .map(|path| person::signing_key(path).map(|key| key.public()))
        .transpose()?;
    Ok(Frozen {
        max_tries: args
            .max_tries
            .or(kind.max_tries()?)
            .unwrap_or(DEFAULT_TRIES),
        pause_after: args.pause_after,
        lease: args.lease,
        operator_key,
        gate: kind.settings(&args.gate, &args.network)?,
        network: serde_json::to_value(args.network.settings()?)?,
    })
}

fn empty(list: &str, key: &[String], counts: ListingCounts) -> anyhow::Error {
    anyhow::anyhow!(
        "{list}: there is nothing to do: {} read, and none has a text in {}; name another column \
         with --col",
        plural(counts.rows, "row"),
        key.join(", ")
    )
}
