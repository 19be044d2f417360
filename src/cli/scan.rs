//! `comail scan`: makes a session from a list, or adds a newer list to one.

pub(super) mod reply;
mod update;

use std::cell::OnceCell;
use std::fs;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result};
use clap::Args;
use serde_json::Value;

use self::reply::{CarriedOver, Scanned};
use super::context::Context;
use super::exit::{Exit, UsageError, found, refuse};
use super::progress::{self, WorkBar};
use super::prove::{freeze, proof_of, refuse_unproven};
use super::run::agents_of;
use super::settings::Settings;
use super::settings::gate::GateTable;
use super::settings::network::NetworkTable;
use super::settings::scan::ScanTable;
use super::shell_line::ShellLine;
use super::source_list::{ListArgs, ListFile, PlannedList};
use super::world_file::recorded_world;
use super::{context, person};
use crate::base::text::{fold, named, plural};
use crate::gate::Gate as _;
use crate::gate::GateSettings;
use crate::gate::email::email_gate;
use crate::judge;
use crate::judge::quest_file::{Definition, Frozen as FrozenFile};
use crate::judge::{Carrier, FreezingPanel, HostQueue, JudgeWorld, JudgedJob, Next};
use crate::quest::file::Mistake;
use crate::quest::{Listing, Quest, email, prompt};
use crate::session;
use crate::session::{
    FORMAT, Forgetting, Frozen, KindRecord, Manifest, NewSession, Session, WorldKind,
};
use crate::table::digest;
use crate::world::fetch::settings::NetworkSettings;

/// Make a session of quests from a list
///
/// Reads .xlsx, .xlsm, .xls, .ods, .csv, .tsv, .jsonl and plain lines. With --quest, it can also read
/// a directory. Rows without a key are skipped, and rows with the same key become one quest. An existing
/// session is never replaced: --update adds new rows to it, and --carry makes another session that takes
/// over what an earlier one has proven.
#[derive(Debug, Default, Args)]
pub struct ScanArgs {
    #[command(flatten)]
    pub(super) list: ListArgs,

    #[command(flatten)]
    pub(super) kind: KindArgs,

    /// Add the new rows of the list to the existing session
    // The session keeps what it froze, so that no flag may claim to change it.
    #[arg(long, help_heading = SESSION,
          conflicts_with_all = ["max_tries", "quest", "reviewers", "carry", "world", "set"])]
    pub(super) update: bool,

    /// Number of tries for each quest [default: set by the quest file, or 3]
    #[arg(long, value_name = "N", help_heading = SESSION)]
    max_tries: Option<NonZeroU32>,

    /// The operator's key file, which `resume`, `review` and --update then require
    #[arg(long, value_name = "FILE", help_heading = SESSION)]
    operator_key: Option<PathBuf>,

    /// Carry over the PASSes of this earlier session for quests with the same key and site
    ///
    /// Each is judged again from its evidence, with the new session's settings. Other quests
    /// start with all their tries. The earlier session is not changed.
    #[arg(long, value_name = "SESSION", value_hint = clap::ValueHint::DirPath,
          help_heading = SESSION)]
    carry: Option<PathBuf>,

    /// Judge by the recorded web pages and DNS records in this directory, for practice; `comail demo
    /// --world` writes one
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath, help_heading = SESSION)]
    world: Option<PathBuf>,

    /// Change a rarely used setting, such as network.rate=0.5 (repeatable)
    ///
    /// `comail config --example` lists the settings of the network, the gate, claims and pauses. Your
    /// configuration file can change them too. They are frozen with the session.
    #[arg(long, value_name = "TABLE.KEY=VALUE", help_heading = SESSION)]
    set: Vec<String>,
}

const SESSION: &str = "The session";

const ROLE_ONLY: &str = "gate.role-only";

const RECHECK: &str = "scan.recheck";

const GENERATOR_MODEL: &str = "scan.generator-model";

/// How many of the files are named that a tree leaves out.
const MAX_LEFT_OUT: usize = 10;

pub(super) const DEFAULT_MAX_TRIES: NonZeroU32 = NonZeroU32::new(3).unwrap();

