//! Tests a gate by its controls: each must get its verdict, and every rule must be able to fire.
//!
//! Pages and DNS come from recorded worlds; commands run for real, over copies of the trees.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use tempfile::TempDir;

use crate::base::{Digest, files};
use crate::gate::checks::outside::{GateSettings, Gathered};
use crate::gate::checks::takes::taken_by;
use crate::gate::checks::{FileGate, control_of_runs};
use crate::gate::{Case, Gate, Judgement, Level, Rule, add_remedies, common_rules, doubts};
use crate::judge::context::{alteration, fires_exactly};
use crate::judge::error::{Faulty, JudgeError};
use crate::judge::kind::JudgeWorld;
use crate::judge::panel::{Calibration, Reviewers, SessionGate};
use crate::judge::quest_file::FrozenPanel;
use crate::judge::quest_file::{ControlTree, Definition, Files, FrozenTree, read, services};
use crate::quest::email::TEXT;
use crate::quest::file::{ControlTable, FinalControlTable, FinalPart, Mistake, QuestFile};
use crate::quest::{Key, Verdict};
use crate::session::Manifest;
use crate::world::evidence::record::Recorder;
use crate::world::evidence::recorded::RecordedWorld;
use crate::world::sandbox::{Alteration, ServicePlan};
use crate::world::tree::{Ignored, Listing, Snapshot, TreeError, TreePath, take_baseline};
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

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ControlOutcome {
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
            Self::Pass => f.write_str("no control shows that a right submission passes"),
            Self::Fail => f.write_str("no control shows that a wrong submission fails"),
            Self::Rule(rule) => write!(f, "no control ever fired `{rule}`"),
            Self::FinalRule(rule) => write!(
                f,
                "no [[final.control]] ever fired `{rule}`, and there is no [final.negative]"
            ),
        }
    }
}

/// The rules for a field's shape, for open quests, for tests that look at the source, and for forged
/// reports. They are built in and need no control.
const OWN_RULES: &[&str] = &[
    "field-format",
    "open-ended",
    "neutral-change",
    "silent-canary",
];

