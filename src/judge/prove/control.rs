//! Runs the controls of a quest file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use tempfile::TempDir;

use crate::base::Digest;
use crate::gate::checks::FileGate;
use crate::gate::checks::outside::Gathered;
use crate::gate::checks::settings::FileSettings;
use crate::gate::checks::takes::taken_by;
use crate::gate::{Case, Gate, Judgement, Level, doubts};
use crate::judge::final_gate::alteration;
use crate::judge::panel::{Calibration, Members, Panel, SessionGate, Uncalibrated};
use crate::judge::prove::{Lacking, Outcome, Proof, email, unfired};
use crate::judge::quest_file::{BenchError, Definition, Faulty, Frozen};
use crate::judge::recorded::record;
use crate::judge::{FrozenPanel, JudgeError};
use crate::quest::email::TEXT;
use crate::quest::file::{ControlTable, FinalControlTable, NegativeTable, QuestFile};
use crate::quest::{Anchor, EmptyKey, FieldName, Key, Quest, QuestId, Shown, Submission, Verdict};
use crate::session::Manifest;
use crate::world::evidence::recorded::{BadWorld, RecordedWorld};
use crate::world::sandbox::{Alteration, Bench, Contents, LiveWorkshop, Workshop};
use crate::world::tree::{
    BadGlob, Entry, Ignored, Listing, Snapshot, TreeError, TreePath, take_baseline,
};
use crate::world::{UniqueValue, UniquenessIndex, World};

/// A world in which there is nothing.
pub(super) const NO_WORLD: &str = r#"{"pages": {}}"#;

/// The tree over which controls run that name none of their own.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    root: Option<PathBuf>,
    ignore: Vec<String>,
}

impl Tree {
    #[must_use]
    pub fn of(frozen: &Frozen) -> Self {
        Self::of_definition(&frozen.definition)
    }

    #[must_use]
    pub fn of_definition(definition: &Definition) -> Self {
        let tree = definition.tree.as_ref();
        Self {
            root: tree.map(|tree| tree.root.clone()),
            ignore: tree.map(|tree| tree.ignore.clone()).unwrap_or_default(),
        }
    }
}

