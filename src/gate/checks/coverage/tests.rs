//! The quest's own lines ran, and not some others.

use crate::base::rows;
use crate::gate::checks::tests::{GateCase, LETTERS, changed, outcome, ran, with_report};
use crate::gate::{CheckOutcome, Judgement};
use crate::quest::Verdict;
use crate::world::sandbox::{End, FileSeen, MockSandbox};
use crate::world::tree::TreePath;

const CHECKS: &str = r#"
[[check]]
name = "lines-run"
kind = "coverage"
from = "tests-pass"
report = "c.lcov"
file = "{{ input.file }}"
first = "{{ input.first }}"
last = "{{ input.last }}"
[[check]]
name = "tests-pass"
kind = "command"
argv = ["pytest"]
reports = ["c.lcov"]
"#;

fn bench() -> GateCase {
    GateCase::new(CHECKS)
}

/// A sandbox whose command makes this report, and in which these files stand, changed or not.
fn sandbox(report: Option<&str>, files: &[(&str, &str)], paths: &[&str]) -> MockSandbox {
    let mut sandbox = changed(paths);
    let report = report.map(str::to_owned);
    sandbox
        .expect_run()
        .times(1)
        .returning(move |_| with_report(ran(End::Exited(0), ""), "c.lcov", report.as_deref()));
    let own = |files: &[(&str, &str)]| -> Vec<(String, String)> {
        let own = files
            .iter()
            .map(|(path, text)| ((*path).into(), (*text).into()));
        own.collect()
    };
    let seen = |files: Vec<(String, String)>| {
        move |path: &TreePath| {
            let file = files.iter().find(|(known, _)| known == path.as_str());
            file.map_or(FileSeen::Absent, |(_, text)| {
                FileSeen::File(text.clone().into())
            })
        }
    };
    sandbox.expect_file().returning(seen(own(files)));
    sandbox
        .expect_pinned()
        .returning(seen(own(&[("src/a.py", "1\n2\n3\n")])));
    sandbox
}

const FILES: &[(&str, &str)] = &[("src/a.py", "1\n2\n3\n")];

fn judged(bench: &GateCase, report: &str) -> Judgement {
    bench.judge(&sandbox(Some(report), FILES, &[]))
}

fn said(judgement: &Judgement) -> (Verdict, String) {
    let [fact] = judgement.facts.as_slice() else {
        panic!("{judgement:#?}");
    };
    let place = fact.location.as_deref().unwrap_or_default();
    (judgement.verdict, format!("{place} {}", fact.actual))
}

fn lcov(file: &str, hits: &[(u32, u32)]) -> String {
    let lines = hits
        .iter()
        .map(|(line, hits)| format!("DA:{line},{hits}\n"));
    format!("SF:{file}\n{}end_of_record\n", lines.collect::<String>())
}

#[test]
fn its_own_lines_ran_or_the_report_says_which_did_not() {
    use Verdict::{Fail, Review};
    let of = |hits: &[(u32, u32)]| lcov("src/a.py", hits);
    let report = of(&[(1, 0), (2, 1), (3, 4), (4, 0)]);
    assert_eq!(judged(&bench(), &report).verdict, Verdict::Pass);
    let other = lcov("src/b.py", &[(2, 1), (3, 1)]);
    for (report, verdict, said_so) in rows! {
        of(&[(1, 1), (2, 0), (3, 0), (4, 1)]), Fail => "src/a.py:2 lines 2-3 uncovered";
        of(&[(2, 0), (3, 1)]), Fail => "src/a.py:2 line 2 uncovered";
        of(&[(1, 1), (4, 1)]), Review => "src/a.py:2-3 the report has no executable line there";
        other, Fail => "src/a.py the report does not contain it: none of it ran";
        "no report".into(), Fail => " no LCOV report in it";
    } {
        let judgement = judged(&bench(), &report);
        assert_eq!(said(&judgement), (verdict, said_so.to_owned()));
    }
    let none = bench().judge(&sandbox(None, FILES, &[]));
    assert_eq!(said(&none).0, Fail);
    let two = judged(&bench(), &of(&[(2, 0), (3, 0)]));
    assert_eq!(two.facts[0].count, 2);
    assert_eq!(&*two.facts[0].expected, "the lines 2 to 3 of src/a.py run");
}

#[test]
fn a_file_of_another_name_is_not_taken_for_it() {
    let hits = [(2, 1), (3, 1)];
    let of = |file: &str, files: &[(&str, &str)], paths: &[&str]| {
        let report = lcov(file, &hits);
        bench().judge(&sandbox(Some(&report), files, paths)).verdict
    };
    assert_eq!(
        of("/tmp/x/src/a.py", FILES, &["tests/test_a.py"]),
        Verdict::Pass
    );
    assert_eq!(of("a.py", FILES, &[]), Verdict::Pass);
    // Whoever is judged puts a file where its path ends alike.
    let own = [FILES, &[("tests/src/a.py", "")]].concat();
    assert_eq!(
        of("/tmp/x/tests/src/a.py", &own, &["tests/src/a.py"]),
        Verdict::Fail
    );
    assert_eq!(of("tests/src/a.py", &own, &[]), Verdict::Fail);
    assert_eq!(of("a.py", FILES, &["tests/a.py"]), Verdict::Fail);
    let root = [FILES, &[("a.py", "")]].concat();
    assert_eq!(of("a.py", &root, &[]), Verdict::Fail);
    // Beside the file itself it makes no difference.
    let both = lcov("/x/tests/src/a.py", &[(2, 0)]) + &lcov("/x/src/a.py", &hits);
    let judgement = bench().judge(&sandbox(Some(&both), &own, &["tests/src/a.py"]));
    assert_eq!(judgement.verdict, Verdict::Pass);
    let both = lcov("/x/src/a.py", &hits) + &lcov("/y/src/a.py", &hits);
    assert_eq!(judged(&bench(), &both).verdict, Verdict::Review);
}

