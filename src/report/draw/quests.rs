//! The quest rows of a page: which quests get a row, the history of each, and the size of a row.

use std::collections::HashMap;

use itertools::Itertools as _;
use jiff::Timestamp;

use crate::base::Digest;
use crate::base::text::{small, truncate_with_size};
use crate::gate::{Fact, Judgement};
use crate::judge::excerpts::QuestSummary;
use crate::judge::forgotten::redacted;
use crate::quest::{FieldName, Key, QuestId, Shown, Submission};
use crate::report::picture::{FactRows, QuestRow, Step, Worth};
use crate::session::{
    Attempt, DecisionPolicy, Effective, Event, Forgetting, QuestRecord, RunLine, RunStep,
    SessionError, State, Worker,
};

/// Chooses at most `most` quests in the states of `only` (in any state if it is empty), the most
/// urgent first, then by number.
pub(super) fn chosen(
    quests: impl Iterator<Item = Result<QuestRecord, SessionError>>,
    only: &[State],
    most: usize,
) -> Result<Vec<QuestId>, SessionError> {
    let mut ranked: Vec<(u8, QuestId)> = Vec::new();
    for quest in quests {
        let quest = quest?;
        if only.is_empty() || only.contains(&quest.progress.state) {
            ranked.push((urgency(&quest), quest.id));
        }
    }
    ranked.sort_unstable();
    ranked.truncate(most);
    Ok(ranked.into_iter().map(|(_, id)| id).collect())
}

/// How urgently a person should look at a quest; 0 is the most urgent.
fn urgency(record: &QuestRecord) -> u8 {
    match Effective::of(record) {
        Effective::Open | Effective::Refuted => 0,
        Effective::Done => 1,
        _ if record.is_disputed() => 2,
        Effective::Todo if record.attempts > 0 => 3,
        Effective::Pass | Effective::Accepted | Effective::Confirmed | Effective::Rejected => 4,
        // No worker has started it yet.
        Effective::Todo => 5,
    }
}

/// The most bytes of all rows. A browser cannot handle a page that is much larger.
pub(super) const MAX_ROW_BYTES: usize = 48 << 20;

const ENOUGH: &str = "it is left out here, because the page already shows enough";

/// Reduces `row` to its first line if it is larger than the `room` that is left.
pub(super) fn fit(row: &mut QuestRow, room: &mut usize) {
    let bytes = serde_json::to_string(row).map_or(usize::MAX, |json| json.len());
    if let Some(rest) = room.checked_sub(bytes) {
        *room = rest;
        return;
    }
    row.shown.clear();
    row.excerpts.clear();
    row.facts.leave_out();
    for step in &mut row.history {
        step.facts.leave_out();
    }
    row.damage = Some(ENOUGH.to_owned());
}

/// The most characters of an answer or a cell, and of a text in a fact.
const MAX_ANSWER: usize = 2_000;
const MAX_FACT: usize = 600;

const MAX_FACTS: usize = 50;

pub(super) struct RowInput<'a> {
    pub(super) record: &'a QuestRecord,
    pub(super) summary: QuestSummary,
    pub(super) course: Course,
    pub(super) took: Option<u64>,
    pub(super) fields: &'a [FieldName],
}

