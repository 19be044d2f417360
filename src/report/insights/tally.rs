//! What one session's ledger counts up to.

use std::collections::{BTreeMap, HashMap, HashSet};

use jiff::Timestamp;

use super::facts::FactTable;
use super::who::{Runs, Who};
use crate::gate::{Judgement, Level};
use crate::quest::{QuestId, Verdict};
use crate::session::{Attempt, DrivenAttempt, Event, RunStep, Spent};

/// What one agent, or those who are no run's agents, came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// Quests that it submitted for.
    pub quests: u32,
    /// Submissions.
    pub submissions: u32,
    /// Submissions that failed.
    pub failed: u32,
    /// PASSes.
    pub passed: u32,
    /// Quests whose first submission it made.
    pub first: u32,
    /// Those of them that passed at once.
    pub first_passed: u32,
    /// Starts of the agent.
    pub starts: u32,
    /// How long they took, in milliseconds.
    pub milliseconds: u64,
    /// What they used up.
    pub spent: Option<Spent>,
    /// In how many failed submissions each rule fired.
    pub rules: BTreeMap<String, u32>,
}

/// What one session's ledger counts up to.
#[derive(Debug, Default)]
pub struct SessionTally {
    /// Its directory, as it was named.
    pub name: String,
    /// The name of its quest kind.
    pub kind: String,
    /// When its last line was written.
    pub last: Option<Timestamp>,
    /// Who came to what.
    pub counts: BTreeMap<Who, Counts>,
    /// In how many quests each rule fired.
    pub rule_quests: BTreeMap<String, u32>,
    /// The facts.
    pub facts: FactTable,
    runs: Runs,
    met: HashMap<Who, HashSet<QuestId>>,
    rules_met: HashSet<(String, QuestId)>,
}

impl SessionTally {
    /// The tally of a session of which nothing was read yet.
    #[must_use]
    pub fn new(name: String, kind: String) -> Self {
        Self {
            name,
            kind,
            ..Self::default()
        }
    }

    /// Takes in the next line, written `at`.
    pub fn take(&mut self, event: &Event, at: Timestamp) {
        self.last = Some(at);
        match event {
            Event::Attempt(attempt) => self.attempt(attempt),
            Event::Run(line) => match &line.step {
                RunStep::Began(began) => self.runs.began(line.run, began),
                RunStep::Attempt(driven) => self.driven(self.runs.of_run(line.run), driven),
                RunStep::Quest(_) | RunStep::Ended { .. } => {}
            },
            _ => {}
        }
    }

    fn driven(&mut self, who: Who, driven: &DrivenAttempt) {
        let counts = self.counts.entry(who).or_default();
        counts.starts += 1;
        counts.milliseconds = counts.milliseconds.saturating_add(driven.milliseconds);
        counts.spent = Some(match counts.spent {
            Some(spent) => spent.and(driven.spent),
            None => driven.spent,
        });
    }

    fn attempt(&mut self, attempt: &Attempt) {
        let who = self.runs.of_worker(attempt.worker.as_ref());
        let is_new = self
            .met
            .entry(who.clone())
            .or_default()
            .insert(attempt.quest);
        let counts = self.counts.entry(who).or_default();
        let passed = u32::from(attempt.verdict == Verdict::Pass);
        counts.quests += u32::from(is_new);
        counts.submissions += 1;
        counts.passed += passed;
        if attempt.number == 1 {
            counts.first += 1;
            counts.first_passed += passed;
        }
        if attempt.verdict != Verdict::Fail {
            return;
        }
        counts.failed += 1;
        let judgement: Option<Judgement> = serde_json::from_str(attempt.judgement.get()).ok();
        let mut fired = HashSet::new();
        for fact in judgement.iter().flat_map(|judgement| &judgement.facts) {
            self.facts.note(fact, attempt.quest);
            let rule = fact.rule.as_str();
            if fact.level != Level::Fail || !fired.insert(rule) {
                continue;
            }
            *counts.rules.entry(rule.to_owned()).or_default() += 1;
            if self.rules_met.insert((rule.to_owned(), attempt.quest)) {
                *self.rule_quests.entry(rule.to_owned()).or_default() += 1;
            }
        }
    }
}
