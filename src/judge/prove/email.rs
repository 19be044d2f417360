//! The controls of the built-in e-mail gate.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::ErrorKind;

use crate::gate::Gate as _;
use crate::gate::checks::FileGate;
use crate::gate::checks::outside::Gathered;
use crate::gate::checks::settings::FileSettings;
use crate::judge::prove::control::{NO_WORLD, ProveError, judged, settings};
use crate::judge::prove::{Outcome, Proof};
use crate::judge::quest_file::Faulty;
use crate::quest::email::TEXT;
use crate::quest::file::{ControlTable, Mistake, QuestFile};
use crate::world::evidence::recorded::RecordedWorld;
use crate::world::sandbox::NoWorkshop;

const WORLD_NAME: &str = "../gate/email/controls.json";
const WORLD: &str = include_str!("../../gate/email/controls.json");

pub fn prove_email() -> Result<Proof, ProveError> {
    let file = QuestFile::parse(TEXT).map_err(faulty)?;
    let gate = FileGate::new(&file, &Gathered::default(), FileSettings::default());
    proof(&file, &gate.map_err(faulty)?)
}

type Worlds<'c> = BTreeMap<Option<&'c str>, RecordedWorld>;

fn proof(file: &QuestFile<'_>, gate: &FileGate) -> Result<Proof, ProveError> {
    let mut worlds = Worlds::new();
    let mut outcomes = Vec::with_capacity(file.controls.len());
    for control in &file.controls {
        outcomes.push(outcome(control, gate, &mut worlds)?);
    }
    Ok(Proof::of(outcomes, &gate.rules(), file.open))
}

fn outcome<'c>(
    control: &'c ControlTable,
    gate: &FileGate,
    worlds: &mut Worlds<'c>,
) -> Result<Outcome, ProveError> {
    let world = match worlds.entry(control.world.as_deref()) {
        Entry::Occupied(known) => known.into_mut(),
        Entry::Vacant(place) => place.insert(world(control)?),
    };
    let gate = gate.under(settings(control));
    let judgement = judged(control, &gate, world, &NoWorkshop)?;
    Ok(Outcome::of(control, judgement))
}

pub(super) fn world(control: &ControlTable) -> Result<RecordedWorld, ProveError> {
    let text = match control.world.as_deref() {
        None => NO_WORLD,
        Some(name) if name == WORLD_NAME => WORLD,
        Some(name) => {
            return Err(ProveError::WorldFile {
                control: control.name.clone(),
                path: name.into(),
                source: ErrorKind::NotFound.into(),
            });
        }
    };
    RecordedWorld::from_json(text).map_err(|source| ProveError::World {
        control: control.name.clone(),
        source,
    })
}

pub(super) fn faulty(mistake: Mistake) -> Faulty {
    Faulty {
        path: String::from("the built-in quest file"),
        mistake,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::Level;
    use crate::judge::prove::Lacking;

    fn file() -> QuestFile<'static> {
        QuestFile::parse(TEXT).unwrap()
    }

    fn gate() -> FileGate {
        FileGate::new(&file(), &Gathered::default(), FileSettings::default()).unwrap()
    }

    fn complaints(proof: &Proof) -> Vec<String> {
        let wrong = proof.controls.iter().filter(|outcome| !outcome.fits);
        wrong
            .map(|outcome| {
                let facts = outcome.judgement.facts.iter();
                let fired: Vec<_> = facts
                    .map(|fact| (fact.rule.as_str(), &fact.actual))
                    .collect();
                format!("{}: {} {fired:?}", outcome.name, outcome.judgement.verdict)
            })
            .collect()
    }

    #[test]
    fn every_control_gets_what_it_must_and_every_rule_is_fired() {
        let proof = prove_email().unwrap();
        assert_eq!(complaints(&proof), [""; 0]);
        assert_eq!(proof.lacking, []);
        assert_eq!(proof.unfired, [""; 0]);
        assert!(proof.holds());
    }

    #[test]
    fn every_control_says_which_rules_it_fires() {
        for control in file().controls {
            assert!(control.fires.is_some(), "{}", control.name);
        }
    }

    #[test]
    fn no_control_of_a_rule_of_level_fail_can_be_spared() {
        let rules = gate().rules();
        let whole = proof(&file(), &gate()).unwrap();
        let failing = rules.iter().filter(|rule| rule.level == Level::Fail);
        for rule in failing {
            let fires = |outcome: &Outcome| {
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
    fn no_step_can_be_left_out_unseen() {
        let file = file();
        let steps: Vec<_> = file
            .checks
            .iter()
            .map(|raw| raw.text_of("name").unwrap())
            .collect();
        assert_eq!(steps.len(), 7, "{steps:?}");
        for step in steps {
            let mutant = gate().silenced(step);
            let mut worlds = Worlds::new();
            let seen = file.controls.iter().any(|control| {
                let outcome = outcome(control, &mutant, &mut worlds).unwrap();
                !outcome.fits
            });
            assert!(seen, "{step}");
        }
    }

    #[test]
    fn a_world_that_is_not_bound_in_is_an_error() {
        let mut file = file();
        file.controls[0].table.world = Some(String::from("other.json"));
        let proof = proof(&file, &gate());
        assert!(
            matches!(proof, Err(ProveError::WorldFile { .. })),
            "{proof:?}"
        );
    }
}
