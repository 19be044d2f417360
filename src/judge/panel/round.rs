//! One round of the panel: every reviewer is asked, and the votes are counted.

use std::collections::BTreeMap;

use crate::gate::{Case, Doubts, Judgement, PanelReport, ReviewerReport, Vote};
use crate::judge::panel::answer::{Reading, Seen, nothing, read};
use crate::judge::panel::canary::{is_found, plant_for, planted};
use crate::judge::panel::gate::Panel;
use crate::judge::panel::inputs::{Gathered, shown_of};
use crate::judge::panel::members::{Member, Reply, Words, ask, prompt};
use crate::judge::panel::tally::{Ballot, Ground, Lack, Weight, stand, weigh};
use crate::quest::ReviewInput;
use crate::quest::file::{PlantTable, QuestionTable};
use crate::world::sandbox::{Usage, Workshop};
use crate::world::{EarlierDoubt, World};

/// Why reviewers are not asked again.
const UNHEARD: &str = "they were asked about an earlier answer, and what they said of it was never \
                       recorded";

/// A PASS of the machine that reviewers are asked about, with what they are shown of it.
pub struct PanelRound<'a> {
    pub(super) panel: &'a Panel,
    pub(super) inputs: Gathered,
}

impl PanelRound<'_> {
    /// Whether reviewers will be asked for real, which is permitted once a quest.
    #[must_use]
    pub fn needs_permission(&self) -> bool {
        self.inputs.is_ok() && self.panel.script.is_none()
    }

    /// The judgement with what the reviewers doubt.
    #[must_use]
    pub fn review(&self, judgement: Judgement, case: Case<'_>, world: &World<'_>) -> Judgement {
        judgement.doubted(self.doubts(case, world))
    }

    fn doubts(&self, case: Case<'_>, world: &World<'_>) -> Doubts {
        let members = &self.panel.members;
        let plant = match self.panel.script {
            Some(_) => None,
            None => plant_for(case, &members.plants),
        };
        let mut report = PanelReport {
            plant: plant.map(|plant| plant.name.clone()),
            reviewers: Vec::new(),
        };
        let unsettled = |report, expected: String, why: &str| {
            let mut doubts = Doubts::new(report);
            doubts.unsettled(expected, why);
            doubts
        };
        let whole = match &self.inputs {
            Ok(whole) => whole,
            Err((sight, why)) => {
                return unsettled(report, format!("`{sight}` can be shown to reviewers"), why);
            }
        };
        if let Some(why) = self.kept_from_asking(world) {
            let expected = String::from("reviewers can be asked about the answer");
            return unsettled(report, expected, &why);
        }
        let inputs = shown_of(case, whole);
        let earlier = self.earlier(world);
        for member in &members.all {
            let mut heard = self.heard(member, &inputs, plant, world.workshop);
            if world.workshop.failure().is_some() {
                // The answer is not judged at all, so that nobody else needs to be asked.
                break;
            }
            let ground = Ground::new(&shown(member, whole));
            stand(&mut heard, &earlier, &members.questions, &ground);
            report.reviewers.push(heard);
        }
        self.weighed(&report)
    }

    fn kept_from_asking(&self, world: &World<'_>) -> Option<String> {
        if self.panel.script.is_some() {
            return None;
        }
        let failure = world.workshop.failure();
        failure.or_else(|| (!world.accepted.may_ask()).then(|| UNHEARD.to_owned()))
    }

    fn earlier(&self, world: &World<'_>) -> Vec<EarlierDoubt> {
        let sends_back = self.panel.members.head.revisions > 0 && self.panel.script.is_none();
        if sends_back {
            world.accepted.doubts()
        } else {
            Vec::new()
        }
    }

    fn heard(
        &self,
        member: &Member,
        inputs: &BTreeMap<ReviewInput, String>,
        plant: Option<&PlantTable>,
        workshop: &dyn Workshop,
    ) -> ReviewerReport {
        let seen = shown(member, inputs);
        let mut report = ReviewerReport {
            name: member.name.clone(),
            model: member.model.clone(),
            counts: false,
            votes: Vec::new(),
            errors: Vec::new(),
            usage: Usage::default(),
        };
        if let Some(plant) = plant {
            let before = Seen::new(planted(&seen, &plant.sees));
            let reading = self.answer(member, &before, workshop, &mut report.usage);
            if !is_found(&reading, &plant.doubts) {
                let why = unfound(&reading, &plant.doubts, &plant.name);
                report.errors.push(why);
                return report;
            }
        }
        let reading = self.answer(member, &Seen::new(seen), workshop, &mut report.usage);
        report.counts = true;
        report.votes = reading.votes;
        report.errors.extend(reading.strays);
        report
    }

    pub(super) fn answer(
        &self,
        member: &Member,
        seen: &Seen,
        workshop: &dyn Workshop,
        usage: &mut Usage,
    ) -> Reading {
        let questions = &self.panel.members.questions;
        let reply: Reply = match &self.panel.script {
            None => {
                let text = prompt(member.form, questions, seen);
                ask(&member.way, &text, workshop)
            }
            Some(script) => script
                .get(&member.name)
                .map(|text| Words {
                    text: text.clone(),
                    usage: Usage::default(),
                })
                .ok_or_else(|| String::from("it says nothing in this control")),
        };
        match reply {
            Ok(words) => {
                let reading = read(&words.text, member.form, questions, seen);
                // What the protocol tells goes before what the model says of itself.
                let took = if words.usage == Usage::default() {
                    reading.usage
                } else {
                    words.usage
                };
                *usage = sum(*usage, took);
                reading
            }
            Err(why) => nothing(questions, &why),
        }
    }

    fn weighed(&self, report: &PanelReport) -> Doubts {
        let mut doubts = Doubts::new(report.clone());
        for question in &self.panel.members.questions {
            let ballots = self.panel.members.all.iter().zip(&report.reviewers);
            let ballots = ballots.map(|(member, reviewer)| Ballot {
                vote: vote_of(reviewer, question),
                differs: member.differs(),
            });
            match weigh(self.panel.members.head, ballots) {
                Weight::Cleared => {}
                Weight::Doubted => raise(&mut doubts, question, report),
                Weight::Unsettled(lack) => {
                    let (expected, actual) = self.lacking(lack, question, report);
                    doubts.unsettled(expected, &actual);
                }
            }
        }
        doubts
    }

    fn lacking(
        &self,
        lack: Lack,
        question: &QuestionTable,
        report: &PanelReport,
    ) -> (String, String) {
        let ask = question.ask.trim();
        let silent = silent(question, report);
        match lack {
            Lack::Quorum(answered) => (
                format!("{} reviewers answer: {ask}", self.panel.members.head.quorum),
                format!("{answered} did; {silent}"),
            ),
            Lack::Silent(count) => (
                format!("too few are silent for their doubts to be enough: {ask}"),
                format!("{count} are silent; {silent}"),
            ),
            Lack::Sight => (
                format!("a reviewer answers who sees more than the agent wrote: {ask}"),
                format!("none did; {silent}"),
            ),
        }
    }
}

