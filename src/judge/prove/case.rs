//! One control, judged as a submission is.

use std::collections::BTreeMap;

use super::control::ProveError;
use crate::gate::checks::settings::FileSettings;
use crate::gate::email::taken_by;
use crate::gate::{Case, Gate, Judgement};
use crate::judge::observe::observe;
use crate::judge::turn::Judge;
use crate::quest::file::ControlTable;
use crate::quest::{Anchor, FieldName, Key, Quest, QuestId, Shown, Submission};
use crate::world::evidence::recorded::RecordedWorld;
use crate::world::sandbox::Workshop;
use crate::world::{Accepted, Taken};

pub(super) fn settings(control: &ControlTable) -> FileSettings {
    FileSettings {
        role_only: control.role_only,
        ..FileSettings::default()
    }
}

pub(super) fn judged(
    control: &ControlTable,
    gate: &dyn Gate,
    world: &RecordedWorld,
    workshop: &dyn Workshop,
) -> Result<Judgement, ProveError> {
    let judge = Judge {
        gate,
        fetcher: world,
        resolver: world,
        workshop,
    };
    let judged = case_of(control, gate, |case, before| observe(&judge, case, before))?;
    let (judgement, _) = judged?;
    match workshop.failure() {
        None => Ok(judgement),
        Some(why) => Err(ProveError::Workshop {
            control: control.name.clone(),
            why,
        }),
    }
}

pub(super) fn case_of<T>(
    control: &ControlTable,
    gate: &dyn Gate,
    look: impl FnOnce(Case<'_>, &dyn Accepted) -> T,
) -> Result<T, ProveError> {
    let quest = quest(control)?;
    let submission = submission_of(&control.submit);
    let earlier = submission_of(&control.taken);
    let before = Before {
        texts: &control.taken,
        taken: gate.takes(Case {
            quest: &quest,
            submission: &earlier,
        }),
    };
    let case = Case {
        quest: &quest,
        submission: &submission,
    };
    Ok(look(case, &before))
}

fn submission_of(fields: &BTreeMap<String, String>) -> Submission {
    let fields = fields.iter();
    let fields = fields.map(|(name, text)| (FieldName::from(name.clone()), text.clone()));
    Submission::Fields(fields.collect())
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

struct Before<'a> {
    texts: &'a BTreeMap<String, String>,
    taken: Vec<Taken>,
}

impl Accepted for Before<'_> {
    fn holder(&self, asked: &Taken) -> Option<Key> {
        let mut texts = self.texts.values();
        let held = match asked {
            Taken::Value { .. } => self.taken.contains(asked),
            Taken::Mailbox(_) | Taken::Domain(_) => {
                texts.any(|text| taken_by(text).contains(asked))
            }
        };
        held.then(|| Key::new("another quest").ok()).flatten()
    }
}
