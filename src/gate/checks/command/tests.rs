//! Commands are run as they are written, and nothing that is submitted is more than a text. Each
//! way in which a command ends is a verdict.

use crate::base::rows;
use crate::gate::CheckOutcome;
use crate::gate::checks::tests::{GateCase, LETTERS, changed, outcome, ran, with_report};
use crate::quest::Verdict;
use crate::world::sandbox::{
    CommandResult, CommandSpec, End, FileSeen, MockSandbox, Network, RunPlace, Started,
};

const PLAIN: &str = r#"
[[check]]
name = "tests-pass"
kind = "command"
argv = ["pytest", "-q", "{{ field.test }}"]
"#;

const JUNIT: &str = "facts = { adapter = \"junit\" }";

fn with(keys: &str) -> GateCase {
    GateCase::new(&format!("{PLAIN}{keys}\n"))
}

fn refused(bench: &GateCase) -> (String, String) {
    let (verdict, fact) = bench.fact(&changed(&[])).unwrap();
    assert_eq!((verdict, fact.rule.as_str()), (Verdict::Fail, "tests-pass"));
    (fact.expected.into(), fact.actual.into())
}

#[test]
fn everything_about_a_command_is_decided() {
    let bench = with(
        r#"
env = { MODE = "{{ input.file }}" }
pass_env = ["LANG"]
stdin = "{{ key }}"
timeout = "2s"
output_cap = "1KiB"
reports = ["report.xml"]
"#,
    );
    let order = bench.field("more-words", "a\n$(b)").ordered();
    assert_eq!(order.name, "tests-pass");
    assert_eq!(order.argv, ["/usr/bin/pytest", "-q", "tests/test_a.py"]);
    let env = order
        .env
        .iter()
        .map(|(name, text)| format!("{name}={text}"));
    assert_eq!(
        env.collect::<Vec<_>>(),
        [
            "COMAIL_FIELD_MORE_WORDS=a\n$(b)",
            "COMAIL_FIELD_TEST=tests/test_a.py",
            "COMAIL_ID=7",
            "COMAIL_INPUT_FILE=src/a.py",
            "COMAIL_INPUT_FIRST=2",
            "COMAIL_INPUT_LAST=3",
            "COMAIL_KEY=shop.total",
            "HOME=/nonexistent",
            "LANG=C",
            "MODE=src/a.py",
            "PATH=/usr/bin:/bin",
            "PYTHONNOUSERSITE=1",
        ]
    );
    assert_eq!(order.stdin, "shop.total");
    assert_eq!((order.timeout_ms, order.output_bytes), (2_000, 1_024));
    assert_eq!(order.reports, ["report.xml"]);
    assert_eq!((order.network, order.round), (Network::None, 0));
}

#[test]
fn a_quest_file_may_give_a_home() {
    let env = r#"env = { HOME = "/srv/{{ key }}", PYTHONNOUSERSITE = "" }"#;
    let order = with(env).ordered();
    assert_eq!(order.env["HOME"], "/srv/shop.total");
    assert_eq!(order.env["PYTHONNOUSERSITE"], "");
}

