//! The steps that look nothing up, taken together: catalogue and verdicts.

use std::collections::{BTreeSet, HashSet};

use proptest::prelude::*;

use super::context::EmailSettings;
use super::email_gate;
use super::format;
use super::testing::Bench;
use crate::gate::{Case, CheckOutcome, Cost, Gate, Judgement, Level, Levels, RuleId};
use crate::quest::Verdict;
use crate::world::sandbox::NoSandbox;
use crate::world::{MockFetcher, MockResolver, MockUniquenessIndex, World};

const RULES: [(&str, Level); 13] = [
    ("site-format", Level::Fail),
    ("email-format", Level::Fail),
    ("source-format", Level::Fail),
    ("placeholder", Level::Fail),
    ("disposable", Level::Fail),
    ("no-reply", Level::Review),
    ("personal-mailbox", Level::Review),
    ("freemail", Level::Review),
    ("hosted-site", Level::Review),
    ("domain-mismatch", Level::Fail),
    ("domain-ambiguous", Level::Review),
    ("site-not-expected", Level::Fail),
    ("site-beside-expected", Level::Review),
];

fn judge(bench: &Bench, levels: Levels) -> Judgement {
    let (quest, submission, settings) = bench.parts();
    let (fetcher, resolver, accepted) = (
        MockFetcher::new(),
        MockResolver::new(),
        MockUniquenessIndex::new(),
    );
    let world = World {
        fetcher: &fetcher,
        resolver: &resolver,
        accepted: &accepted,
        sandbox: &NoSandbox,
    };
    let gate = email_gate(EmailSettings {
        levels,
        ..settings.clone()
    });
    let mut judgement = gate.judge_up_to(Case { quest, submission }, &world, Cost::Local);
    judgement.checks.truncate(4);
    judgement
}

fn fired(judgement: &Judgement) -> Vec<&str> {
    judgement
        .facts
        .iter()
        .map(|fact| fact.rule.as_str())
        .collect()
}

#[test]
fn the_catalogue_has_every_rule_once_in_kebab_case() {
    let rules = email_gate(EmailSettings::default()).rules();
    for (id, level) in RULES {
        let rule = rules.iter().find(|rule| rule.id.as_str() == id);
        assert_eq!(rule.map(|rule| rule.level), Some(level), "{id}");
    }
    let ids: HashSet<_> = rules.iter().map(|rule| rule.id.as_str()).collect();
    assert_eq!(ids.len(), rules.len());
    for rule in &rules {
        let id = rule.id.as_str();
        assert!(
            id.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'),
            "{id}"
        );
        assert!(!id.split('-').any(str::is_empty), "{id}");
        for line in [&rule.meaning, &rule.remedy] {
            assert!(!line.is_empty() && !line.contains('\n'), "{id}");
        }
    }
}

#[test]
fn every_local_rule_of_the_table_fires_somewhere() {
    let cases = [
        Bench::of("", "", ""),
        Bench::good().email("logo@2x.png"),
        Bench::good().email("no-reply@mailinator.com"),
        Bench::good().email("minsu.kim@acme.co.kr").role_only(),
        Bench::good().email("acme@gmail.com"),
        Bench::good().site("https://facebook.com/acme"),
        Bench::good().email("info@acme.com"),
        Bench::good().email("info@other.kr").anchor("other.kr"),
        Bench::good().anchor("acme.co.kr/foods"),
    ];
    let judged: Vec<_> = cases
        .iter()
        .map(|bench| judge(bench, Levels::new()))
        .collect();
    let found: BTreeSet<_> = judged.iter().flat_map(fired).collect();
    assert_eq!(found, RULES.map(|(id, _)| id).into());
}

#[test]
fn a_good_submission_passes() {
    let judgement = judge(
        &Bench::good().anchor("www.acme.co.kr").role_only(),
        Levels::new(),
    );
    assert_eq!(judgement.verdict, Verdict::Pass);
    assert_eq!(judgement.facts, []);
}

#[test]
fn no_step_hides_what_another_finds() {
    let bench =
        Bench::of("acme", "no-reply@example.com", "https://acme.co.kr/").anchor("acme.co.kr");
    let judgement = judge(&bench, Levels::new());
    assert_eq!(judgement.verdict, Verdict::Fail);
    assert_eq!(
        fired(&judgement),
        ["site-format", "placeholder", "no-reply"]
    );
    assert!(
        judgement
            .checks
            .iter()
            .all(|report| report.outcome != CheckOutcome::NotRun)
    );
}

#[test]
fn a_fail_without_a_lookup_looks_nothing_up() {
    let bench = Bench::good().email("info@other.kr");
    let (quest, submission, settings) = bench.parts();
    let (fetcher, resolver, accepted) = (
        MockFetcher::new(),
        MockResolver::new(),
        MockUniquenessIndex::new(),
    );
    let world = World {
        fetcher: &fetcher,
        resolver: &resolver,
        accepted: &accepted,
        sandbox: &NoSandbox,
    };
    let gate = email_gate(settings.clone());
    // The mocks panic when they are asked.
    let judgement = gate.judge(Case { quest, submission }, &world);
    assert_eq!(judgement.verdict, Verdict::Fail);
    let outcomes: Vec<_> = judgement
        .checks
        .iter()
        .map(|report| report.outcome)
        .collect();
    assert_eq!(
        outcomes.get(4..),
        Some([CheckOutcome::NotRun; 3].as_slice())
    );
}

#[test]
fn the_operator_sets_levels() {
    let bench = Bench::good().email("acme@gmail.com");
    assert_eq!(judge(&bench, Levels::new()).verdict, Verdict::Review);
    let strict = Levels::from([(RuleId::known("freemail"), Level::Fail)]);
    assert_eq!(judge(&bench, strict).verdict, Verdict::Fail);
}

proptest! {
    #[test]
    fn arbitrary_text_never_panics(site in ".*", email in ".*", source in ".*", anchor in ".*") {
        let _ = judge(&Bench::of(&site, &email, &source).anchor(&anchor).role_only(), Levels::new());
        let email = format!("{email}@{site}");
        let _ = judge(&Bench::good().email(&email).role_only(), Levels::new());
    }

    #[test]
    fn what_has_no_format_never_passes(text in "[ -~]{0,20}", field in 0..3) {
        let bench = match field {
            0 => Bench::good().site(&text),
            1 => Bench::good().email(&text),
            _ => Bench::good().source(&text),
        };
        let refused = !bench.fired(&format::STEP).is_empty();
        if refused {
            prop_assert_eq!(judge(&bench, Levels::new()).verdict, Verdict::Fail);
        }
    }
}