pub(super) fn row(input: RowInput<'_>, forgetting: &Forgetting) -> QuestRow {
    let (record, summary, course) = (input.record, input.summary, input.course);
    let mask = |text: &str| redacted(forgetting, text);
    let masked = |text: &str| mask(text).unwrap_or_else(|| text.to_owned());
    let cut = |text: &str, most| truncate_with_size(&masked(text), most).into_owned();
    let cells = |cells: Vec<Shown>| -> Vec<Shown> {
        let cells = cells.into_iter().map(|cell| Shown {
            label: cut(&cell.label, MAX_ANSWER),
            text: cut(&cell.text, MAX_ANSWER),
        });
        cells.collect()
    };
    let submission = summary.submission.as_ref();
    let effective = Effective::of(record);
    let key = mask(record.key.as_str()).and_then(|key| Key::new(&key).ok());
    // The facts of a repeated answer only call it repeated; the row has those of the first judgement.
    let steps = match record.repeated() {
        Some(_) => course.steps.clone(),
        None => course.steps(),
    };
    let history = steps.into_iter().map(|step| Step {
        by: step.by.map(|by| masked(&by)),
        notes: step.notes.iter().map(|note| masked(note)).collect(),
        facts: FactRows {
            shown: with_texts(step.facts.shown, masked),
            ..step.facts
        },
        ..step
    });
    QuestRow {
        id: record.id,
        key: key.unwrap_or_else(|| record.key.clone()),
        state: record.progress.state,
        effective,
        disputed: record.is_disputed(),
        tries: record.attempts,
        last: course.last,
        took: input.took,
        answer: cells(submission.map_or_else(Vec::new, |it| answer(it, input.fields))),
        worth: submission.map(|it| worth(it, effective, summary.sent_back)),
        worker: summary.worker.map(|name| cut(name.as_str(), MAX_ANSWER)),
        shown: cells(summary.quest.listed()),
        facts: first(summary.facts, MAX_FACTS, |text| cut(text, MAX_FACT)),
        again: summary.again,
        fired: course.fired.clone(),
        excerpts: summary.excerpts,
        history: history.collect(),
        damage: summary.damage,
    }
}

/// The submitted fields in the order of `fields`, then all others.
fn answer(submission: &Submission, fields: &[FieldName]) -> Vec<Shown> {
    let cell = |label: &str, text: &str| Shown {
        label: label.to_owned(),
        text: text.to_owned(),
    };
    match submission {
        Submission::None(why) => vec![cell("none", why)],
        Submission::Fields(given) => {
            let known = fields.iter().filter_map(|name| given.get_key_value(name));
            let others = given.iter().filter(|(name, _)| !fields.contains(name));
            let all = known.chain(others);
            all.map(|(name, text)| cell(name.as_str(), text)).collect()
        }
    }
}

fn worth(submission: &Submission, effective: Effective, sent_back: bool) -> Worth {
    match effective {
        _ if matches!(submission, Submission::None(_)) => Worth::Missing,
        it if it.stands() => Worth::Stands,
        Effective::Rejected => Worth::Rejected,
        Effective::Todo if sent_back => Worth::SentBack,
        _ => Worth::Refuted,
    }
}

/// The most steps of one quest. The middle of a longer history is left out.
const MAX_STEPS: usize = 60;

const MAX_NOTE: usize = 400;

/// The most facts of one step and of all steps, and the most characters of a text in them. The
/// histories of all shown quests are in memory at once.
const MAX_STEP_FACTS: usize = 4;
const MAX_FACTS_OF_ALL: usize = 12;
const MAX_STEP_FACT: usize = 300;

