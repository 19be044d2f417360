//! What survives a way there and back, and what does not.

use crate::gate::checks::workbench::{Bench, ran};
use crate::quest::Verdict;
use crate::world::sandbox::{End, MockWorkshop, Ran};

const CHECK: &str = r#"
[[check]]
name = "turned-back"
kind = "round-trip"
of = "{{ input.file }}"
argv = ["python3", "-c", "pass"]
stdin = "{{ field.test }}"
"#;

fn with(keys: &str, source: &str) -> Bench {
    Bench::new(&format!("{CHECK}{keys}\n")).cell("file", source)
}

fn printing(ran: Ran) -> MockWorkshop {
    let mut workshop = MockWorkshop::new();
    workshop.expect_run().returning(move |_| ran.clone());
    workshop
}

fn facts(bench: &Bench, printed: &str) -> Vec<String> {
    let judgement = bench.judge(&printing(ran(End::Exited(0), printed)));
    let verdict = if judgement.facts.is_empty() {
        Verdict::Pass
    } else {
        Verdict::Review
    };
    assert_eq!(judgement.verdict, verdict);
    let facts = judgement.facts.into_iter();
    facts
        .map(|fact| {
            assert_eq!(fact.rule.as_str(), "turned-back");
            let place = fact.location.unwrap_or_default();
            format!("{place} {}", fact.expected)
        })
        .collect()
}

#[test]
fn what_the_source_says_survives_or_is_named_where_it_stands() {
    let source = "On 2026-11-22 we met Ada\nand paid 1,200 for a credit note.";
    let all = "keep = [\"numbers\", \"names\", \"dates\"]";
    let back = "We met ADA on November 22, 2026 and 1 200 was paid for it.";
    assert_eq!(facts(&with(all, source), back), [""; 0]);
    let lost = facts(&with(all, source), "We met on 22 October 2026, paid 12.");
    let expected = [
        "source:1 the date 2026-11-22",
        "source:1 the name Ada",
        "source:2 the number 1,200",
    ];
    assert_eq!(lost, expected);
    let numbers = with("keep = [\"numbers\"]", source);
    assert_eq!(facts(&numbers, "le 22 novembre 2026: 1200"), [""; 0]);
    let dates = with("keep = [\"dates\"]", source);
    assert_eq!(facts(&dates, "le 22 novembre 2026").len(), 1);
}

#[test]
fn names_may_be_listed() {
    let source = "the Red River and the Mill of ada";
    let listed = with(
        "keep = [\"names\"]\nnames = [\"Red River\", \"Ada\"]",
        source,
    );
    assert_eq!(
        facts(&listed, "a river, red, and Ada"),
        ["source:1 the name Red River"]
    );
}

#[test]
fn the_level_is_that_of_a_look_and_nothing_else() {
    let review = with("keep = [\"numbers\"]\nlevel = \"review\"", "x 5");
    assert_eq!(facts(&review, "6").len(), 1);
    let fail = with("keep = [\"numbers\"]\nlevel = \"fail\"", "5").mistake();
    assert!(fail.to_string().contains("its level is `review`"), "{fail}");
}

#[test]
fn a_command_that_fails_says_nothing() {
    let bench = with("keep = [\"numbers\"]", "x 5");
    for (end, printed) in [
        (End::Exited(3), "5"),
        (End::Exited(0), " \n"),
        (End::Signalled(9), "5"),
        (End::TimedOut, "5"),
        (End::TooMuchOutput, "5"),
        (End::NotStarted("gone".to_owned()), ""),
    ] {
        let workshop = printing(ran(end.clone(), printed));
        let (verdict, fact) = bench.fact(&workshop).expect("a fact");
        let rule = fact.rule.as_str();
        assert_eq!(
            (verdict, rule),
            (Verdict::Review, "turned-back-unconfirmed"),
            "{end:?}"
        );
    }
}

#[test]
fn the_command_reads_the_submission() {
    let mut workshop = MockWorkshop::new();
    workshop.expect_run().times(1).returning(|order| {
        assert_eq!(
            (order.name.as_str(), order.stdin.as_str()),
            ("turned-back", "fünf")
        );
        assert_eq!(order.argv, ["/usr/bin/python3", "-c", "pass"]);
        ran(End::Exited(0), "5")
    });
    let bench = with("keep = [\"numbers\"]", "5").field("test", "fünf");
    assert_eq!(bench.judge(&workshop).verdict, Verdict::Pass);
}

#[test]
fn what_cannot_be_meant_is_a_mistake() {
    let mistake = |keys: &str| with(keys, "5").mistake().to_string();
    assert!(mistake("keep = []").contains("everything would pass"));
    assert!(mistake("keep = [\"terms\"]").contains("say which"));
    assert!(mistake("keep = [\"numbers\"]\nnames = [\"Ada\"]").contains("no names"));
    assert!(mistake("keep = [\"terms\"]\nterms = \"none.csv\"").contains("none.csv"));
    let fixed = CHECK.replace("{{ field.test }}", "{{ key }}");
    let fixed = Bench::new(&format!("{fixed}keep = [\"numbers\"]\n"));
    assert!(fixed.mistake().to_string().contains("no field"));
}
