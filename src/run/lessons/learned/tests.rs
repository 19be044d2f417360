//! What is learned from the lines of a ledger.

use serde_json::json;
use serde_json::value::RawValue;

use super::*;
use crate::base::Digest;
use crate::session::{Dispute, Forgotten, Suppressed};

impl Learned {
    pub(in super::super) fn dated(self, last: Timestamp) -> Self {
        Self {
            last: Some(last),
            ..self
        }
    }
}

pub(in super::super) fn learned(events: &[Event]) -> Learned {
    let mut learned = Learned::default();
    for event in events {
        learned.take_event(event, true);
    }
    learned
}

fn attempt(quest: u32, number: u32, verdict: Verdict, email: &str, rules: &[&str]) -> Attempt {
    let quest = quest.to_string().parse().unwrap();
    let facts: Vec<_> = rules
        .iter()
        .map(|rule| {
            json!({"rule": rule, "level": "FAIL", "field": "email", "expected": "", "actual": "",
                   "count": 1})
        })
        .collect();
    let outcome = if rules.is_empty() { "passed" } else { "failed" };
    let judgement = json!({"verdict": verdict, "facts": facts,
                           "checks": [{"check": "mail", "outcome": outcome}]});
    let raw = |value: &serde_json::Value| RawValue::from_string(value.to_string()).unwrap();
    let fields = [("email", email), ("site", "https://a.example")]
        .map(|(name, value)| (FieldName::known(name), value.to_owned()));
    let submission = Submission::Fields(fields.into());
    Attempt {
        quest,
        number,
        submitted: submission.digest(),
        submission,
        verdict,
        grounds: Grounds::World,
        state: match verdict {
            Verdict::Pass => State::Pass,
            Verdict::Review => State::Review,
            Verdict::Fail => State::Todo,
        },
        tries: 1,
        rules: rules.iter().map(|&rule| rule.to_owned()).collect(),
        anchored: false,
        holds: Vec::new(),
        revision: false,
        worker: None,
        judgement: raw(&judgement),
        evidence: raw(&json!({})),
    }
}

pub(in super::super) fn failed(quest: u32, number: u32, rule: &str, email: &str) -> Event {
    Event::Attempt(Box::new(attempt(
        quest,
        number,
        Verdict::Fail,
        email,
        &[rule],
    )))
}

pub(in super::super) fn passed(quest: u32, number: u32, email: &str) -> Event {
    Event::Attempt(Box::new(attempt(quest, number, Verdict::Pass, email, &[])))
}

fn flip<'a>(learned: &'a Learned, rule: &str) -> Option<&'a Flip> {
    learned.rules()[rule].flip.as_ref()
}

fn accepted(learned: &Learned) -> Vec<String> {
    let quests = learned.accepted().map(|it| it.quest.to_string());
    quests.collect()
}

fn disputed(quest: u32) -> Event {
    Event::Disputed(Box::new(Dispute {
        quest: quest.to_string().parse().unwrap(),
        by: "kim".to_owned(),
        note: "bounced".to_owned(),
        seal: None,
    }))
}

fn forgotten() -> Event {
    Event::Forgotten(Box::new(Forgotten {
        address: Suppressed::new(Digest::of(b"salt"), "a@b.example"),
        lines: Vec::new(),
        evidence: Vec::new(),
        copies: Vec::new(),
        by: "kim".to_owned(),
        note: "asked".to_owned(),
        seal: None,
    }))
}

#[test]
fn what_changed_before_a_rule_fired_no_more_flipped_it() {
    let learned = learned(&[
        failed(1, 1, "mx-null", "a"),
        failed(1, 2, "mx-null", "b"),
        passed(1, 3, "c"),
    ]);
    let cost = &learned.rules()["mx-null"];
    assert_eq!((cost.tries, cost.quests), (2, 1));
    let flip = flip(&learned, "mx-null").unwrap();
    assert_eq!((flip.attempt, flip.passed), (2, true));
    let [change] = &flip.changes[..] else {
        panic!("{flip:?}");
    };
    assert_eq!(change.field.as_str(), "email");
    assert_eq!(
        (change.from.as_deref(), change.to.as_deref()),
        (Some("b"), Some("c"))
    );
}

