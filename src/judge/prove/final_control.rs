//! The controls of the final gate, and its negative control over each of them that passes.

use std::collections::BTreeMap;

use super::case::judged;
use super::control::{ProveError, Scene, Tree};
use super::proof::{Lacking, Outcome, unfired};
use crate::gate::checks::FileGate;
use crate::gate::checks::settings::FileSettings;
use crate::gate::{Gate as _, Level};
use crate::judge::final_gate::alteration;
use crate::judge::quest_file::Definition;
use crate::quest::Verdict;
use crate::quest::file::{ControlTable, FinalControlTable, NegativeTable};
use crate::world::sandbox::{Alteration, LiveWorkshop};

#[derive(Default)]
pub(super) struct Shown {
    pub(super) outcomes: Vec<Outcome>,
    /// What none of them shows, and one must.
    pub(super) lacking: Vec<Lacking>,
}

/// What the final gate's controls show of it; nothing where the kind has no final gate.
///
/// Each of its rules of level FAIL must fire in a control. Where there is a `[final.negative]`, that
/// shows of every result that the gate can say no, and no control must.
pub(super) fn shown(definition: &Definition, tree: &Tree) -> Result<Shown, ProveError> {
    let file = definition.file()?;
    let gate = definition.final_gate(FileSettings::default())?;
    let (Some(gate), Some(part)) = (gate, &file.final_part) else {
        return Ok(Shown::default());
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
    Ok(Shown { outcomes, lacking })
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
