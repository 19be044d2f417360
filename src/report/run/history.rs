//! What runs left in a ledger, and what was judged, folded line by line.
//!
//! A start of the agent begins with the claim under its name and ends with its own line; a start, a
//! quest's drive or a run without a line that ends it was cut off.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::judge::completeness::start_of;
use crate::quest::QuestId;
use crate::session::{
    Attempt, Began, Claimed, DrivenAttempt, Event, Reason, RunId, RunLine, RunStep, Worker,
};

/// What runs left in a ledger, and what was judged of each quest.
#[derive(Debug, Clone, Default)]
pub struct RunHistory {
    runs: Vec<Run>,
    judged: BTreeMap<QuestId, Judged>,
}

/// What was judged of a quest.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Judged {
    /// In how many submissions each rule fired.
    pub rules: BTreeMap<String, u32>,
}

/// What a run left.
#[derive(Debug, Clone)]
pub struct Run {
    /// Its name.
    pub id: RunId,
    /// When it began.
    pub at: Timestamp,
    /// How it began.
    pub began: Began,
    /// When it ended, and why; none where no line says so.
    pub ended: Option<(Timestamp, Reason)>,
    /// The time of its last line.
    pub last: Timestamp,
    /// The quests at which the agent was started.
    pub quests: BTreeMap<QuestId, Driven>,
}

/// What a run left of one quest.
#[derive(Debug, Clone, Default)]
pub struct Driven {
    /// The starts of the agent, by the names under which they held the quest; none for one
    /// without a line that ends it.
    pub starts: BTreeMap<Worker, Option<DrivenAttempt>>,
    /// Why its drive ended; none where no line says so.
    pub reason: Option<Reason>,
}

impl RunHistory {
    /// Takes in the event of the next line, which was written at `at`.
    pub fn take(&mut self, at: Timestamp, event: &Event) {
        match event {
            Event::Claim(claimed) => self.claim(at, claimed),
            Event::Attempt(attempt) => self.judge(attempt),
            Event::Run(line) => self.run(at, line),
            _ => {}
        }
    }

    /// The runs, in the order in which they began.
    #[must_use]
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// The run of this name.
    #[must_use]
    pub fn get(&self, run: RunId) -> Option<&Run> {
        self.runs.iter().find(|it| it.id == run)
    }

    /// What was judged of a quest; none where nothing was.
    #[must_use]
    pub fn judged(&self, quest: QuestId) -> Option<&Judged> {
        self.judged.get(&quest)
    }

    /// Ends a run whose line is still to be written.
    pub fn end(&mut self, run: RunId, at: Timestamp, reason: Reason) {
        if let Some(run) = self.known(run, at) {
            run.ended = Some((at, reason));
        }
    }

    fn known(&mut self, run: RunId, at: Timestamp) -> Option<&mut Run> {
        // The last come first: that is the one that goes on.
        let run = self.runs.iter_mut().rev().find(|it| it.id == run)?;
        run.last = at;
        Some(run)
    }

    /// A worker that only calls itself like one of a run that never began is none.
    fn claim(&mut self, at: Timestamp, claimed: &Claimed) {
        let run = start_of(&claimed.worker).map(|(run, _)| run);
        if let Some(run) = run.and_then(|run| self.known(run, at)) {
            let driven = run.quests.entry(claimed.quest).or_default();
            driven.starts.entry(claimed.worker.clone()).or_default();
        }
    }

    fn judge(&mut self, attempt: &Attempt) {
        let judged = self.judged.entry(attempt.quest).or_default();
        for rule in &attempt.rules {
            *judged.rules.entry(rule.clone()).or_default() += 1;
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
            RunStep::Began(_) => {}
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
    /// Why it ended: cut off where no line says so; none while it `lives`.
    #[must_use]
    pub fn reason(&self, lives: bool) -> Option<Reason> {
        ended(self.ended.map(|(_, reason)| reason), lives)
    }

    /// Why the drive of one of its quests ended, likewise.
    #[must_use]
    pub fn reason_of(&self, driven: &Driven, lives: bool) -> Option<Reason> {
        ended(driven.reason, lives && self.ended.is_none())
    }
}

fn ended(told: Option<Reason>, lives: bool) -> Option<Reason> {
    told.or((!lives).then_some(Reason::Interrupted))
}

#[cfg(test)]
mod tests {
    use super::*;
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
    fn what_has_no_line_that_ends_it_was_cut_off_unless_its_run_goes_on() {
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
    fn a_name_makes_no_run_and_an_end_no_beginning() {
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
    fn a_run_can_be_ended_before_its_line_is_written() {
        let mut history = history(&[began(7)]);
        history.end(RunId::new(7), at(200), Reason::WallClock);
        let run = history.get(RunId::new(7)).unwrap();
        assert_eq!(run.reason(true), Some(Reason::WallClock));
    }
}
