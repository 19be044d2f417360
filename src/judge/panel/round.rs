//! The gate of a session: the machine's checks, then a round of reviewers about what passes.
//!
//! Each reviewer is first asked about a planted defect. A reviewer that misses it is ignored.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use itertools::Itertools as _;
use schemars::JsonSchema;
use serde::Serialize;

use crate::base::Digest;
use crate::gate::{
    Case, Doubts, Gate, Judgement, PanelReport, Passage, ReviewerReport, Rule, Vote, VoteOn, doubts,
};
use crate::judge::panel::reviewers::{
    Gathered, Reviewer, ReviewerAnswer, Reviewers, ShownInputs, gather, prompt, read,
    without_others,
};
use crate::quest::file::{PanelTable, PlantTable, QuestionTable, Threshold};
use crate::quest::{ReviewInput, Verdict};
use crate::world::sandbox::{Sandbox, Usage};
use crate::world::{EarlierDoubt, UniqueValue, World};

/// The machine's checks, and the reviewers that are asked about what they pass.
pub struct SessionGate {
    machine: Box<dyn Gate>,
    panel: Option<Reviewers>,
}

impl SessionGate {
    pub fn new(machine: Box<dyn Gate>, panel: Option<Reviewers>) -> Self {
        Self { machine, panel }
    }

    pub fn machine(&self) -> &dyn Gate {
        self.machine.as_ref()
    }

    /// The machine's judgement, and the round of reviewers if it is PASS and there is a panel.
    pub fn examine(
        &self,
        case: Case<'_>,
        world: &World<'_>,
    ) -> (Judgement, Option<PanelRound<'_>>) {
        let judgement = self.machine.judge(case, world);
        let panel = self.panel.as_ref();
        let panel = panel.filter(|_| judgement.verdict == Verdict::Pass);
        let round = panel.map(|panel| {
            let wanted = panel.all.iter().flat_map(|it| &it.sees);
            let inputs = gather(wanted, case, world, panel.robots);
            PanelRound { panel, inputs }
        });
        (judgement, round)
    }

    /// How well the reviewers find planted defects in this case, or why defects cannot be planted.
    pub fn calibrate(&self, case: Case<'_>, world: &World<'_>) -> Result<Calibration, String> {
        match self.examine(case, world) {
            (_, Some(round)) => round.calibrate(case, world.sandbox),
            (_, None) => Err(String::from("it does not pass the checks")),
        }
    }
}

impl Gate for SessionGate {
    fn rules(&self) -> Vec<Rule> {
        let mut rules = self.machine.rules();
        if self.panel.is_some() {
            rules.extend(doubts::rules());
        }
        rules
    }

    fn judge(&self, case: Case<'_>, world: &World<'_>) -> Judgement {
        match self.examine(case, world) {
            (judgement, Some(round)) => round.review(judgement, case, world),
            (judgement, None) => judgement,
        }
    }

    fn takes(&self, case: Case<'_>) -> Vec<UniqueValue> {
        self.machine.takes(case)
    }

    fn accepts_repeats(&self) -> bool {
        self.machine.accepts_repeats()
    }

    fn revisions(&self) -> u32 {
        let panel = self.panel.as_ref();
        panel.map_or(0, |panel| panel.head.revisions)
    }

    fn fact_checks(&self) -> Vec<&str> {
        self.machine.fact_checks()
    }
}

/// Why reviewers are not asked again.
const ASKED_BEFORE: &str = "they were asked about an earlier answer, and what they said of it was \
                            never recorded";

/// A PASS of the machine, with the inputs for its reviewers.
pub struct PanelRound<'a> {
    panel: &'a Reviewers,
    inputs: Gathered,
}

type Inputs = BTreeMap<ReviewInput, String>;

