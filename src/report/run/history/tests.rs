//! Runs as their lines tell them, whole and cut off.

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