/// The histories of the quests that have a row.
#[derive(Debug)]
pub(super) struct Courses {
    policy: DecisionPolicy,
    /// The field that the quests are about.
    answer: Option<FieldName>,
    quests: HashMap<QuestId, Course>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Course {
    steps: Vec<Step>,
    /// The number of steps that are left out; the second step shows it.
    left_out: u32,
    /// Every rule that fired, once, in order of appearance.
    pub(super) fired: Vec<String>,
    pub(super) last: Option<Timestamp>,
}

impl Courses {
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
            Event::Claim(claimed) => {
                let step = step(at, "handed out", Some(&claimed.worker), Vec::new());
                if let Some(course) = self.quests.get_mut(&claimed.quest) {
                    // A renewed claim is shown once.
                    let last = course.steps.last();
                    if last.is_none_or(|last| last.what != step.what || last.by != step.by) {
                        course.add(step);
                    }
                }
            }
            Event::Released(released) => {
                let note = format!("{} held it", released.worker);
                self.add(released.quest, step(at, "released", None, vec![note]));
            }
            Event::Attempt(attempt) => self.attempt(at, attempt),
            Event::Resolution(again) => {
                let what = format!("judged again: {}", again.outcome.name());
                let rules = again.rules.iter().unique().cloned().collect();
                let step = step(at, &what, None, rules);
                self.judge(again.quest, step, &again.rules, again.judgement.get());
            }
            Event::Regressed(regressed) => {
                let rules = regressed.rules.clone();
                let step = step(at, "no longer holds", None, rules);
                let judgement = regressed.judgement.get();
                self.judge(regressed.quest, step, &regressed.rules, judgement);
            }
            Event::Reopened(reopened) => {
                let counts = self.policy.admits(reopened.as_ref(), prev);
                for quest in &reopened.quests {
                    let decided = decided(at, "reopened", counts, &reopened.by, &reopened.note);
                    self.decide(quest.quest, decided, counts);
                }
            }
            Event::Carried(carried) => {
                let note = format!("passed first on {:.0}", carried.origin.at);
                let step = step(at, "PASS, carried", None, vec![note]);
                let judgement = carried.attempt.judgement.get();
                self.judge(carried.attempt.quest, step, &[], judgement);
            }
            Event::Settled(settled) => {
                let counts = self.policy.admits(settled.as_ref(), prev);
                let what = settled.decision.name();
                for quest in &settled.quests {
                    let decided = decided(at, what, counts, &settled.by, &settled.note);
                    self.decide(quest.quest, decided, counts);
                }
            }
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

    fn attempt(&mut self, at: Timestamp, attempt: &Attempt) {
        let back = if attempt.revision { ", sent back" } else { "" };
        let what = format!("{}{back}", attempt.verdict);
        let said = match (&attempt.submission, &self.answer) {
            (Submission::None(why), _) => Some(why.as_str()),
            (submission, Some(name)) => submission.field(name.as_str()),
            (Submission::Fields(fields), None) => fields.values().next().map(String::as_str),
        };
        let mut notes: Vec<String> = said.map(cut_note).into_iter().collect();
        notes.extend(attempt.rules.iter().unique().cloned());
        let step = step(at, &what, attempt.worker.as_ref(), notes);
        let judgement = attempt.judgement.get();
        self.judge(attempt.quest, step, &attempt.rules, judgement);
    }

    fn run(&mut self, at: Timestamp, line: &RunLine) {
        match &line.step {
            RunStep::Start(start) => {
                let notes = std::iter::once(start.agent.clone()).chain(start.model.clone());
                let step = step(at, "agent started", Some(&start.worker), notes.collect());
                self.add(start.quest, step);
            }
            RunStep::Attempt(ended) => {
                let notes = vec![ended.reason.to_string()];
                let step = step(at, "agent ended", Some(&ended.worker), notes);
                self.add(ended.quest, step);
            }
            RunStep::Quest(ended) => {
                let said = ended.handover.as_deref().map(cut_note);
                let notes = std::iter::once(ended.reason.to_string()).chain(said);
                let step = step(at, "run finished with it", None, notes.collect());
                let by = Some(format!("run {}", line.run));
                self.add(ended.quest, Step { by, ..step });
            }
            RunStep::Began(_) | RunStep::Ended { .. } => {}
        }
    }

    fn judge(&mut self, id: QuestId, step: Step, rules: &[String], judgement: &str) {
        let Some(course) = self.quests.get_mut(&id) else {
            return;
        };
        for rule in rules {
            if !course.fired.contains(rule) {
                course.fired.push(rule.clone());
            }
        }
        course.last = Some(step.at);
        course.add(Step {
            judged: true,
            facts: facts_of(judgement),
            ..step
        });
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
            course.add(step);
        }
    }
}