impl PanelRound<'_> {
    /// Whether real reviewers will be asked, which is permitted once per quest.
    pub fn needs_permission(&self) -> bool {
        self.inputs.is_ok() && self.panel.script.is_none()
    }

    /// The judgement with the reviewers' doubts.
    pub fn review(&self, judgement: Judgement, case: Case<'_>, world: &World<'_>) -> Judgement {
        let is_scripted = self.panel.script.is_some();
        let plant = plant_for(case, &self.panel.plants).filter(|_| !is_scripted);
        let mut report = PanelReport {
            plant: plant.map(|plant| plant.name.clone()),
            reviewers: Vec::new(),
        };
        let whole = match self.shown_to_all(world) {
            Ok(whole) => whole,
            Err((expected, why)) => {
                let mut doubts = Doubts::new(report);
                doubts.unsettled(expected, &why);
                return judgement.doubted(doubts);
            }
        };
        let earlier = match self.panel.head.revisions {
            1.. if !is_scripted => world.accepted.doubts(),
            _ => Vec::new(),
        };
        let inputs = without_others(case, whole);
        for reviewer in &self.panel.all {
            let mut said = self.report_of(reviewer, &inputs, plant, world.sandbox);
            if world.sandbox.failure().is_some() {
                // The answer is not judged at all, so nobody else needs to be asked.
                break;
            }
            let texts = ShownInputs::new(shown(reviewer, whole));
            keep_doubts(&mut said, &earlier, &self.panel.questions, &texts);
            report.reviewers.push(said);
        }
        judgement.doubted(self.counted(&report))
    }

    /// The inputs, if reviewers can be asked. Otherwise what was expected, and why that failed.
    fn shown_to_all(&self, world: &World<'_>) -> Result<&Inputs, (String, String)> {
        let whole = self.inputs.as_ref().map_err(|(input, why)| {
            let expected = format!("`{input}` can be shown to reviewers");
            (expected, why.clone())
        })?;
        if self.panel.script.is_some() {
            return Ok(whole);
        }
        let not_permitted = || (!world.accepted.may_ask()).then(|| ASKED_BEFORE.to_owned());
        match world.sandbox.failure().or_else(not_permitted) {
            None => Ok(whole),
            Some(why) => Err((String::from("reviewers can be asked about the answer"), why)),
        }
    }

    fn report_of(
        &self,
        reviewer: &Reviewer,
        inputs: &Inputs,
        plant: Option<&PlantTable>,
        sandbox: &dyn Sandbox,
    ) -> ReviewerReport {
        let mut report = ReviewerReport {
            name: reviewer.name.clone(),
            model: reviewer.model.clone(),
            counts: false,
            votes: Vec::new(),
            errors: Vec::new(),
            usage: Usage::default(),
        };
        let seen = shown(reviewer, inputs);
        if let Some(plant) = plant {
            let planted = ShownInputs::new(planted(&seen, &plant.sees));
            let answer = self.answer(reviewer, &planted, sandbox, &mut report.usage);
            let missed = plant.doubts.iter().find_map(|id| match answer.vote(id) {
                Some(Vote::Doubt(_)) => None,
                other => Some(other),
            });
            if let Some(vote) = missed {
                let plant = &plant.name;
                report.errors.push(match vote {
                    Some(Vote::Error(why)) => format!("it gave no answer about `{plant}`: {why}"),
                    _ => format!("it missed `{plant}`: it did not doubt it"),
                });
                return report;
            }
        }
        let answer = self.answer(
            reviewer,
            &ShownInputs::new(seen),
            sandbox,
            &mut report.usage,
        );
        report.counts = true;
        report.votes = answer.votes;
        report.errors.extend(answer.strays);
        report
    }

    fn answer(
        &self,
        reviewer: &Reviewer,
        shown: &ShownInputs,
        sandbox: &dyn Sandbox,
        usage: &mut Usage,
    ) -> ReviewerAnswer {
        let questions = &self.panel.questions;
        let reply = match &self.panel.script {
            None => reviewer.ask(&prompt(reviewer.form, questions, shown), sandbox),
            Some(script) => match script.get(&reviewer.name) {
                Some(text) => Ok((text.clone(), Usage::default())),
                None => Err(String::from("it says nothing in this control")),
            },
        };
        match reply {
            Ok((text, told)) => {
                let answer = read(&text, reviewer.form, questions, shown);
                // The usage that the protocol reports overrides the model's own claim.
                let took = if told == Usage::default() {
                    answer.usage
                } else {
                    told
                };
                *usage = sum(*usage, took);
                answer
            }
            Err(why) => ReviewerAnswer::none(questions, &why),
        }
    }

    fn counted(&self, report: &PanelReport) -> Doubts {
        let mut doubts = Doubts::new(report.clone());
        let head = self.panel.head;
        for question in &self.panel.questions {
            let ballots = self.panel.all.iter().zip(&report.reviewers);
            let ballots = ballots.map(|(reviewer, report)| Ballot {
                vote: vote_of(report, question),
                differs: reviewer.differs(),
            });
            let ask = question.ask.trim();
            let (expected, actual) = match tally(head, ballots) {
                Tally::Cleared => continue,
                Tally::Doubted => {
                    raise(&mut doubts, question, report);
                    continue;
                }
                Tally::Unsettled(Lack::Quorum(answered)) => (
                    format!("{} reviewers answer: {ask}", head.quorum),
                    format!("{answered} did"),
                ),
                Tally::Unsettled(Lack::Silent(count)) => (
                    format!("too few are silent for their doubts to be enough: {ask}"),
                    format!("{count} are silent"),
                ),
                Tally::Unsettled(Lack::OtherInput) => (
                    format!("a reviewer answers who sees more than the agent wrote: {ask}"),
                    String::from("none did"),
                ),
            };
            doubts.unsettled(expected, &format!("{actual}; {}", silent(question, report)));
        }
        doubts
    }

    /// Asks the reviewers about the case with each planted defect.
    fn calibrate(&self, case: Case<'_>, sandbox: &dyn Sandbox) -> Result<Calibration, String> {
        let inputs = self.inputs.as_ref();
        let inputs = inputs
            .map_err(|(input, why)| format!("`{input}` cannot be shown to reviewers: {why}"))?;
        let inputs = without_others(case, inputs);
        let Reviewers { plants, all, .. } = self.panel;
        let tried = all.iter().map(|reviewer| TriedReviewer {
            name: reviewer.name.clone(),
            model: reviewer.model.clone(),
            usage: Usage::default(),
            errors: Vec::new(),
            score: Score::default(),
        });
        let mut tried: Vec<_> = tried.collect();
        let mut cases = Vec::new();
        for plant in plants {
            let mut answers = Vec::new();
            for (reviewer, tried) in all.iter().zip(&mut tried) {
                let shown = ShownInputs::new(planted(&shown(reviewer, &inputs), &plant.sees));
                let answer = self.answer(reviewer, &shown, sandbox, &mut tried.usage);
                for on in &answer.votes {
                    if let Vote::Error(why) = &on.vote {
                        let error = format!("{}, {}: {why}", plant.name, on.question);
                        tried.errors.push(error);
                    }
                }
                answers.push(answer);
            }
            for question in &self.panel.questions {
                let must_doubt = plant.doubts.contains(&question.id);
                // A plant with a defect has no label for questions without a doubt.
                if !must_doubt && !plant.doubts.is_empty() {
                    continue;
                }
                let votes = answers.iter().map(|answer| answer.vote(&question.id));
                let ballots = all.iter().zip(votes.clone());
                let ballots = ballots.map(|(reviewer, vote)| Ballot {
                    vote,
                    differs: reviewer.differs(),
                });
                cases.push(LabelledCase {
                    plant: plant.name.clone(),
                    question: question.id.clone(),
                    must_doubt,
                    panel: match tally(self.panel.head, ballots) {
                        Tally::Doubted => Opinion::Doubt,
                        Tally::Cleared => Opinion::Clear,
                        Tally::Unsettled(_) => Opinion::Nothing,
                    },
                    said: votes.map(Opinion::of).collect(),
                });
            }
        }
        Ok(Calibration::of(tried, cases))
    }
}

