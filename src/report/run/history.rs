//! The runs and the judgements of a ledger, folded line by line.
//!
//! A start of the agent begins with the claim under its name and ends with its own line. A start, a
//! quest or a run without such a line was cut off.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::text::small;
use crate::judge::live_runs::start_of;
use crate::quest::QuestId;
use crate::session::{
    Began, Claimed, DrivenAttempt, Event, LaterAgent, Reason, RunId, RunLine, RunStep, Worker,
};

#[derive(Debug, Clone, Default)]
pub struct RunHistory {
    runs: Vec<Run>,
    /// In how many submissions of each quest each rule fired.
    rules: BTreeMap<QuestId, BTreeMap<String, u32>>,
}

#[derive(Debug, Clone)]
pub struct Run {
    pub id: RunId,
    pub at: Timestamp,
    pub began: Began,
    /// When and why it ended; none if it was cut off or is alive.
    pub ended: Option<(Timestamp, Reason)>,
    pub last: Timestamp,
    pub quests: BTreeMap<QuestId, Driven>,
}

#[derive(Debug, Clone, Default)]
pub struct Driven {
    /// The starts of the agent by the names under which they held the quest; none for a start
    /// without an end.
    pub starts: BTreeMap<Worker, Option<DrivenAttempt>>,
    /// Why the work on it ended; none if it was cut off or is in progress.
    pub reason: Option<Reason>,
}

impl RunHistory {
    pub fn take(&mut self, at: Timestamp, event: &Event) {
        match event {
            Event::Claim(claimed) => self.claim(at, claimed),
            Event::Attempt(attempt) => {
                let rules = self.rules.entry(attempt.quest).or_default();
                for rule in &attempt.rules {
                    *rules.entry(rule.clone()).or_default() += 1;
                }
            }
            Event::Run(line) => self.run(at, line),
            _ => {}
        }
    }

    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    pub fn get(&self, run: RunId) -> Option<&Run> {
        self.runs.iter().find(|it| it.id == run)
    }

    /// The last run that worked on a quest or is still alive, or else the last one.
    pub fn leading(&self, lives: &dyn Fn(RunId) -> bool) -> Option<&Run> {
        let mut latest = self.runs.iter().rev();
        let works = |run: &&Run| !run.quests.is_empty() || run.ended.is_none() && lives(run.id);
        latest.find(works).or(self.runs.last())
    }

    pub fn rules_of(&self, quest: QuestId) -> BTreeMap<String, u32> {
        self.rules.get(&quest).cloned().unwrap_or_default()
    }

    fn known(&mut self, run: RunId, at: Timestamp) -> Option<&mut Run> {
        // The newest first, because only that one can still be alive.
        let run = self.runs.iter_mut().rev().find(|it| it.id == run)?;
        run.last = at;
        Some(run)
    }

    /// A worker may choose a name that looks like one of a run, so the name counts only if that run
    /// began.
    fn claim(&mut self, at: Timestamp, claimed: &Claimed) {
        let run = start_of(&claimed.worker).map(|(run, _)| run);
        if let Some(run) = run.and_then(|run| self.known(run, at)) {
            let driven = run.quests.entry(claimed.quest).or_default();
            driven.starts.entry(claimed.worker.clone()).or_default();
        }
    }

    fn run(&mut self, at: Timestamp, line: &RunLine) {
        if let RunStep::Began(began) = &line.step {
            if self.get(line.run).is_none() {
                self.runs.push(Run {
                    id: line.run,
                    at,
                    began: began.clone(),
                    ended: None,
                    last: at,
                    quests: BTreeMap::new(),
                });
            }
            return;
        }
        let Some(run) = self.known(line.run, at) else {
            return;
        };
        match &line.step {
            RunStep::Began(_) | RunStep::Start(_) => {}
            RunStep::Attempt(ended) => {
                let driven = run.quests.entry(ended.quest).or_default();
                let worker = ended.worker.clone();
                driven.starts.insert(worker, Some(ended.clone()));
            }
            RunStep::Quest(ended) => {
                let driven = run.quests.entry(ended.quest).or_default();
                driven.reason = Some(ended.reason);
            }
            RunStep::Ended { reason } => run.ended = Some((at, *reason)),
        }
    }
}

impl Run {
    /// Why it ended; without a line that says so, it was cut off. None while it `lives`.
    pub fn reason(&self, lives: bool) -> Option<Reason> {
        ended(self.ended.map(|(_, reason)| reason), lives)
    }

    pub fn reason_of(&self, driven: &Driven, lives: bool) -> Option<Reason> {
        ended(driven.reason, lives && self.ended.is_none())
    }
}

fn ended(told: Option<Reason>, lives: bool) -> Option<Reason> {
    told.or((!lives).then_some(Reason::Interrupted))
}

