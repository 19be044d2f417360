//! Tests a gate by its controls: each must get its verdict, and every rule must be able to fire.
//!
//! Pages and DNS come from recorded worlds; commands run for real, over copies of the trees.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use schemars::JsonSchema;
use serde::Serialize;
use tempfile::TempDir;

use crate::base::Digest;
use crate::gate::checks::FileGate;
use crate::gate::checks::outside::Gathered;
use crate::gate::checks::settings::FileSettings;
use crate::gate::checks::takes::taken_by;
use crate::gate::{Case, Gate, Judgement, Level, Rule, doubts};
use crate::judge::error::{BenchError, Faulty, JudgeError};
use crate::judge::final_gate::{alteration, fires_exactly};
use crate::judge::panel::frozen::FrozenPanel;
use crate::judge::panel::{Calibration, Panel, Reviewers, SessionGate, Uncalibrated};
use crate::judge::quest_file::Definition;
use crate::judge::recorded::record;
use crate::quest::email::TEXT;
use crate::quest::file::{ControlTable, FinalControlTable, Mistake, QuestFile};
use crate::quest::{Anchor, EmptyKey, FieldName, Key, Quest, QuestId, Shown, Submission, Verdict};
use crate::session::Manifest;
use crate::world::evidence::recorded::{BadWorld, RecordedWorld};
use crate::world::sandbox::{Alteration, LiveSandbox, NoSandbox, Sandbox, SandboxConfig};
use crate::world::tree::{
    BadGlob, Entry, Ignored, Listing, Snapshot, TreeError, TreePath, take_baseline,
};
use crate::world::{UniqueValue, UniquenessIndex, World};

/// What the controls of a quest file show of its gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Proof {
    /// What came of each control, in the order of the file.
    pub controls: Vec<ControlOutcome>,
    /// What no control shows, and one must.
    pub lacking: Vec<Lacking>,
    /// The rules of level REVIEW that no control ever fired.
    pub unfired: Vec<String>,
}

/// What came of one control.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ControlOutcome {
    /// Its name.
    pub name: String,
    /// The verdict that it must get.
    pub expected: Verdict,
    /// The rules that must fire, where they are named.
    pub fires: Option<Vec<String>>,
    /// What the gate said.
    pub judgement: Judgement,
    /// Whether that is what it must say.
    pub fits: bool,
}

/// What no control shows, and one must.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Lacking {
    /// That a right submission gets through.
    Pass,
    /// That a wrong one is refused.
    Fail,
    /// That this rule of level FAIL can fire.
    Rule(String),
    /// That this rule of level FAIL of the final gate can fire.
    FinalRule(String),
}

impl fmt::Display for Lacking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pass => f.write_str("no control shows that a right submission gets through"),
            Self::Fail => f.write_str("no control shows that a wrong submission is refused"),
            Self::Rule(rule) => write!(f, "no control ever fired `{rule}`"),
            Self::FinalRule(rule) => write!(
                f,
                "no [[final.control]] ever fired `{rule}`, and there is no [final.negative]"
            ),
        }
    }
}

impl ControlOutcome {
    fn of(control: &ControlTable, judgement: Judgement) -> Self {
        let fires = control.fires.as_deref();
        Self {
            name: control.name.clone(),
            expected: control.verdict,
            fits: judgement.verdict == control.verdict
                && fires.is_none_or(|rules| fires_exactly(&judgement, rules)),
            fires: control.fires.clone(),
            judgement,
        }
    }
}

/// The rules that fire for a field's shape and for open quests. They belong to the program and need
/// no control.
const OWN_RULES: &[&str] = &["field-format", "open-ended"];