pub(super) fn run(context: &mut Context, args: &ScanArgs) -> Result<Exit> {
    // Handled so that an incomplete session is removed.
    progress::handle_ctrl_c();
    let scanned = if args.update {
        update::run(context, &args.list, args.operator_key.as_deref())?
    } else {
        create(context, args, |context| args.kind.freeze(context))?
    };
    scanned.show(context);
    Ok(Exit::Done)
}

/// The settings of the command line and of the user's file that the session freezes.
fn frozen(
    context: &mut Context,
    args: &ScanArgs,
    set: &Settings,
    definition: Option<&Definition>,
    file_tries: Option<NonZeroU32>,
) -> Result<Frozen> {
    let (further, gate): (ScanTable, GateTable) = (set.table()?, set.table()?);
    let looks_at_pages = match definition {
        None => true,
        Some(definition) => definition.gate(GateSettings::default())?.looks_at_pages(),
    };
    // A browser cannot load the pages of a recorded world.
    let may_render = args.world.is_none() && looks_at_pages;
    let mut note = |text: &str| context.output.note(text);
    let network = set.table::<NetworkTable>()?;
    let network = network.settings(may_render, &mut note)?;
    let key = args.operator_key.as_deref().map(person::signing_key);
    Ok(Frozen {
        max_tries: args.max_tries.or(file_tries).unwrap_or(DEFAULT_MAX_TRIES),
        pause_after: further.pause_after,
        lease: further.lease,
        operator_key: key.transpose()?.map(|key| key.public()),
        gate: gate_settings(definition, &gate, &network)?,
        network: serde_json::to_value(network)?,
        world: args.world.as_deref().map(recorded_world).transpose()?,
    })
}

/// Notes what is in the tree's directory and cannot be part of the tree, or of its branch.
fn note_left_out(context: &mut Context, quest_file: &FrozenFile) {
    let left_out = quest_file.listing.odd_texts();
    if let Some(left_out) = named(&left_out, MAX_LEFT_OUT) {
        let note = format!("not part of the tree: {left_out}");
        context.output.note(&note);
    }
    let tree = quest_file.definition.tree.as_ref();
    let repository = tree.and_then(|tree| tree.repository.as_ref());
    let nested = repository.map(|it| it.nested_texts(&quest_file.listing));
    if let Some(nested) = named(&nested.unwrap_or_default(), MAX_LEFT_OUT) {
        let note = format!(
            "repositories of their own, whose files will not be on the branch of accepted answers, \
             but in what `comail tree patch` writes: {nested}"
        );
        context.output.note(&note);
    }
}

