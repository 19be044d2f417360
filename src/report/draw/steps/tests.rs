//! What is told of what happened to a quest.

use super::*;
use crate::quest::Verdict;
use crate::report::draw::bench::{at, attempt, claim, id};
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
