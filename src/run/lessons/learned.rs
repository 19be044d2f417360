//! What a ledger teaches, line by line.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use jiff::Timestamp;

use super::flip::{self, Flip};
use super::quote::clipped;
use crate::gate::{CheckOutcome, Judgement, Level};
use crate::quest::{FieldName, Fields, QuestId, Submission, Verdict};
use crate::session::{Attempt, Entry, Event, Grounds, Log, Outcome, SessionError, State};

// More than one, because a later dispute removes an example.
const MOST_ACCEPTED: usize = 8;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    pub quest: QuestId,
    pub fields: Vec<(FieldName, Box<str>)>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuleCost {
    pub tries: u32,
    pub quests: u32,
    pub flip: Option<Flip>,
}

#[derive(Debug)]
struct Failed {
    number: u32,
    rules: BTreeMap<String, Option<FieldName>>,
    fields: Option<Fields>,
    reached: usize,
    ever: BTreeSet<String>,
}

#[derive(Debug, Default)]
pub struct Learned {
    accepted: VecDeque<Accepted>,
    failed: HashMap<QuestId, Failed>,
    rules: BTreeMap<String, RuleCost>,
    last: Option<Timestamp>,
}

impl Learned {
    pub fn read_on(&mut self, log: &mut Log) -> Result<(), SessionError> {
        log.read_on(&mut |entry| self.take(&entry))
    }

    #[must_use]
    pub fn of<'a>(entries: impl IntoIterator<Item = &'a Entry<'a>>) -> Self {
        let mut learned = Self::default();
        entries.into_iter().for_each(|entry| learned.take(entry));
        learned
    }

    pub fn take(&mut self, entry: &Entry<'_>) {
        self.last = Some(entry.line.at());
        // What was blotted out is not shown, nor what stands there in its place.
        let is_whole = entry.line.redacted().is_none();
        self.take_event(&entry.event, is_whole);
    }

    pub(super) fn take_event(&mut self, event: &Event, is_whole: bool) {
        match event {
            Event::Attempt(attempt) => self.attempt(attempt, is_whole),
            Event::Disputed(dispute) => self.contradicted(dispute.quest),
            Event::Resolution(again) if again.outcome == Outcome::Refuted => {
                self.contradicted(again.quest);
            }
            Event::Forgotten(_) => self.forget(),
            _ => {}
        }
    }

    pub fn accepted(&self) -> impl Iterator<Item = &Accepted> {
        self.accepted.iter().rev()
    }

    #[must_use]
    pub fn rules(&self) -> &BTreeMap<String, RuleCost> {
        &self.rules
    }

    #[must_use]
    pub fn last(&self) -> Option<Timestamp> {
        self.last
    }

    fn attempt(&mut self, attempt: &Attempt, is_whole: bool) {
        let judgement: Option<Judgement> = serde_json::from_str(attempt.judgement.get()).ok();
        let fields = match &attempt.submission {
            Submission::Fields(fields) if is_whole => Some(fields),
            Submission::Fields(_) | Submission::None(_) => None,
        };
        let before = self.failed.remove(&attempt.quest);
        if let (Some(before), Some(judgement)) = (&before, &judgement) {
            self.flipped(before, attempt, fields, judgement);
        }
        if attempt.verdict == Verdict::Fail {
            self.fail(attempt, before, fields, judgement.as_ref());
        } else if let (Verdict::Pass, Some(fields)) = (attempt.verdict, fields) {
            self.accept(attempt.quest, fields);
        }
    }

    fn accept(&mut self, quest: QuestId, fields: &Fields) {
        let fields: Vec<_> = fields
            .iter()
            .map(|(name, value)| (name.clone(), clipped(value)))
            .collect();
        if fields.is_empty() {
            return;
        }
        self.accepted.push_back(Accepted { quest, fields });
        if self.accepted.len() > MOST_ACCEPTED {
            self.accepted.pop_front();
        }
    }

    fn fail(
        &mut self,
        attempt: &Attempt,
        before: Option<Failed>,
        fields: Option<&Fields>,
        judgement: Option<&Judgement>,
    ) {
        let facts = judgement.map_or(&[][..], |judgement| &judgement.facts);
        let mut rules = BTreeMap::new();
        for fact in facts.iter().filter(|fact| fact.level == Level::Fail) {
            let rule = fact.rule.as_str().to_owned();
            rules.entry(rule).or_insert_with(|| fact.field.clone());
        }
        let mut ever = before.map(|before| before.ever).unwrap_or_default();
        for rule in rules.keys() {
            let cost = self.rules.entry(rule.clone()).or_default();
            cost.tries += 1;
            cost.quests += u32::from(ever.insert(rule.clone()));
        }
        if attempt.state != State::Todo {
            return;
        }
        let checks = judgement.map_or(&[][..], |judgement| &judgement.checks);
        let failed = |outcome| matches!(outcome, CheckOutcome::Failed);
        let reached = checks.iter().rposition(|check| failed(check.outcome));
        let last = Failed {
            number: attempt.number,
            rules,
            fields: fields.cloned(),
            reached: reached.unwrap_or(usize::MAX),
            ever,
        };
        self.failed.insert(attempt.quest, last);
    }

    fn flipped(
        &mut self,
        before: &Failed,
        attempt: &Attempt,
        fields: Option<&Fields>,
        judgement: &Judgement,
    ) {
        let (Some(from), Some(to)) = (&before.fields, fields) else {
            return;
        };
        // A check that did not run says nothing of its rules.
        let looked_at = judgement.checks.get(..=before.reached);
        let all_ran = looked_at.is_some_and(|checks| {
            let mut outcomes = checks.iter().map(|check| check.outcome);
            outcomes.all(|outcome| outcome != CheckOutcome::NotRun)
        });
        if !all_ran || matches!(attempt.grounds, Grounds::NoResult | Grounds::Repeat) {
            return;
        }
        let passed = attempt.verdict == Verdict::Pass;
        for (rule, about) in &before.rules {
            if attempt.rules.contains(rule) {
                continue;
            }
            let cost = self.rules.entry(rule.clone()).or_default();
            if passed || cost.flip.as_ref().is_none_or(|flip| !flip.passed) {
                cost.flip = Some(Flip {
                    quest: attempt.quest,
                    attempt: before.number,
                    changes: flip::changes(from, to, about.as_ref()),
                    passed,
                });
            }
        }
    }

    fn contradicted(&mut self, quest: QuestId) {
        self.accepted.retain(|accepted| accepted.quest != quest);
        for cost in self.rules.values_mut() {
            cost.flip.take_if(|flip| flip.quest == quest);
        }
    }

    fn forget(&mut self) {
        self.accepted.clear();
        for failed in self.failed.values_mut() {
            failed.fields = None;
        }
        for cost in self.rules.values_mut() {
            cost.flip = None;
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
