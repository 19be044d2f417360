//! Each forbidden change is a fact.

use crate::gate::checks::tests::{GateCase, changed_as};
use crate::quest::Verdict;
use crate::world::sandbox::MockSandbox;

fn bench(keys: &str) -> GateCase {
    GateCase::new(&format!("[[check]]\nname = \"tidy\"\n{keys}\n")).open()
}

fn told(bench: &GateCase, sandbox: &MockSandbox) -> Vec<String> {
    let facts = bench.judge(sandbox).facts.into_iter();
    let facts = facts.filter(|fact| fact.rule.as_str() == "tidy");
    facts
        .map(|fact| format!("{} {}", fact.actual, fact.location.unwrap_or_default()))
        .collect()
}

const CHANGES: &[(&str, &str, bool)] = &[
    ("conftest.py", "added", false),
    ("src/a.py", "changed", false),
    ("tests/odd\n", "odd", true),
    ("tests/test_a.py", "added", true),
];

#[test]
fn the_zones_of_the_tree_are_the_default() {
    let only = bench("kind = \"only-changed\"");
    assert_eq!(
        told(&only, &changed_as(CHANGES)),
        ["added conftest.py", "changed src/a.py"]
    );
    assert_eq!(told(&only, &changed_as(&CHANGES[2..])), [""; 0]);
    assert_eq!(told(&only, &changed_as(&[])), [""; 0]);
}

#[test]
fn what_cannot_be_told_is_not_confirmed() {
    let mut sandbox = MockSandbox::new();
    sandbox.expect_changes().returning(|| Err("no git".into()));
    let judgement = bench("kind = \"only-changed\"").judge(&sandbox);
    assert_eq!(judgement.verdict, Verdict::Review);
    let mut rules = judgement.facts.iter().map(|fact| fact.rule.as_str());
    assert!(
        rules.any(|rule| rule == "tidy-unconfirmed"),
        "{judgement:#?}"
    );
}

#[test]
fn many_changes_are_counted() {
    let many: Vec<_> = (0..30).map(|_| ("a", "added", false)).collect();
    let judgement = bench("kind = \"only-changed\"").judge(&changed_as(&many));
    let facts: Vec<_> = judgement
        .facts
        .iter()
        .filter(|fact| fact.rule.as_str() == "tidy")
        .collect();
    assert_eq!((facts.len(), facts[19].count), (20, 11));
}

#[test]
fn a_file_without_a_tree_or_a_fact_is_refused() {
    let what = bench("kind = \"only-changed\"")
        .without_tree()
        .mistake()
        .what;
    assert!(what.contains("no [tree]"), "{what}");
    let what = GateCase::new("[[check]]\nname = \"a\"\nkind = \"only-changed\"\n")
        .mistake()
        .what;
    assert!(what.contains("How could an agent cheat"), "{what}");
}