impl Proof {
    /// What these outcomes prove about a gate with these rules.
    ///
    /// `open`: no machine can decide, so a correct submission gets REVIEW.
    fn of(mut controls: Vec<ControlOutcome>, rules: &[Rule], open: bool) -> Self {
        let facts = controls.iter_mut().flat_map(|it| &mut it.judgement.facts);
        add_remedies(facts, &[&common_rules::rules()[..], rules].concat());
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

    /// Whether every control has its expected outcome, and nothing is lacking.
    pub fn holds(&self) -> bool {
        self.lacking.is_empty() && self.controls.iter().all(|outcome| outcome.fits)
    }
}

/// The rules of this level that fired in no control with its expected outcome.
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

/// Why controls or a trial of the reviewers cannot run.
#[derive(Debug, thiserror::Error)]
pub enum ProveError {
    #[error(transparent)]
    Faulty(#[from] Faulty),
    #[error(transparent)]
    Judge(#[from] JudgeError),
    /// Something is wrong with one control.
    #[error("control `{control}`")]
    Control {
        control: String,
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// The sandbox failed, which proves nothing about the gate.
    #[error("control `{control}`: the gate could not run: {why}")]
    Sandbox { control: String, why: String },
    #[error(
        "the session has no reviewers; add them with `scan --reviewers FILE` or in the quest file"
    )]
    NoReviewers,
    #[error("no control of the quest file passes, so there is nothing to attack")]
    NothingToAttack,
    #[error("no control of the quest file passes, so that defects cannot be planted in one")]
    NoCase,
    #[error("the reviewers cannot be asked: {0}")]
    Unasked(String),
}

/// Runs the controls of a quest file. The directory `session` is left out of trees.
pub fn prove(definition: &Definition, session: &Path) -> Result<Proof, ProveError> {
    let file = definition.file()?;
    let gate = definition.gate(GateSettings::default())?;
    let mut stage = Stage::new(&file, Some(definition), session)?;
    let mut rules = gate.rules();
    if file.panel.is_some() {
        rules.extend(doubts::rules());
    }
    let mut proof = stage.proof(&gate, &rules)?;
    let last = FileGate::of_final(&file, &definition.gathered, GateSettings::default());
    let last = last.map_err(|mistake| definition.faulty(mistake))?;
    if let (Some(gate), Some(part)) = (last, &file.final_part) {
        stage.prove_final(&gate, part, &mut proof)?;
    }
    Ok(proof)
}

pub fn prove_email() -> Result<Proof, ProveError> {
    let (file, gate) = email()?;
    Stage::new(&file, None, Path::new(""))?.proof(&gate, &gate.rules())
}

fn email() -> Result<(QuestFile<'static>, FileGate), Faulty> {
    let faulty = |mistake: Mistake| Faulty {
        path: String::from("the built-in quest file"),
        mistake,
    };
    let file = QuestFile::parse(TEXT).map_err(faulty)?;
    let gate = FileGate::new(&file, &Gathered::default(), GateSettings::default());
    Ok((file, gate.map_err(faulty)?))
}

/// Asks the real reviewers of a session about each plant. Nothing is recorded.
pub fn trial(manifest: &Manifest, session: &Path) -> Result<Calibration, ProveError> {
    let frozen = FrozenPanel::of(manifest)?.ok_or(ProveError::NoReviewers)?;
    let definition = Definition::of(manifest)?;
    let (file, gate) = match &definition {
        Some(definition) => (
            definition.file()?,
            definition.gate(GateSettings::default())?,
        ),
        None => email()?,
    };
    let mut controls = file.controls.iter();
    let control = controls.find(|control| control.verdict == Verdict::Pass);
    let control = &control.ok_or(ProveError::NoCase)?.table;
    let mut stage = Stage::new(&file, definition.as_ref(), session)?;
    let scene = stage.scene(control, Some(&frozen))?;
    let reviewers = frozen.reviewers(definition.as_ref().map(|it| (it, &file)))?;
    let machine = Box::new(gate.under(settings(control)));
    let gate = SessionGate::new(machine, Some(reviewers));
    let tried = scene.judge(control, &gate, Alteration::default(), |case, world| {
        gate.calibrate(case, world)
    });
    match tried {
        Err(ProveError::Sandbox { why, .. }) => Err(ProveError::Unasked(why)),
        Err(error) => Err(error),
        Ok(tried) => {
            let failed = |why| format!("defects cannot be planted in it: {why}");
            tried.map_err(failed).map_err(of_control(control))
        }
    }
}

const NO_WORLD: &str = r#"{"pages": {}}"#;

const EMAIL_WORLD_NAME: &str = "../gate/email/controls.json";
const EMAIL_WORLD: &str = include_str!("../gate/email/controls.json");

/// The new text of files of a tree; `None` removes a file.
pub(super) type Edits = BTreeMap<TreePath, Option<String>>;

/// What controls run on: a quest file with its tree, or the built-in kind, and recorded worlds, each
/// read once.
pub(super) struct Stage<'a> {
    file: &'a QuestFile<'a>,
    /// None for the built-in kind.
    definition: Option<&'a Definition>,
    session: &'a Path,
    services: BTreeMap<String, ServicePlan>,
    worlds: BTreeMap<Option<String>, Arc<RecordedWorld>>,
    passing: Option<(Listing, Files)>,
}

/// The world of one control, and the copy of its tree, which is removed when dropped.
struct Scene {
    world: JudgeWorld,
    tree: Option<TempDir>,
}

impl<'a> Stage<'a> {
    pub(super) fn new(
        file: &'a QuestFile<'a>,
        definition: Option<&'a Definition>,
        session: &'a Path,
    ) -> Result<Self, Faulty> {
        let services = match definition {
            Some(it) => services(file, &it.gathered).map_err(|mistake| it.faulty(mistake))?,
            None => BTreeMap::new(),
        };
        Ok(Self {
            file,
            definition,
            session,
            services,
            worlds: BTreeMap::new(),
            passing: None,
        })
    }

