//! What a session judges by, read once from what it froze.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::de::DeserializeOwned;

use crate::gate::checks::FileGate;
use crate::gate::checks::settings::FileSettings;
use crate::gate::email::email_gate;
use crate::gate::{Gate, Rule, house};
use crate::judge::error::JudgeError;
use crate::judge::panel::frozen::FrozenPanel;
use crate::judge::panel::{Panel, SessionGate};
use crate::judge::quest_file::commands::{fixer, services};
use crate::judge::quest_file::{Definition, FixerPlan, frozen_listing};
use crate::quest::{QuestKind, email};
use crate::session::{EvidenceStore, Manifest};
use crate::world::fetch::settings::NetworkSettings;
use crate::world::sandbox::{SandboxConfig, ServicePlan};

/// The quest kind of a session, for callers that judge nothing.
pub fn kind_of(manifest: &Manifest) -> Result<QuestKind, JudgeError> {
    match Definition::of(manifest)? {
        Some(definition) => Ok(definition.kind()?),
        None if manifest.kind.name == email::NAME => Ok(email::kind()),
        None => Err(JudgeError::UnknownKind(manifest.kind.name.clone())),
    }
}

/// How a session asks the network.
pub fn network_of(manifest: &Manifest) -> Result<NetworkSettings, JudgeError> {
    settings("network", &manifest.frozen.network)
}

pub(super) fn gate_settings<T: DeserializeOwned>(manifest: &Manifest) -> Result<T, JudgeError> {
    settings("gate", &manifest.frozen.gate)
}

fn settings<T: DeserializeOwned>(
    part: &'static str,
    value: &serde_json::Value,
) -> Result<T, JudgeError> {
    let read = serde_json::from_value(value.clone());
    read.map_err(|source| JudgeError::Settings { part, source })
}

/// A session's quest kind with everything that judges its submissions.
///
/// The quest file is parsed once, and the gate is built once.
pub struct SessionKind {
    pub quest: QuestKind,
    pub gate: SessionGate,
    pub definition: Option<Definition>,
    /// Whether there are checks over the whole result.
    pub(super) has_final: bool,
    pub(super) fixer: Option<FixerPlan>,
    panel: Option<FrozenPanel>,
    services: BTreeMap<String, ServicePlan>,
}

impl SessionKind {
    pub fn load(manifest: &Manifest) -> Result<Self, JudgeError> {
        let settings: FileSettings = gate_settings(manifest)?;
        let robots = settings.robots;
        let frozen = FrozenPanel::of(manifest)?;
        let definition = Definition::of(manifest)?;
        let file = definition.as_ref().map(Definition::file).transpose()?;
        let source = definition.as_ref().zip(file.as_ref());
        let reviewers = frozen.as_ref().map(|it| it.reviewers(source)).transpose()?;
        let panel = reviewers.map(|reviewers| Panel {
            reviewers,
            robots,
            script: None,
        });
        let mut kind = match source {
            None => Self {
                quest: kind_of(manifest)?,
                gate: SessionGate::new(Box::new(email_gate(settings)), panel),
                definition: None,
                has_final: false,
                fixer: None,
                panel: frozen,
                services: BTreeMap::new(),
            },
            Some((definition, file)) => {
                let faulty = |mistake| definition.faulty(mistake);
                let gathered = &definition.gathered;
                let machine = FileGate::new(file, gathered, settings).map_err(faulty)?;
                Self {
                    quest: file.kind(),
                    gate: SessionGate::new(Box::new(machine), panel),
                    definition: None,
                    has_final: file.final_part.is_some(),
                    fixer: fixer(file, gathered).map_err(faulty)?,
                    panel: frozen,
                    services: services(file, gathered).map_err(faulty)?,
                }
            }
        };
        drop(file);
        kind.definition = definition;
        Ok(kind)
    }

    /// Every rule that can fire in the session, those of the house first.
    pub fn rules(&self) -> Vec<Rule> {
        let mut rules = house::rules();
        rules.extend(self.gate.rules());
        rules
    }

    /// Where the session's commands run; none if its kind is built in and has no reviewers.
    ///
    /// `dir` is the session's directory, which commands cannot read.
    pub fn bench(
        &self,
        store: EvidenceStore,
        dir: PathBuf,
    ) -> Result<Option<SandboxConfig>, JudgeError> {
        let Some(definition) = &self.definition else {
            let bench = self.panel.as_ref().map(|panel| panel.bench(vec![dir]));
            return Ok(bench.transpose()?);
        };
        let (baseline, load) = frozen_listing(definition, store)?;
        let mut bench = definition.bench(self.services.clone(), baseline, load, vec![dir])?;
        if let Some(panel) = &self.panel {
            panel.equip(&mut bench);
        }
        Ok(Some(bench))
    }
}