/// A run of the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RunReport {
    pub run: RunId,
    pub agent: String,
    /// The model that the operator says it uses.
    pub model: Option<String>,
    /// The agents that take over from it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub then: Vec<LaterAgent>,
    pub workers: u32,
    pub began: Timestamp,
    /// When it ended; the time of its last line where it was cut off, none while it goes on.
    pub ended: Option<Timestamp>,
    /// Why it ended; none while it goes on.
    pub reason: Option<Reason>,
    /// At how many quests the agent was started.
    pub quests: u32,
    /// How many drives of a quest ended by its being settled.
    pub settled: u32,
    /// What its starts took, those that were cut off included.
    #[serde(flatten)]
    pub took: Took,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Took {
    pub starts: u32,
    /// Those that were cut off or go on: what they took is not known.
    pub lost: u32,
    pub milliseconds: u64,
    /// Tokens in and out.
    pub tokens: u64,
    /// The price in billionths of a US dollar, as far as it is known; none where it is not at all.
    pub cost: Option<u64>,
    /// Starts of which tokens or price are estimated, for the agent did not tell.
    pub estimated: u32,
    /// Starts of which no price is known: what they cost comes on top.
    pub unpriced: u32,
}

impl Took {
    /// What these starts took; `None` is a start without an end.
    pub fn of<'a>(starts: impl Iterator<Item = &'a Option<DrivenAttempt>>) -> Self {
        let each = starts.map(|start| match start {
            None => Self {
                starts: 1,
                lost: 1,
                ..Self::default()
            },
            Some(ended) => Self {
                starts: 1,
                lost: 0,
                milliseconds: ended.milliseconds,
                tokens: ended.spent.tokens,
                cost: ended.spent.cost,
                estimated: u32::from(!ended.spent.told),
                unpriced: u32::from(ended.spent.cost.is_none()),
            },
        });
        each.fold(Self::default(), Self::and)
    }

    pub fn and(self, other: Self) -> Self {
        let costs = [self.cost, other.cost].into_iter().flatten();
        Self {
            starts: self.starts.saturating_add(other.starts),
            lost: self.lost.saturating_add(other.lost),
            milliseconds: self.milliseconds.saturating_add(other.milliseconds),
            tokens: self.tokens.saturating_add(other.tokens),
            cost: costs.reduce(u64::saturating_add),
            estimated: self.estimated.saturating_add(other.estimated),
            unpriced: self.unpriced.saturating_add(other.unpriced),
        }
    }

    /// The price as text, with `~` if some of it is estimated and `+` if some of it is unknown.
    pub fn cost_text(&self) -> String {
        let Some(cost) = self.cost else {
            return "?".to_owned();
        };
        let about = if self.estimated > 0 { "~" } else { "" };
        let more = if self.unpriced > 0 { "+" } else { "" };
        // Rounded up to a hundredth of a cent, so that nothing with a price is shown as free.
        let hundredths = cost.div_ceil(100_000);
        let (dollars, rest) = (hundredths / 10_000, hundredths % 10_000);
        format!("{about}${dollars}.{rest:04}{more}")
    }
}