    fn proof(&mut self, gate: &FileGate, rules: &[Rule]) -> Result<Proof, ProveError> {
        let mut outcomes = Vec::with_capacity(self.file.controls.len());
        for control in &self.file.controls {
            outcomes.push(self.outcome(gate, control, &Edits::new())?);
        }
        Ok(Proof::of(outcomes, rules, self.file.open))
    }

    /// Judges a control. The edits are made in its tree after its agent wrote there.
    pub(super) fn outcome(
        &mut self,
        gate: &FileGate,
        control: &ControlTable,
        edits: &Edits,
    ) -> Result<ControlOutcome, ProveError> {
        let machine = Box::new(gate.under(settings(control)));
        let scripted = (&control.reviewed, &self.file.panel, self.definition);
        let mut reviewers = None;
        if let (Some(script), Some(panel), Some(definition)) = scripted {
            let panel = Reviewers::new(panel, &definition.gathered);
            let mut panel = panel.map_err(|mistake| definition.faulty(mistake))?;
            panel.script = Some(script.clone());
            reviewers = Some(panel);
        }
        let gate = SessionGate::new(machine, reviewers);
        let scene = self.scene(control, None)?;
        if let Some(tree) = &scene.tree {
            edit(tree.path(), edits).map_err(of_control(control))?;
        }
        scene.outcome(control, &gate, Alteration::default())
    }

    /// The world of a control. If given, `panel` can be asked in it.
    fn scene(
        &mut self,
        control: &ControlTable,
        panel: Option<&FrozenPanel>,
    ) -> Result<Scene, ProveError> {
        let network = self.world(control)?;
        let Some(definition) = self.definition else {
            let config = panel.map(|panel| panel.sandbox_config(Vec::new()));
            let config = config.transpose()?;
            return Ok(Scene {
                world: JudgeWorld::recorded(network, config),
                tree: None,
            });
        };
        let (services, load) = (self.services.clone(), Box::new(|_| Ok(None)));
        let config = definition.sandbox_config(services, Listing::default(), load, self.session);
        let mut config = config?;
        // Only the copy of a control's tree is judged here, never the session's tree.
        config.root = None;
        if let Some(panel) = panel {
            panel.allow_programs(&mut config);
        }
        config.control = Some(Listing::default());
        let mut copied = None;
        if let Some(tree) = &definition.tree {
            let place = ControlTree::of(control, definition.here(), tree, self.session);
            let place = place.map_err(of_control(control))?;
            config.ignored = place.ignored.clone();
            let made = copy_tree(&place, &config.scratch);
            let (listing, mut files, working) = made.map_err(of_control(control))?;
            if let Some((listing, more)) = self.passing(definition, tree)? {
                files.extend(more.clone());
                config.control = Some(listing.clone());
            }
            config.root = Some(working.path().to_owned());
            config.baseline = listing;
            config.load = Box::new(move |digest| read(&files, digest));
            copied = Some(working);
        }
        Ok(Scene {
            world: JudgeWorld::recorded(network, Some(config)),
            tree: copied,
        })
    }

    /// The tree of the control on which commands and scripts run again, listed once.
    fn passing(
        &mut self,
        definition: &Definition,
        tree: &FrozenTree,
    ) -> Result<Option<&(Listing, Files)>, ProveError> {
        let control = control_of_runs(self.file).filter(|_| self.passing.is_none());
        if let Some(control) = control {
            let place = ControlTree::of(control, definition.here(), tree, self.session);
            let place = place.map_err(of_control(control))?;
            let listing = place.listing(&mut |_, _| Ok(()));
            let listing = listing.map_err(of_control(control))?;
            let files = place.files(&listing);
            self.passing = Some((listing, files));
        }
        Ok(self.passing.as_ref())
    }