#[test]
fn a_rule_that_still_fires_was_not_flipped() {
    let learned = learned(&[failed(1, 1, "mx-null", "a"), failed(1, 2, "mx-null", "b")]);
    assert_eq!(flip(&learned, "mx-null"), None);
}

#[test]
fn a_check_that_did_not_run_tells_nothing_of_its_rules() {
    let mut later = attempt(1, 2, Verdict::Fail, "b", &["email-format"]);
    let checks = |outcomes: [&str; 2]| {
        let of = |outcome: &&str| json!({"check": "any", "outcome": outcome});
        let facts = json!([{"rule": "email-format", "level": "FAIL", "expected": "", "actual": "",
                            "count": 1}]);
        let checks: Vec<_> = outcomes.iter().map(of).collect();
        let judgement = json!({"verdict": "FAIL", "facts": facts, "checks": checks});
        RawValue::from_string(judgement.to_string()).unwrap()
    };
    let mut first = attempt(1, 1, Verdict::Fail, "a", &["mx-null"]);
    let text = checks(["passed", "failed"])
        .get()
        .replace("email-format", "mx-null");
    first.judgement = RawValue::from_string(text).unwrap();
    later.judgement = checks(["failed", "not-run"]);
    let of = |later: Attempt| {
        let (first, later) = (first.clone(), later);
        let events = [first, later].map(|it| Event::Attempt(Box::new(it)));
        flip(&learned(&events), "mx-null").is_some()
    };
    assert!(!of(later.clone()));
    later.judgement = checks(["failed", "passed"]);
    assert!(of(later.clone()));
    later.grounds = Grounds::NoResult;
    assert!(!of(later));
}

#[test]
fn a_flip_that_led_to_a_pass_is_kept() {
    let learned = learned(&[
        failed(1, 1, "mx-null", "a"),
        passed(1, 2, "b"),
        failed(2, 1, "mx-null", "c"),
        failed(2, 2, "no-reply", "d"),
    ]);
    assert_eq!(flip(&learned, "mx-null").unwrap().quest, QuestId::FIRST);
    assert_eq!(flip(&learned, "no-reply"), None);
}

#[test]
fn the_last_one_that_passed_comes_first() {
    let learned = learned(&[
        passed(1, 1, "a"),
        failed(2, 1, "mx-null", "x"),
        passed(3, 1, "b"),
    ]);
    assert_eq!(accepted(&learned), ["3", "1"]);
}

#[test]
fn what_is_disputed_is_no_example() {
    let events = [
        failed(2, 1, "mx-null", "x"),
        passed(1, 1, "a"),
        passed(2, 2, "b"),
    ];
    let mut learned = learned(&events);
    assert!(flip(&learned, "mx-null").is_some());
    learned.take_event(&disputed(2), true);
    assert_eq!(accepted(&learned), ["1"]);
    assert_eq!(flip(&learned, "mx-null"), None);
    assert_eq!(learned.rules()["mx-null"].tries, 1);
}

#[test]
fn nothing_is_shown_of_what_was_forgotten() {
    let events = [
        failed(1, 1, "mx-null", "a"),
        passed(1, 2, "b"),
        failed(2, 1, "mx-null", "c"),
    ];
    let mut learned = learned(&events);
    learned.take_event(&forgotten(), true);
    learned.take_event(&passed(2, 2, "d"), true);
    assert_eq!(flip(&learned, "mx-null"), None);
    assert_eq!(accepted(&learned), ["2"], "what came after stays");
    learned.take_event(&passed(3, 1, "[forgotten]"), false);
    assert_eq!(accepted(&learned), ["2"]);
}