impl RunReport {
    pub fn of(run: &Run, lives: bool) -> Self {
        let starts = run.quests.values().flat_map(|it| it.starts.values());
        let took = Took::of(starts);
        let reason = run.reason(lives);
        let settled = run.quests.values().filter(|driven| {
            let reason = run.reason_of(driven, lives);
            reason == Some(Reason::Settled)
        });
        Self {
            run: run.id,
            agent: run.began.agent.clone(),
            model: run.began.model.clone(),
            then: run.began.then.clone(),
            workers: run.began.workers,
            began: run.at,
            ended: reason.map(|_| run.ended.map_or(run.last, |(at, _)| at)),
            reason,
            quests: small(run.quests.len()),
            settled: small(settled.count()),
            took,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rows;
    use crate::session::{DrivenQuest, Lease, Spent};

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn id(number: usize) -> QuestId {
        QuestId::from_index(number - 1).unwrap()
    }

    fn line(run: u32, step: RunStep) -> Event {
        Event::Run(Box::new(RunLine {
            run: RunId::new(run),
            step,
        }))
    }

    fn began(run: u32) -> Event {
        let began = Began {
            agent: "a".to_owned(),
            model: None,
            then: Vec::new(),
            workers: 1,
            process: None,
        };
        line(run, RunStep::Began(began))
    }

    fn claim(quest: usize, worker: &str) -> Event {
        Event::Claim(Claimed {
            quest: id(quest),
            worker: worker.parse().unwrap(),
            lease: Lease::DEFAULT,
        })
    }

    fn attempt(quest: usize, worker: &str) -> Event {
        line(
            7,
            RunStep::Attempt(DrivenAttempt {
                quest: id(quest),
                start: 1,
                worker: worker.parse().unwrap(),
                reason: Reason::AgentFailed,
                milliseconds: 5,
                spent: Spent::default(),
                exit: None,
            }),
        )
    }

    fn drive(quest: usize, reason: Reason) -> Event {
        line(
            7,
            RunStep::Quest(DrivenQuest {
                quest: id(quest),
                reason,
                starts: 1,
                handover: None,
            }),
        )
    }

    fn history(events: &[Event]) -> RunHistory {
        let mut history = RunHistory::default();
        for (second, event) in (100..).zip(events) {
            history.take(at(second), event);
        }
        history
    }

    #[test]
    fn a_run_is_what_its_lines_say() {
        let ended = RunStep::Ended {
            reason: Reason::Complete,
        };
        let history = history(&[
            began(7),
            claim(1, "run-00000007.1"),
            claim(1, "run-00000007.1"),
            attempt(1, "run-00000007.1"),
            claim(1, "run-00000007.2"),
            attempt(1, "run-00000007.2"),
            drive(1, Reason::Settled),
            line(7, ended),
        ]);
        let run = history.get(RunId::new(7)).unwrap();
        assert_eq!((run.at, run.last), (at(100), at(107)));
        assert_eq!(run.ended, Some((at(107), Reason::Complete)));
        assert_eq!(run.reason(false), Some(Reason::Complete));
        let driven = &run.quests[&id(1)];
        assert_eq!(
            driven.starts.len(),
            2,
            "a claim that is renewed is no start"
        );
        assert!(driven.starts.values().all(Option::is_some));
        assert_eq!(run.reason_of(driven, false), Some(Reason::Settled));
    }

    #[test]
    fn a_start_without_an_end_was_cut_off_unless_its_run_is_alive() {
        let history = history(&[
            began(7),
            claim(1, "run-00000007.1"),
            attempt(1, "run-00000007.1"),
            claim(1, "run-00000007.2"),
        ]);
        let run = history.get(RunId::new(7)).unwrap();
        assert_eq!(run.reason(false), Some(Reason::Interrupted));
        assert_eq!(run.reason(true), None);
        let driven = &run.quests[&id(1)];
        assert_eq!(run.reason_of(driven, false), Some(Reason::Interrupted));
        assert_eq!(run.reason_of(driven, true), None);
        let open = driven.starts.values().filter(|it| it.is_none()).count();
        assert_eq!((driven.starts.len(), open), (2, 1));
    }

    #[test]
    fn a_worker_name_or_an_end_alone_makes_no_run() {
        let history = history(&[
            claim(1, "run-00000008.1"),
            line(
                9,
                RunStep::Ended {
                    reason: Reason::Complete,
                },
            ),
            claim(1, "w1"),
        ]);
        assert!(history.runs().is_empty());
    }

    #[test]
    fn an_idle_run_does_not_lead_the_report() {
        let ended = |run| {
            let reason = Reason::Complete;
            line(run, RunStep::Ended { reason })
        };
        let works = vec![began(7), claim(1, "run-00000007.1"), ended(7)];
        let idle = vec![began(8), ended(8)];
        let leading = |events: &[Event], lives| {
            let history = history(events);
            let run = history.leading(&|_| lives).map(|run| run.id);
            run.map(|run| run.to_string())
        };
        let (seven, eight) = (Some("00000007".to_owned()), Some("00000008".to_owned()));
        assert_eq!(
            leading(&[works.clone(), idle.clone()].concat(), false),
            seven
        );
        assert_eq!(leading(&idle, false), eight);
        let begun = [works, vec![began(8)]].concat();
        assert_eq!(leading(&begun, true), eight);
        assert_eq!(leading(&begun, false), seven);
        assert_eq!(leading(&[], false), None);
    }

    #[test]
    fn a_cost_marks_estimated_and_unknown_parts() {
        for (starts, tokens, cost) in rows! {
            &[(10, Some(1_200_000), true), (5, Some(300_000_000), true)][..], 15 => "$0.3012";
            &[(10, Some(1), true), (5, None, false)], 15 => "~$0.0001+";
            &[(5, None, true)], 5 => "?";
        } {
            let starts = starts.iter().map(|(tokens, cost, told)| {
                let Event::Run(line) = attempt(1, "run-00000007.1") else {
                    panic!("a line of a run");
                };
                let RunStep::Attempt(mut attempt) = line.step else {
                    panic!("a start");
                };
                attempt.spent = Spent {
                    tokens: *tokens,
                    cost: *cost,
                    told: *told,
                };
                Some(attempt)
            });
            let took = Took::of(starts.collect::<Vec<_>>().iter());
            assert_eq!((took.tokens, took.cost_text().as_str()), (tokens, cost));
        }
    }
}
