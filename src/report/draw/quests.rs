//! The quest rows of a page: which quests get a row, and how much each row may hold.

use super::steps::{Course, bytes, leave_out, rows};
use crate::base::text::truncate_with_size;
use crate::judge::excerpts::QuestSummary;
use crate::judge::forgotten::blotted;
use crate::quest::{FieldName, Key, QuestId, Shown, Submission};
use crate::report::picture::{Excerpt, FactRow, FactRows, Labelled, QuestRow, Step, Worth};
use crate::session::{Effective, Forgetting, QuestRecord, SessionError, State};

/// How urgently a person should look at a quest, the most urgent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Need {
    Settling,
    Ended,
    Disputed,
    Tried,
    Settled,
    /// Nobody worked on it yet.
    Untouched,
}

impl Need {
    fn of(record: &QuestRecord) -> Self {
        match Effective::of(record) {
            Effective::Open | Effective::Refuted => Self::Settling,
            Effective::Done => Self::Ended,
            _ if record.dispute.is_some() => Self::Disputed,
            Effective::Todo if record.attempts > 0 => Self::Tried,
            Effective::Todo => Self::Untouched,
            Effective::Pass | Effective::Accepted | Effective::Confirmed | Effective::Rejected => {
                Self::Settled
            }
        }
    }
}

/// Chooses at most `most` quests in the states of `only` (in any state if it is empty), the most
/// urgent first, then by number.
pub(super) fn chosen(
    quests: impl Iterator<Item = Result<QuestRecord, SessionError>>,
    only: &[State],
    most: usize,
) -> Result<Vec<QuestId>, SessionError> {
    let mut ranked: Vec<(Need, QuestId)> = Vec::new();
    for quest in quests {
        let quest = quest?;
        if only.is_empty() || only.contains(&quest.progress.state) {
            ranked.push((Need::of(&quest), quest.id));
        }
    }
    ranked.sort_unstable();
    ranked.truncate(most);
    Ok(ranked.into_iter().map(|(_, id)| id).collect())
}

/// The most bytes for the facts of all earlier submissions.
const EARLIER: usize = 8 << 20;

/// The most bytes for all cells, facts and excerpts.
const DETAILS: usize = 48 << 20;

const ENOUGH: &str = "it is left out here, because the page already shows enough";

/// The bytes that are left.
#[derive(Debug)]
pub(super) struct Room {
    earlier: usize,
    details: usize,
}

impl Room {
    pub(super) const fn new() -> Self {
        Self {
            earlier: EARLIER,
            details: DETAILS,
        }
    }

    /// Drops what does not fit from `row`: first the oldest facts of its history, then its cells, its
    /// facts and its excerpts.
    pub(super) fn fit(&mut self, row: &mut QuestRow) {
        for step in row.history.iter_mut().rev() {
            if !took(&mut self.earlier, bytes(&step.facts)) {
                leave_out(&mut step.facts);
            }
        }
        if !took(&mut self.details, cells(&row.shown)) {
            row.shown = vec![Labelled {
                label: "…".to_owned(),
                text: ENOUGH.to_owned(),
            }];
        }
        if !took(&mut self.details, bytes(&row.facts)) {
            leave_out(&mut row.facts);
        }
        if !took(&mut self.details, lines(&row.excerpts)) {
            row.excerpts.clear();
            row.damage.get_or_insert_with(|| ENOUGH.to_owned());
        }
    }
}

/// Takes bytes from the budget if enough are left.
fn took(left: &mut usize, bytes: usize) -> bool {
    let rest = left.checked_sub(bytes);
    *left = rest.unwrap_or(*left);
    rest.is_some()
}

fn cells(cells: &[Labelled]) -> usize {
    let both = |cell: &Labelled| cell.label.len() + cell.text.len();
    cells.iter().map(both).sum()
}

fn lines(excerpts: &[Excerpt]) -> usize {
    let lines = excerpts.iter().flat_map(|it| &it.lines);
    lines.map(|line| line.text.len()).sum()
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
    /// The fields, the answer field first.
    pub(super) fields: &'a [FieldName],
}

