//! The history of the quests that have a row.

use std::collections::{BTreeSet, HashMap};

use jiff::Timestamp;
use serde::Deserialize;

use crate::base::Digest;
use crate::base::text::truncate_with_size;
use crate::gate::{Fact, Level};
use crate::quest::{FieldName, QuestId, Submission};
use crate::report::picture::{FactRow, FactRows, Step};
use crate::session::{
    Attempt, DecisionPolicy, Event, Resolution, RunLine, RunStep, Settlement, Worker,
};

/// The most steps of one quest; of a longer history, the middle is left out.
const MAX_STEPS: usize = 60;

/// The most characters of a note.
const MAX_NOTE: usize = 400;

/// The most facts of one step and of all steps, and the most characters of a text in them.
const MAX_FACTS: usize = 4;
const MAX_FACTS_OF_ALL: usize = 12;
const MAX_FACT: usize = 300;

#[derive(Debug)]
pub(super) struct Steps {
    policy: DecisionPolicy,
    answer: Option<FieldName>,
    quests: HashMap<QuestId, Course>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Course {
    steps: Vec<Taken>,
    /// How many steps are left out; the second step says so.
    left_out: u32,
    /// Every rule that fired, once, in order of appearance.
    pub(super) fired: Vec<String>,
    pub(super) last: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Taken {
    step: Step,
    judged: bool,
}

impl Steps {
    pub(super) fn new(
        shown: impl Iterator<Item = QuestId>,
        policy: DecisionPolicy,
        answer: Option<FieldName>,
    ) -> Self {
        Self {
            policy,
            answer,
            quests: shown.map(|id| (id, Course::default())).collect(),
        }
    }

    pub(super) fn take(&mut self, at: Timestamp, prev: Digest, event: &Event) {
        match event {
            Event::Claim(claimed) => self.claim(at, claimed.quest, &claimed.worker),
            Event::Released(released) => {
                let note = format!("{} held it", released.worker);
                self.add(released.quest, step(at, "released", None, vec![note]));
            }
            Event::Attempt(attempt) => self.attempt(at, attempt),
            Event::Resolution(resolution) => self.again(at, resolution),
            Event::Carried(carried) => {
                let note = format!("passed first on {:.0}", carried.origin.at);
                let id = carried.attempt.quest;
                let step = step(at, "PASS, carried", None, vec![note]);
                self.judge(id, step, &[], carried.attempt.judgement.get());
            }
            Event::Settled(settled) => self.settle(at, prev, settled),
            Event::Disputed(dispute) => {
                let counts = self.policy.admits(dispute.as_ref(), prev);
                let decided = decided(at, "disputed", counts, &dispute.by, &dispute.note);
                self.decide(dispute.quest, decided, counts);
            }
            Event::Run(line) => self.run(at, line),
            _ => {}
        }
    }

    pub(super) fn of(&mut self, id: QuestId) -> Course {
        self.quests.remove(&id).unwrap_or_default()
    }

    fn claim(&mut self, at: Timestamp, id: QuestId, worker: &Worker) {
        let step = step(at, "handed out", Some(worker), Vec::new());
        let course = self.quests.get(&id);
        let last = course.and_then(|course| course.steps.last());
        let same = last.is_some_and(|last| {
            let last = &last.step;
            last.what == step.what && last.by == step.by
        });
        if !same {
            self.add(id, step);
        }
    }

    fn attempt(&mut self, at: Timestamp, attempt: &Attempt) {
        let back = if attempt.revision { ", sent back" } else { "" };
        let what = format!("{}{back}", attempt.verdict);
        let mut notes = self.said(&attempt.submission);
        notes.extend(distinct(&attempt.rules));
        let step = step(at, &what, attempt.worker.as_ref(), notes);
        let judgement = attempt.judgement.get();
        self.judge(attempt.quest, step, &attempt.rules, judgement);
    }

    /// The answer of a submission, or why there is none.
    fn said(&self, submission: &Submission) -> Vec<String> {
        let said = match (submission, &self.answer) {
            (Submission::None(why), _) => Some(why.as_str()),
            (Submission::Fields(_), Some(name)) => submission.field(name.as_str()),
            (Submission::Fields(fields), None) => fields.values().next().map(String::as_str),
        };
        said.map(|text| truncate_with_size(text, MAX_NOTE).into_owned())
            .into_iter()
            .collect()
    }

    fn again(&mut self, at: Timestamp, resolution: &Resolution) {
        let what = format!("judged again: {}", resolution.outcome.name());
        let notes = distinct(&resolution.rules);
        let step = step(at, &what, None, notes);
        let judgement = resolution.judgement.get();
        self.judge(resolution.quest, step, &resolution.rules, judgement);
    }

    fn settle(&mut self, at: Timestamp, prev: Digest, settled: &Settlement) {
        let counts = self.policy.admits(settled, prev);
        let what = settled.decision.name();
        for quest in &settled.quests {
            let decided = decided(at, what, counts, &settled.by, &settled.note);
            self.decide(quest.quest, decided, counts);
        }
    }

    fn run(&mut self, at: Timestamp, line: &RunLine) {
        match &line.step {
            RunStep::Attempt(ended) => {
                let notes = vec![ended.reason.to_string()];
                let step = step(at, "agent ended", Some(&ended.worker), notes);
                self.add(ended.quest, step);
            }
            RunStep::Quest(ended) => {
                let said = ended.handover.as_deref();
                let said = said.map(|said| truncate_with_size(said, MAX_NOTE).into_owned());
                let notes = std::iter::once(ended.reason.to_string()).chain(said);
                let mut step = step(at, "drive ended", None, notes.collect());
                step.by = Some(format!("run {}", line.run));
                self.add(ended.quest, step);
            }
            RunStep::Began(_) | RunStep::Ended { .. } => {}
        }
    }

    fn judge(&mut self, id: QuestId, mut step: Step, rules: &[String], judgement: &str) {
        let Some(course) = self.quests.get_mut(&id) else {
            return;
        };
        step.facts = facts_of(judgement, MAX_FACTS, MAX_FACT);
        course.fire(rules);
        course.last = Some(step.at);
        course.add(step, true);
        course.bound();
    }

    fn decide(&mut self, id: QuestId, step: Step, counts: bool) {
        if let Some(course) = self.quests.get_mut(&id).filter(|_| counts) {
            course.last = Some(step.at);
        }
        self.add(id, step);
    }

    fn add(&mut self, id: QuestId, step: Step) {
        if let Some(course) = self.quests.get_mut(&id) {
            course.add(step, false);
        }
    }
}

impl Course {
    pub(super) fn steps(mut self) -> Vec<Step> {
        if let Some(gap) = self.steps.get_mut(1).filter(|_| self.left_out > 0) {
            gap.step.notes = vec![format!("{} steps", self.left_out)];
        }
        if let Some(last) = self.steps.iter_mut().rfind(|it| it.judged) {
            last.step.facts = FactRows::default();
        }
        self.steps.into_iter().map(|it| it.step).collect()
    }

    fn fire(&mut self, rules: &[String]) {
        for rule in rules {
            if !self.fired.contains(rule) {
                self.fired.push(rule.clone());
            }
        }
    }

    fn add(&mut self, step: Step, judged: bool) {
        if self.steps.len() == MAX_STEPS {
            if self.left_out == 0 {
                let at = self.steps[1].step.at;
                self.steps[1] = Taken {
                    step: self::step(at, "left out", None, Vec::new()),
                    judged: false,
                };
                self.left_out = 1;
            }
            self.steps.remove(2);
            self.left_out += 1;
        }
        self.steps.push(Taken { step, judged });
    }

    /// Drops the oldest facts if the quest has too many.
    fn bound(&mut self) {
        let count = |it: &Taken| it.step.facts.shown.len();
        let mut all: usize = self.steps.iter().map(count).sum();
        for old in &mut self.steps {
            if all <= MAX_FACTS_OF_ALL {
                break;
            }
            all -= count(old);
            leave_out(&mut old.step.facts);
        }
    }
}

fn step(at: Timestamp, what: &str, by: Option<&Worker>, notes: Vec<String>) -> Step {
    Step {
        at,
        what: what.to_owned(),
        by: by.map(Worker::to_string),
        notes,
        facts: FactRows::default(),
    }
}

/// A decision, or a line by somebody who had no authority to decide.
fn decided(at: Timestamp, what: &str, counts: bool, by: &str, note: &str) -> Step {
    let what = if counts {
        what.to_owned()
    } else {
        format!("{what} (not signed, does not count)")
    };
    let note =
        Some(truncate_with_size(note, MAX_NOTE).into_owned()).filter(|note| !note.is_empty());
    Step {
        by: Some(truncate_with_size(by, MAX_NOTE).into_owned()).filter(|by| !by.is_empty()),
        notes: note.into_iter().collect(),
        ..step(at, &what, None, Vec::new())
    }
}

fn distinct(rules: &[String]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let rules = rules.iter().filter(|rule| seen.insert(rule.as_str()));
    rules.cloned().collect()
}

#[derive(Deserialize)]
struct Found {
    facts: Vec<Fact>,
}

/// The facts of a judgement as the gate wrote it: at most `most`, with texts of at most `longest`
/// characters. `audit` reports a judgement that cannot be read.
pub(super) fn facts_of(judgement: &str, most: usize, longest: usize) -> FactRows {
    let found = serde_json::from_str::<Found>(judgement);
    let facts = found.map_or_else(|_| Vec::new(), |found| found.facts);
    rows(facts, most, |text| {
        truncate_with_size(text, longest).into_owned()
    })
}

pub(super) fn rows(facts: Vec<Fact>, most: usize, shown: impl Fn(&str) -> String) -> FactRows {
    let left_out = small(facts.len().saturating_sub(most));
    let kept = facts.into_iter().take(most);
    FactRows {
        shown: kept.map(|it| row(it, &shown)).collect(),
        left_out,
    }
}

fn row(fact: Fact, shown: impl Fn(&str) -> String) -> FactRow {
    let more = match fact.count {
        0 | 1 => String::new(),
        count => format!(" ({count} of its kind)"),
    };
    FactRow {
        rule: fact.rule.to_string(),
        fails: fact.level == Level::Fail,
        field: fact.field.map(|field| field.to_string()),
        place: fact.location.map(|place| shown(&place)),
        expected: shown(&fact.expected),
        actual: shown(&fact.actual) + &more,
    }
}

pub(super) fn leave_out(facts: &mut FactRows) {
    let gone = small(facts.shown.len());
    facts.left_out = facts.left_out.saturating_add(gone);
    facts.shown = Vec::new();
}

pub(super) fn bytes(facts: &FactRows) -> usize {
    let texts = facts.shown.iter().map(|it| {
        let place = it.place.as_ref().map_or(0, String::len);
        it.rule.len() + place + it.expected.len() + it.actual.len()
    });
    texts.sum()
}

fn small(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quest::Verdict;
    use crate::report::draw::fixtures::{at, attempt, claim, fact, id, judgement};
    use crate::session::{Decision, Dispute, SettledQuest, SigningKey, State};

    fn policy(sealed: bool) -> DecisionPolicy {
        let key = SigningKey::read(&[7; 32]).unwrap();
        DecisionPolicy {
            session: Digest::of(b"session"),
            key: sealed.then(|| key.public()),
        }
    }

    fn told(policy: DecisionPolicy, events: &[(i64, Event)]) -> Course {
        let mut steps = Steps::new([id(1)].into_iter(), policy, None);
        for (second, event) in events {
            steps.take(at(*second), Digest::of(b"prev"), event);
        }
        steps.of(id(1))
    }

    fn accepted(quest: usize) -> Event {
        Event::Settled(Box::new(Settlement {
            quests: vec![SettledQuest {
                quest: id(quest),
                attempt: 1,
            }],
            decision: Decision::Accepted,
            by: "kim".to_owned(),
            note: "called them".to_owned(),
            seal: None,
        }))
    }

    fn words(course: Course) -> Vec<String> {
        let steps = course.steps().into_iter();
        steps
            .map(|it| {
                let by = it.by.map(|by| format!(" by {by}")).unwrap_or_default();
                format!("{}{by}: {}", it.what, it.notes.join("; "))
            })
            .collect()
    }

    #[test]
    fn all_that_happened_to_it_is_told_in_order_and_nothing_of_others() {
        let dispute = Event::Disputed(Box::new(Dispute {
            quest: id(1),
            by: "lee".to_owned(),
            note: "bounced".to_owned(),
            seal: None,
        }));
        let events = [
            (1, claim(1, "w1")),
            (2, claim(1, "w1")),
            (3, attempt(1, 1, Verdict::Review, State::Review)),
            (4, attempt(2, 1, Verdict::Fail, State::Todo)),
            (5, accepted(2)),
            (6, accepted(1)),
            (7, dispute),
        ];
        let course = told(policy(false), &events);
        assert_eq!(course.last, Some(at(7)));
        let expected = [
            "handed out by w1: ",
            "REVIEW: nothing; some-rule",
            "accepted by kim: called them",
            "disputed by lee: bounced",
        ];
        assert_eq!(words(course), expected);
    }

    #[test]
    fn what_nobody_sealed_is_told_as_what_it_is() {
        let events = [
            (3, attempt(1, 1, Verdict::Review, State::Review)),
            (6, accepted(1)),
        ];
        let course = told(policy(true), &events);
        assert_eq!(course.last, Some(at(3)), "it decided nothing");
        let told = words(course).pop().unwrap();
        assert_eq!(
            told,
            "accepted (not signed, does not count) by kim: called them"
        );
    }

    #[test]
    fn of_very_many_steps_the_first_and_the_last_are_told() {
        let events: Vec<_> = (0..500)
            .map(|second| (second, claim(1, &format!("w{second}"))))
            .collect();
        let told = words(told(policy(false), &events));
        assert_eq!(told.len(), MAX_STEPS);
        assert_eq!(told[0], "handed out by w0: ");
        let shown = MAX_STEPS - 1;
        assert_eq!(told[1], format!("left out: {} steps", 500 - shown));
        assert_eq!(told[2], format!("handed out by w{}: ", 500 - shown + 1));
        assert_eq!(told.last().unwrap(), "handed out by w499: ");
    }

    fn failed(nth: u32, rule: &'static str, facts: usize) -> Event {
        let event = attempt(1, nth, Verdict::Fail, State::Todo);
        let Event::Attempt(mut attempt) = event else {
            panic!("an attempt");
        };
        attempt.rules = vec![rule.to_owned()];
        let judged = judgement(vec![fact(rule, "that"); facts]);
        attempt.judgement = serde_json::value::RawValue::from_string(judged).unwrap();
        Event::Attempt(attempt)
    }

    fn facts(course: Course) -> Vec<(usize, u32)> {
        let steps = course.steps().into_iter();
        steps
            .map(|it| (it.facts.shown.len(), it.facts.left_out))
            .collect()
    }

    #[test]
    fn each_earlier_judgement_has_its_facts_and_the_last_has_them_elsewhere() {
        let events = [
            (1, failed(1, "one", 1)),
            (2, claim(1, "w1")),
            (3, failed(2, "two", 6)),
            (4, failed(3, "one", 2)),
            (5, claim(1, "w2")),
        ];
        let course = told(policy(false), &events);
        assert_eq!(course.fired, ["one", "two"]);
        let expected = [(1, 0), (0, 0), (MAX_FACTS, 2), (0, 0), (0, 0)];
        assert_eq!(facts(course), expected);
    }

    #[test]
    fn of_very_many_facts_the_last_stay_and_the_rest_are_counted() {
        let events: Vec<_> = (1..=9)
            .map(|nth| (i64::from(nth), failed(nth, "one", 4)))
            .collect();
        let found = facts(told(policy(false), &events));
        let kept: usize = found.iter().map(|it| it.0).sum();
        assert!(kept <= MAX_FACTS_OF_ALL, "{found:?}");
        assert_eq!((found[0], found[7]), ((0, 4), (4, 0)));
    }

    #[test]
    fn those_that_there_is_no_room_for_are_counted() {
        let judged = judgement(vec![fact("one", "x"), fact("two", "y"), fact("three", "z")]);
        let mut facts = facts_of(&judged, 2, 100);
        let rules: Vec<&str> = facts.shown.iter().map(|it| it.rule.as_str()).collect();
        assert_eq!((rules, facts.left_out), (vec!["one", "two"], 1));
        assert_eq!(bytes(&facts), "onethisx".len() + "twothisy".len());
        leave_out(&mut facts);
        assert_eq!((facts.shown.len(), facts.left_out), (0, 3));
        assert_eq!(facts_of("null", 2, 100), FactRows::default());
    }

    #[test]
    fn long_texts_are_cut_and_a_kind_is_counted_behind_them() {
        let many = Fact {
            cause: crate::gate::Cause::Wrong,
            count: 3,
            ..fact("one", &"x".repeat(1000))
        };
        let facts = facts_of(&judgement(vec![many]), 9, 10);
        let expected = "xxxxxxxxxx… (1000 bytes) (3 of its kind)";
        assert_eq!(facts.shown[0].actual, expected);
    }
}
