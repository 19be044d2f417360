//! Checks run in order of cost, and a FAIL stops the dearer ones.

use std::cell::RefCell;

use super::*;
use crate::gate::{Cost, RuleId};
use crate::quest::Verdict;

static RULES: [Rule; 2] = [
    Rule::known("wrong", Level::Fail, "it is wrong", "make it right"),
    Rule::known("doubtful", Level::Review, "it is doubtful", "make it plain"),
];

/// Fires what it is told to, and writes down that it ran.
struct Fake {
    name: &'static str,
    cost: Cost,
    fires: &'static [&'static str],
    needs: Vec<String>,
}

type Log = RefCell<Vec<&'static str>>;

impl Check<Log> for Fake {
    fn name(&self) -> &'static str {
        self.name
    }

    fn cost(&self) -> Cost {
        self.cost
    }

    fn rules(&self) -> &'static [Rule] {
        &RULES
    }

    fn needs(&self) -> &[String] {
        &self.needs
    }

    fn run(&self, log: &Log) -> Vec<Fact> {
        log.borrow_mut().push(self.name);
        let finding = |rule: &&'static str| Fact::new(rule, "right", self.name).times(2);
        self.fires.iter().map(finding).collect()
    }
}

fn fake(name: &'static str, cost: Cost, fires: &'static [&'static str]) -> Box<dyn Check<Log>> {
    Box::new(Fake {
        name,
        cost,
        fires,
        needs: Vec::new(),
    })
}

fn run(checks: Vec<Box<dyn Check<Log>>>, levels: Levels) -> (Judgement, Vec<&'static str>) {
    let log = Log::default();
    let judgement = Cascade::new(checks, levels).run(&log);
    (judgement, log.into_inner())
}

fn outcomes(judgement: &Judgement) -> Vec<(&str, CheckOutcome)> {
    judgement
        .checks
        .iter()
        .map(|report| (report.check.as_str(), report.outcome))
        .collect()
}

#[test]
fn nothing_fired_is_a_pass_of_every_check() {
    let checks = vec![fake("a", Cost::Local, &[]), fake("b", Cost::Wide, &[])];
    let (judgement, ran) = run(checks, Levels::new());
    assert_eq!(judgement.verdict, Verdict::Pass);
    assert_eq!(ran, ["a", "b"]);
    assert_eq!(
        outcomes(&judgement),
        [("a", CheckOutcome::Passed), ("b", CheckOutcome::Passed)]
    );
}

#[test]
fn a_fail_stops_what_costs_more_and_nothing_that_costs_the_same() {
    let checks = vec![
        fake("a", Cost::Local, &["wrong"]),
        fake("b", Cost::Local, &["doubtful"]),
        fake("c", Cost::Local, &["wrong"]),
        fake("d", Cost::Page, &["wrong"]),
        fake("e", Cost::Wide, &[]),
    ];
    let (judgement, ran) = run(checks, Levels::new());
    assert_eq!(judgement.verdict, Verdict::Fail);
    assert_eq!(ran, ["a", "b", "c"]);
    assert_eq!(
        outcomes(&judgement),
        [
            ("a", CheckOutcome::Failed),
            ("b", CheckOutcome::NotConfirmed),
            ("c", CheckOutcome::Failed),
            ("d", CheckOutcome::NotRun),
            ("e", CheckOutcome::NotRun),
        ]
    );
    let told: Vec<_> = judgement
        .facts
        .iter()
        .map(|fact| fact.actual.as_str())
        .collect();
    assert_eq!(told, ["a", "b", "c"]);
}

#[test]
fn a_fail_midway_stops_only_what_comes_after() {
    let checks = vec![
        fake("a", Cost::Local, &[]),
        fake("b", Cost::Page, &["wrong"]),
        fake("c", Cost::Dns, &[]),
    ];
    let (judgement, ran) = run(checks, Levels::new());
    assert_eq!(ran, ["a", "b"]);
    assert_eq!(
        outcomes(&judgement).last(),
        Some(&("c", CheckOutcome::NotRun))
    );
}

#[test]
fn a_review_stops_nothing() {
    let checks = vec![
        fake("a", Cost::Local, &["doubtful"]),
        fake("b", Cost::Wide, &[]),
    ];
    let (judgement, ran) = run(checks, Levels::new());
    assert_eq!(judgement.verdict, Verdict::Review);
    assert_eq!(ran, ["a", "b"]);
}

#[test]
fn a_check_that_fires_both_has_failed() {
    let checks = vec![fake("a", Cost::Local, &["doubtful", "wrong"])];
    let (judgement, _) = run(checks, Levels::new());
    assert_eq!(outcomes(&judgement), [("a", CheckOutcome::Failed)]);
}

#[test]
fn the_operators_levels_hold_in_facts_in_order_and_in_the_catalogue() {
    let levels = Levels::from([
        (RuleId::known("wrong"), Level::Review),
        (RuleId::known("doubtful"), Level::Fail),
    ]);
    let checks = || {
        vec![
            fake("a", Cost::Local, &["wrong"]),
            fake("b", Cost::Page, &["doubtful"]),
            fake("c", Cost::Dns, &[]),
        ]
    };
    let (judgement, ran) = run(checks(), levels.clone());
    assert_eq!(ran, ["a", "b"]);
    let told: Vec<_> = judgement.facts.iter().map(|fact| fact.level).collect();
    assert_eq!(told, [Level::Review, Level::Fail]);

    let catalogue = Cascade::new(checks(), levels).rules();
    let levels: Vec<_> = catalogue.iter().take(2).map(|rule| rule.level).collect();
    assert_eq!(levels, [Level::Review, Level::Fail]);
}

#[test]
fn a_fact_carries_all_that_the_check_found() {
    let (judgement, _) = run(vec![fake("a", Cost::Local, &["wrong"])], Levels::new());
    let expected = Fact {
        cause: crate::gate::Cause::Wrong,
        rule: RuleId::known("wrong"),
        level: Level::Fail,
        field: None,
        location: None,
        expected: "right".to_owned(),
        actual: "a".to_owned(),
        count: 2,
    };
    assert_eq!(judgement.facts, [expected]);
}

/// What becomes of a check that would fail, behind one that fires these.
fn behind(fires: &'static [&'static str]) -> (Verdict, CheckOutcome) {
    let dependent = Fake {
        name: "b",
        cost: Cost::Local,
        fires: &["wrong"],
        needs: vec!["a".to_owned()],
    };
    let checks = vec![fake("a", Cost::Local, fires), Box::new(dependent)];
    let cascade = Cascade::ordered(checks, Levels::new()).unwrap();
    let judgement = cascade.run(&Log::default());
    (judgement.verdict, judgement.checks[1].outcome)
}