/// Makes a session of the quest kind that `freeze` freezes.
pub(super) fn create(
    context: &mut Context,
    args: &ScanArgs,
    freeze: impl FnOnce(&Context) -> Result<Option<FrozenFile>>,
) -> Result<Scanned> {
    // Checks without the list come first: a mistyped flag should not wait for a million rows.
    let set = args.settings(context)?;
    let further: ScanTable = set.table()?;
    let carry = Carry {
        from: args.carry.as_deref(),
        recheck: further.recheck,
    };
    carry.refuse_same(&context.dir)?;
    session::refuse_existing(&context.dir)?;
    let quest_file = freeze(context)?;
    let definition = quest_file.as_ref().map(|frozen| &frozen.definition);
    let record = args.kind.record(definition, further.generator_model)?;
    if let Some(quest_file) = &quest_file {
        note_left_out(context, quest_file);
    }
    if record.reviewers.is_none() && set.are_given(GENERATOR_MODEL) {
        return refuse(format!(
            "--set {GENERATOR_MODEL} names a model that may not review, but there are no reviewers"
        ));
    }
    let table = definition.map(Definition::file).transpose()?;
    let file_tries = table.as_ref().and_then(|table| table.max_tries);
    let frozen = frozen(context, args, &set, definition, file_tries)?;
    if let Some(definition) = definition {
        agents_of(definition, frozen.max_tries.get())?;
    }
    let input = table.as_ref().map(|table| &table.input);
    let unit = match &table {
        Some(table) => table.unit.clone(),
        None => email::kind().unit.into_owned(),
    };
    let file = ListFile::find(&args.list, None, definition, &context.dir)?;
    let path = file.path();
    let sha256 = digest(path)?;
    let plan = args.list.plan(&file, None, input, &unit)?;
    let mut planned = plan.open(path)?;
    let mut listing = Listing::default();
    planned.read_into(&mut listing)?;
    let listed = listing.finish()?;
    let (quests, counts) = (&listed.quests, listed.counts);
    if quests.is_empty() {
        return refuse_empty(&file.place, counts.rows, &planned);
    }
    reply::check_sites(context, quests, planned.site_label())?;
    let without_site = definition.is_none() && planned.site_label().is_none();
    let sites = without_site
        .then(|| planned.column_of_sites())
        .transpose()?;
    if let Some(definition) = definition {
        check_prompts(definition, quests)?;
    }
    let old = carry.open(context)?;
    let mut forgotten = Vec::new();
    if let Some(old) = &old {
        // Forgotten addresses must not come back in the new session either.
        let forgetting = old.forgetting();
        nothing_forgotten(&forgetting, path)?;
        forgotten = forgetting.suppressed().to_vec();
    }
    let created = context::now();
    let manifest = Manifest {
        format: FORMAT,
        comail: env!("CARGO_PKG_VERSION").to_owned(),
        created,
        kind: record,
        source: plan.record(&file.place, sha256, planned.list.format(), 1)?,
        frozen,
        forgotten,
    };
    let watch = context.watch();
    let new = NewSession {
        manifest: &manifest,
        source: path,
        quests,
        now: created,
        stock: &|store| match &quest_file {
            None => Ok(()),
            Some(frozen) => frozen.stock(store),
        },
        watch: watch.as_ref(),
    };
    let carried = if let Some(old) = &old {
        Some(carry.create(context, old, &new)?)
    } else {
        session::create(&context.dir, &new, &mut context::clock())?;
        None
    };
    if let Some(column) = sites.flatten() {
        note_sites(context, &column);
    }
    Ok(Scanned {
        counts,
        quests: quests.len(),
        added: quests.len(),
        first_keys: reply::first_keys(quests),
        merged: reply::merged_rows(quests),
        carried,
        reviewers: manifest.kind.reviewers.is_some(),
        agents: agents_in(definition),
        world: manifest.frozen.world_kind(),
        ..Scanned::new(context.place(), &manifest.source, &planned, unit)
    })
}

fn agents_in(definition: Option<&Definition>) -> usize {
    let file = definition.and_then(|it| it.file().ok());
    file.map_or(0, |file| file.agents.len())
}

/// Notes a column of websites that no flag named.
fn note_sites(context: &mut Context, column: &str) {
    let add = ShellLine::comail("scan --update", context.named_session.as_deref());
    let add = add.flag("site-col", column).into_text();
    context.output.note(&format!(
        "the answers are compared with no known sites, but the column `{column}` holds websites; \
         `{add}` adds it until the first submission is judged"
    ));
}

fn refuse_empty<T>(list: &Path, rows: u32, planned: &PlannedList) -> Result<T> {
    refuse(format!(
        "{}: none of {} has text in {}; name another column with --col",
        list.display(),
        plural(rows, "row"),
        planned.key_labels().join(", ")
    ))
}

impl ScanArgs {
    /// The arguments for a list whose columns the quest file names.
    pub(super) fn of_list(list: &Path, max_tries: NonZeroU32) -> Self {
        Self {
            list: ListArgs::of(list),
            max_tries: Some(max_tries),
            ..Self::default()
        }
    }

    /// The settings of the user's file and `--set` that apply to this scan.
    fn settings(&self, context: &mut Context) -> Result<Settings> {
        let mut settings = context.settings("scan", &self.set)?;
        if self.carry.is_none() && settings.are_given(RECHECK) {
            return refuse(format!("--set {RECHECK}: there is no --carry"));
        }
        if self.kind.quest.is_some() {
            if settings.are_given(ROLE_ONLY) {
                return refuse(format!(
                    "--set {ROLE_ONLY}: it applies only to the e-mail quest"
                ));
            }
            // The user's file is about the rules of the e-mail quest.
            settings.drop_of_file("gate");
        }
        if let Some((keys, path)) = settings.of_file() {
            let (keys, path) = (keys.join(", "), path.display());
            let note = format!("set in {path}, and frozen with the session: {keys}");
            context.output.note(&note);
        }
        Ok(settings)
    }
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
    refuse(format!(
        "{} contains an address that this session must forget; remove it from the list first",
        list.display()
    ))
}

