//! Checks run in order of cost, and a FAIL stops the dearer ones.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::*;
use crate::base::rows;
use crate::gate::{Cost, RuleId};
use crate::quest::Verdict;

static RULES: [Rule; 2] = [
    Rule::known("wrong", Level::Fail, "it is wrong", "make it right"),
    Rule::known("doubtful", Level::Review, "it is doubtful", "make it plain"),
];

impl Cascade {
    pub(in crate::gate::checks) fn names(&self) -> Vec<&str> {
        self.checks.iter().map(|(_, check)| &*check.name).collect()
    }

    pub(in crate::gate::checks) fn silence(&mut self, name: &str) {
        for (_, check) in self.checks.iter_mut().filter(|it| it.1.name == name) {
            check.run = std::rc::Rc::new(|_| Vec::new());
        }
    }
}

/// A check, and the rules that it fires.
type Fake = (Check, &'static [&'static str]);

fn fake(name: &'static str, cost: Cost, fires: &'static [&'static str]) -> Fake {
    let check = Check {
        cost,
        rules: RULES.to_vec(),
        ..Check::named(name)
    };
    (check, fires)
}

/// The judgement, and the checks that were run.
fn judge_up_to(checks: Vec<Fake>, levels: &Levels, most: Cost) -> (Judgement, Vec<String>) {
    let log = RefCell::new(Vec::new());
    let fires: BTreeMap<_, _> = checks.iter().map(|it| (it.0.name.clone(), it.1)).collect();
    let checks = checks.into_iter().map(|it| it.0).collect();
    let judgement = Cascade::ordered(checks)
        .unwrap()
        .run(levels, most, Vec::new, |check| {
            log.borrow_mut().push(check.name.clone());
            let fact = |rule: &&'static str| Fact::new(rule, "right", &*check.name).times(2);
            fires[&check.name].iter().map(fact).collect()
        });
    (judgement, log.into_inner())
}

fn run(checks: Vec<Fake>, levels: &Levels) -> (Judgement, Vec<String>) {
    judge_up_to(checks, levels, Cost::Heavy)
}

/// `P` passed, `F` failed, `R` not confirmed, `-` not run; one letter a check.
fn outcomes(judgement: &Judgement) -> String {
    let letter = |report: &CheckReport| match report.outcome {
        CheckOutcome::Passed => 'P',
        CheckOutcome::Failed => 'F',
        CheckOutcome::NotConfirmed => 'R',
        CheckOutcome::NotRun => '-',
    };
    judgement.checks.iter().map(letter).collect()
}

#[test]
fn a_fail_stops_what_costs_more_and_nothing_else_does() {
    use Cost::{Dns, Local, Page, Wide};
    const WRONG: &[&str] = &["wrong"];
    const DOUBTFUL: &[&str] = &["doubtful"];
    for (checks, verdict, expected) in rows! {
        &[(Local, &[][..]), (Wide, &[])][..], Verdict::Pass => "PP";
        &[(Local, WRONG), (Local, DOUBTFUL), (Local, WRONG), (Page, WRONG), (Wide, &[])],
            Verdict::Fail => "FRF--";
        &[(Local, &[]), (Page, WRONG), (Dns, &[])], Verdict::Fail => "PF-";
        &[(Local, DOUBTFUL), (Wide, &[])], Verdict::Review => "RP";
        &[(Local, &["doubtful", "wrong"])], Verdict::Fail => "F";
    } {
        let names = ["a", "b", "c", "d", "e"];
        let fakes = names.into_iter().zip(checks);
        let fakes = fakes.map(|(name, (cost, fires))| fake(name, *cost, fires));
        let (judgement, ran) = run(fakes.collect(), &Levels::new());
        assert_eq!(
            (judgement.verdict, &*outcomes(&judgement)),
            (verdict, expected)
        );
        let was_run = expected.chars().filter(|letter| *letter != '-').count();
        assert_eq!(ran, names[..was_run], "{expected}");
        let fired = names.iter().zip(checks).take(was_run);
        let fired = fired.flat_map(|(name, (_, fires))| fires.iter().map(move |_| *name));
        let facts = judgement.facts.iter().map(|fact| &*fact.actual);
        assert!(facts.eq(fired), "{expected}");
    }
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
    let (judgement, ran) = run(checks(), &levels);
    assert_eq!(ran, ["a", "b"]);
    let fact = |rule, level, cause, actual: &str| Fact {
        level,
        cause,
        ..Fact::new(rule, "right", actual).times(2)
    };
    let wrong = fact("wrong", Level::Review, Cause::Wrong, "a");
    let doubtful = fact("doubtful", Level::Fail, Cause::Ambiguous, "b");
    assert_eq!(judgement.facts, [wrong, doubtful]);

    let catalogue = Cascade::ordered(checks().into_iter().map(|it| it.0).collect())
        .unwrap()
        .rules(&levels);
    let levels: Vec<_> = catalogue.iter().take(2).map(|rule| rule.level).collect();
    assert_eq!(levels, [Level::Review, Level::Fail]);
}

/// What becomes of a check that would fail, behind one that fires these.
fn behind(fires: &'static [&'static str]) -> (Verdict, CheckOutcome) {
    let mut dependent = fake("b", Cost::Local, &["wrong"]);
    dependent.0.needs.push("a".to_owned());
    let (judgement, _) = run(
        vec![dependent, fake("a", Cost::Local, fires)],
        &Levels::new(),
    );
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
    let judge_up_to = |most| judge_up_to(checks(), &Levels::new(), most);
    let (judgement, ran) = judge_up_to(Cost::Tree);
    assert_eq!(
        (judgement.verdict, ran),
        (Verdict::Pass, vec!["a".to_owned(), "b".to_owned()])
    );
    let last = judgement.checks.last().map(|report| report.outcome);
    assert_eq!(last, Some(CheckOutcome::NotRun));
    let (judgement, ran) = judge_up_to(Cost::Page);
    assert_eq!((judgement.verdict, ran.len()), (Verdict::Fail, 3));
}

fn refused(needs: &[(&'static str, &str)]) -> (String, String, bool) {
    let checks = needs.iter().map(|(name, need)| Check {
        needs: Vec::from_iter((!need.is_empty()).then(|| (*need).to_owned())),
        ..Check::named(name)
    });
    let bad = Cascade::ordered(checks.collect()).map(drop).unwrap_err();
    (bad.check, bad.needed, bad.there)
}

#[test]
fn needs_that_cannot_be_met_name_the_check_that_has_them() {
    let told = |check: &str, needed: &str, there| (check.to_owned(), needed.to_owned(), there);
    assert_eq!(refused(&[("a", ""), ("b", "x")]), told("b", "x", false));
    assert_eq!(refused(&[("a", "a")]), told("a", "a", true));
    let around = [("a", "b"), ("b", "c"), ("c", "b"), ("d", "a")];
    assert_eq!(refused(&around), told("a", "b", true));
}