fn vote_of<'r>(reviewer: &'r ReviewerReport, question: &QuestionTable) -> Option<&'r Vote> {
    let mut votes = reviewer.votes.iter().filter(|_| reviewer.counts);
    votes
        .find(|on| on.question == question.id)
        .map(|on| &on.vote)
}

fn raise(doubts: &mut Doubts, question: &QuestionTable, report: &PanelReport) {
    for reviewer in &report.reviewers {
        let Some(passage) = vote_of(reviewer, question).and_then(Vote::doubt) else {
            continue;
        };
        let place = match (&passage.file, passage.line) {
            (Some(file), Some(line)) => format!("{}: {file}:{line}", reviewer.name),
            _ => reviewer.name.clone(),
        };
        doubts.doubt(question.ask.trim(), &passage.quotation, place);
    }
}

pub(super) fn shown(
    member: &Member,
    inputs: &BTreeMap<ReviewInput, String>,
) -> Vec<(ReviewInput, String)> {
    let seen = member.sees.iter().map(|sight| {
        let text = inputs.get(sight).cloned().unwrap_or_default();
        (sight.clone(), text)
    });
    seen.collect()
}

/// Why reviewers have no vote on the question.
fn silent(question: &QuestionTable, report: &PanelReport) -> String {
    let why = |reviewer: &ReviewerReport| {
        let name = &reviewer.name;
        if !reviewer.counts {
            return Some(format!("{name}: {}", reviewer.errors.join(", ")));
        }
        let mut votes = reviewer.votes.iter();
        let on = votes.find(|on| on.question == question.id)?;
        match &on.vote {
            Vote::Error(why) => Some(format!("{name}: {why}")),
            _ => None,
        }
    };
    let all: Vec<_> = report.reviewers.iter().filter_map(why).collect();
    all.join("; ")
}

/// What a reviewer did in place of doubting what it must.
fn unfound(reading: &Reading, doubts: &[String], plant: &str) -> String {
    let mut votes = reading.votes.iter();
    let missed = votes.find(|on| doubts.contains(&on.question) && on.vote.doubt().is_none());
    match missed.map(|on| &on.vote) {
        Some(Vote::Error(why)) => format!("it gave no answer about `{plant}`: {why}"),
        _ => format!("it missed `{plant}`: it did not doubt it"),
    }
}

fn sum(one: Usage, two: Usage) -> Usage {
    let both = |one: Option<u64>, two: Option<u64>| match (one, two) {
        (Some(one), Some(two)) => Some(one.saturating_add(two)),
        (one, two) => one.or(two),
    };
    Usage {
        input_tokens: both(one.input_tokens, two.input_tokens),
        output_tokens: both(one.output_tokens, two.output_tokens),
        cost: match (one.cost, two.cost) {
            (Some(one), Some(two)) => Some([one, two].into_iter().sum()),
            (one, two) => one.or(two),
        },
    }
}
