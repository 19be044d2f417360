//! What one session's ledger counts up to.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use jiff::Timestamp;

use super::facts::FactTable;
use super::who::{Runs, Who};
use crate::gate::{Judgement, Level};
use crate::quest::{QuestId, Verdict};
use crate::session::{Attempt, DrivenAttempt, Event, RunStep, Spent, Worker};

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
    /// What was driven, and what of it came to nothing.
    pub driven: Driven,
    /// In how many failed submissions each rule fired.
    pub rules: BTreeMap<String, u32>,
}

/// What runs drove, and what of it came to no submission.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Driven {
    /// Quests at which the agent was started, and ended.
    pub quests: u32,
    /// PASSes of started agents.
    pub passed: u32,
    /// Quests for which it never submitted.
    pub unanswered: u32,
    /// Starts without a submission.
    pub silent: u32,
    /// How long these took, in milliseconds.
    pub silent_milliseconds: u64,
    /// What these used up.
    pub silent_spent: Option<Spent>,
}

impl Driven {
    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let milliseconds = self.silent_milliseconds;
        Self {
            quests: self.quests + other.quests,
            passed: self.passed + other.passed,
            unanswered: self.unanswered + other.unanswered,
            silent: self.silent + other.silent,
            silent_milliseconds: milliseconds.saturating_add(other.silent_milliseconds),
            silent_spent: both(self.silent_spent, other.silent_spent),
        }
    }
}

fn both(one: Option<Spent>, other: Option<Spent>) -> Option<Spent> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.and(other)),
        (one, other) => one.or(other),
    }
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
    driven: HashMap<Who, HashSet<QuestId>>,
    heard: BTreeSet<Worker>,
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
        let quests = self.driven.entry(who.clone()).or_default();
        let is_new = quests.insert(driven.quest);
        let met = self.met.get(&who);
        let answered = met.is_some_and(|met| met.contains(&driven.quest));
        let was_heard = self.heard.contains(&driven.worker);
        let counts = self.counts.entry(who).or_default();
        let sum = &mut counts.driven;
        sum.quests += u32::from(is_new);
        sum.unanswered += u32::from(is_new && !answered);
        if !was_heard {
            sum.silent += 1;
            sum.silent_milliseconds = sum.silent_milliseconds.saturating_add(driven.milliseconds);
            sum.silent_spent = both(sum.silent_spent, Some(driven.spent));
        }
        counts.starts += 1;
        counts.milliseconds = counts.milliseconds.saturating_add(driven.milliseconds);
        counts.spent = Some(match counts.spent {
            Some(spent) => spent.and(driven.spent),
            None => driven.spent,
        });
    }

    fn attempt(&mut self, attempt: &Attempt) {
        let who = self.runs.of_worker(attempt.worker.as_ref());
        self.heard.extend(attempt.worker.clone());
        let driven = self.driven.get(&who);
        let was_silent = driven.is_some_and(|driven| driven.contains(&attempt.quest));
        let is_new = self
            .met
            .entry(who.clone())
            .or_default()
            .insert(attempt.quest);
        let counts = self.counts.entry(who.clone()).or_default();
        let passed = u32::from(attempt.verdict == Verdict::Pass);
        counts.quests += u32::from(is_new);
        counts.submissions += 1;
        counts.passed += passed;
        if who.agent.is_some() {
            counts.driven.passed += passed;
            // A start before this one came to its end without a word.
            counts.driven.unanswered -= u32::from(is_new && was_silent);
        }
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
