//! What a session judges by, read once from what it froze.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::de::DeserializeOwned;

use crate::gate::checks::FileGate;
use crate::gate::checks::settings::FileSettings;
use crate::gate::email::context::EmailSettings;
use crate::gate::email::{EmailGate, list_digests};
use crate::gate::{Gate, Rule, house};
use crate::judge::error::JudgeError;
use crate::judge::panel::frozen::FrozenPanel;
use crate::judge::panel::{Panel, SessionGate};
use crate::judge::quest_file::{Definition, FixerPlan, fixer, frozen_listing, services};
use crate::quest::{QuestKind, email};
use crate::session::{EvidenceStore, KindRecord, Manifest};
use crate::world::fetch::settings::{NetworkSettings, RobotsPolicy};
use crate::world::sandbox::{Bench, ServicePlan};

/// What a new session of the e-mail kind freezes of it.
#[must_use]
pub fn email_record() -> KindRecord {
    KindRecord {
        name: email::NAME.to_owned(),
        lists: list_digests()
            .into_iter()
            .map(|(name, digest)| (name.to_owned(), digest))
            .collect(),
        definition: None,
        reviewers: None,
    }
}

/// The quest kind of a session, for callers that judge nothing.
pub fn kind_of(manifest: &Manifest) -> Result<QuestKind, JudgeError> {
    match Definition::of(manifest)? {
        Some(definition) => Ok(definition.kind()?),
        None => built_in(manifest),
    }
}

fn built_in(manifest: &Manifest) -> Result<QuestKind, JudgeError> {
    if manifest.kind.name == email::NAME {
        Ok(email::kind())
    } else {
        Err(JudgeError::UnknownKind(manifest.kind.name.clone()))
    }
}

/// How a session asks the network.
pub fn network_of(manifest: &Manifest) -> Result<NetworkSettings, JudgeError> {
    part("network", &manifest.frozen.network)
}

/// A session's quest kind with everything that judges its submissions.
///
/// The quest file is parsed once, and the gate is built once.
pub struct SessionKind {
    pub quest: QuestKind,
    pub gate: SessionGate,
    pub definition: Option<Definition>,
    pub(super) fixer: Option<FixerPlan>,
    panel: Option<FrozenPanel>,
    services: BTreeMap<String, ServicePlan>,
}

impl SessionKind {
    pub fn load(manifest: &Manifest) -> Result<Self, JudgeError> {
        let frozen_panel = FrozenPanel::of(manifest)?;
        let Some(definition) = Definition::of(manifest)? else {
            let settings: EmailSettings = gate_settings(manifest)?;
            let panel = panel(frozen_panel.as_ref(), settings.robots, |panel| {
                panel.members(None)
            })?;
            return Ok(Self {
                quest: built_in(manifest)?,
                gate: SessionGate::new(Box::new(EmailGate::new(settings)), panel),
                definition: None,
                fixer: None,
                panel: frozen_panel,
                services: BTreeMap::new(),
            });
        };
        let faulty = |mistake| definition.faulty(mistake);
        let file = definition.file()?;
        let settings: FileSettings = gate_settings(manifest)?;
        let robots = settings.robots;
        let gathered = &definition.gathered;
        let machine = FileGate::new(&file, gathered, settings).map_err(faulty)?;
        let panel = panel(frozen_panel.as_ref(), robots, |panel| {
            panel.members(Some((&definition, &file)))
        })?;
        let (quest, fixer) = (file.kind(), fixer(&file, gathered).map_err(faulty)?);
        let services = services(&file, gathered).map_err(faulty)?;
        drop(file);
        Ok(Self {
            quest,
            gate: SessionGate::new(Box::new(machine), panel),
            fixer,
            panel: frozen_panel,
            services,
            definition: Some(definition),
        })
    }

    /// Every rule that can fire in the session, those of the house first.
    #[must_use]
    pub fn rules(&self) -> Vec<Rule> {
        let mut rules = house::rules();
        rules.extend(self.gate.rules());
        rules
    }

    /// Where the session's commands run; none if its kind is built in and has no reviewers.
    ///
    /// `dir` is the session's directory, which commands cannot read.
    pub fn bench(&self, store: EvidenceStore, dir: PathBuf) -> Result<Option<Bench>, JudgeError> {
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

fn panel(
    frozen: Option<&FrozenPanel>,
    robots: RobotsPolicy,
    members: impl FnOnce(&FrozenPanel) -> Result<super::panel::Members, super::quest_file::Faulty>,
) -> Result<Option<Panel>, JudgeError> {
    let members = frozen.map(members).transpose()?;
    Ok(members.map(|members| Panel {
        members,
        robots,
        script: None,
    }))
}

pub(super) fn gate_settings<T: DeserializeOwned>(manifest: &Manifest) -> Result<T, JudgeError> {
    part("gate", &manifest.frozen.gate)
}

fn part<T: DeserializeOwned>(
    part: &'static str,
    value: &serde_json::Value,
) -> Result<T, JudgeError> {
    let read = serde_json::from_value(value.clone());
    read.map_err(|source| JudgeError::Settings { part, source })
}