impl Proof {
    /// What these outcomes show of a gate with these rules.
    ///
    /// `open`: no machine can decide, so that a right submission gets REVIEW.
    fn of(controls: Vec<ControlOutcome>, rules: &[Rule], open: bool) -> Self {
        let best = if open { Verdict::Review } else { Verdict::Pass };
        let shows = |verdict| {
            let mut controls = controls.iter();
            controls.any(|outcome| outcome.fits && outcome.expected == verdict)
        };
        let pass = (!shows(best)).then_some(Lacking::Pass);
        let fail = (!shows(Verdict::Fail)).then_some(Lacking::Fail);
        let failing = unfired(&controls, rules, Level::Fail);
        let failing = failing.into_iter().map(Lacking::Rule);
        Self {
            lacking: pass.into_iter().chain(fail).chain(failing).collect(),
            unfired: unfired(&controls, rules, Level::Review),
            controls,
        }
    }

    /// Whether every control got what it must, and nothing is lacking.
    pub fn holds(&self) -> bool {
        self.lacking.is_empty() && self.controls.iter().all(|outcome| outcome.fits)
    }
}

/// The rules of this level that fired in no control with the right outcome.
fn unfired(controls: &[ControlOutcome], rules: &[Rule], level: Level) -> Vec<String> {
    let fitting = controls.iter().filter(|outcome| outcome.fits);
    let fired: BTreeSet<&str> = fitting
        .flat_map(|outcome| outcome.judgement.facts.iter())
        .map(|fact| fact.rule.as_str())
        .collect();
    let rules = rules.iter().filter(|rule| rule.level == level);
    let ids = rules.map(|rule| rule.id.as_str());
    let left = ids.filter(|id| !fired.contains(id) && !OWN_RULES.contains(id));
    left.map(str::to_owned).collect()
}