    fn world(&mut self, control: &ControlTable) -> Result<Arc<RecordedWorld>, ProveError> {
        if let Some(known) = self.worlds.get(&control.world) {
            return Ok(Arc::clone(known));
        }
        let text = match (&control.world, self.definition) {
            (None, _) => NO_WORLD.to_owned(),
            (Some(name), None) if name == EMAIL_WORLD_NAME => EMAIL_WORLD.to_owned(),
            (Some(name), None) => {
                let why = format!("cannot read {name}: it is not built in");
                return Err(of_control(control)(why));
            }
            (Some(name), Some(definition)) => {
                let path = definition.here().join(name);
                let read = fs::read_to_string(&path);
                read.map_err(|error| format!("cannot read {}: {error}", path.display()))
                    .map_err(of_control(control))?
            }
        };
        let world = RecordedWorld::from_json(&text).map_err(of_control(control))?;
        let world = Arc::new(world);
        self.worlds
            .insert(control.world.clone(), Arc::clone(&world));
        Ok(world)
    }

    /// Adds the outcomes of the final gate's controls to `proof`.
    ///
    /// Each rule of level FAIL must fire in a control, unless there is a `[final.negative]`, which proves
    /// for every result that the gate can fail.
    fn prove_final(
        &mut self,
        gate: &FileGate,
        part: &FinalPart<'_>,
        proof: &mut Proof,
    ) -> Result<(), ProveError> {
        let mut outcomes = Vec::new();
        for table in &part.controls {
            let control = final_control(table, &self.file.name);
            let scene = self.scene(&control, None)?;
            let outcome = scene.outcome(&control, gate, Alteration::default())?;
            let passes = outcome.judgement.verdict == Verdict::Pass;
            outcomes.push(outcome);
            if let Some(negative) = part.negative.as_ref().filter(|_| passes) {
                // The same result must fail with the deliberate defect.
                let broken = ControlTable {
                    name: format!("{}, broken by [final.negative]", control.name),
                    verdict: Verdict::Fail,
                    fires: negative.fires.clone(),
                    ..control
                };
                outcomes.push(scene.outcome(&broken, gate, alteration(negative)?)?);
            }
        }
        if part.negative.is_none() {
            let unfired = unfired(&outcomes, &gate.rules(), Level::Fail);
            proof
                .lacking
                .extend(unfired.into_iter().map(Lacking::FinalRule));
        }
        proof.controls.extend(outcomes);
        Ok(())
    }
}

fn edit(root: &Path, edits: &Edits) -> io::Result<()> {
    for (path, text) in edits {
        let place = path.join_to(root);
        if let Some(folder) = place.parent() {
            fs::create_dir_all(folder)?;
        }
        match text {
            Some(text) => fs::write(place, text)?,
            None => fs::remove_file(place)?,
        }
    }
    Ok(())
}

pub(super) fn of_control<E>(control: &ControlTable) -> impl FnOnce(E) -> ProveError
where
    E: Into<Box<dyn Error + Send + Sync>>,
{
    let control = control.name.clone();
    |error| ProveError::Control {
        control,
        source: error.into(),
    }
}

impl Scene {
    fn outcome(
        &self,
        control: &ControlTable,
        gate: &dyn Gate,
        altered: Alteration,
    ) -> Result<ControlOutcome, ProveError> {
        let judgement = self.judge(control, gate, altered, |case, world| {
            gate.judge(case, world)
        })?;
        let fires = control.fires.clone();
        let fits = fires
            .as_ref()
            .is_none_or(|rules| fires_exactly(&judgement, rules));
        Ok(ControlOutcome {
            name: control.name.clone(),
            expected: control.verdict,
            fits: fits && judgement.verdict == control.verdict,
            fires,
            judgement,
        })
    }

