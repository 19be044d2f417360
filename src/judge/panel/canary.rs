//! Planted defects: a reviewer that misses one is ignored, and `prove --reviewers` tries them all.

use std::collections::BTreeMap;

use crate::base::Digest;
use crate::gate::{Case, Vote};
use crate::judge::panel::answer::{Reading, Seen};
use crate::judge::panel::calibration::{Calibration, Labelled, Said, Tried};
use crate::judge::panel::inputs::shown_of;
use crate::judge::panel::members::Member;
use crate::judge::panel::round::{PanelRound, shown};
use crate::judge::panel::tally::{Ballot, Weight, weigh};
use crate::quest::ReviewInput;
use crate::quest::file::{PlantTable, QuestionTable};
use crate::world::sandbox::{Usage, Workshop};

type Readings = Vec<Reading>;

impl PanelRound<'_> {
    /// What the reviewers say of each planted defect, put into the case; else the input that
    /// cannot be shown to them, and why.
    pub(super) fn calibrate(
        &self,
        case: Case<'_>,
        workshop: &dyn Workshop,
    ) -> Result<Calibration, (ReviewInput, String)> {
        let whole = self.inputs.clone()?;
        let inputs = shown_of(case, &whole);
        let mut tried: Vec<_> = self.panel.members.all.iter().map(untried).collect();
        let mut cases = Vec::new();
        for plant in &self.panel.members.plants {
            let members = self.panel.members.all.iter().zip(&mut tried);
            let readings: Readings = members
                .map(|(member, tried)| self.reading(member, tried, (plant, &inputs), workshop))
                .collect();
            let questions = self.panel.members.questions.iter();
            let labelled =
                questions.filter_map(|question| self.labelled(plant, question, &readings));
            cases.extend(labelled);
        }
        Ok(Calibration::of(tried, cases))
    }

    fn reading(
        &self,
        member: &Member,
        tried: &mut Tried,
        (plant, inputs): (&PlantTable, &BTreeMap<ReviewInput, String>),
        workshop: &dyn Workshop,
    ) -> Reading {
        let seen = Seen::new(planted(&shown(member, inputs), &plant.sees));
        let reading = self.answer(member, &seen, workshop, &mut tried.usage);
        for on in &reading.votes {
            if let Vote::Error(why) = &on.vote {
                let error = format!("{}, {}: {why}", plant.name, on.question);
                tried.errors.push(error);
            }
        }
        reading
    }

    /// The case that a question about a plant is; none where it is not labelled.
    fn labelled(
        &self,
        plant: &PlantTable,
        question: &QuestionTable,
        readings: &Readings,
    ) -> Option<Labelled> {
        let must_doubt = plant.doubts.contains(&question.id);
        if !must_doubt && !plant.doubts.is_empty() {
            return None;
        }
        let votes = readings.iter().map(|reading| {
            let on = reading.votes.iter().find(|on| on.question == question.id);
            on.map(|on| &on.vote)
        });
        let votes: Vec<Option<&Vote>> = votes.collect();
        let ballots = self.panel.members.all.iter().zip(&votes);
        let ballots = ballots.map(|(member, vote)| Ballot {
            vote: *vote,
            differs: member.differs(),
        });
        let panel = weigh(self.panel.members.head, ballots);
        Some(Labelled {
            plant: plant.name.clone(),
            question: question.id.clone(),
            must_doubt,
            said: votes.into_iter().map(said).collect(),
            panel: match panel {
                Weight::Doubted => Said::Doubt,
                Weight::Cleared => Said::Clear,
                Weight::Unsettled(_) => Said::Nothing,
            },
        })
    }
}

fn untried(member: &Member) -> Tried {
    Tried {
        name: member.name.clone(),
        model: member.model.clone(),
        usage: Usage::default(),
        errors: Vec::new(),
    }
}