/// Why controls cannot be run, or reviewers cannot be tried.
#[derive(Debug, thiserror::Error)]
pub enum ProveError {
    #[error(transparent)]
    Faulty(#[from] Faulty),
    #[error(transparent)]
    SandboxConfig(#[from] BenchError),
    #[error(transparent)]
    Glob(#[from] BadGlob),
    #[error("control `{control}`: its tree")]
    Tree {
        control: String,
        #[source]
        source: TreeError,
    },
    #[error("control `{control}`: cannot read {}", path.display())]
    WorldFile {
        control: String,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("control `{control}`")]
    World {
        control: String,
        #[source]
        source: BadWorld,
    },
    #[error("control `{control}`")]
    Key {
        control: String,
        #[source]
        source: EmptyKey,
    },
    /// The sandbox failed, which shows nothing of the gate.
    #[error("control `{control}`: the gate could not run: {why}")]
    Sandbox { control: String, why: String },
    #[error("cannot write a judgement as JSON")]
    Json(#[from] serde_json::Error),
    #[error(transparent)]
    Session(#[from] JudgeError),
    #[error(
        "the session has no reviewers; add them with `scan --reviewers FILE` or in the quest file"
    )]
    NoReviewers,
    #[error("no control of the quest file passes, so that defects cannot be planted in one")]
    NoCase,
    #[error("control `{control}`, in which defects are planted")]
    Case {
        control: String,
        #[source]
        source: Uncalibrated,
    },
    #[error("the reviewers cannot be asked: {0}")]
    Unasked(String),
}

/// Runs every control of a quest file.
pub fn prove(definition: &Definition) -> Result<Proof, ProveError> {
    let file = definition.file()?;
    let gate = definition.gate(FileSettings::default())?;
    let mut stage = Stage {
        kind: Some(definition),
        worlds: BTreeMap::new(),
    };
    let mut rules = gate.rules();
    if file.panel.is_some() {
        rules.extend(doubts::rules());
    }
    let mut proof = stage.proof(&file, &gate, &rules)?;
    let (outcomes, lacking) = stage.prove_final(&file, definition)?;
    proof.controls.extend(outcomes);
    proof.lacking.extend(lacking);
    Ok(proof)
}

/// Runs every control of the built-in e-mail gate.
pub fn prove_email() -> Result<Proof, ProveError> {
    let (file, gate) = email()?;
    prove_email_with(&file, &gate)
}

fn prove_email_with(file: &QuestFile<'_>, gate: &FileGate) -> Result<Proof, ProveError> {
    let mut stage = Stage::default();
    stage.proof(file, gate, &gate.rules())
}

fn email() -> Result<(QuestFile<'static>, FileGate), Faulty> {
    let faulty = |mistake: Mistake| Faulty {
        path: String::from("the built-in quest file"),
        mistake,
    };
    let file = QuestFile::parse(TEXT).map_err(faulty)?;
    let gate = FileGate::new(&file, &Gathered::default(), FileSettings::default());
    Ok((file, gate.map_err(faulty)?))
}

/// Asks the reviewers of a session about each of their plants, for real. Nothing is recorded.
pub fn trial(manifest: &Manifest) -> Result<Calibration, ProveError> {
    let frozen = FrozenPanel::of(manifest)?.ok_or(ProveError::NoReviewers)?;
    let definition = Definition::of(manifest)?;
    let (file, gate) = match &definition {
        Some(definition) => (
            definition.file()?,
            definition.gate(FileSettings::default())?,
        ),
        None => email()?,
    };
    let mut controls = file.controls.iter();
    let control = controls.find(|control| control.verdict == Verdict::Pass);
    let control = &control.ok_or(ProveError::NoCase)?.table;
    let mut stage = Stage {
        kind: definition.as_ref(),
        worlds: BTreeMap::new(),
    };
    let mut scene = stage.scene(control)?;
    let bench = match scene.bench.take() {
        Some(mut bench) => {
            frozen.equip(&mut bench);
            bench
        }
        None => frozen.bench(Vec::new())?,
    };
    let settings = settings(control);
    let panel = Panel {
        reviewers: frozen.reviewers(definition.as_ref().map(|it| (it, &file)))?,
        robots: settings.robots,
        script: None,
    };
    let gate = SessionGate::new(Box::new(gate.under(settings)), Some(panel));
    let sandbox = LiveSandbox::new(&bench);
    let tried = with_case(control, &gate, &scene.world, &sandbox, |case, world| {
        gate.calibrate(case, &world)
    })?;
    if let Some(why) = sandbox.failure() {
        return Err(ProveError::Unasked(why));
    }
    tried.map_err(|source| ProveError::Case {
        control: control.name.clone(),
        source,
    })
}

/// A world in which there is nothing.
const NO_WORLD: &str = r#"{"pages": {}}"#;

const EMAIL_WORLD_NAME: &str = "../gate/email/controls.json";
const EMAIL_WORLD: &str = include_str!("../gate/email/controls.json");

/// What controls run on: the quest file with its tree, or the built-in kind; and recorded worlds,
/// each read once.
#[derive(Default)]
struct Stage<'a> {
    kind: Option<&'a Definition>,
    worlds: BTreeMap<Option<String>, Rc<RecordedWorld>>,
}

/// What one control is judged by.
struct Scene {
    bench: Option<SandboxConfig>,
    world: Rc<RecordedWorld>,
    _stand_in: Option<StandIn>,
}

impl Stage<'_> {
    fn proof(
        &mut self,
        file: &QuestFile<'_>,
        gate: &FileGate,
        rules: &[Rule],
    ) -> Result<Proof, ProveError> {
        let mut outcomes = Vec::with_capacity(file.controls.len());
        for control in &file.controls {
            outcomes.push(self.outcome(file, gate, control)?);
        }
        Ok(Proof::of(outcomes, rules, file.open))
    }

    fn outcome(
        &mut self,
        file: &QuestFile<'_>,
        gate: &FileGate,
        control: &ControlTable,
    ) -> Result<ControlOutcome, ProveError> {
        let scene = self.scene(control)?;
        let settings = settings(control);
        let robots = settings.robots;
        let gate = gate.under(settings);
        let scripted = (&control.reviewed, &file.panel, self.kind);
        let gate: Box<dyn Gate> = match scripted {
            (Some(script), Some(panel), Some(definition)) => {
                let reviewers = Reviewers::new(panel, &definition.gathered);
                let panel = Panel {
                    reviewers: reviewers.map_err(|mistake| definition.faulty(mistake))?,
                    robots,
                    script: Some(script.clone()),
                };
                Box::new(SessionGate::new(Box::new(gate), Some(panel)))
            }
            _ => Box::new(gate),
        };
        scene.outcome(control, gate.as_ref(), Alteration::default())
    }

    fn scene(&mut self, control: &ControlTable) -> Result<Scene, ProveError> {
        let world = self.world(control)?;
        let Some(definition) = self.kind else {
            return Ok(Scene {
                bench: None,
                world,
                _stand_in: None,
            });
        };
        let here = definition.here();
        let own = control.tree.as_ref().map(|dir| here.join(dir));
        let stand_in = match &definition.tree {
            Some(tree) => {
                let root = own.unwrap_or_else(|| tree.root.clone());
                let writes = control.writes.as_ref().map(|dir| here.join(dir));
                let ignored = Ignored::new(&tree.ignore)?;
                let made = StandIn::of(&root, &ignored, writes.as_deref(), &definition.scratch);
                let control = control.name.clone();
                Some(made.map_err(|source| ProveError::Tree { control, source })?)
            }
            None => None,
        };
        let mut bench = definition.bench(
            definition.services()?,
            Listing::default(),
            Box::new(|_| Ok(None)),
            Vec::new(),
        )?;
        bench.root = None;
        if let Some(made) = &stand_in {
            bench.root = Some(made.working.path().to_owned());
            bench.baseline = made.listing.clone();
            let files = made.files.clone();
            bench.load = Box::new(move |digest| read(&files, digest));
        }
        Ok(Scene {
            bench: Some(bench),
            world,
            _stand_in: stand_in,
        })
    }

    fn world(&mut self, control: &ControlTable) -> Result<Rc<RecordedWorld>, ProveError> {
        if let Some(known) = self.worlds.get(&control.world) {
            return Ok(Rc::clone(known));
        }
        let text = match (&control.world, self.kind) {
            (None, _) => Ok(NO_WORLD.to_owned()),
            (Some(name), Some(definition)) => {
                let path = definition.here().join(name);
                fs::read_to_string(&path).map_err(|error| (path, error))
            }
            (Some(name), None) if name == EMAIL_WORLD_NAME => Ok(EMAIL_WORLD.to_owned()),
            (Some(name), None) => Err((name.into(), ErrorKind::NotFound.into())),
        };
        let text = text.map_err(|(path, source)| ProveError::WorldFile {
            control: control.name.clone(),
            path,
            source,
        })?;
        let world = RecordedWorld::from_json(&text).map_err(|source| ProveError::World {
            control: control.name.clone(),
            source,
        })?;
        let world = Rc::new(world);
        self.worlds.insert(control.world.clone(), Rc::clone(&world));
        Ok(world)
    }

    /// What the final gate's controls show of it; nothing where the kind has no final gate.
    ///
    /// Each of its rules of level FAIL must fire in a control. A `[final.negative]` shows of every
    /// result that the gate can say no, so that no control must.
    fn prove_final(
        &mut self,
        file: &QuestFile<'_>,
        definition: &Definition,
    ) -> Result<(Vec<ControlOutcome>, Vec<Lacking>), ProveError> {
        let gate = definition.final_gate(FileSettings::default())?;
        let (Some(gate), Some(part)) = (gate, &file.final_part) else {
            return Ok((Vec::new(), Vec::new()));
        };
        let mut outcomes = Vec::new();
        for table in &part.controls {
            let control = final_control(table, &file.name);
            let scene = self.scene(&control)?;
            let outcome = scene.outcome(&control, &gate, Alteration::default())?;
            let passes = outcome.judgement.verdict == Verdict::Pass;
            outcomes.push(outcome);
            if let Some(negative) = part.negative.as_ref().filter(|_| passes) {
                // The same result must fail when it is broken on purpose.
                let broken = ControlTable {
                    name: format!("{}, broken by [final.negative]", control.name),
                    verdict: Verdict::Fail,
                    fires: negative.fires.clone(),
                    ..control
                };
                let altered = alteration(negative).map_err(|why| ProveError::Sandbox {
                    control: broken.name.clone(),
                    why: why.to_string(),
                })?;
                outcomes.push(scene.outcome(&broken, &gate, altered)?);
            }
        }
        let lacking = match part.negative {
            Some(_) => Vec::new(),
            None => unfired(&outcomes, &gate.rules(), Level::Fail),
        };
        Ok((
            outcomes,
            lacking.into_iter().map(Lacking::FinalRule).collect(),
        ))
    }
}

impl Scene {
    fn outcome(
        &self,
        control: &ControlTable,
        gate: &dyn Gate,
        altered: Alteration,
    ) -> Result<ControlOutcome, ProveError> {
        let bench = self.bench.as_ref();
        let sandbox = bench.map(|bench| LiveSandbox::altered(bench, altered));
        let sandbox: &dyn Sandbox = match &sandbox {
            Some(live) => live,
            None => &NoSandbox,
        };
        let judged = with_case(control, gate, &self.world, sandbox, |case, world| {
            record(gate, case, world)
        })?;
        let (judgement, _) = judged?;
        match sandbox.failure() {
            None => Ok(ControlOutcome::of(control, judgement)),
            Some(why) => Err(ProveError::Sandbox {
                control: control.name.clone(),
                why,
            }),
        }
    }
}

fn settings(control: &ControlTable) -> FileSettings {
    FileSettings {
        role_only: control.role_only,
        ..FileSettings::default()
    }
}

/// Judges the case of a control in its world.
fn with_case<T>(
    control: &ControlTable,
    gate: &dyn Gate,
    recorded: &RecordedWorld,
    sandbox: &dyn Sandbox,
    judge: impl FnOnce(Case<'_>, World<'_>) -> T,
) -> Result<T, ProveError> {
    let key = Key::new(&control.key).map_err(|source| ProveError::Key {
        control: control.name.clone(),
        source,
    })?;
    let cells = control.input.iter().map(|(label, text)| Shown {
        label: label.clone(),
        text: text.clone(),
    });
    let quest = Quest {
        id: QuestId::FIRST,
        key,
        anchor: control.anchor_site.clone().map(Anchor::Site),
        shown: Vec::new(),
        known: cells.collect(),
        after: Vec::new(),
        rows: vec![1],
    };
    let submission = submission_of(&control.submit);
    let before = PassedBefore {
        texts: &control.taken,
        taken: gate.takes(Case {
            quest: &quest,
            submission: &submission_of(&control.taken),
        }),
    };
    let case = Case {
        quest: &quest,
        submission: &submission,
    };
    let world = World {
        fetcher: recorded,
        resolver: recorded,
        accepted: &before,
        sandbox,
    };
    Ok(judge(case, world))
}

fn submission_of(fields: &BTreeMap<String, String>) -> Submission {
    let fields = fields.iter();
    let fields = fields.map(|(name, text)| (FieldName::from(name.clone()), text.clone()));
    Submission::Fields(fields.collect())
}

/// What another quest has passed with, in a control.
struct PassedBefore<'a> {
    texts: &'a BTreeMap<String, String>,
    taken: Vec<UniqueValue>,
}