#[test]
fn the_lines_of_a_changed_file_are_not_those_of_the_list() {
    let report = lcov("src/a.py", &[(2, 1), (3, 1)]);
    let moved = sandbox(
        Some(&report),
        &[("src/a.py", "0\n1\n2\n3\n")],
        &["src/a.py"],
    );
    let (verdict, text) = said(&bench().judge(&moved));
    assert_eq!(verdict, Verdict::Fail);
    assert!(
        text.contains("it has changed, so the list's lines are not in it"),
        "{text}"
    );
    let (verdict, _) = said(&bench().judge(&sandbox(Some(&report), &[], &[])));
    assert_eq!(verdict, Verdict::Fail);
}

#[test]
fn a_list_that_names_no_lines_confirms_nothing() {
    let report = lcov("src/a.py", &[(2, 1), (3, 1)]);
    for (cell, text) in [
        ("first", ""),
        ("first", "0"),
        ("last", "1"),
        ("last", "end"),
        ("file", "/etc/passwd"),
        ("file", "src/none.py"),
    ] {
        let judgement = judged(&bench().cell(cell, text), &report);
        assert_eq!(said(&judgement).0, Verdict::Review, "{cell} {text}");
    }
}

const BRANCHES: &str = "def f(a):\n    if a:\n        return 1\n    return 2\n";

/// How many runs it takes to judge a report that says that all of [`BRANCHES`] ran; `run` says how
/// tests end over code that stops at a line, and what they print.
fn stopped(
    keys: &str,
    report: &[(u32, u32)],
    run: fn(u32) -> (i32, &'static str),
) -> (Judgement, usize) {
    let report = lcov("src/a.py", report);
    let (told, heard) = std::sync::mpsc::channel();
    let mut sandbox = changed(&[]);
    sandbox.expect_run().returning(move |order| {
        told.send(()).unwrap();
        let (code, said) = match order.edits.as_slice() {
            [] => (0, ""),
            [edit] => {
                let stopped = edit.text.lines().position(|line| line.contains("raise"));
                assert!(!edit.text.contains(LETTERS), "{}", edit.text);
                run(u32::try_from(stopped.unwrap()).unwrap() + 1)
            }
            several => panic!("{several:?}"),
        };
        with_report(ran(End::Exited(code), said), "c.lcov", Some(&report))
    });
    let file = |_: &TreePath| FileSeen::File(BRANCHES.into());
    sandbox.expect_file().returning(file);
    sandbox.expect_pinned().returning(file);
    let checks = CHECKS.replace(
        "kind = \"coverage\"\n",
        &format!("kind = \"coverage\"\n{keys}"),
    );
    let bench = GateCase::new(&checks).cell("first", "1").cell("last", "4");
    let judgement = bench.judge(&sandbox);
    (judgement, heard.try_iter().count())
}

#[test]
fn a_line_that_never_runs_cannot_stop_the_program_whatever_the_report_says() {
    use Verdict::{Fail, Pass, Review};
    let all = [(1, 1), (2, 1), (3, 1), (4, 1)];
    let honest = |_| (1, "E   BaseException: abcdefgh");
    let (judgement, runs) = stopped("", &all, honest);
    assert_eq!((judgement.verdict, runs), (Pass, 3), "{judgement:#?}");
    let never_3 = |line| if line == 3 { (0, "") } else { (1, "abcdefgh") };
    let (judgement, _) = stopped("", &all, never_3);
    let actual = "src/a.py:3 they pass: the line never runs, whatever the report says";
    assert_eq!(said(&judgement), (Fail, actual.to_owned()));
    // The report may leave out what no test has to run.
    let (judgement, _) = stopped("", &[(1, 1), (2, 1), (4, 1)], never_3);
    let actual = "src/a.py:3 they pass, and the report leaves the line out";
    assert_eq!(said(&judgement), (Review, actual.to_owned()));
    // Tests that look at the source fail without having run it.
    let (judgement, _) = stopped("", &all, |_| (1, "AssertionError"));
    assert_eq!(said(&judgement).0, Review);
    // A report that shows a line that did not run needs no proof.
    let (judgement, runs) = stopped("", &[(3, 0), (4, 1)], honest);
    assert_eq!((judgement.verdict, runs), (Fail, 1));
    assert_eq!(stopped("max_stops = 1\n", &all, honest).1, 2);
    assert_eq!(stopped("max_stops = 0\n", &all, never_3).0.verdict, Pass);
}

#[test]
fn it_needs_the_command_to_have_passed() {
    let mut failing = changed(&[]);
    failing.expect_run().returning(|_| ran(End::Exited(1), ""));
    let judgement = bench().judge(&failing);
    assert_eq!(outcome(&judgement, "tests-pass"), CheckOutcome::Failed);
    assert_eq!(outcome(&judgement, "lines-run"), CheckOutcome::NotRun);
}

#[test]
fn a_mistake_is_told() {
    for (from, to, said) in rows! {
        "from = \"tests-pass\"", "from = \"tests-pas\"" => "did you mean `tests-pass`?";
        "from = \"tests-pass\"", "from = \"lines-run\"" => "unknown command";
        "report = \"c.lcov\"", "report = \"d\"" => "not one of the `reports`";
        "file = \"{{ input.file }}\"", "file = \"{{ field.test }}\"" => "unknown variable";
        "first = \"{{ input.first }}\"\n", "" => "missing field `first`";
    } {
        let what = GateCase::new(&CHECKS.replace(from, to)).mistake().what;
        assert!(what.contains(said), "{what}");
    }
}