#[test]
fn a_review_of_what_it_needs_keeps_no_check_from_failing() {
    assert_eq!(behind(&[]), (Verdict::Fail, CheckOutcome::Failed));
    assert_eq!(behind(&["doubtful"]), (Verdict::Fail, CheckOutcome::Failed));
    assert_eq!(behind(&["wrong"]), (Verdict::Fail, CheckOutcome::NotRun));
}

#[test]
fn a_glance_leaves_dearer_checks_out_and_says_so() {
    let checks = || {
        vec![
            fake("a", Cost::Local, &[]),
            fake("b", Cost::Tree, &[]),
            fake("c", Cost::Page, &["wrong"]),
        ]
    };
    let glance = |most| {
        let log = Log::default();
        let judgement = Cascade::new(checks(), Levels::new()).run_up_to(&log, most);
        (judgement, log.into_inner())
    };
    let (judgement, ran) = glance(Cost::Tree);
    assert_eq!((judgement.verdict, ran), (Verdict::Pass, vec!["a", "b"]));
    let last = judgement.checks.last().map(|report| report.outcome);
    assert_eq!(last, Some(CheckOutcome::NotRun));
    let (judgement, ran) = glance(Cost::Page);
    assert_eq!((judgement.verdict, ran.len()), (Verdict::Fail, 3));
}
