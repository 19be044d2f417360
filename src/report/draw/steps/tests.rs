//! What is told of what happened to a quest.

use super::*;
use crate::quest::Verdict;
use crate::report::draw::bench::{at, attempt, claim, fact, id, judgement};
use crate::session::{Decision, Dispute, SettledQuest, SigningKey, State};

fn court(sealed: bool) -> Court {
    let key = SigningKey::read(&[7; 32]).unwrap();
    Court {
        session: Digest::of(b"session"),
        key: sealed.then(|| key.public()),
    }
}

fn told(court: Court, events: &[(i64, Event)]) -> Course {
    let mut steps = Steps::new([id(1)].into_iter(), court, None);
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
    let course = told(court(false), &events);
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
    let course = told(court(true), &events);
    assert_eq!(course.last, Some(at(3)), "it decided nothing");
    let told = words(course).pop().unwrap();
    assert_eq!(
        told,
        "accepted, not sealed: does not count by kim: called them"
    );
}

#[test]
fn of_very_many_steps_the_first_and_the_last_are_told() {
    let events: Vec<_> = (0..500)
        .map(|second| (second, claim(1, &format!("w{second}"))))
        .collect();
    let told = words(told(court(false), &events));
    assert_eq!(told.len(), MOST_STEPS);
    assert_eq!(told[0], "handed out by w0: ");
    let shown = MOST_STEPS - 1;
    assert_eq!(told[1], format!("left out: {} steps", 500 - shown));
    assert_eq!(told[2], format!("handed out by w{}: ", 500 - shown + 1));
    assert_eq!(told.last().unwrap(), "handed out by w499: ");
}

/// A FAIL with so many facts of this rule.
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

/// How many facts each step shows, and leaves out.
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
    let course = told(court(false), &events);
    assert_eq!(course.fired, ["one", "two"]);
    let expected = [(1, 0), (0, 0), (MOST_FACTS, 2), (0, 0), (0, 0)];
    assert_eq!(facts(course), expected);
}

#[test]
fn of_very_many_facts_the_last_stay_and_the_rest_are_counted() {
    let events: Vec<_> = (1..=9)
        .map(|nth| (i64::from(nth), failed(nth, "one", 4)))
        .collect();
    let found = facts(told(court(false), &events));
    let kept: usize = found.iter().map(|it| it.0).sum();
    assert!(kept <= MOST_OF_ALL, "{found:?}");
    assert_eq!((found[0], found[7]), ((0, 4), (4, 0)));
}