/// The flags of `scan` that choose the quest kind.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Quest kind, frozen for the session")]
pub struct KindArgs {
    /// The quest file that defines the quests [default: find e-mail addresses]
    #[arg(long, value_name = "FILE", conflicts_with = "carry")]
    pub(super) quest: Option<PathBuf>,

    /// The directory tree that the quests are about [default: set by the quest file, or the working
    /// directory]
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath, requires = "quest")]
    pub(super) tree: Option<PathBuf>,

    /// The file that defines the reviewing models, which can only raise doubts [default: set by the
    /// quest file]
    #[arg(long, value_name = "FILE")]
    reviewers: Option<PathBuf>,
}

impl KindArgs {
    /// Freezes the quest file, and runs its controls; none without a quest file.
    pub(super) fn freeze(&self, context: &Context) -> Result<Option<FrozenFile>> {
        let Some(path) = &self.quest else {
            return Ok(None);
        };
        let frozen = freeze(path, self.tree.as_deref(), &context.dir)?;
        let definition = &frozen.definition;
        refuse_unproven(&proof_of(definition, &context.dir)?, &definition.path)?;
        Ok(Some(frozen))
    }

    /// The session's record of the kind, with the reviewers.
    fn record(
        &self,
        definition: Option<&Definition>,
        generator_model: Option<String>,
    ) -> Result<KindRecord> {
        let path = self.reviewers.as_deref().map(std::path::absolute);
        let path = path.transpose()?;
        let text = path.as_deref().map(reviewers).transpose()?;
        let seating = FreezingPanel {
            file: path.as_deref().zip(text),
            generator_model,
            definition,
            scratch: std::env::temp_dir(),
            variables: &|name| std::env::var_os(name),
        };
        let panel = seating.freeze();
        let panel = panel.map_err(|faulty| UsageError(faulty.to_string()))?;
        Ok(KindRecord {
            reviewers: panel.map(serde_json::to_value).transpose()?,
            ..match definition {
                None => judge::email_record(),
                Some(definition) => definition.record()?,
            }
        })
    }
}

fn reviewers(path: &Path) -> Result<String> {
    let bytes = std::fs::read(path)
        .with_context(|| format!("cannot read the reviewers {}", path.display()))?;
    String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let start = String::from_utf8_lossy(&error.as_bytes()[..good]).into_owned();
        let mistake = Mistake::at(&start, &(good..good), "it is not UTF-8");
        UsageError(format!("{}:{mistake}", path.display())).into()
    })
}

fn gate_settings(
    definition: Option<&Definition>,
    gate: &GateTable,
    network: &NetworkSettings,
) -> Result<Value> {
    let rules = match definition {
        None => email_gate(GateSettings::default()).rules(),
        Some(definition) => definition.gate(GateSettings::default())?.rules(),
    };
    Ok(serde_json::to_value(GateSettings {
        role_only: gate.role_only,
        robots: network.robots,
        allow_net: network.allow_net.clone(),
        levels: gate.known_levels(&rules)?,
    })?)
}

/// Renders the prompt of every quest once, so that a faulty one is found now. Refuses an example that
/// answers one of the quests, because every agent reads the example.
pub(super) fn check_prompts(definition: &Definition, quests: &[Quest]) -> Result<()> {
    let file = definition.file()?;
    let kind = &file.kind();
    // To an agent, a name in other case or with invisible characters is the same.
    let example = kind.example_key().map(|key| fold(key.as_str()));
    let bar = WorkBar::of("rendering the prompts", quests.len() as u64);
    for quest in quests {
        bar.step()?;
        let (id, key) = (quest.id, &quest.key);
        if example.as_deref() == Some(&*fold(key.as_str())) {
            let what = format!("the example answers quest {id} of the list, `{key}`");
            let place = file.spot_in("example", "key");
            let mistake = definition.faulty(Mistake::at(file.text(), &place, what));
            let hint = "choose a key that is not in the list, and fields that answer no quest";
            return Err(UsageError(mistake.to_string()).hint(hint).into());
        }
        prompt::render(kind, quest).map_err(|error| {
            let row = quest.rows.first().copied().unwrap_or_default();
            UsageError(format!(
                "row {row} ({key}): the prompt cannot be rendered: {error}"
            ))
        })?;
    }
    Ok(())
}

