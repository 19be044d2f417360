//! Every rule of the catalogue is fired by a test, and no test expects a rule that is not in it.

use std::collections::BTreeSet;

use crate::harness::case::Case;
use crate::harness::email_net::rules;
use crate::harness::{EmailNet, Place};
use crate::{gate_email, gate_identity, gate_settings, gate_source, gate_world};

/// Every table; each is run by a test of its own file.
const TABLES: [&[&[Case]]; 5] = [
    &gate_email::CASES,
    &gate_source::CASES,
    &gate_identity::CASES,
    &gate_world::CASES,
    &gate_settings::CASES,
];

/// The rules of the house, which the tests of this file and of `forget` fire.
const HOUSE: [&str; 3] = ["no-result", "repeated-submission", "forgotten-address"];

fn cases() -> impl Iterator<Item = &'static Case> {
    TABLES.into_iter().flatten().copied().flatten()
}

#[test]
fn every_rule_is_fired_by_a_test_and_every_test_knows_its_rules() {
    let (_, catalogue) = Place::new().json(["rules"]);
    let known: BTreeSet<String> = catalogue["rules"]
        .as_array()
        .expect("rules")
        .iter()
        .map(|rule| rule["id"].as_str().expect("an id").to_owned())
        .collect();
    let fired: BTreeSet<String> = cases()
        .flat_map(Case::rules)
        .chain(HOUSE)
        .map(str::to_owned)
        .collect();
    assert_eq!(fired, known);
}

#[test]
fn every_rule_is_fired_alone_somewhere_beside_a_neighbour_that_passes() {
    // A rule that only ever fires beside another may hide behind it.
    let tables = || TABLES.into_iter().flatten();
    let alone = |case: &Case, rule| case.rules().eq([rule]);
    for rule in cases().flat_map(Case::rules) {
        let shown = tables().any(|table| {
            table.iter().any(|case| alone(case, rule))
                && table.iter().any(|case| case.expected == "PASS")
        });
        assert!(shown, "{rule}");
    }
}

#[test]
fn expectations_are_written_in_one_way() {
    for Case { what, expected, .. } in cases() {
        let (verdict, rules) = expected.split_once(' ').unwrap_or((expected, ""));
        let rules: Vec<_> = rules.split_whitespace().collect();
        let known = ["PASS", "FAIL", "REVIEW"].contains(&verdict);
        assert!(
            known && (verdict == "PASS") == rules.is_empty(),
            "{what}: {expected}"
        );
        let mut sorted = rules.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(rules, sorted, "{what}");
    }
}

#[test]
fn giving_up_is_a_fail_and_costs_a_try() {
    let net = EmailNet::start();
    let (code, answer) = net
        .place
        .json(["submit", "--id=1", "--none=no address anywhere"]);
    assert_eq!((code, rules(&answer)), (5, vec![HOUSE[0].to_owned()]));
    assert_eq!(
        (&answer["verdict"], &answer["tries"]),
        (&"FAIL".into(), &1.into())
    );
    assert_eq!(net.net.web.connections(), 0);
    // Giving up for another reason is another submission, and for the same one too is no answer.
    let (code, answer) = net
        .place
        .json(["submit", "--id=1", "--none=no address anywhere"]);
    assert_eq!((code, rules(&answer)), (5, vec![HOUSE[0].to_owned()]));
}

#[test]
fn the_same_again_is_a_fail_without_a_look_and_a_neighbour_is_not() {
    let net = EmailNet::start();
    let wrong = net.acme().email("made.up@acme.co.kr");
    assert_eq!(net.says(&wrong), "FAIL email-not-on-source");
    let (connections, questions) = (net.net.web.connections(), net.net.dns.questions());
    assert_eq!(net.says(&wrong), "FAIL repeated-submission");
    assert_eq!(net.net.web.connections(), connections);
    assert_eq!(net.net.dns.questions(), questions);
    // Another letter is another submission.
    assert_eq!(
        net.says(&wrong.email("Made.up@acme.co.kr")),
        "FAIL email-not-on-source"
    );
}
