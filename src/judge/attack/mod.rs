//! Tries to pass a gate without the work: makes cheats from the controls that must pass, and judges
//! them as controls.

mod cheats;
mod languages;

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::io;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

pub use cheats::CheatKind;
use cheats::{Cheat, Target, cheats, rendered};

use crate::base::Digest;
use crate::gate::{GateSettings, Judgement};
use crate::judge::prove::{ControlOutcome, Edits, ProveError, Stage, of_control};
use crate::judge::quest_file::{ControlTree, Definition, FrozenTree, read};
use crate::quest::Verdict;
use crate::quest::file::{ControlTable, QuestFile};
use crate::world::tree::{Entry, Ignored, TreePath, Zones, take_baseline};

/// What came of an attack on a gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Attack {
    /// How many cheats were judged.
    pub tried: usize,
    /// Those that the gate let through, in the order of the file.
    pub passed: Vec<PassedCheat>,
}

/// A cheat that got the verdict of honest work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PassedCheat {
    pub cheat: CheatKind,
    /// What it does.
    pub what: String,
    /// The control from which it was made.
    pub control: String,
    pub verdict: Verdict,
    /// What would close the hole.
    pub advice: &'static str,
}

/// Attacks the gate of a quest file. The directory `session` is left out of trees.
///
/// No reviewer is asked.
pub fn attack(definition: &Definition, session: &Path) -> Result<Attack, ProveError> {
    let file = definition.file()?;
    let gate = definition.gate(GateSettings::default())?;
    let mut stage = Stage::new(&file, Some(definition), session)?;
    let mut tried: Vec<Cheat> = Vec::new();
    let mut passed = Vec::new();
    for control in file.passing_controls() {
        let honest = ControlTable {
            reviewed: None,
            ..control.clone()
        };
        let outcome = stage.outcome(&gate, &honest, &Edits::new())?;
        if outcome.judgement.verdict != honest.verdict {
            return Err(of_control(&honest)(broken(&outcome)));
        }
        let target = target(definition, &file, &honest, session)?;
        for cheat in cheats(&target) {
            if tried.iter().any(|known| is_same(known, &cheat)) {
                continue;
            }
            let judged = stage
                .outcome(&gate, &cheat.control, &cheat.edits)?
                .judgement;
            if is_as_good(&judged, &outcome.judgement) {
                passed.push(PassedCheat {
                    cheat: cheat.kind,
                    what: cheat.what.clone(),
                    control: control.name.clone(),
                    verdict: judged.verdict,
                    advice: cheat.kind.advice(),
                });
            }
            tried.push(cheat);
        }
    }
    if tried.is_empty() {
        return Err(ProveError::NothingToAttack);
    }
    Ok(Attack {
        tried: tried.len(),
        passed,
    })
}

fn broken(outcome: &ControlOutcome) -> String {
    format!(
        "it must be {}, but is {}; run `comail quest check` first",
        outcome.expected, outcome.judgement.verdict
    )
}

/// Whether two cheats are one and the same, made from controls of different names.
fn is_same(one: &Cheat, other: &Cheat) -> bool {
    let renamed = ControlTable {
        name: other.control.name.clone(),
        ..one.control.clone()
    };
    one.edits == other.edits && renamed == other.control
}

/// Whether a cheat gets what the honest control gets. In an open kind, that is REVIEW by the same rules.
fn is_as_good(cheat: &Judgement, honest: &Judgement) -> bool {
    let rules = |judgement: &Judgement| {
        let rules = judgement.facts.iter().map(|fact| fact.rule.clone());
        rules.collect::<BTreeSet<_>>()
    };
    cheat.verdict == honest.verdict
        && (cheat.verdict == Verdict::Pass || rules(cheat) == rules(honest))
}

fn target<'a>(
    definition: &Definition,
    file: &'a QuestFile<'a>,
    control: &'a ControlTable,
    session: &Path,
) -> Result<Target<'a>, ProveError> {
    let mut target = Target {
        file,
        control,
        work: BTreeMap::new(),
        writable: Vec::new(),
        protected: Vec::new(),
        sources: BTreeMap::new(),
    };
    if let Some(tree) = &definition.tree {
        let filled = fill(&mut target, definition, tree, session);
        filled.map_err(of_control(control))?;
    }
    Ok(target)
}

/// Reads the tree of the target's control.
fn fill(
    target: &mut Target<'_>,
    definition: &Definition,
    tree: &FrozenTree,
    session: &Path,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let control = target.control;
    let place = ControlTree::of(control, definition.here(), tree, session)?;
    let listing = place.listing(&mut |_, _| Ok(()))?;
    let files = place.files(&listing);
    let text = |digest: Digest| -> io::Result<String> {
        let bytes = read(&files, digest)?.unwrap_or_default();
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let written = match &place.writes {
        Some(writes) => Some(take_baseline(writes, &Ignored::default(), &mut |_, _| {
            Ok(())
        })?),
        None => None,
    };
    // Without a folder of what its agent wrote, a tree of its own has the work in it.
    let is_work = |path: &TreePath| match &written {
        Some(written) => written.get(path).is_some(),
        None => control.tree.is_some(),
    };
    let zones = Zones::new(&tree.write)?;
    let mutations = target.file.checks.iter();
    let mutations = mutations.filter(|raw| raw.text_of("kind") == Some("mutation"));
    let sources: Vec<_> = mutations
        .filter_map(|raw| rendered(target.file, control, raw, "file"))
        .collect();
    for (path, entry) in listing.entries() {
        let Entry::File { sha256, .. } = entry else {
            continue;
        };
        if sources.iter().any(|source| source == path.as_str()) {
            target.sources.insert(path.clone(), text(*sha256)?);
        }
        if !zones.contains(path) {
            target.protected.push(path.clone());
        } else if is_work(path) {
            target.work.insert(path.clone(), text(*sha256)?);
        } else {
            target.writable.push(path.clone());
        }
    }
    Ok(())
}