/// How earlier PASSes are taken over.
struct Carry<'a> {
    from: Option<&'a Path>,
    /// Whether all evidence is fetched again.
    recheck: bool,
}

impl Carry<'_> {
    /// Refuses an earlier session whose directory contains the new one.
    pub(super) fn refuse_same(&self, new: &Path) -> Result<()> {
        let old = self.from.map(fs::canonicalize);
        let Some(Ok(old)) = old else {
            return Ok(());
        };
        // The new directory may not exist yet; its nearest ancestor that does decides.
        let new = std::path::absolute(new)?;
        let place = new
            .ancestors()
            .find_map(|place| fs::canonicalize(place).ok());
        if place.is_some_and(|place| place.starts_with(&old)) {
            return refuse(
                "PASSes are carried into another session: name its directory with --session",
            );
        }
        Ok(())
    }

    /// Reads the earlier session, if one is named. Damage in it is a finding.
    fn open(&self, context: &Context) -> Result<Option<Session>> {
        let open = |dir| found(Session::read_only(dir, context.watch().as_ref()));
        self.from.map(open).transpose()
    }

    fn create(
        &self,
        context: &Context,
        old: &Session,
        new: &NewSession<'_>,
    ) -> Result<CarriedOver> {
        let kind = &old.manifest().kind;
        // PASSes of a quest file do not prove addresses.
        if kind.definition.is_some() {
            return refuse(format!(
                "the earlier session has quests of a quest file, `{}`, and only PASSes of the \
                 e-mail quest can be carried",
                kind.name
            ));
        }
        if old.manifest().frozen.world != new.manifest.frozen.world {
            return refuse(match old.manifest().frozen.world_kind() {
                WorldKind::Recorded => {
                    "the earlier session was judged by a recorded world, which says nothing about \
                     real sites: its PASSes are carried only into a session with the same --world"
                }
                WorldKind::Live => {
                    "the earlier session was judged by the network: its PASSes are carried only \
                     into a session without --world"
                }
            });
        }
        let before = judge::network_of(old.manifest())?;
        // Evidence from another resolver or proxy proves nothing about the ones of this session.
        if !self.recheck && !before.asks_as(&judge::network_of(new.manifest)?) {
            return refuse(
                "the earlier session has other network settings (dns-server, proxy, ca-cert, \
                 allow-net): use the same ones, or --set scan.recheck=true to judge its PASSes \
                 with the new settings",
            );
        }
        let mut carrier = Carrier::new(old, new.quests, new.manifest)?;
        if self.recheck {
            let judged = look(&mut carrier, new.manifest)?;
            carrier.by_world(judged);
        }
        // Shown only after the quests are written, which have their own bar.
        let (bar, left) = (OnceCell::new(), carrier.left());
        let brought = carrier.by_ref().map(|brought| -> Result<_> {
            bar.get_or_init(|| WorkBar::of("judging again", left as u64))
                .count();
            progress::go_on()?;
            Ok(brought?)
        });
        session::create_carrying(&context.dir, new, brought, &mut context::clock())?;
        Ok(CarriedOver {
            from: old.dir().display().to_string(),
            counts: carrier.counts().clone(),
        })
    }
}

/// Judges the PASSes again by the current world. Nothing is on disk yet, so an interrupt leaves no
/// files behind.
fn look(carrier: &mut Carrier<'_>, manifest: &Manifest) -> Result<Vec<JudgedJob>> {
    let jobs = carrier.jobs()?;
    let mut judged = Vec::with_capacity(jobs.len());
    let bar = WorkBar::of("judging again", jobs.len() as u64);
    let world = JudgeWorld::without_session(manifest)?;
    let mut queue = HostQueue::start(jobs, manifest, Arc::new(world))?;
    while let Next::Judged(one) = queue.next(&progress::is_asked)? {
        judged.push(*one);
        bar.count();
    }
    progress::go_on()?;
    Ok(judged)
}
