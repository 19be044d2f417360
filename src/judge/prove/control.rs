//! Running the controls of a quest file.

use std::path::{Path, PathBuf};

use super::case::{judged, settings};
use super::final_control;
use super::proof::{Outcome, Proof};
use super::stand_in::StandIn;
use crate::gate::checks::settings::FileSettings;
use crate::gate::{Gate, Judgement, doubts};
use crate::judge::panel::{Heard, Members, ReviewedGate};
use crate::judge::quest_file::{BenchError, Definition, Faulty, Frozen};
use crate::quest::EmptyKey;
use crate::quest::file::ControlTable;
use crate::world::evidence::recorded::{BadWorld, RecordedWorld};
use crate::world::sandbox::{Bench, LiveWorkshop};
use crate::world::tree::{BadGlob, Ignored, Listing, TreeError};

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
    #[error("control `{control}`: the gate cannot look: {why}")]
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
    let shown = final_control::shown(definition, tree)?;
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
        let mut bench = match &stand_in {
            Some(made) => definition.bench(made.listing.clone(), made.load(), Vec::new())?,
            None => definition.bench(Listing::default(), Box::new(|_| Ok(None)), Vec::new())?,
        };
        // Of no control is it known which repository lies behind its tree.
        bench.commits = None;
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
    let reviewed = ReviewedGate::new(gate, members, robots);
    Ok(Box::new(reviewed.hearing(Heard::Script(script.clone()))))
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