    /// Judges the case of a control in its world.
    fn judge<T>(
        &self,
        control: &ControlTable,
        gate: &dyn Gate,
        altered: Alteration,
        judge: impl FnOnce(Case<'_>, &World<'_>) -> T,
    ) -> Result<T, ProveError> {
        let quest = control.quest().map_err(of_control(control))?;
        let submission = ControlTable::submission(&control.submit);
        let before = PassedBefore {
            texts: &control.taken,
            taken: gate.takes(Case::new(&quest, &ControlTable::submission(&control.taken))),
        };
        let case = Case::new(&quest, &submission);
        let judged = self.world.lend_altered(&before, altered, |world| {
            judge(case, &Recorder::new(world).world())
        });
        judged.map_err(|error| match error {
            JudgeError::Sandbox(why) => ProveError::Sandbox {
                control: control.name.clone(),
                why,
            },
            other => other.into(),
        })
    }
}

fn settings(control: &ControlTable) -> GateSettings {
    GateSettings {
        role_only: control.role_only,
        ..GateSettings::default()
    }
}

/// The values that another quest has passed with in a control.
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

/// The control as one of the usual form.
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

/// Copies a control's tree and adds the files that its agent wrote. The listing is of the tree before
/// the agent.
fn copy_tree(place: &ControlTree, scratch: &Path) -> Result<(Listing, Files, TempDir), TreeError> {
    let before = ControlTree {
        writes: None,
        ..place.clone()
    };
    let listing = before.listing(&mut |_, _| Ok(()))?;
    let files = before.files(&listing);
    let failed = |error: io::Error| TreeError::io(scratch.display(), "copy the tree")(error);
    let working = files::private_dir("comail-control-", scratch).map_err(failed)?;
    let load = |digest: Digest| read(&files, digest);
    Snapshot::of(&listing).write_to(working.path(), &load)?;
    if let Some(writes) = &place.writes {
        let written = take_baseline(writes, &Ignored::default(), &mut |_, _| Ok(()))?;
        for path in written.entries().keys() {
            let place = path.join_to(working.path());
            if let Some(folder) = place.parent() {
                fs::create_dir_all(folder).map_err(failed)?;
            }
            fs::copy(path.join_to(writes), place).map_err(failed)?;
        }
    }
    Ok((listing, files, working))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> QuestFile<'static> {
        email().unwrap().0
    }

    fn gate() -> FileGate {
        email().unwrap().1
    }

    #[test]
    fn every_built_in_control_names_its_rules() {
        for control in file().controls {
            assert!(control.fires.is_some(), "{}", control.name);
        }
    }

    #[test]
    fn every_fail_rule_needs_its_controls() {
        let rules = gate().rules();
        let whole = prove_email().unwrap();
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
    fn the_controls_detect_a_missing_step() {
        let file = file();
        let steps: Vec<_> = file
            .checks
            .iter()
            .map(|raw| raw.text_of("name").unwrap())
            .collect();
        assert_eq!(steps.len(), 7, "{steps:?}");
        for step in steps {
            let mutant = gate().silenced(step);
            let mut stage = Stage::new(&file, None, Path::new("")).unwrap();
            let seen = file.controls.iter().any(|control| {
                let outcome = stage.outcome(&mutant, control, &Edits::new()).unwrap();
                !outcome.fits
            });
            assert!(seen, "{step}");
        }
    }

    #[test]
    fn rejects_a_world_that_is_not_built_in() {
        let mut file = file();
        file.controls[0].table.world = Some(String::from("other.json"));
        let proof = Stage::new(&file, None, Path::new(""))
            .unwrap()
            .proof(&gate(), &[]);
        let Err(ProveError::Control { source, .. }) = proof else {
            panic!("{proof:?}");
        };
        assert!(source.to_string().starts_with("cannot read"), "{source}");
    }
}