fn argv(argv: &str) -> GateCase {
    GateCase::new(&PLAIN.replace(r#"["pytest", "-q", "{{ field.test }}"]"#, argv))
}

#[test]
fn what_is_submitted_is_one_argument_as_it_is() {
    for text in [
        "$(touch x)",
        "a; rm -rf /",
        "a b\n--c",
        "`id`",
        "../../etc/passwd",
        "*",
        "{{ key }}",
    ] {
        let order = with("").field("test", text).ordered();
        assert_eq!(order.argv, ["/usr/bin/pytest", "-q", text]);
        assert_eq!(order.env["COMAIL_FIELD_TEST"], text);
    }
}

#[test]
fn what_is_submitted_becomes_no_option_and_names_no_file_of_arguments() {
    for before in ["", r#""--", "#, r#""--", "--", "#] {
        let of = |text: &str| {
            let bench = argv(&format!(r#"["sh", {before}"{{{{ field.test }}}}"]"#));
            refused(&bench.field("test", text)).0
        };
        for text in ["-x", "--collect-only", "-", "--"] {
            assert_eq!(
                of(text),
                "an argument that is not an option",
                "{before} {text}"
            );
        }
        let expected = "an argument that does not name a file of arguments";
        assert_eq!(of("@tests/a"), expected, "{before}");
    }
    let own = argv(r#"["sh", "-k={{ field.test }}", "@{{ field.test }}"]"#);
    for text in ["-x", "@a"] {
        let order = own.clone().field("test", text).ordered();
        assert_eq!(order.argv[1..], [format!("-k={text}"), format!("@{text}")]);
    }
}

#[test]
fn what_no_program_can_be_given_is_wrong() {
    for field in ["test", "more-words"] {
        let (verdict, fact) = with("").field(field, "a\0b").fact(&changed(&[])).unwrap();
        assert_eq!(
            (verdict, fact.rule.as_str()),
            (Verdict::Fail, "field-format")
        );
    }
    let (_, actual) = refused(&with("").cell("file", "a\0b"));
    assert_eq!(actual, "a text with NUL");
    let (_, actual) = refused(&with("").field("more-words", &"a".repeat(100_001)));
    assert_eq!(actual, "100001 bytes");
    let many = r#"env = { A = "{{ field.test | int }}" }"#;
    assert_eq!(refused(&with(many)).0, "a variable");
    let many = r#"env = { A = "{{ field.test }}", B = "{{ field.test }}", C = "{{ field.test }}", D = "{{ field.test }}" }"#;
    let (expected, _) = refused(&with(many).field("test", &"a".repeat(90_000)));
    assert!(expected.contains("500000 bytes"), "{expected}");
}

#[test]
fn services_are_started_and_reached() {
    let keys = "services = [\"api\"]\nenv = { URL = \"{{ service.api.url }}\" }";
    let order = with(keys).ordered();
    assert_eq!(order.env["URL"], "http://127.0.0.1:4000");
    assert_eq!(order.network, Network::Loopback { ports: vec![4_000] });
    let mut down = changed(&[]);
    down.expect_service()
        .returning(|_, _| Started::Failed("no port".into()));
    let (verdict, fact) = with(keys).fact(&down).unwrap();
    assert_eq!((verdict, &*fact.actual), (Verdict::Review, "no port"));
}

#[test]
fn a_mistake_is_told_with_its_place() {
    for (keys, said) in rows! {
        "exit = []" => "nothing would pass";
        "unconfirmed_exit = [0]" => "passes already";
        "reports = [\"../r.xml\"]" => "not a path inside the tree";
        "stdin = \"{{ field.tset }}\"" => "did you mean `field.test`?";
        "env = { \"A=B\" = \"\" }" => "cannot name a variable";
        "env = { COMAIL_KEY = \"\" }" => "set by comail";
        "pass_env = [\"HOME\"]" => "has not frozen the variable";
        "services = [\"apis\"]" => "did you mean `api`?";
        "stdin = \"{{ service.api.port }}\"" => "unknown variable";
        "network = \"loopback\"" => "none is named";
        "network = \"none\"\nservices = [\"api\"]" => "say `loopback`";
        "min_passed = 1" => "needs `facts`";
        LIST => "needs `facts`";
        "list = { argv = [\"nosuch\"], line = \"a\" }\nfacts = { adapter = \"junit\" }" => "has not frozen";
        CANARY => "needs `facts`, which tells how tests are counted, such as `facts = { adapter";
        "facts = { adapter = \"junit\" }\ncanary = { file = \"t.py\", text = \"def test(): 1/0\" }" => "needs {{ canary }}";
        "stdin = \"{{ canary }}\"" => "unknown variable";
        "facts = { adapter = \"junit\", from = \"r.xml\" }" => "neither stdout";
        "facts = { adapter = \"juni\" }" => "did you mean `junit`?";
        "facts = 1" => "FactsTable";
        "facts = { adapter = \"junit\", form = \"stderr\" }" => "did you mean `from`?";
        "output_cap = \"1MB\"" => "expected a size";
        "timeout = \"60\"" => "expected a length of time";
        "tiemout = \"60s\"" => "did you mean `timeout`?";
    } {
        let mistake = with(keys).mistake();
        assert!(mistake.what.contains(said), "{keys}: {mistake}");
    }
    assert!(argv("[]").mistake().what.contains("name a program"));
    assert!(
        argv(r#"["{{ field.test }}"]"#)
            .mistake()
            .what
            .contains("the same for every quest")
    );
    assert!(
        argv(r#"["nosuch"]"#)
            .mistake()
            .what
            .contains("has not frozen the program")
    );
}

fn ending(end: End, stdout: &'static str) -> MockSandbox {
    answering(ran(end, stdout))
}

fn answering(ran: CommandResult) -> MockSandbox {
    let mut sandbox = changed(&[]);
    sandbox
        .expect_run()
        .times(1)
        .returning(move |_| ran.clone());
    sandbox
}

#[test]
fn each_end_is_a_verdict() {
    use Verdict::{Fail, Review};
    let keys = "exit = [0, 3]\nunconfirmed_exit = [4]\n";
    let late = "it was still running after 1m, and was stopped with everything that it had started";
    for (end, verdict, said) in [
        (End::Exited(1), Fail, "it exited with the code 1: out"),
        (End::Exited(4), Review, "it exited with the code 4: out"),
        (End::Signalled(9), Fail, "it was killed by signal 9: out"),
        (End::TimedOut, Fail, late),
        (End::TooMuchOutput, Fail, "it printed more, and was stopped"),
        (End::NotStarted("it changed".into()), Review, "it changed"),
    ] {
        let (found, fact) = with(keys).fact(&ending(end, "out\n")).unwrap();
        assert_eq!((found, &*fact.actual), (verdict, said));
        assert_eq!(fact.rule.as_str() == "tests-pass", verdict == Fail);
    }
    for code in [0, 3] {
        assert_eq!(with(keys).fact(&ending(End::Exited(code), "out")), None);
    }
}

#[test]
fn a_tool_says_where() {
    let failed = |count: usize| -> &'static str {
        let case = "<testcase name='a'><failure message='bad'>a.py:3: x</failure></testcase>";
        format!("<testsuite>{}</testsuite>", case.repeat(count)).leak()
    };
    let bench = with(JUNIT);
    let (_, fact) = bench.fact(&ending(End::Exited(1), failed(1))).unwrap();
    assert_eq!(fact.location.as_deref(), Some("a.py:3"));
    assert_eq!(&*fact.actual, "a: bad");
    let (_, fact) = bench.fact(&ending(End::Exited(1), "no place")).unwrap();
    assert_eq!(&*fact.actual, "it exited with the code 1: no place");
    let judgement = bench.judge(&ending(End::Exited(1), failed(50)));
    let counts: Vec<_> = judgement.facts.iter().map(|fact| fact.count).collect();
    assert_eq!(
        (counts.len(), counts[19], counts.iter().sum()),
        (20, 31, 50)
    );
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
    let suite = |cases: &str| -> &'static str { format!("<testsuite>{cases}</testsuite>").leak() };
    let skipped = "<testcase><skipped/></testcase>";
    let strict = format!("{JUNIT}\nmin_passed = 3");
    let one = format!("{JUNIT}\n{ONE_SKIPPED}");
    let lax = format!("{JUNIT}\nmin_passed = 0");
    let failed = "no failed test / the command succeeded, but 1 tests failed";
    let no_skipped = "at most 0 skipped tests / 1 skipped";
    let strictly = ["at least 3 passed tests / 2 passed", no_skipped];
    for (keys, stdout, expected) in rows! {
        JUNIT, suite(&format!("<testcase/>{skipped}")) => &[no_skipped][..];
        &one, suite(&format!("<testcase/>{skipped}")) => &[];
        JUNIT, suite(skipped) => &["at least 1 passed tests / 0 passed", no_skipped];
        JUNIT, suite("<testcase/><testcase><failure/></testcase>") => &[failed];
        &strict, suite(&format!("<testcase/><testcase/>{skipped}")) => &strictly;
        &lax, "" => &[];
    } {
        assert_eq!(said(keys, stdout), expected, "{keys} {stdout}");
    }
    // A test that ends the runner from within leaves no word of any.
    assert!(said(JUNIT, "").concat().contains("reported no test"));
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
        fact.actual.ends_with("the command did not write r.xml"),
        "{}",
        fact.actual
    );
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

const CANARY: &str =
    "canary = { file = \"{{ field.test }}\", text = \"def test_{{ canary }}(): 1/0\" }\n";

const LIST: &str = "list = { argv = [\"pytest\", \"--collect-only\"], line = \"::\" }";

const ONE_SKIPPED: &str = "max_skipped = 1\n";

/// A sandbox in which a command passes with two tests of which one is skipped; `planted` says how it
/// ends with a planted test, and what it reports; `list` is printed by the command that lists.
fn tested(planted: fn(&str) -> (i32, String), list: &'static str) -> MockSandbox {
    let mut sandbox = changed(&[]);
    let own = FileSeen::File(b"def test_a(): pass".to_vec());
    sandbox.expect_file().returning(move |_| own.clone());
    sandbox.expect_run().returning(move |order: &CommandSpec| {
        if order.argv.last().is_some_and(|it| it == "--collect-only") {
            return ran(End::Exited(0), list);
        }
        let (code, text) = match order.edits.as_slice() {
            [] => (0, suite(OWN)),
            [edit] => {
                assert_eq!(edit.path, "tests/test_a.py");
                let (_, test) = edit.text.split_once("def test_a(): pass\n\n").unwrap();
                assert_eq!(test, format!("def test_{LETTERS}(): 1/0"));
                assert_eq!(order.name, "tests-pass canary");
                planted(OWN)
            }
            several => panic!("{several:?}"),
        };
        ran(End::Exited(code), &text)
    });
    sandbox
}

const OWN: &str = "<testcase name='a'/><testcase name='b'><skipped/></testcase>";

const RED: &str = "<testcase name='test_abcdefgh'><failure/></testcase>";

fn suite(cases: &str) -> String {
    format!("<testsuite>{cases}</testsuite>")
}

#[test]
fn a_planted_test_is_reported_as_failed_and_nothing_else_changes() {
    let bench = with(&format!("{JUNIT}\n{ONE_SKIPPED}{CANARY}"));
    let honest = tested(|own| (1, suite(&format!("{own}{RED}"))), "");
    assert_eq!(bench.fact(&honest), None);
    let said = |planted: fn(&str) -> (i32, String)| {
        let (verdict, fact) = bench.fact(&tested(planted, "")).unwrap();
        assert_eq!(
            (verdict, fact.rule.as_str()),
            (Verdict::Fail, "silent-canary")
        );
        assert_eq!(fact.location.as_deref(), Some("tests/test_a.py"));
        fact.actual.to_string()
    };
    for (planted, expected) in [
        // The code ends the process, or writes the report.
        (
            (|_| (0, String::new())) as fn(&str) -> (i32, String),
            "the command succeeded with it",
        ),
        (|own| (0, suite(own)), "the command succeeded with it"),
        (|own| (1, suite(own)), "0 tests are reported as failed"),
        (|_| (1, String::new()), "no JUnit XML"),
        (
            |_| (1, suite(RED)),
            "0 passed and 0 were skipped, but without it 1 passed and 1",
        ),
        (
            |own| {
                (
                    1,
                    suite(&format!("{own}<testcase name='c'><failure/></testcase>")),
                )
            },
            "1 tests are reported as failed, and not it alone",
        ),
        (
            |own| {
                (
                    1,
                    suite(&format!(
                        "{own}{RED}<testcase name='c'><failure/></testcase>"
                    )),
                )
            },
            "2 tests are reported as failed, and not it alone",
        ),
    ] {
        let actual = said(planted);
        assert!(actual.contains(expected), "{expected}: {actual}");
    }
    // What the command cannot tell is not the agent's fault.
    let unsure = with(&format!(
        "{JUNIT}\n{ONE_SKIPPED}{CANARY}unconfirmed_exit = [3]"
    ));
    let (verdict, _) = unsure.fact(&tested(|_| (3, String::new()), "")).unwrap();
    assert_eq!(verdict, Verdict::Review);
}

#[test]
fn as_many_tests_are_reported_as_are_listed() {
    let bench = with(&format!("{JUNIT}\n{ONE_SKIPPED}{LIST}"));
    let listed = |list| bench.fact(&tested(|_| (0, String::new()), list));
    assert_eq!(listed("t.py::a\nt.py::b\n\n2 tests collected\n"), None);
    for list in ["t.py::a\n", "t.py::a\nt.py::b\nt.py::c\n", ""] {
        let (verdict, fact) = listed(list).unwrap();
        assert_eq!((verdict, fact.rule.as_str()), (Verdict::Fail, "tests-pass"));
        assert_eq!(&*fact.actual, "2 were reported");
    }
}

const RIGHT: &str = r#"
[[control]]
name = "right"
key = "shop.sum"
input = { file = "src/b.py", first = "1", last = "4" }
submit = { test = "tests/test_b.py" }
verdict = "PASS"
"#;

#[test]
fn a_command_that_breaks_on_its_control_too_is_not_the_agents_fault() {
    let bench = GateCase::new(&format!("{RIGHT}{PLAIN}"));
    let killed = End::Signalled(9);
    for (own, control, is_broken) in rows! {
        killed.clone(), killed.clone() => true;
        End::TimedOut, killed.clone() => true;
        End::Exited(127), End::Exited(126) => true;
        End::Exited(127), End::Exited(0) => false;
        // What fails there too has ended by itself.
        killed.clone(), End::Exited(1) => false;
        End::Exited(1), killed.clone() => false;
    } {
        let mut sandbox = changed(&[]);
        let ends = (own.clone(), control.clone());
        sandbox.expect_run().returning(move |order: &CommandSpec| {
            let end = match order.place {
                RunPlace::Submission => &ends.0,
                RunPlace::Control => &ends.1,
            };
            ran(end.clone(), "no yaml")
        });
        let expected = "the command of `tests-pass` ends like that on the control `right` too";
        sandbox
            .expect_report_failure()
            .times(usize::from(is_broken))
            .withf(move |why| {
                why.starts_with(expected) && why.contains("; fix it and scan again: it ")
            })
            .return_const(());
        let verdict = bench.judge(&sandbox).verdict;
        assert_eq!(verdict != Verdict::Fail, is_broken, "{own:?} {control:?}");
    }
    let known = GateCase::new(&format!("{RIGHT}{PLAIN}unconfirmed_exit = [127]\n"));
    let mut sandbox = changed(&[]);
    let run = sandbox.expect_run().times(1);
    run.returning(|_| ran(End::Exited(127), ""));
    assert_eq!(known.judge(&sandbox).verdict, Verdict::Review);
}
