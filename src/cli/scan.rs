//! `comail scan`: makes a session from a list, or adds a newer list to one.

use std::num::NonZeroU32;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::Args;
use minijinja::context;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::context::Context;
use super::exit::{Exit, UsageError};
use super::gate_args::{GateArgs, NetworkArgs};
use super::list::{ListArgs, ListFile, ListPlan, PlannedList, known_quests};
use super::progress::Interrupt;
use super::scan_carry::{CarriedOver, CarryArgs};
use super::scan_kind::{KindArgs, gate_settings, made_up};
use super::shell_line::ShellLine;
use super::{context, person};
use crate::base::text::plural;
use crate::gate::email::site::is_anchored;
use crate::judge::quest_file::Definition;
use crate::quest::{Listed, Listing, ListingCounts, Quests as _, email};
use crate::session::{
    Appended, FORMAT, Forgetting, Frozen, Lease, Manifest, NewSession, SourceRecord,
};
use crate::table::digest;
use crate::{judge, session};

/// Make a session of quests from a list
///
/// Reads .xlsx, .xlsm, .xls, .ods, .csv, .tsv, .jsonl and plain lines. With --quest, it can also read
/// a directory or the output of a command in the quest file. Rows without a key are skipped, and rows
/// with the same key become one quest. An existing session is never replaced: --update adds new rows
/// to it, and --carry makes another session that takes over what an earlier one has proven.
#[derive(Debug, Args)]
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

const DEFAULT_MAX_TRIES: NonZeroU32 = NonZeroU32::new(3).unwrap();

pub(super) fn run(context: &mut Context, args: &ScanArgs) -> Result<Exit> {
    // A session that is half made is removed.
    Interrupt::heed();
    let scanned = if args.update {
        update(context, &args.list, args.operator_key.as_deref())?
    } else {
        scan(context, args)?
    };
    let next = ShellLine::comail("next", context.named_session());
    // The session is made; a reader who has gone does not change how it ended.
    let _ = context.output.show(&scanned, |paper, scan| {
        let values = context! {
            scan,
            source => scan.words.as_ref().unwrap_or(&scan.source),
            keyed => scan.keyed,
            reviewers => scan.reviewers,
            next => next.text(),
        };
        paper.template(include_str!("text/scan.txt"), values);
    });
    Ok(Exit::Done)
}

fn scan(context: &mut Context, args: &ScanArgs) -> Result<Scanned> {
    // What needs no list comes first: a mistyped flag should not wait for a million rows.
    args.carry.refuse_same(context.session_dir())?;
    session::refuse_existing(context.session_dir())?;
    let quest_file = args.kind.freeze(context)?;
    let definition = quest_file.as_ref().map(|frozen| &frozen.definition);
    let record = args.kind.record(definition)?;
    let settings = gate_settings(definition, &args.gate, &args.network)?;
    let place = definition.map(|definition| Path::new(&definition.path));
    let table = definition.map(Definition::file).transpose()?;
    let input = table.as_ref().map(|table| table.input.clone());
    let unit = table.as_ref().map(|table| table.unit.clone());
    let unit = unit.unwrap_or_else(|| email::kind().unit.into_owned());
    let max_tries = table.as_ref().and_then(|table| table.max_tries);
    let frozen = frozen(args, settings, max_tries)?;
    let file = ListFile::find(&args.list, input.as_ref(), place)?;
    let path = file.path();
    let sha256 = digest(path)?;
    let plan = args.list.plan(&file, None, input.as_ref(), &unit)?;
    let mut planned = plan.open(path)?;
    let mut listing = Listing::new();
    planned.read_into(&mut listing)?;
    let quests = listing.finish()?;
    let counts = quests.counts();
    if quests.count() == 0 {
        anyhow::bail!(
            "{}: none of {} has text in {}; name another column with --col",
            file.shown(),
            plural(counts.rows, "row"),
            planned.key_labels().join(", ")
        );
    }
    if let Some(definition) = definition {
        made_up(&definition.kind()?, &quests)?;
    }
    let carry = args.carry.open(context)?;
    let forgotten = carry.as_ref().map(|carry| carry.forgotten(path));
    let created = context::now();
    let manifest = Manifest {
        format: FORMAT,
        comail: env!("CARGO_PKG_VERSION").to_owned(),
        created,
        kind: record,
        source: plan.record(&file.place, sha256, planned.list.format(), 1)?,
        frozen,
        forgotten: forgotten.transpose()?.unwrap_or_default(),
    };
    let watch = context.watch();
    let new = NewSession {
        manifest: &manifest,
        source: path,
        quests: &quests,
        now: created,
        stock: &|store| match &quest_file {
            None => Ok(()),
            Some(frozen) => frozen.stock(store),
        },
        watch: watch.as_ref(),
    };
    let carried = match carry {
        Some(carry) => Some(carry.create(context, &new)?),
        None => {
            session::create(context.session_dir(), &new, &mut context::clock())?;
            None
        }
    };
    note_unusable_sites(context, &quests)?;
    Ok(Scanned {
        counts,
        quests: quests.count(),
        added: quests.count(),
        carried,
        reviewers: manifest.kind.reviewers.is_some(),
        ..Scanned::new(context.session_dir(), &manifest.source, &planned, &file)
    })
}