/// Why controls cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum ProveError {
    #[error(transparent)]
    Faulty(#[from] Faulty),
    /// Nothing can be run for it.
    #[error(transparent)]
    Bench(#[from] BenchError),
    /// A glob of the tree's is none.
    #[error(transparent)]
    Glob(#[from] BadGlob),
    /// A control's tree cannot be taken.
    #[error("control `{control}`: its tree")]
    Tree {
        control: String,
        #[source]
        source: TreeError,
    },
    /// A control's recorded world cannot be read.
    #[error("control `{control}`: cannot read {}", path.display())]
    WorldFile {
        control: String,
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// A control's recorded world is none.
    #[error("control `{control}`")]
    World {
        control: String,
        #[source]
        source: BadWorld,
    },
    /// A control has no key.
    #[error("control `{control}`")]
    Key {
        control: String,
        #[source]
        source: EmptyKey,
    },
    /// The gate's own side failed while it looked: of the gate that shows nothing.
    #[error("control `{control}`: the gate could not run: {why}")]
    Workshop { control: String, why: String },
    /// A judgement cannot be written as JSON.
    #[error("cannot write a judgement as JSON")]
    Json(#[from] serde_json::Error),
}

/// Runs every control of `definition`: pages and DNS from recorded worlds, commands for real, over
/// copies of the trees.
pub fn prove(definition: &Definition, tree: &Tree) -> Result<Proof, ProveError> {
    let file = definition.file()?;
    let mut rules = definition.gate(FileSettings::default())?.rules();
    if file.panel.is_some() {
        rules.extend(doubts::rules());
    }
    let mut outcomes = Vec::with_capacity(file.controls.len());
    for control in &file.controls {
        let judgement = judge(definition, tree, control)?;
        outcomes.push(Outcome::of(control, judgement));
    }
    let mut proof = Proof::of(outcomes, &rules, file.open);
    let shown = prove_final(definition, tree)?;
    proof.lacking.extend(shown.lacking);
    proof.controls.extend(shown.outcomes);
    Ok(proof)
}

fn judge(
    definition: &Definition,
    tree: &Tree,
    control: &ControlTable,
) -> Result<Judgement, ProveError> {
    let scene = Scene::of(definition, tree, control)?;
    let gate = gate_for(definition, control)?;
    let workshop = LiveWorkshop::new(&scene.bench);
    judged(control, gate.as_ref(), &scene.world, &workshop)
}

pub(super) struct Scene {
    pub(super) bench: Bench,
    pub(super) world: RecordedWorld,
    _stand_in: Option<StandIn>,
}

impl Scene {
    pub(super) fn of(
        definition: &Definition,
        tree: &Tree,
        control: &ControlTable,
    ) -> Result<Self, ProveError> {
        let here = definition.here();
        let own = control.tree.as_ref().map(|dir| here.join(dir));
        let stand_in = match own.or(tree.root.clone()) {
            Some(root) if definition.tree.is_some() => {
                let writes = control.writes.as_ref().map(|dir| here.join(dir));
                let ignored = Ignored::new(&tree.ignore)?;
                let made = StandIn::of(&root, &ignored, writes.as_deref(), &definition.scratch);
                let control = control.name.clone();
                Some(made.map_err(|source| ProveError::Tree { control, source })?)
            }
            _ => None,
        };
        let services = definition.services()?;
        let mut bench = if let Some(made) = &stand_in {
            definition.bench(services, made.listing.clone(), made.load(), Vec::new())?
        } else {
            let nothing = Box::new(|_| Ok(None));
            definition.bench(services, Listing::default(), nothing, Vec::new())?
        };
        bench.root = stand_in.as_ref().map(|made| made.root().to_owned());
        Ok(Self {
            bench,
            world: world(control, here)?,
            _stand_in: stand_in,
        })
    }
}

fn gate_for(definition: &Definition, control: &ControlTable) -> Result<Box<dyn Gate>, ProveError> {
    let settings = settings(control);
    let robots = settings.robots;
    let gate = Box::new(definition.gate(settings)?);
    let file = definition.file()?;
    let (Some(script), Some(panel)) = (&control.reviewed, &file.panel) else {
        return Ok(gate);
    };
    let members = Members::new(panel, &definition.gathered);
    let members = members.map_err(|mistake| Faulty {
        path: definition.path.clone(),
        mistake,
    })?;
    let panel = Panel {
        members,
        robots,
        script: Some(script.clone()),
    };
    Ok(Box::new(SessionGate::new(gate, Some(panel))))
}

fn world(control: &ControlTable, here: &Path) -> Result<RecordedWorld, ProveError> {
    let text = match &control.world {
        None => NO_WORLD.to_owned(),
        Some(name) => {
            let path = here.join(name);
            std::fs::read_to_string(&path).map_err(|source| ProveError::WorldFile {
                control: control.name.clone(),
                path,
                source,
            })?
        }
    };
    RecordedWorld::from_json(&text).map_err(|source| ProveError::World {
        control: control.name.clone(),
        source,
    })
}

pub(super) fn settings(control: &ControlTable) -> FileSettings {
    FileSettings {
        role_only: control.role_only,
        ..FileSettings::default()
    }
}

pub(super) fn judged(
    control: &ControlTable,
    gate: &dyn Gate,
    world: &RecordedWorld,
    workshop: &dyn Workshop,
) -> Result<Judgement, ProveError> {
    let judged = case_of(control, gate, |case, accepted| {
        let world = World {
            fetcher: world,
            resolver: world,
            accepted,
            workshop,
        };
        record(gate, case, world)
    })?;
    let (judgement, _) = judged?;
    match workshop.failure() {
        None => Ok(judgement),
        Some(why) => Err(ProveError::Workshop {
            control: control.name.clone(),
            why,
        }),
    }
}

pub(super) fn case_of<T>(
    control: &ControlTable,
    gate: &dyn Gate,
    look: impl FnOnce(Case<'_>, &dyn UniquenessIndex) -> T,
) -> Result<T, ProveError> {
    let quest = quest(control)?;
    let submission = submission_of(&control.submit);
    let earlier = submission_of(&control.taken);
    let before = Before {
        texts: &control.taken,
        taken: gate.takes(Case {
            quest: &quest,
            submission: &earlier,
        }),
    };
    let case = Case {
        quest: &quest,
        submission: &submission,
    };
    Ok(look(case, &before))
}

fn submission_of(fields: &BTreeMap<String, String>) -> Submission {
    let fields = fields.iter();
    let fields = fields.map(|(name, text)| (FieldName::from(name.clone()), text.clone()));
    Submission::Fields(fields.collect())
}

fn quest(control: &ControlTable) -> Result<Quest, ProveError> {
    let key = Key::new(&control.key).map_err(|source| ProveError::Key {
        control: control.name.clone(),
        source,
    })?;
    let cells = control.input.iter().map(|(label, text)| Shown {
        label: label.clone(),
        text: text.clone(),
    });
    Ok(Quest {
        id: QuestId::FIRST,
        key,
        anchor: control.anchor_site.clone().map(Anchor::Site),
        shown: Vec::new(),
        known: cells.collect(),
        after: Vec::new(),
        rows: vec![1],
    })
}

struct Before<'a> {
    texts: &'a BTreeMap<String, String>,
    taken: Vec<UniqueValue>,
}

impl UniquenessIndex for Before<'_> {
    fn holder(&self, asked: &UniqueValue) -> Option<Key> {
        let mut texts = self.texts.values();
        let held = match asked {
            UniqueValue::Value { .. } => self.taken.contains(asked),
            UniqueValue::Mailbox(_) | UniqueValue::Domain(_) => {
                texts.any(|text| taken_by(text).contains(asked))
            }
        };
        held.then(|| Key::new("another quest").ok()).flatten()
    }
}

#[derive(Default)]
pub(super) struct FinalControls {
    pub(super) outcomes: Vec<Outcome>,
    /// What none of them shows, and one must.
    pub(super) lacking: Vec<Lacking>,
}

/// What the final gate's controls show of it; nothing where the kind has no final gate.
///
/// Each of its rules of level FAIL must fire in a control. Where there is a `[final.negative]`, that
/// shows of every result that the gate can say no, and no control must.
pub(super) fn prove_final(
    definition: &Definition,
    tree: &Tree,
) -> Result<FinalControls, ProveError> {
    let file = definition.file()?;
    let gate = definition.final_gate(FileSettings::default())?;
    let (Some(gate), Some(part)) = (gate, &file.final_part) else {
        return Ok(FinalControls::default());
    };
    let mut outcomes = Vec::new();
    for table in &part.controls {
        let control = control(table, &file.name);
        let scene = Scene::of(definition, tree, &control)?;
        let said = outcome(&control, &gate, &scene, Alteration::default())?;
        let passes = said.judgement.verdict == Verdict::Pass;
        outcomes.push(said);
        if let Some(negative) = part.negative.as_ref().filter(|_| passes) {
            let broken = broken(&control, negative);
            let altered = alteration(negative).map_err(|why| ProveError::Workshop {
                control: broken.name.clone(),
                why: why.to_string(),
            })?;
            outcomes.push(outcome(&broken, &gate, &scene, altered)?);
        }
    }
    let lacking = match part.negative {
        Some(_) => Vec::new(),
        None => unfired(&outcomes, &gate.rules(), Level::Fail)
            .into_iter()
            .map(Lacking::FinalRule)
            .collect(),
    };
    Ok(FinalControls { outcomes, lacking })
}

fn outcome(
    control: &ControlTable,
    gate: &FileGate,
    scene: &Scene,
    altered: Alteration,
) -> Result<Outcome, ProveError> {
    let workshop = LiveWorkshop::altered(&scene.bench, altered);
    let judgement = judged(control, gate, &scene.world, &workshop)?;
    Ok(Outcome::of(control, judgement))
}

/// The control as one that is about no single quest.
fn control(table: &FinalControlTable, kind: &str) -> ControlTable {
    ControlTable {
        name: format!("final: {}", table.name),
        key: kind.to_owned(),
        input: BTreeMap::new(),
        anchor_site: None,
        role_only: false,
        submit: BTreeMap::new(),
        verdict: table.verdict,
        fires: table.fires.clone(),
        tree: table.tree.clone(),
        writes: table.writes.clone(),
        world: table.world.clone(),
        taken: BTreeMap::new(),
        reviewed: None,
    }
}

/// What must come of the same result when it is broken on purpose.
fn broken(control: &ControlTable, negative: &NegativeTable) -> ControlTable {
    ControlTable {
        name: format!("{}, broken by [final.negative]", control.name),
        verdict: Verdict::Fail,
        fires: negative.fires.clone(),
        ..control.clone()
    }
}

/// Why reviewers cannot be tried.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// There are none.
    #[error(
        "the session has no reviewers; add them with `scan --reviewers FILE` or in the quest file"
    )]
    NoReviewers,
    /// There is nothing over which plants can be laid.
    #[error("no control of the quest file passes, so that defects cannot be planted in one")]
    NoCase,
    /// The control over which they are laid does not do.
    #[error("control `{control}`, in which defects are planted")]
    Case {
        control: String,
        /// Why not.
        #[source]
        source: Uncalibrated,
    },
    /// The reviewers could not be asked, by no fault of theirs.
    #[error("the reviewers cannot be asked: {0}")]
    Unasked(String),
    /// The control cannot be run.
    #[error(transparent)]
    Control(#[from] ProveError),
    /// What the session froze cannot be read.
    #[error(transparent)]
    Frozen(#[from] JudgeError),
    /// The reviewers cannot be read.
    #[error(transparent)]
    Faulty(#[from] Faulty),
    /// Nothing can be run for them.
    #[error(transparent)]
    Bench(#[from] BenchError),
}

/// Asks the reviewers of a session about each of their plants, for real. Nothing is recorded.
pub fn trial(manifest: &Manifest) -> Result<Calibration, TrialError> {
    let panel = FrozenPanel::of(manifest)?.ok_or(TrialError::NoReviewers)?;
    match Definition::of(manifest)? {
        Some(definition) => of_file(&panel, &definition),
        None => of_email(&panel),
    }
}

fn of_file(panel: &FrozenPanel, definition: &Definition) -> Result<Calibration, TrialError> {
    let file = definition.file()?;
    let control = passing(&file)?;
    let mut scene = Scene::of(definition, &Tree::of_definition(definition), control)?;
    panel.equip(&mut scene.bench);
    let gate = Box::new(definition.gate(settings(control))?);
    let workshop = LiveWorkshop::new(&scene.bench);
    tried(
        panel,
        Some(definition),
        gate,
        control,
        &scene.world,
        &workshop,
    )
}

fn of_email(panel: &FrozenPanel) -> Result<Calibration, TrialError> {
    let file = QuestFile::parse(TEXT).map_err(email::faulty)?;
    let control = passing(&file)?;
    let gate = FileGate::new(&file, &Gathered::default(), FileSettings::default());
    let gate = gate.map_err(email::faulty)?.under(settings(control));
    let bench = panel.bench(Vec::new())?;
    let world = email::world(control)?;
    let workshop = LiveWorkshop::new(&bench);
    tried(panel, None, Box::new(gate), control, &world, &workshop)
}

/// The first control that must pass.
fn passing<'f>(file: &'f QuestFile<'_>) -> Result<&'f ControlTable, TrialError> {
    let mut controls = file.controls.iter();
    let passing = controls.find(|control| control.verdict == Verdict::Pass);
    passing.map(|it| &it.table).ok_or(TrialError::NoCase)
}

fn tried(
    panel: &FrozenPanel,
    definition: Option<&Definition>,
    gate: Box<dyn Gate>,
    control: &ControlTable,
    world: &RecordedWorld,
    workshop: &LiveWorkshop<'_>,
) -> Result<Calibration, TrialError> {
    let file = definition.map(Definition::file).transpose()?;
    let members = panel.members(definition.zip(file.as_ref()))?;
    let panel = Panel {
        members,
        robots: settings(control).robots,
        script: None,
    };
    let gate = SessionGate::new(gate, Some(panel));
    let tried = case_of(control, &gate, |case, accepted| {
        let world = World {
            fetcher: world,
            resolver: world,
            accepted,
            workshop,
        };
        gate.calibrate(case, &world)
    })?;
    if let Some(why) = workshop.failure() {
        return Err(TrialError::Unasked(why));
    }
    tried.map_err(|source| TrialError::Case {
        control: control.name.clone(),
        source,
    })
}

pub(super) struct StandIn {
    pub(super) listing: Listing,
    files: BTreeMap<Digest, PathBuf>,
    working: TempDir,
}

impl StandIn {
    pub(super) fn of(
        root: &Path,
        ignored: &Ignored,
        writes: Option<&Path>,
        scratch: &Path,
    ) -> Result<Self, TreeError> {
        let listing = take_baseline(root, ignored, &mut |_, _| Ok(()))?;
        let files = listing
            .entries()
            .iter()
            .filter_map(|(path, entry)| match entry {
                Entry::File { sha256, .. } => Some((*sha256, path.join_to(root))),
                Entry::Link { .. } => None,
            });
        let files: BTreeMap<_, _> = files.collect();
        let failed = |error: io::Error| TreeError::io(scratch.display(), "copy the tree")(error);
        let working = tempfile::Builder::new()
            .prefix("comail-control-")
            .tempdir_in(scratch)
            .map_err(failed)?;
        let load = |digest: Digest| read(&files, digest);
        Snapshot::of(&listing).write_to(working.path(), &load)?;
        if let Some(writes) = writes {
            let every = Ignored::none();
            let written = take_baseline(writes, &every, &mut |_, _| Ok(()))?;
            for path in written.entries().keys() {
                lay(path, writes, working.path()).map_err(failed)?;
            }
        }
        Ok(Self {
            listing,
            files,
            working,
        })
    }

    pub(super) fn root(&self) -> &Path {
        self.working.path()
    }

    pub(super) fn load(&self) -> Box<Contents> {
        let files = self.files.clone();
        Box::new(move |digest| read(&files, digest))
    }
}

fn read(files: &BTreeMap<Digest, PathBuf>, digest: Digest) -> io::Result<Option<Vec<u8>>> {
    files.get(&digest).map(fs::read).transpose()
}

fn lay(path: &TreePath, from: &Path, to: &Path) -> io::Result<()> {
    let place = path.join_to(to);
    if let Some(folder) = place.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::copy(path.join_to(from), place).map(drop)
}