impl UniquenessIndex for PassedBefore<'_> {
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

/// The control as one that is about no single quest.
fn final_control(table: &FinalControlTable, kind: &str) -> ControlTable {
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

/// A copy of a control's tree, with what the agent of the control wrote.
struct StandIn {
    listing: Listing,
    files: BTreeMap<Digest, PathBuf>,
    working: TempDir,
}

impl StandIn {
    fn of(
        root: &Path,
        ignored: &Ignored,
        writes: Option<&Path>,
        scratch: &Path,
    ) -> Result<Self, TreeError> {
        let listing = take_baseline(root, ignored, &mut |_, _| Ok(()))?;
        let files = listing.entries().iter();
        let files = files.filter_map(|(path, entry)| match entry {
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
            let written = take_baseline(writes, &Ignored::none(), &mut |_, _| Ok(()))?;
            for path in written.entries().keys() {
                copy(path, writes, working.path()).map_err(failed)?;
            }
        }
        Ok(Self {
            listing,
            files,
            working,
        })
    }
}

fn read(files: &BTreeMap<Digest, PathBuf>, digest: Digest) -> io::Result<Option<Vec<u8>>> {
    files.get(&digest).map(fs::read).transpose()
}

fn copy(path: &TreePath, from: &Path, to: &Path) -> io::Result<()> {
    let place = path.join_to(to);
    if let Some(folder) = place.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::copy(path.join_to(from), place).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> QuestFile<'static> {
        QuestFile::parse(TEXT).unwrap()
    }

    fn gate() -> FileGate {
        FileGate::new(&file(), &Gathered::default(), FileSettings::default()).unwrap()
    }

    fn complaints(proof: &Proof) -> Vec<String> {
        let wrong = proof.controls.iter().filter(|outcome| !outcome.fits);
        wrong
            .map(|outcome| {
                let facts = outcome.judgement.facts.iter();
                let fired: Vec<_> = facts
                    .map(|fact| (fact.rule.as_str(), &fact.actual))
                    .collect();
                format!("{}: {} {fired:?}", outcome.name, outcome.judgement.verdict)
            })
            .collect()
    }

    #[test]
    fn every_control_gets_what_it_must_and_every_rule_is_fired() {
        let proof = prove_email().unwrap();
        assert_eq!(complaints(&proof), [""; 0]);
        assert_eq!(proof.lacking, []);
        assert_eq!(proof.unfired, [""; 0]);
        assert!(proof.holds());
    }

    #[test]
    fn every_control_says_which_rules_it_fires() {
        for control in file().controls {
            assert!(control.fires.is_some(), "{}", control.name);
        }
    }

    #[test]
    fn no_control_of_a_rule_of_level_fail_can_be_spared() {
        let rules = gate().rules();
        let whole = prove_email_with(&file(), &gate()).unwrap();
        let failing = rules.iter().filter(|rule| rule.level == Level::Fail);
        for rule in failing {
            let fires = |outcome: &ControlOutcome| {
                let mut fires = outcome.fires.iter().flatten();
                fires.any(|id| id == rule.id.as_str())
            };
            let mut others = whole.controls.clone();
            others.retain(|outcome| !fires(outcome));
            assert_eq!(others.len(), whole.controls.len() - 1, "{}", rule.id);
            let less = Proof::of(others, &rules, false);
            assert_eq!(less.lacking, [Lacking::Rule(rule.id.to_string())]);
            assert!(!less.holds());
        }
    }

    #[test]
    fn no_step_can_be_left_out_unseen() {
        let file = file();
        let steps: Vec<_> = file
            .checks
            .iter()
            .map(|raw| raw.text_of("name").unwrap())
            .collect();
        assert_eq!(steps.len(), 7, "{steps:?}");
        for step in steps {
            let mutant = gate().silenced(step);
            let mut stage = Stage::default();
            let seen = file.controls.iter().any(|control| {
                let outcome = stage.outcome(&file, &mutant, control).unwrap();
                !outcome.fits
            });
            assert!(seen, "{step}");
        }
    }

    #[test]
    fn a_world_that_is_not_bound_in_is_an_error() {
        let mut file = file();
        file.controls[0].table.world = Some(String::from("other.json"));
        let proof = prove_email_with(&file, &gate());
        assert!(
            matches!(proof, Err(ProveError::WorldFile { .. })),
            "{proof:?}"
        );
    }
}