/// Notes how many sites of the list are no domains, so that no answer can be compared with them.
fn note_unusable_sites(context: &mut Context, quests: &Listed) -> Result<()> {
    let (mut count, mut first) = (0_u32, None);
    quests.each(&mut |quest| {
        if quest.anchor.is_some() && !is_anchored(&quest) {
            count += 1;
            first.get_or_insert(quest);
        }
        ControlFlow::Continue(())
    })?;
    if let Some(first) = first {
        context.output.note(&format!(
            "{} with a site that is not a valid domain (first: {} in row {}); their answers are \
             judged as if no site were known",
            plural(count, "quest"),
            first.key,
            first.rows.first().copied().unwrap_or_default()
        ));
    }
    Ok(())
}

fn frozen(args: &ScanArgs, gate: Value, max_tries: Option<NonZeroU32>) -> Result<Frozen> {
    let key = args.operator_key.as_deref();
    let key = key.map(|path| person::signing_key(path).map(|key| key.public()));
    let max_tries = args.max_tries.or(max_tries);
    Ok(Frozen {
        max_tries: max_tries.unwrap_or(DEFAULT_MAX_TRIES),
        pause_after: args.pause_after,
        lease: args.lease,
        operator_key: key.transpose()?,
        gate,
        network: serde_json::to_value(args.network.settings()?)?,
    })
}

/// The JSON form of `scan`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Scanned {
    session: String,
    source: String,
    /// What the list is in words, if its path does not say.
    #[serde(skip)]
    words: Option<String>,
    /// The sheet that was read, of a workbook.
    sheet: Option<String>,
    /// The row of headings, if there is one.
    header_row: Option<u32>,
    /// Whether keys of objects name the columns.
    #[serde(skip)]
    keyed: bool,
    /// What the columns of the key are called.
    key: Vec<String>,
    #[serde(flatten)]
    counts: ListingCounts,
    /// How many quests the session has.
    quests: usize,
    /// How many of them are new.
    added: usize,
    /// How many have no row in this list.
    gone: usize,
    updated: bool,
    /// Whether there are reviewers, none of whom was asked.
    #[serde(skip)]
    reviewers: bool,
    /// What an earlier session brought.
    carried: Option<CarriedOver>,
}

impl Scanned {
    fn new(session: &Path, source: &SourceRecord, planned: &PlannedList, file: &ListFile) -> Self {
        let list = &planned.list;
        let keyed = list.keys().is_some();
        Self {
            session: session.display().to_string(),
            source: source.path.clone(),
            words: file.words.clone(),
            sheet: list.sheet().map(str::to_owned),
            header_row: list.header().filter(|_| !keyed).map(|header| header.row),
            keyed,
            key: planned.key_labels(),
            counts: ListingCounts::default(),
            quests: 0,
            added: 0,
            gone: 0,
            updated: false,
            reviewers: false,
            carried: None,
        }
    }
}

/// Adds what is new in the list. If the session froze an operator's key, that key is required.
fn update(context: &mut Context, args: &ListArgs, operator_key: Option<&Path>) -> Result<Scanned> {
    let mut session = context.open_session()?;
    person::authority(&session, operator_key)?;
    let definition = Definition::of(session.manifest())?;
    let input = definition.as_ref().map(Definition::file);
    let input = input.transpose()?.map(|file| file.input.clone());
    let unit = judge::kind_of(session.manifest())?.unit;
    let kind = definition.as_ref().map(Definition::kind).transpose()?;
    let path = definition.as_ref().map(|it| Path::new(&it.path));
    let file = ListFile::find(args, input.as_ref(), path)?;
    let before = ListPlan::of(&session.source())?;
    let sha256 = digest(file.path())?;
    nothing_forgotten(&session.forgetting(), file.path())?;
    let plan = args.plan(&file, Some(&before), None, &unit)?;
    let mut planned = plan.open(file.path())?;
    let mut scanned = None;
    let mut sites = 0_u32;
    let dir = context.session_dir().to_owned();
    let appended = session::extend(
        &mut session,
        file.path(),
        &mut context::clock(),
        |session| -> Result<_> {
            let board = session.projection()?;
            let mut listing = known_quests(session, &board)?;
            planned.read_into(&mut listing)?;
            let quests = listing.finish()?;
            let new = quests.added()?;
            if let Some(kind) = &kind {
                made_up(kind, &new)?;
            }
            let lists = board.totals().extensions.len() + 1;
            let record = plan.record(&file.place, sha256, planned.list.format(), lists + 1)?;
            sites = u32::try_from(quests.newly_anchored()).unwrap_or(u32::MAX);
            scanned = Some(Scanned {
                counts: quests.counts(),
                quests: quests.count(),
                added: new.len(),
                gone: quests.without_row(),
                updated: true,
                ..Scanned::new(&dir, &record, &planned, &file)
            });
            Ok((record, new))
        },
    )?;
    context.report_repairs(&session);
    if let Appended::Refused(error) = appended {
        return Err(error);
    }
    if sites > 0 {
        context.output.note(&format!(
            "the list now names a site for {} scanned without one; the gate still \
             judges without it",
            plural(sites, "quest")
        ));
    }
    scanned.context("the list was not read")
}

/// Refuses a list that brings back an address that the session has to forget.
pub(super) fn nothing_forgotten(forgetting: &Forgetting, list: &Path) -> Result<()> {
    if forgetting.is_empty() {
        return Ok(());
    }
    let bytes = std::fs::read(list).with_context(|| list.display().to_string())?;
    if !judge::forgotten::brings_back(forgetting, &bytes) {
        return Ok(());
    }
    Err(UsageError(format!(
        "{} contains an address that this session must forget; remove it from the list first",
        list.display()
    ))
    .into())
}