fn shown(reviewer: &Reviewer, inputs: &Inputs) -> Vec<(ReviewInput, String)> {
    let seen = reviewer.sees.iter().map(|input| {
        let text = inputs.get(input).cloned().unwrap_or_default();
        (input.clone(), text)
    });
    seen.collect()
}

/// The plant with a defect for this case. It depends only on the quest: an agent could otherwise change
/// its submission until it gets a plant that a strict reviewer misses.
fn plant_for<'p>(case: Case<'_>, plants: &'p [PlantTable]) -> Option<&'p PlantTable> {
    let plants: Vec<_> = plants.iter().filter(|it| !it.doubts.is_empty()).collect();
    let digest = Digest::of(case.quest.key.as_str().as_bytes());
    let count = u64::try_from(plants.len()).ok()?;
    let place = u64::from_be_bytes(digest.first_bytes()).checked_rem(count)?;
    plants.get(usize::try_from(place).ok()?).copied()
}

fn planted(
    inputs: &[(ReviewInput, String)],
    defects: &BTreeMap<String, String>,
) -> Vec<(ReviewInput, String)> {
    let put = |(input, text): &(ReviewInput, String)| {
        let text = defects.get(&input.to_string()).unwrap_or(text);
        (input.clone(), text.clone())
    };
    inputs.iter().map(put).collect()
}

