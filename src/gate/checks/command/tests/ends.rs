//! Each way in which a command ends is a verdict.

use super::*;
use crate::gate::CheckOutcome;
use crate::gate::checks::tests::{outcome, with_report};
use crate::world::sandbox::CommandResult;

fn ending(end: End, stdout: &'static str) -> MockSandbox {
    answering(ran(end, stdout))
}

fn answering(ran: CommandResult) -> MockSandbox {
    let mut sandbox = MockSandbox::new();
    sandbox
        .expect_run()
        .times(1)
        .returning(move |_| ran.clone());
    sandbox
}

#[test]
fn each_end_is_a_verdict() {
    let keys = "exit = [0, 3]\nunconfirmed_exit = [4]\n";
    for (end, verdict, said) in [
        (
            End::Exited(1),
            Verdict::Fail,
            "it ended with the code 1: out",
        ),
        (
            End::Exited(4),
            Verdict::Review,
            "it ended with the code 4: out",
        ),
        (
            End::Signalled(9),
            Verdict::Fail,
            "it was ended by signal 9: out",
        ),
        (
            End::TimedOut,
            Verdict::Fail,
            "it was still running after 1m, and was ended with all that it had started",
        ),
        (
            End::TooMuchOutput,
            Verdict::Fail,
            "it printed more, and was ended",
        ),
        (
            End::NotStarted("it changed".into()),
            Verdict::Review,
            "it changed",
        ),
    ] {
        let (found, fact) = with(keys).fact(&ending(end, "out\n")).unwrap();
        assert_eq!((found, fact.actual.as_str()), (verdict, said));
        let confirmed = fact.rule.as_str() == "tests-pass";
        assert_eq!(confirmed, verdict == Verdict::Fail);
    }
    for code in [0, 3] {
        assert_eq!(with(keys).fact(&ending(End::Exited(code), "out")), None);
    }
    let review = with("on_timeout = \"review\"")
        .fact(&ending(End::TimedOut, ""))
        .unwrap();
    assert_eq!(
        (review.0, review.1.expected.as_str()),
        (Verdict::Review, "it ends within 1m")
    );
}

#[test]
fn a_tool_says_where() {
    let bench = with("facts = \"lines\"");
    let judgement = bench.judge(&ending(
        End::Exited(1),
        "a.py:3:1: E1 bad\nb.py:4: E2 worse\n",
    ));
    let places: Vec<_> = judgement
        .facts
        .iter()
        .map(|fact| fact.location.as_deref())
        .collect();
    assert_eq!(places, [Some("a.py:3:1"), Some("b.py:4")]);
    assert_eq!(judgement.facts[0].actual, "E1 bad");
    let (_, fact) = bench.fact(&ending(End::Exited(1), "no place")).unwrap();
    assert_eq!(fact.actual, "it ended with the code 1: no place");
    let many: &'static str = "a.py:3: bad\n".repeat(50).leak();
    let judgement = bench.judge(&ending(End::Exited(1), many));
    assert_eq!(judgement.facts.len(), 20);
    assert_eq!(
        judgement.facts.iter().map(|fact| fact.count).sum::<u32>(),
        50
    );
    assert_eq!(judgement.facts[19].count, 31);
}

#[test]
fn a_run_in_which_nothing_was_tested_is_wrong() {
    let said = |keys: &str, stdout| {
        let judgement = with(keys).judge(&ending(End::Exited(0), stdout));
        let facts = judgement.facts.into_iter();
        facts
            .map(|fact| format!("{} / {}", fact.expected, fact.actual))
            .collect::<Vec<_>>()
    };
    let junit = "facts = \"junit\"";
    assert_eq!(
        said(
            junit,
            "<testsuite><testcase/><testcase><skipped/></testcase></testsuite>"
        ),
        [""; 0]
    );
    assert_eq!(
        said(
            junit,
            "<testsuite><testcase><skipped/></testcase></testsuite>"
        ),
        ["at least 1 passed tests / 0 passed"]
    );
    assert_eq!(
        said(
            junit,
            "<testsuite><testcase/><testcase><failure/></testcase></testsuite>"
        ),
        ["no failed test / the command ended well, and 1 tests failed"]
    );
    // A test that ends the runner from within leaves no word of any.
    assert!(said(junit, "").concat().contains("tells of no test"));
    let strict = "facts = \"junit\"\nmin_passed = 3\nmax_skipped = 0";
    let two = "<testsuite><testcase/><testcase/><testcase><skipped/></testcase></testsuite>";
    assert_eq!(said(strict, two).len(), 2);
    assert!(said("facts = \"junit\"\nmin_passed = 0", "").is_empty());
    assert!(said("facts = \"lines\"", "a.py:1: a warning\n").is_empty());
}

#[test]
fn a_report_is_read_where_it_is_asked_for() {
    let keys = "reports = [\"r.xml\"]\nfacts = { adapter = \"junit\", from = \"r.xml\" }";
    let junit = r#"<testsuite tests="1"><testcase classname="t" name="a"/></testsuite>"#;
    let done = |bytes| answering(with_report(ran(End::Exited(0), ""), "r.xml", bytes));
    assert_eq!(with(keys).fact(&done(Some(junit))), None);
    let (verdict, fact) = with(keys).fact(&done(None)).unwrap();
    assert_eq!(verdict, Verdict::Fail);
    assert!(
        fact.actual.ends_with("the command made no r.xml"),
        "{}",
        fact.actual
    );
}

#[test]
fn another_round_is_never_hidden() {
    let rounds = |keys: &str, codes: [i32; 3], ran_rounds: usize| {
        let mut sandbox = MockSandbox::new();
        let run = sandbox.expect_run().times(ran_rounds);
        run.returning(move |order| ran(End::Exited(codes[order.round as usize]), "round"));
        with(keys)
            .fact(&sandbox)
            .map(|(verdict, fact)| (verdict, fact.actual))
    };
    let second = Some((Verdict::Review, String::from("passed on try 2 of 3")));
    assert_eq!(rounds("retries = 2", [1, 0, 0], 2), second);
    assert_eq!(rounds("retries = 2", [0, 1, 1], 1), None);
    assert_eq!(rounds("retries = 2\nflaky = \"pass\"", [1, 1, 0], 3), None);
    let last = rounds("retries = 2", [1, 1, 7], 3).unwrap();
    assert_eq!(
        last,
        (
            Verdict::Fail,
            String::from("it ended with the code 7: round")
        )
    );
    // Where it cannot be told, another round tells no more.
    let unclear = rounds("retries = 2\nunconfirmed_exit = [5]", [5, 0, 0], 1).unwrap();
    assert_eq!(unclear.0, Verdict::Review);
}

#[test]
fn a_check_that_needs_it_waits_for_it() {
    let second = r#"
[[check]]
name = "again"
kind = "command"
needs = ["tests-pass"]
argv = ["python3"]
"#;
    let judgement = with(second).judge(&ending(End::Exited(1), ""));
    assert_eq!(outcome(&judgement, "again"), CheckOutcome::NotRun);
}
