//! One control, judged as a submission is.

use std::collections::BTreeMap;

use super::control::ProveError;
use crate::drive::observe::observe;
use crate::drive::turn::Judge;
use crate::gate::checks::settings::FileSettings;
use crate::gate::checks::unique::taken;
use crate::gate::email::taken_by;
use crate::gate::{Case, Gate, Judgement};
use crate::quest::file::ControlTable;
use crate::quest::{Anchor, FieldName, Key, Quest, QuestId, Shown, Submission};
use crate::world::recorded::RecordedWorld;
use crate::world::workshop::Workshop;
use crate::world::{Accepted, Taken};

/// The operator's choices under which `control` is judged.
pub(super) fn settings(control: &ControlTable) -> FileSettings {
    FileSettings {
        role_only: control.role_only,
        ..FileSettings::default()
    }
}

/// What `gate` says of `control` in this world.
pub(super) fn judged(
    control: &ControlTable,
    gate: &dyn Gate,
    world: &RecordedWorld,
    workshop: &dyn Workshop,
) -> Result<Judgement, ProveError> {
    let quest = quest(control)?;
    let fields = control.submit.iter();
    let fields = fields.map(|(name, text)| (FieldName::from(name.clone()), text.clone()));
    let submission = Submission::Fields(fields.collect());
    let judge = Judge {
        gate,
        fetcher: world,
        resolver: world,
        workshop,
    };
    let case = Case {
        quest: &quest,
        submission: &submission,
    };
    let (judgement, _) = observe(&judge, case, &Before(&control.taken))?;
    Ok(judgement)
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

/// What a control says that other quests have passed with.
struct Before<'a>(&'a BTreeMap<String, String>);

impl Accepted for Before<'_> {
    fn holder(&self, asked: &Taken) -> Option<Key> {
        let mut texts = self.0.iter();
        let held = match asked {
            Taken::Value { field, .. } => {
                let text = self.0.get(field.as_str())?;
                taken(field, text).as_ref() == Some(asked)
            }
            Taken::Mailbox(_) | Taken::Domain(_) => {
                texts.any(|(_, text)| taken_by(text).contains(asked))
            }
        };
        held.then(|| Key::new("another quest").ok()).flatten()
    }
}