fn vote_of<'r>(reviewer: &'r ReviewerReport, question: &QuestionTable) -> Option<&'r Vote> {
    let mut votes = reviewer.votes.iter().filter(|_| reviewer.counts);
    let on = votes.find(|on| on.question == question.id);
    on.map(|on| &on.vote)
}

fn raise(doubts: &mut Doubts, question: &QuestionTable, report: &PanelReport) {
    for reviewer in &report.reviewers {
        let Some(passage) = vote_of(reviewer, question).and_then(Vote::doubt) else {
            continue;
        };
        let place = passage.file.as_ref().zip(passage.line);
        let place = place.map(|(file, line)| format!("{file}:{line}"));
        let (name, ask) = (&reviewer.name, question.ask.trim());
        doubts.doubt(name, ask, &passage.quotation, place);
    }
}

/// Why reviewers without a vote have none.
fn silent(question: &QuestionTable, report: &PanelReport) -> String {
    let why = |reviewer: &ReviewerReport| {
        let name = &reviewer.name;
        if !reviewer.counts {
            return Some(format!("{name}: {}", reviewer.errors.join(", ")));
        }
        match vote_of(reviewer, question)? {
            Vote::Error(why) => Some(format!("{name}: {why}")),
            _ => None,
        }
    };
    report.reviewers.iter().filter_map(why).join("; ")
}

fn sum(one: Usage, two: Usage) -> Usage {
    let both = |one: Option<u64>, two| one.into_iter().chain(two).reduce(u64::saturating_add);
    Usage {
        input_tokens: both(one.input_tokens, two.input_tokens),
        output_tokens: both(one.output_tokens, two.output_tokens),
        cost: one
            .cost
            .into_iter()
            .chain(two.cost)
            .reduce(|one, two| [one, two].into_iter().sum()),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tally {
    Doubted,
    Cleared,
    Unsettled(Lack),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lack {
    /// Too few answered: this many.
    Quorum(u32),
    /// Too many are silent: this many, whose doubts would be enough.
    Silent(u32),
    /// No reviewer answered that sees more than the agent's own words.
    OtherInput,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ballot<'v> {
    /// `None` if the reviewer's votes do not count.
    pub(super) vote: Option<&'v Vote>,
    /// Whether the reviewer sees more than the agent's own words.
    pub(super) differs: bool,
}

pub(super) fn tally<'v>(head: PanelTable, panel: impl IntoIterator<Item = Ballot<'v>>) -> Tally {
    let (mut answered, mut doubting, mut silent) = (0_u32, 0_u32, 0_u32);
    let mut differs = false;
    for ballot in panel {
        match ballot.vote.filter(|vote| vote.is_answer()) {
            Some(vote) => {
                answered += 1;
                doubting += u32::from(vote.doubt().is_some());
                differs |= ballot.differs;
            }
            None => silent += 1,
        }
    }
    let enough = |of: u32| match head.threshold {
        Threshold::Any => 1,
        // A tie is a doubt.
        Threshold::Majority => of.div_ceil(2).max(1),
    };
    if answered < head.quorum {
        Tally::Unsettled(Lack::Quorum(answered))
    } else if doubting >= enough(answered) {
        Tally::Doubted
    } else if doubting + silent >= enough(answered + silent) {
        Tally::Unsettled(Lack::Silent(silent))
    } else if !differs {
        Tally::Unsettled(Lack::OtherInput)
    } else {
        Tally::Cleared
    }
}

/// Adds the reviewer's earlier doubts to its votes if its inputs still contain their quotations, even
/// if its votes do not count this time. So an agent must change the quoted text, and cannot just
/// resubmit until the reviewer misses it.
pub(super) fn keep_doubts(
    report: &mut ReviewerReport,
    earlier: &[EarlierDoubt],
    questions: &[QuestionTable],
    texts: &ShownInputs,
) {
    for question in questions {
        let mut doubts = earlier.iter().rev();
        let doubt = doubts.find(|doubt| {
            doubt.reviewer == report.name
                && doubt.question == question.id
                && texts.still_hold(&doubt.quotation)
        });
        let Some(doubt) = doubt else {
            continue;
        };
        report.counts = true;
        let mut votes = report.votes.iter_mut();
        let on = votes.find(|on| on.question == doubt.question);
        if on.as_ref().is_some_and(|on| on.vote.doubt().is_some()) {
            continue;
        }
        let vote = Vote::Doubt(Passage {
            quotation: doubt.quotation.clone(),
            file: None,
            line: None,
            confidence: None,
        });
        match on {
            Some(on) => on.vote = vote,
            None => report.votes.push(VoteOn {
                question: doubt.question.clone(),
                vote,
            }),
        }
    }
}

/// What somebody says to a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Opinion {
    /// That something is wrong.
    Doubt,
    /// That nothing is.
    Clear,
    /// Nothing that holds.
    Nothing,
}

/// What came of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LabelledCase {
    pub plant: String,
    pub question: String,
    /// Whether it must be doubted.
    pub must_doubt: bool,
    /// What each reviewer said, in the order of the reviewers.
    pub said: Vec<Opinion>,
    /// What the panel made of it.
    pub panel: Opinion,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Share {
    pub part: u32,
    pub whole: u32,
}

/// How well somebody tells what is wrong from what is not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Score {
    /// The answers that are as labelled, of all answers.
    pub right: Share,
    /// Those that are no doubt, of the answers to what must be doubted.
    pub false_pass: Share,
    /// Those that are a doubt, of the answers to what is not wrong.
    pub false_doubt: Share,
    /// The cases without an answer that holds, of all cases.
    pub unanswered: Share,
}

