//! What a page tells of one quest.

use super::clip::clipped;
use super::facts::rows;
use super::steps::Course;
use crate::judge::forgotten::blotted;
use crate::quest::{FieldName, Key, Shown, Submission};
use crate::report::picture::{FactRow, FactRows, Labelled, QuestRow, Step, Worth};
use crate::review::Glance;
use crate::session::{Effective, Forgetting, Standing};

/// The most bytes of an answer or a cell, and of a text in a fact.
const LONGEST_ANSWER: usize = 2_000;
const LONGEST_FACT: usize = 600;

/// The most facts of one quest.
const MOST_FACTS: usize = 50;

/// What is told of a quest comes from here.
pub(super) struct Told<'a> {
    pub(super) standing: &'a Standing,
    pub(super) glance: Glance,
    pub(super) course: Course,
    pub(super) took: Option<u64>,
    /// The fields, the one that the quests are about first.
    pub(super) fields: &'a [FieldName],
}

/// What a page tells of one quest, without what was forgotten.
#[must_use]
pub(super) fn row(told: Told<'_>, forgetting: &Forgetting) -> QuestRow {
    let Told {
        standing,
        glance,
        course,
        took,
        fields,
    } = told;
    let mask = |text: &str| blotted(forgetting, text);
    let without = |text: &str, most| clipped(&mask(text).unwrap_or_else(|| text.to_owned()), most);
    let submission = glance.submission.as_ref();
    let answer = submission.map_or_else(Vec::new, |it| answer(it, fields));
    let labelled = |(label, text): (String, String)| Labelled {
        text: without(&text, LONGEST_ANSWER),
        label: without(&label, LONGEST_ANSWER),
    };
    let shown = |cell: Shown| labelled((cell.label, cell.text));
    let (last, fired) = (course.last, course.fired.clone());
    let effective = Effective::of(standing);
    let key = mask(standing.key.as_str()).and_then(|key| Key::new(&key).ok());
    QuestRow {
        id: standing.id,
        key: key.unwrap_or_else(|| standing.key.clone()),
        state: standing.progress.state,
        effective,
        disputed: standing.dispute.is_some(),
        tries: standing.progress.tries,
        last,
        took,
        worker: glance
            .worker
            .map(|name| without(name.as_str(), LONGEST_ANSWER)),
        answer: answer.into_iter().map(labelled).collect(),
        worth: submission.map(|it| worth(it, effective, glance.sent_back)),
        shown: glance.quest.listed().into_iter().map(shown).collect(),
        facts: rows(glance.facts, MOST_FACTS, |text| without(text, LONGEST_FACT)),
        again: glance.again,
        fired,
        excerpts: glance.excerpts,
        history: course
            .steps()
            .into_iter()
            .map(|it| step(it, |text| mask(text).unwrap_or_else(|| text.to_owned())))
            .collect(),
        damage: glance.damage,
    }
}

/// The answer field by field in the order of `fields`, and whatever else was submitted.
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

/// What a submission is worth that was the last of a quest which comes to `effective`.
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
    use crate::quest::Fields;
    use crate::report::draw::bench::{id, standing};
    use crate::session::State;

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
        let mut standing = standing(1, State::Review);
        standing.key = Key::new(SCRIPT).unwrap();
        let fact = Fact {
            cause: crate::gate::Cause::Wrong,
            rule: RuleId::known("some-rule"),
            level: Level::Fail,
            field: None,
            location: Some(SCRIPT.to_owned()),
            expected: "x".repeat(10_000),
            actual: SCRIPT.to_owned(),
            count: 3,
        };
        let bench = crate::report::draw::bench::quest(1);
        let crate::session::Event::Quest(quest) = bench else {
            panic!("a quest");
        };
        let glance = Glance {
            quest,
            submission: Some(Submission::None(SCRIPT.to_owned())),
            sent_back: false,
            worker: None,
            again: false,
            facts: vec![fact; 80],
            excerpts: Vec::new(),
            damage: None,
        };
        let told = Told {
            standing: &standing,
            glance,
            course: Course::default(),
            took: Some(3),
            fields: &[],
        };
        let row = row(told, &Forgetting::default());
        assert_eq!(
            (row.id, row.key.as_str(), row.took),
            (id(1), SCRIPT, Some(3))
        );
        assert_eq!(row.answer[0].text, SCRIPT);
        assert_eq!(
            (row.facts.shown.len(), row.facts.left_out),
            (MOST_FACTS, 30)
        );
        assert_eq!(
            row.facts.shown[0].actual,
            format!("{SCRIPT} (3 of its kind)")
        );
        assert!(row.facts.shown[0].expected.ends_with("… (10000 bytes)"));
        assert!(row.facts.shown[0].fails);
    }
}