impl Course {
    /// All steps, without the facts of the last judgement, which the row has.
    pub(super) fn steps(&self) -> Vec<Step> {
        let mut steps = self.steps.clone();
        if let Some(last) = steps.iter_mut().rfind(|it| it.judged) {
            last.facts = FactRows::default();
        }
        steps
    }

    fn add(&mut self, step: Step) {
        if self.steps.len() == MAX_STEPS {
            if self.left_out == 0 {
                self.steps[1] = self::step(self.steps[1].at, "left out", None, Vec::new());
                self.left_out = 1;
            }
            self.steps.remove(2);
            self.left_out += 1;
            self.steps[1].notes = vec![format!("{} steps", self.left_out)];
        }
        self.steps.push(step);
    }

    /// Drops the oldest facts if the quest has too many.
    fn bound(&mut self) {
        let mut all: usize = self.steps.iter().map(|it| it.facts.shown.len()).sum();
        for old in &mut self.steps {
            if all <= MAX_FACTS_OF_ALL {
                break;
            }
            all -= old.facts.shown.len();
            old.facts.leave_out();
        }
    }
}

fn step(at: Timestamp, what: &str, by: Option<&Worker>, notes: Vec<String>) -> Step {
    Step {
        at,
        what: what.to_owned(),
        by: by.map(Worker::to_string),
        notes,
        judged: false,
        facts: FactRows::default(),
    }
}

/// A decision, which may lack the required signature.
fn decided(at: Timestamp, what: &str, counts: bool, by: &str, note: &str) -> Step {
    let not_signed = if counts {
        ""
    } else {
        " (not signed, does not count)"
    };
    let text = |text: &str| (!text.is_empty()).then(|| cut_note(text));
    Step {
        by: text(by),
        notes: text(note).into_iter().collect(),
        ..step(at, &format!("{what}{not_signed}"), None, Vec::new())
    }
}

fn cut_note(text: &str) -> String {
    truncate_with_size(text, MAX_NOTE).into_owned()
}

fn facts_of(judgement: &str) -> FactRows {
    first(Judgement::facts_of(judgement), MAX_STEP_FACTS, |text| {
        truncate_with_size(text, MAX_STEP_FACT).into_owned()
    })
}

fn first(mut facts: Vec<Fact>, most: usize, text: impl Fn(&str) -> String) -> FactRows {
    let left_out = small(facts.len().saturating_sub(most));
    facts.truncate(most);
    FactRows {
        shown: with_texts(facts, text),
        left_out,
    }
}

fn with_texts(facts: Vec<Fact>, text: impl Fn(&str) -> String) -> Vec<Fact> {
    let facts = facts.into_iter().map(|fact| Fact {
        location: fact.location.map(|place| text(&place).into()),
        expected: text(&fact.expected).into(),
        actual: text(&fact.actual).into(),
        ..fact
    });
    facts.collect()
}