/// A reviewer that was asked about every case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TriedReviewer {
    pub name: String,
    pub model: String,
    /// What all its answers took, where it says so.
    pub usage: Usage,
    /// Why it has no answer to some of the cases.
    pub errors: Vec<String>,
    #[serde(flatten)]
    pub score: Score,
}

/// What the labelled cases show of a panel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Calibration {
    pub reviewers: Vec<TriedReviewer>,
    /// How well they do together.
    pub panel: Score,
    /// The cases in which all that answered say the same, of those that several answered.
    pub agreement: Share,
    pub cases: Vec<LabelledCase>,
}

impl Share {
    fn count(&mut self, is_part: bool) {
        self.part += u32::from(is_part);
        self.whole += 1;
    }
}

impl Score {
    fn of(cases: &[LabelledCase], said: impl Fn(&LabelledCase) -> Opinion) -> Self {
        let mut score = Self::default();
        for case in cases {
            let said = said(case);
            score.unanswered.count(said == Opinion::Nothing);
            if said == Opinion::Nothing {
                continue;
            }
            let doubts = said == Opinion::Doubt;
            score.right.count(doubts == case.must_doubt);
            if case.must_doubt {
                score.false_pass.count(!doubts);
            } else {
                score.false_doubt.count(doubts);
            }
        }
        score
    }

    pub fn is_clean(&self) -> bool {
        self.unanswered.part == 0 && self.right.part == self.right.whole
    }
}

impl Calibration {
    /// Whether the panel is right in every case and no reviewer was silent. Without a silent reviewer,
    /// it would be another panel.
    pub fn is_clean(&self) -> bool {
        let mut reviewers = self.reviewers.iter();
        self.panel.is_clean() && reviewers.all(|it| it.score.unanswered.part == 0)
    }

    pub fn of(mut reviewers: Vec<TriedReviewer>, cases: Vec<LabelledCase>) -> Self {
        let mut agreement = Share::default();
        for case in &cases {
            let answers = case.said.iter().filter(|said| **said != Opinion::Nothing);
            let answers: Vec<_> = answers.collect();
            if answers.len() > 1 {
                agreement.count(answers.windows(2).all(|pair| pair[0] == pair[1]));
            }
        }
        for (index, reviewer) in reviewers.iter_mut().enumerate() {
            reviewer.score = Score::of(&cases, |case| case.said[index]);
        }
        Self {
            reviewers,
            panel: Score::of(&cases, |case| case.panel),
            agreement,
            cases,
        }
    }
}

impl Opinion {
    pub(super) fn of(vote: Option<&Vote>) -> Self {
        match vote {
            None | Some(Vote::Error(_)) => Self::Nothing,
            Some(Vote::Doubt(_)) => Self::Doubt,
            Some(Vote::Unsure(_) | Vote::Faint(_) | Vote::Cleared(_)) => Self::Clear,
        }
    }
}