pub(super) fn row(told: RowInput<'_>, forgetting: &Forgetting) -> QuestRow {
    let RowInput {
        record,
        summary,
        course,
        took,
        fields,
    } = told;
    let mask = |text: &str| blotted(forgetting, text);
    let without = |text: &str, most| {
        let text = mask(text).unwrap_or_else(|| text.to_owned());
        truncate_with_size(&text, most).into_owned()
    };
    let submission = summary.submission.as_ref();
    let answer = submission.map_or_else(Vec::new, |it| answer(it, fields));
    let labelled = |(label, text): (String, String)| Labelled {
        text: without(&text, MAX_ANSWER),
        label: without(&label, MAX_ANSWER),
    };
    let shown = |cell: Shown| labelled((cell.label, cell.text));
    let (last, fired) = (course.last, course.fired.clone());
    let effective = Effective::of(record);
    let key = mask(record.key.as_str()).and_then(|key| Key::new(&key).ok());
    QuestRow {
        id: record.id,
        key: key.unwrap_or_else(|| record.key.clone()),
        state: record.progress.state,
        effective,
        disputed: record.dispute.is_some(),
        tries: record.progress.tries,
        last,
        took,
        worker: summary
            .worker
            .map(|name| without(name.as_str(), MAX_ANSWER)),
        answer: answer.into_iter().map(labelled).collect(),
        worth: submission.map(|it| worth(it, effective, summary.sent_back)),
        shown: summary.quest.listed().into_iter().map(shown).collect(),
        facts: rows(summary.facts, MAX_FACTS, |text| without(text, MAX_FACT)),
        again: summary.again,
        fired,
        excerpts: summary.excerpts,
        history: course
            .steps()
            .into_iter()
            .map(|it| step(it, |text| mask(text).unwrap_or_else(|| text.to_owned())))
            .collect(),
        damage: summary.damage,
    }
}

