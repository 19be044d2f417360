//! The reviewers before labelled cases: every plant is asked about, of everybody.

use std::collections::BTreeMap;

use super::super::answer::Reading;
use super::super::calibration::{Calibration, Labelled, Said, Tried};
use super::super::members::Member;
use super::super::plant::planted;
use super::super::quotation::Seen;
use super::super::weigh::{Ballot, Weight, weigh};
use super::{Hearing, gather, shown, shown_of};
use crate::gate::Vote;
use crate::quest::Sight;
use crate::quest::file::{PlantTable, QuestionTable};
use crate::world::sandbox::Usage;

type Readings = Vec<Reading>;

impl Hearing<'_> {
    /// What the reviewers make of each plant, laid over the case; else what cannot be shown to
    /// them, and why.
    pub(in super::super) fn trial(&self) -> Result<Calibration, (Sight, String)> {
        let sights = self.members.all.iter().flat_map(|member| &member.sees);
        let whole = gather(sights, self.case, self.world, self.spy, self.robots)?;
        let inputs = shown_of(self.case, &whole);
        let mut tried: Vec<_> = self.members.all.iter().map(untried).collect();
        let mut cases = Vec::new();
        for plant in &self.members.plants {
            let members = self.members.all.iter().zip(&mut tried);
            let readings: Readings = members
                .map(|(member, tried)| self.reading(member, tried, plant, &inputs))
                .collect();
            let questions = self.members.questions.iter();
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
        plant: &PlantTable,
        inputs: &BTreeMap<Sight, String>,
    ) -> Reading {
        let seen = Seen::new(planted(&shown(member, inputs), &plant.sees));
        let reading = self.answer(member, &seen, &mut tried.usage);
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
        let ballots = self.members.all.iter().zip(&votes);
        let ballots = ballots.map(|(member, vote)| Ballot {
            vote: *vote,
            differs: member.differs(),
        });
        let panel = weigh(self.members.head, ballots);
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