impl FactRows {
    fn leave_out(&mut self) {
        self.left_out = self.left_out.saturating_add(small(self.shown.len()));
        self.shown.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quest::{Fields, Verdict};
    use crate::report::draw::fixtures::{at, attempt, claim, fact, id, judgement, quest, record};
    use crate::session::{Decision, Dispute, SettledQuest, Settlement, SigningKey};

    #[test]
    fn the_most_urgent_quests_come_first() {
        let mut quests = vec![
            record(1, State::Todo),
            record(2, State::Pass),
            record(3, State::Done),
            record(4, State::Todo),
            record(5, State::Pass),
            record(6, State::Review),
        ];
        quests[3].attempts = 1;
        quests[4].dispute = Some(quests[4].quest_line);
        let order = |only: &[State], most| {
            let chosen = chosen(quests.iter().cloned().map(Ok), only, most)
                .unwrap()
                .into_iter();
            chosen.map(|id| id.index() + 1).collect::<Vec<_>>()
        };
        assert_eq!(order(&[], 10), [6, 3, 5, 4, 2, 1]);
        assert_eq!(order(&[], 2), [6, 3]);
        assert_eq!(order(&[State::Pass], 10), [5, 2]);
        assert_eq!(chosen(quests.into_iter().map(Ok), &[], 1).unwrap(), [id(6)]);
    }

    #[test]
    fn fields_come_in_order_and_none_is_lost() {
        let names = ["a", "b", "c"].map(FieldName::known);
        let given = ["a", "c", "z"].map(|name| (FieldName::known(name), name.to_uppercase()));
        let submission = Submission::Fields(Fields::from(given));
        let order = [names[2].clone(), names[1].clone(), names[0].clone()];
        let cells = |submission: &Submission| -> Vec<_> {
            let cells = answer(submission, &order).into_iter();
            cells.map(|cell| (cell.label, cell.text)).collect()
        };
        let expected = [("c", "C"), ("a", "A"), ("z", "Z")];
        let own = |(label, text): (&str, &str)| (label.to_owned(), text.to_owned());
        assert_eq!(cells(&submission), expected.map(own));
        let none = Submission::None("why".to_owned());
        assert_eq!(cells(&none), [own(("none", "why"))]);
    }

    #[test]
    fn an_answer_stands_unless_it_was_refuted() {
        let given = Submission::Fields(Fields::new());
        for &effective in Effective::ALL {
            let stands = worth(&given, effective, false) == Worth::Stands;
            assert_eq!(stands, effective.stands(), "{effective:?}");
        }
        assert_eq!(worth(&given, Effective::Done, false), Worth::Refuted);
        assert_eq!(worth(&given, Effective::Rejected, false), Worth::Rejected);
        assert_eq!(worth(&given, Effective::Todo, true), Worth::SentBack);
        let none = Submission::None("why".to_owned());
        assert_eq!(worth(&none, Effective::Open, false), Worth::Missing);
    }

    const SCRIPT: &str = "<script>alert(1)</script>";

    fn row_of(facts: Vec<Fact>) -> QuestRow {
        let mut record = record(1, State::Review);
        record.key = Key::new(SCRIPT).unwrap();
        let Event::Quest(quest) = quest(1) else {
            panic!("a quest");
        };
        let summary = QuestSummary {
            quest,
            submission: Some(Submission::None(SCRIPT.to_owned())),
            sent_back: false,
            worker: None,
            again: false,
            facts,
            excerpts: Vec::new(),
            damage: None,
        };
        let input = RowInput {
            record: &record,
            summary,
            course: Course::default(),
            took: Some(3),
            fields: &[],
        };
        row(input, &Forgetting::default())
    }

    #[test]
    fn a_row_bounds_its_facts_and_keeps_markup_as_text() {
        let fact = Fact {
            location: Some(SCRIPT.into()),
            expected: "x".repeat(10_000).into(),
            ..fact("some-rule", SCRIPT)
        };
        let row = row_of(vec![fact; 80]);
        assert_eq!((row.key.as_str(), row.took), (SCRIPT, Some(3)));
        assert_eq!(row.answer[0].text, SCRIPT);
        assert_eq!((row.facts.shown.len(), row.facts.left_out), (MAX_FACTS, 30));
        let shown = &row.facts.shown[0];
        assert_eq!(
            (&*shown.actual, shown.location.as_deref()),
            (SCRIPT, Some(SCRIPT))
        );
        assert!(shown.expected.ends_with("… (10000 bytes)"));
    }

    #[test]
    fn a_row_that_does_not_fit_says_so_and_leaves_room_for_smaller_ones() {
        let (large, small) = (
            row_of(vec![fact("some-rule", "that"); 9]),
            row_of(Vec::new()),
        );
        let bytes = |row: &QuestRow| serde_json::to_string(row).unwrap().len();
        let mut room = bytes(&large) + bytes(&small);
        for whole in [&large, &small] {
            let mut row = whole.clone();
            fit(&mut row, &mut room);
            assert_eq!(&row, whole);
        }
        assert_eq!(room, 0);
        room = bytes(&small);
        let mut row = large.clone();
        fit(&mut row, &mut room);
        assert_eq!((row.facts.shown.len(), row.facts.left_out), (0, 9));
        assert_eq!(
            (row.damage.as_deref(), &row.key),
            (Some(ENOUGH), &large.key)
        );
        let mut row = small.clone();
        fit(&mut row, &mut room);
        assert_eq!(row, small);
    }

    fn policy(sealed: bool) -> DecisionPolicy {
        let key = SigningKey::read(&[7; 32]).unwrap();
        DecisionPolicy {
            session: Digest::of(b"session"),
            key: sealed.then(|| key.public()),
        }
    }

    fn course(policy: DecisionPolicy, events: &[(i64, Event)]) -> Course {
        let mut steps = Courses::new([id(1)].into_iter(), policy, None);
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

    fn words(course: &Course) -> Vec<String> {
        let steps = course.steps().into_iter();
        steps
            .map(|it| {
                let by = it.by.map(|by| format!(" by {by}")).unwrap_or_default();
                format!("{}{by}: {}", it.what, it.notes.join("; "))
            })
            .collect()
    }

    #[test]
    fn the_history_has_all_steps_of_its_quest_in_order() {
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
        let course = course(policy(false), &events);
        assert_eq!(course.last, Some(at(7)));
        let expected = [
            "handed out by w1: ",
            "REVIEW: nothing; some-rule",
            "accepted by kim: called them",
            "disputed by lee: bounced",
        ];
        assert_eq!(words(&course), expected);
    }

    #[test]
    fn an_unsigned_decision_is_marked_and_does_not_count() {
        let events = [
            (3, attempt(1, 1, Verdict::Review, State::Review)),
            (6, accepted(1)),
        ];
        let course = course(policy(true), &events);
        assert_eq!(course.last, Some(at(3)), "it decided nothing");
        let told = words(&course).pop().unwrap();
        let expected = "accepted (not signed, does not count) by kim: called them";
        assert_eq!(told, expected);
    }

    #[test]
    fn a_long_history_keeps_its_first_and_last_steps() {
        let events: Vec<_> = (0..500)
            .map(|second| (second, claim(1, &format!("w{second}"))))
            .collect();
        let told = words(&course(policy(false), &events));
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

    fn facts(course: &Course) -> Vec<(usize, u32)> {
        let steps = course.steps().into_iter();
        steps
            .map(|it| (it.facts.shown.len(), it.facts.left_out))
            .collect()
    }

    #[test]
    fn steps_show_the_facts_of_all_judgements_but_the_last() {
        let events = [
            (1, failed(1, "one", 1)),
            (2, claim(1, "w1")),
            (3, failed(2, "two", 6)),
            (4, failed(3, "one", 2)),
            (5, claim(1, "w2")),
        ];
        let course = course(policy(false), &events);
        assert_eq!(course.fired, ["one", "two"]);
        let expected = [(1, 0), (0, 0), (MAX_STEP_FACTS, 2), (0, 0), (0, 0)];
        assert_eq!(facts(&course), expected);
    }

    #[test]
    fn keeps_the_latest_facts_and_counts_the_others() {
        let events: Vec<_> = (1..=9)
            .map(|nth| (i64::from(nth), failed(nth, "one", 4)))
            .collect();
        let found = facts(&course(policy(false), &events));
        let kept: usize = found.iter().map(|it| it.0).sum();
        assert!(kept <= MAX_FACTS_OF_ALL, "{found:?}");
        assert_eq!((found[0], found[7]), ((0, 4), (4, 0)));
    }

    #[test]
    fn a_judgement_that_cannot_be_read_has_no_facts() {
        assert_eq!(facts_of("null"), FactRows::default());
        let facts = facts_of(&judgement(vec![fact("one", &"x".repeat(1000))]));
        assert!(facts.shown[0].actual.ends_with("x… (1000 bytes)"));
    }
}