/// The submitted fields in the order of `fields`, then all others.
fn answer(submission: &Submission, fields: &[FieldName]) -> Vec<(String, String)> {
    match submission {
        Submission::None(why) => vec![("none".to_owned(), why.clone())],
        Submission::Fields(given) => {
            let known = fields.iter().filter_map(|name| given.get_key_value(name));
            let others = given.iter().filter(|(name, _)| !fields.contains(name));
            let all = known.chain(others);
            all.map(|(name, text)| (name.to_string(), text.clone()))
                .collect()
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

fn step(step: Step, without: impl Fn(&str) -> String) -> Step {
    let seen = |fact: FactRow| FactRow {
        place: fact.place.map(|place| without(&place)),
        expected: without(&fact.expected),
        actual: without(&fact.actual),
        ..fact
    };
    Step {
        by: step.by.map(|by| without(&by)),
        notes: step.notes.iter().map(|note| without(note)).collect(),
        facts: FactRows {
            shown: step.facts.shown.into_iter().map(seen).collect(),
            ..step.facts
        },
        ..step
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::{Fact, Level, RuleId};
    use crate::quest::{Fields, Key};
    use crate::report::draw::fixtures::{at, id, record};
    use crate::report::picture::{ExcerptLine, FactRow, FactRows, Step};
    use crate::session::{Effective, State};

    #[test]
    fn those_that_need_eyes_come_first() {
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

    fn facts() -> FactRows {
        let fact = FactRow {
            rule: "some-rule".to_owned(),
            fails: true,
            field: None,
            place: None,
            expected: "this".to_owned(),
            actual: "that".to_owned(),
        };
        FactRows {
            shown: vec![fact],
            left_out: 2,
        }
    }

    fn row() -> QuestRow {
        let step = |second| Step {
            at: at(second),
            what: "FAIL".to_owned(),
            by: None,
            notes: Vec::new(),
            facts: facts(),
        };
        let line = ExcerptLine {
            text: "seen".to_owned(),
            found: false,
        };
        QuestRow {
            id: id(1),
            key: Key::new("Acme").unwrap(),
            state: State::Done,
            effective: Effective::Done,
            disputed: false,
            tries: 2,
            last: None,
            took: None,
            worker: None,
            answer: Vec::new(),
            worth: None,
            shown: vec![Labelled {
                label: "city".to_owned(),
                text: "Seoul".to_owned(),
            }],
            facts: facts(),
            again: false,
            fired: Vec::new(),
            excerpts: vec![Excerpt {
                of: "https://acme.example/".to_owned(),
                first: 1,
                lines: vec![line],
            }],
            history: vec![step(1), step(2)],
            damage: None,
        }
    }

    #[test]
    fn what_there_is_room_for_stays() {
        let (mut row, whole) = (row(), row());
        let mut room = Room::new();
        room.fit(&mut row);
        assert_eq!(row, whole);
        assert_eq!(room.earlier, EARLIER - 2 * bytes(&facts()));
        assert_eq!(room.details, DETAILS - 9 - bytes(&facts()) - 4);
    }

    #[test]
    fn of_the_history_the_oldest_facts_go_first() {
        let mut row = row();
        let mut room = Room {
            earlier: bytes(&facts()) + 9,
            details: DETAILS,
        };
        room.fit(&mut row);
        let left_out = row.history.iter().map(|step| step.facts.left_out);
        assert_eq!(
            (left_out.collect::<Vec<_>>(), room.earlier),
            (vec![3, 2], 9)
        );
    }

    #[test]
    fn what_there_is_no_room_for_is_said() {
        let mut row = row();
        let mut room = Room {
            earlier: EARLIER,
            details: 8,
        };
        room.fit(&mut row);
        assert_eq!(row.shown[0].text, ENOUGH);
        assert_eq!((row.facts.shown.len(), row.facts.left_out), (0, 3));
        // Four bytes of an excerpt still have room.
        assert_eq!((row.excerpts.len(), row.damage.as_deref()), (1, None));
        room.details = 3;
        room.fit(&mut row);
        assert_eq!(
            (row.excerpts.len(), row.damage.as_deref()),
            (0, Some(ENOUGH))
        );
    }

    #[test]
    fn the_answer_comes_first_and_nothing_of_it_is_lost() {
        let names = ["a", "b", "c"].map(FieldName::known);
        let given = ["a", "c", "z"].map(|name| (FieldName::known(name), name.to_uppercase()));
        let submission = Submission::Fields(Fields::from(given));
        let order = [names[2].clone(), names[1].clone(), names[0].clone()];
        let labels: Vec<_> = answer(&submission, &order)
            .into_iter()
            .map(|it| it.0)
            .collect();
        assert_eq!(labels, ["c", "a", "z"]);
        let none = answer(&Submission::None("why".to_owned()), &order);
        assert_eq!(none, [("none".to_owned(), "why".to_owned())]);
    }

    #[test]
    fn only_what_is_not_refuted_is_an_answer() {
        let given = Submission::Fields(Fields::new());
        for effective in Effective::ALL {
            let stands = worth(&given, effective, false) == Worth::Stands;
            assert_eq!(stands, effective.stands(), "{effective:?}");
        }
        assert_eq!(worth(&given, Effective::Done, false), Worth::Refuted);
        assert_eq!(worth(&given, Effective::Rejected, false), Worth::Rejected);
        assert_eq!(worth(&given, Effective::Todo, true), Worth::SentBack);
        let none = Submission::None("why".to_owned());
        assert_eq!(worth(&none, Effective::Open, false), Worth::Missing);
    }

    #[test]
    fn whatever_stands_in_it_is_text() {
        const SCRIPT: &str = "<script>alert(1)</script>";
        let mut record = record(1, State::Review);
        record.key = Key::new(SCRIPT).unwrap();
        let fact = Fact {
            cause: crate::gate::Cause::Wrong,
            rule: RuleId::known("some-rule"),
            level: Level::Fail,
            field: None,
            location: Some(SCRIPT.into()),
            expected: "x".repeat(10_000),
            actual: SCRIPT.to_owned(),
            count: 3,
        };
        let bench = crate::report::draw::fixtures::quest(1);
        let crate::session::Event::Quest(quest) = bench else {
            panic!("a quest");
        };
        let summary = QuestSummary {
            quest,
            submission: Some(Submission::None(SCRIPT.to_owned())),
            sent_back: false,
            worker: None,
            again: false,
            facts: vec![fact; 80],
            excerpts: Vec::new(),
            damage: None,
        };
        let told = RowInput {
            record: &record,
            summary,
            course: Course::default(),
            took: Some(3),
            fields: &[],
        };
        let row = super::row(told, &Forgetting::default());
        assert_eq!(
            (row.id, row.key.as_str(), row.took),
            (id(1), SCRIPT, Some(3))
        );
        assert_eq!(row.answer[0].text, SCRIPT);
        assert_eq!((row.facts.shown.len(), row.facts.left_out), (MAX_FACTS, 30));
        assert_eq!(
            row.facts.shown[0].actual,
            format!("{SCRIPT} (3 of its kind)")
        );
        assert!(row.facts.shown[0].expected.ends_with("… (10000 bytes)"));
        assert!(row.facts.shown[0].fails);
    }
}