fn said(vote: Option<&Vote>) -> Said {
    match vote {
        None | Some(Vote::Error(_)) => Said::Nothing,
        Some(Vote::Doubt(_)) => Said::Doubt,
        Some(Vote::Unsure(_) | Vote::Faint(_) | Vote::Cleared(_)) => Said::Clear,
    }
}

/// Of the plants that must be doubted, the one that runs along with this case: another quest has
/// another one, and the same quest always the same. What is submitted has no say in it, or it
/// could be changed until the plant is one that a strict reviewer misses.
pub(super) fn plant_for<'p>(case: Case<'_>, plants: &'p [PlantTable]) -> Option<&'p PlantTable> {
    let plants: Vec<_> = plants.iter().filter(|it| !it.doubts.is_empty()).collect();
    let digest = Digest::of(case.quest.key.as_str().as_bytes());
    let count = u64::try_from(plants.len()).ok()?;
    let place = u64::from_be_bytes(digest.first_bytes()).checked_rem(count)?;
    plants.get(usize::try_from(place).ok()?).copied()
}

pub(super) fn planted(
    inputs: &[(ReviewInput, String)],
    plant: &BTreeMap<String, String>,
) -> Vec<(ReviewInput, String)> {
    let put = |(sight, text): &(ReviewInput, String)| {
        let text = plant.get(&sight.to_string()).unwrap_or(text);
        (sight.clone(), text.clone())
    };
    inputs.iter().map(put).collect()
}

/// Whether every question was doubted that must be.
pub(super) fn is_found(reading: &Reading, doubts: &[String]) -> bool {
    doubts.iter().all(|id| {
        let mut votes = reading.votes.iter();
        votes.any(|on| on.question == *id && on.vote.doubt().is_some())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quest::{FieldName, Fields, Key, Quest, QuestId, Submission};

    fn plant(name: &str, doubts: &[&str]) -> PlantTable {
        PlantTable {
            name: name.to_owned(),
            sees: BTreeMap::from([(String::from("key"), String::from("Mars"))]),
            doubts: doubts.iter().map(|id| (*id).to_owned()).collect(),
        }
    }

    fn quest(number: u32) -> Quest {
        Quest {
            id: QuestId::FIRST,
            key: Key::new(&format!("key {number}")).unwrap(),
            anchor: None,
            shown: Vec::new(),
            known: Vec::new(),
            after: Vec::new(),
            rows: vec![1],
        }
    }

    fn chosen<'p>(number: u32, text: &str, plants: &'p [PlantTable]) -> &'p str {
        let field = (FieldName::known("text"), text.to_owned());
        let submission = Submission::Fields(Fields::from([field]));
        let quest = quest(number);
        let case = Case {
            quest: &quest,
            submission: &submission,
        };
        &plant_for(case, plants).unwrap().name
    }

    #[test]
    fn an_answer_cannot_be_changed_until_its_plant_is_another() {
        let plants = ["a", "b", "c", "d"].map(|name| plant(name, &["one"]));
        let first = chosen(1, "", &plants);
        for number in 0..40 {
            assert_eq!(chosen(1, &"x".repeat(number), &plants), first);
        }
    }

    #[test]
    fn cases_share_the_plants_out_and_clean_ones_stay_away() {
        let plants = [
            plant("a", &["one"]),
            plant("clean", &[]),
            plant("b", &["one"]),
        ];
        let mut met = BTreeMap::<&str, u32>::new();
        for number in 0..40 {
            *met.entry(chosen(number, "text", &plants)).or_default() += 1;
        }
        assert!(met["a"] > 5 && met["b"] > 5, "{met:?}");
        assert_eq!(met.len(), 2);
    }

    #[test]
    fn what_is_planted_takes_the_place_of_one_input() {
        let column = ReviewInput::Input(String::from("text"));
        let inputs = [
            (ReviewInput::Key, String::from("7")),
            (column, String::from("t")),
        ];
        let planted = planted(&inputs, &plant("a", &["one"]).sees);
        let texts: Vec<_> = planted.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(texts, ["Mars", "t"]);
    }
}
