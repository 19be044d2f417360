//! From what a session froze to the quest kind, the gate and the network settings.

use serde::de::DeserializeOwned;

use crate::gate::checks::settings::FileSettings;
use crate::gate::email::settings::EmailSettings;
use crate::gate::email::{EmailGate, lists};
use crate::gate::{Gate, Rule, house};
use crate::judge::error::DriveError;
use crate::judge::panel::frozen::FrozenPanel;
use crate::judge::quest_file::Definition;
use crate::quest::{QuestKind, email};
use crate::session::{KindRecord, Manifest};
use crate::world::fetch::settings::NetworkSettings;

#[must_use]
pub fn email_record() -> KindRecord {
    KindRecord {
        name: email::NAME.to_owned(),
        lists: lists::digests()
            .into_iter()
            .map(|(name, digest)| (name.to_owned(), digest))
            .collect(),
        definition: None,
        reviewers: None,
    }
}

pub fn kind_of(manifest: &Manifest) -> Result<QuestKind, DriveError> {
    match Definition::of(manifest)? {
        Some(definition) => Ok(definition.kind()?),
        None if manifest.kind.name == email::NAME => Ok(email::kind()),
        None => Err(DriveError::UnknownKind(manifest.kind.name.clone())),
    }
}

pub fn gate_of(manifest: &Manifest) -> Result<Box<dyn Gate>, DriveError> {
    let definition = Definition::of(manifest)?;
    let (gate, robots): (Box<dyn Gate>, _) = if let Some(definition) = &definition {
        let settings: FileSettings = settings(manifest)?;
        let robots = settings.robots;
        (Box::new(definition.gate(settings)?), robots)
    } else {
        kind_of(manifest)?;
        let settings: EmailSettings = settings(manifest)?;
        let robots = settings.robots;
        (Box::new(EmailGate::new(settings)), robots)
    };
    match FrozenPanel::of(manifest)? {
        None => Ok(gate),
        Some(panel) => Ok(Box::new(panel.around(gate, definition.as_ref(), robots)?)),
    }
}

pub(super) fn settings<T: DeserializeOwned>(manifest: &Manifest) -> Result<T, DriveError> {
    serde_json::from_value(manifest.frozen.gate.clone()).map_err(|source| DriveError::Settings {
        part: "gate",
        source,
    })
}

pub fn rules_of(manifest: &Manifest) -> Result<Vec<Rule>, DriveError> {
    let mut rules = house::rules();
    rules.extend(gate_of(manifest)?.rules());
    Ok(rules)
}

pub fn network_of(manifest: &Manifest) -> Result<NetworkSettings, DriveError> {
    serde_json::from_value(manifest.frozen.network.clone()).map_err(|source| DriveError::Settings {
        part: "network",
        source,
    })
}
