//! The reviewers of a session before labelled cases: its plants, laid over a control that passes.

use super::case::{case_of, settings};
use super::control::{ProveError, Scene, Tree};
use super::email;
use crate::gate::Gate;
use crate::gate::checks::FileGate;
use crate::gate::checks::outside::Gathered;
use crate::gate::checks::settings::FileSettings;
use crate::judge::panel::{Calibration, Untried};
use crate::judge::quest_file::{BenchError, Definition, Faulty};
use crate::judge::{DriveError, FrozenPanel};
use crate::quest::Verdict;
use crate::quest::email::TEXT;
use crate::quest::file::{ControlTable, QuestFile};
use crate::session::Manifest;
use crate::world::World;
use crate::world::evidence::recorded::RecordedWorld;
use crate::world::sandbox::{LiveWorkshop, Workshop as _};

/// Why reviewers cannot be tried.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// There are none.
    #[error("the session has no reviewers: `scan --reviewers FILE`, or a quest file with some")]
    NoReviewers,
    /// There is nothing over which plants can be laid.
    #[error("no control of the quest file passes, over which plants could be laid")]
    NoCase,
    /// The control over which they are laid does not do.
    #[error("control `{control}`, over which plants are laid")]
    Case {
        control: String,
        /// Why not.
        #[source]
        source: Untried,
    },
    /// The reviewers could not be asked, by no fault of theirs.
    #[error("the reviewers cannot be asked: {0}")]
    Unasked(String),
    /// The control cannot be run.
    #[error(transparent)]
    Control(#[from] ProveError),
    /// What the session froze cannot be read.
    #[error(transparent)]
    Frozen(#[from] DriveError),
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
    passing.ok_or(TrialError::NoCase)
}

fn tried(
    panel: &FrozenPanel,
    definition: Option<&Definition>,
    gate: Box<dyn Gate>,
    control: &ControlTable,
    world: &RecordedWorld,
    workshop: &LiveWorkshop<'_>,
) -> Result<Calibration, TrialError> {
    let gate = panel.around(gate, definition, settings(control).robots)?;
    let tried = case_of(control, &gate, |case, accepted| {
        let world = World {
            fetcher: world,
            resolver: world,
            accepted,
            workshop,
        };
        gate.trial(case, &world)
    })?;
    if let Some(why) = workshop.failure() {
        return Err(TrialError::Unasked(why));
    }
    tried.map_err(|source| TrialError::Case {
        control: control.name.clone(),
        source,
    })
}
