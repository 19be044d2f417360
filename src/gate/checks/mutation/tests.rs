//! Tests that do not notice that the code is gone test nothing.

use std::sync::mpsc::{Receiver, channel};

use regex::Regex;

use crate::base::rows;
use crate::gate::Judgement;
use crate::gate::checks::tests::{GateCase, changed, ran};
use crate::quest::Verdict;
use crate::world::sandbox::{CommandResult, CommandSpec, End, FileSeen, MockSandbox};
use crate::world::tree::TreePath;

const SOURCE: &str = "import os\ndef total(a):\n    return a + 1\n";

const CHECKS: &str = r#"
[[check]]
name = "tests-pass"
kind = "command"
argv = ["pytest", "{{ field.test }}"]
unconfirmed_exit = [3]
[[check]]
name = "tests-bite"
kind = "mutation"
from = "tests-pass"
file = "{{ input.file }}"
"#;

const RANGE: &str = "first = \"{{ input.first }}\"\nlast = \"{{ input.last }}\"\n";

const BODIES: &str = r#"
first = "{{ input.first }}"
last = "{{ input.last }}"
max_mutants = 0
lines = [
  { find = "return .+", put = "return None" },
  { find = "return .+", put = "raise NotImplementedError" },
]
"#;

/// Whether a comment of the seed's letters was added.
fn is_neutral(order: &CommandSpec) -> bool {
    let comment = Regex::new("(#|//) [0-9a-f]{8}\n").unwrap();
    let mut edits = order.edits.iter();
    edits.any(|edit| comment.is_match(&edit.text))
}

fn bench(keys: &str) -> GateCase {
    GateCase::new(&format!("{CHECKS}{keys}"))
}

fn sandbox(source: &'static str, mutant: CommandResult) -> (MockSandbox, Receiver<CommandSpec>) {
    let mut sandbox = changed(&[]);
    let (told, heard) = channel();
    sandbox.expect_run().returning(move |order| {
        if order.edits.is_empty() || is_neutral(order) {
            return ran(End::Exited(0), "<testsuite><testcase/></testsuite>");
        }
        told.send(order.clone()).unwrap();
        mutant.clone()
    });
    sandbox
        .expect_file()
        .returning(move |_| FileSeen::File(source.into()));
    sandbox
        .expect_pinned()
        .returning(|_| FileSeen::File(SOURCE.into()));
    (sandbox, heard)
}

fn judged(keys: &str, mutant: CommandResult) -> (Verdict, Vec<String>) {
    let (sandbox, _heard) = sandbox(SOURCE, mutant);
    let judgement = bench(keys).judge(&sandbox);
    let said = judgement
        .facts
        .iter()
        .map(|fact| format!("{}: {}", fact.expected, fact.actual));
    (judgement.verdict, said.collect())
}

#[test]
fn tests_that_turn_red_pass() {
    let (sandbox, heard) = sandbox(SOURCE, ran(End::Exited(1), ""));
    assert_eq!(bench(BODIES).judge(&sandbox).verdict, Verdict::Pass);
    let orders: Vec<_> = heard.try_iter().collect();
    assert_eq!(orders.len(), 2);
    for (order, body) in orders
        .iter()
        .zip(["return None", "raise NotImplementedError"])
    {
        assert_eq!(order.name, "tests-bite");
        assert_eq!(order.argv, ["/usr/bin/pytest", "tests/test_a.py"]);
        let [edit] = order.edits.as_slice() else {
            panic!("{order:?}");
        };
        assert_eq!(edit.path, "src/a.py");
        assert_eq!(edit.text, format!("import os\ndef total(a):\n    {body}\n"));
    }
}

#[test]
fn tests_that_fail_because_of_the_time_are_found_at_the_end() {
    let mut sandbox = changed(&[]);
    let mut runs = 0;
    sandbox.expect_run().returning(move |_| {
        runs += 1;
        // Red from the first mutant on, whatever the code is.
        ran(End::Exited(i32::from(runs > 2)), "")
    });
    sandbox
        .expect_file()
        .returning(|_| FileSeen::File(SOURCE.into()));
    sandbox
        .expect_pinned()
        .returning(|_| FileSeen::File(SOURCE.into()));
    let judgement = bench(BODIES).judge(&sandbox);
    let rules: Vec<_> = judgement.facts.iter().map(|it| it.rule.as_str()).collect();
    assert_eq!(
        (judgement.verdict, rules),
        (Verdict::Fail, vec!["neutral-change"])
    );
}

#[test]
fn a_mutant_that_survives_is_a_fact() {
    let (verdict, said) = judged(BODIES, ran(End::Exited(0), ""));
    let bodies = ["return None", "raise NotImplementedError"];
    let expected =
        bodies.map(|body| format!("tests that fail when its line 3 is `{body}`: they pass"));
    assert_eq!((verdict, said), (Verdict::Fail, expected.to_vec()));
}

#[test]
fn each_end_of_a_mutant_is_red_or_unclear() {
    use Verdict::{Pass, Review};
    let only = format!("{BODIES}red_exit = [1]\n");
    for (keys, end, verdict) in [
        (BODIES, End::Exited(101), Pass),
        (BODIES, End::TimedOut, Pass),
        (BODIES, End::Exited(3), Review),
        (BODIES, End::Signalled(9), Review),
        (BODIES, End::TooMuchOutput, Review),
        (BODIES, End::NotStarted("gone".into()), Review),
        (&only, End::Exited(1), Pass),
        (&only, End::Exited(2), Review),
    ] {
        assert_eq!(judged(keys, ran(end.clone(), "")).0, verdict, "{end:?}");
    }
    let checks = CHECKS.replace(
        "unconfirmed",
        "facts = { adapter = \"junit\" }\nunconfirmed",
    );
    let bench = GateCase::new(&format!("{checks}{BODIES}"));
    let failed = "<testsuite><testcase name=\"a\"><failure/></testcase></testsuite>";
    for (stdout, verdict) in [
        (failed, Pass),
        ("<testsuite></testsuite>", Review),
        ("usage: pytest\n", Review),
    ] {
        let (sandbox, _heard) = sandbox(SOURCE, ran(End::Exited(1), stdout));
        assert_eq!(bench.judge(&sandbox).verdict, verdict, "{stdout}");
    }
}

#[test]
fn a_replacement_that_changes_nothing_shows_nothing() {
    let same = BODIES.replace("raise NotImplementedError", "return a + 1");
    let (sandbox, heard) = sandbox(SOURCE, ran(End::Exited(1), ""));
    assert_eq!(bench(&same).judge(&sandbox).verdict, Verdict::Pass);
    assert_eq!(heard.try_iter().count(), 1);
    let none = same.replace("return None", "return a + 1");
    let (verdict, said) = judged(&none, ran(End::Exited(0), ""));
    assert_eq!(verdict, Verdict::Review);
    assert!(
        said[0].contains("nothing in it can be replaced"),
        "{said:?}"
    );
}

#[test]
fn code_that_moved_is_not_what_the_list_names() {
    let decoy = "def total(a):\n    return a + 1\ndef decoy(): return 1\n";
    let (sandbox, heard) = sandbox(decoy, ran(End::Exited(1), ""));
    let (verdict, fact) = bench(BODIES).fact(&sandbox).unwrap();
    assert_eq!((verdict, fact.rule.as_str()), (Verdict::Fail, "tests-bite"));
    assert_eq!(heard.try_iter().count(), 0);
    let (verdict, said) = judged(
        &BODIES.replace("{{ input.last }}", "9"),
        ran(End::Exited(1), ""),
    );
    assert_eq!(verdict, Verdict::Review);
    assert!(said[0].contains("no such lines"), "{said:?}");
}

#[test]
fn each_line_that_a_change_fits_is_changed_alone() {
    let keys = format!(
        "{RANGE}max_mutants = 0\nlines = [{{ find = \"return (.) .*\", put = \"return $1\" }}]"
    );
    let (sandbox, heard) = sandbox(SOURCE, ran(End::Exited(0), ""));
    let (verdict, fact) = bench(&keys).fact(&sandbox).unwrap();
    let expected = "tests that fail when its line 3 is `return a`";
    assert_eq!((verdict, &*fact.expected), (Verdict::Fail, expected));
    assert_eq!(fact.location.as_deref(), Some("src/a.py:3"));
    let texts: Vec<_> = heard
        .try_iter()
        .map(|order| order.edits[0].text.clone())
        .collect();
    assert_eq!(texts, ["import os\ndef total(a):\n    return a\n"]);
    let (verdict, said) = judged(
        &keys.replace("return (", "yield ("),
        ran(End::Exited(1), ""),
    );
    assert_eq!(verdict, Verdict::Review);
    assert!(
        said[0].contains("nothing in it can be replaced"),
        "{said:?}"
    );
}

/// The lines of the file that are changed, by patterns that fit comments and docstrings as well.
fn changed_lines(path: &str, source: &'static str) -> Vec<String> {
    let lines = source.lines().count().to_string();
    let keys = r#"max_mutants = 0
    lines = [
      { find = " - ", put = " + " },
      { find = "return .+", put = "return None" },
    ]"#;
    let bench = bench(&format!("{RANGE}{keys}"));
    let bench = bench.cell("file", path).cell("first", "1");
    let (told, heard) = channel();
    let mut sandbox = changed(&[]);
    sandbox.expect_run().returning(move |order| {
        if is_neutral(order) {
            return ran(End::Exited(0), "");
        }
        let edits = order.edits.iter();
        edits.for_each(|edit| told.send(edit.text.clone()).unwrap());
        ran(End::Exited(i32::from(!order.edits.is_empty())), "")
    });
    let file = move |_: &TreePath| FileSeen::File(source.into());
    sandbox.expect_file().returning(file);
    sandbox.expect_pinned().returning(file);
    bench.cell("last", &lines).judge(&sandbox);
    let line = |text: String| {
        let mut lines = text.lines().zip(source.lines());
        let (new, _) = lines.find(|(new, old)| new != old).unwrap();
        new.trim().to_owned()
    };
    heard.try_iter().map(line).collect()
}

#[test]
fn comments_and_docstrings_are_left_alone() {
    let python = r#"def total(a, b):
    """The sum - without tax.

    They return the sum - always.
    """
    # We return a - b here.
    text = """
    kept - as it is
    """
    'left - alone'
    f"{a - b} runs"
    return a - b  # a - b
"#;
    let expected = [
        "kept + as it is",
        "f\"{a + b} runs\"",
        "return a + b  # a - b",
        "return None",
    ];
    assert_eq!(changed_lines("src/a.py", python), expected);
    let rust = r#"/// Its total - or they return 0.
fn total(a: u32, b: u32) -> u32 {
    // a - b
    /* a - b
       return a - b */ let text = "a - b";
    /* a - b */ a - b
}
"#;
    let expected = ["return a - b */ let text = \"a + b\";", "/* a - b */ a + b"];
    assert_eq!(changed_lines("src/a.rs", rust), expected);
    // Nothing is known of the comments of a language that is not parsed.
    assert_eq!(changed_lines("src/a.lua", "-- a - b\n"), ["-- a + b"]);
}

#[test]
fn more_mutants_than_can_be_run_confirm_nothing() {
    let put = |n| format!("{{ find = \"return .+\", put = \"return {n}\" }}");
    let all: Vec<_> = (0..51).map(put).collect();
    let keys = format!("{RANGE}lines = [{}]", all.join(", "));
    let (sandbox, heard) = sandbox(SOURCE, ran(End::Exited(1), ""));
    assert_eq!(bench(&keys).judge(&sandbox).verdict, Verdict::Review);
    assert_eq!(heard.try_iter().count(), 0);
}

#[test]
fn a_mistake_is_told() {
    for (keys, said) in rows! {
        String::new() => "missing field `first`";
        format!("{RANGE}max_mutants = 0") => "at least one mutant";
        format!("{RANGE}may_survive = 101") => "at most 100 percent";
        format!("{BODIES}red_exit = [0]") => "the code 0 passes";
        format!("{RANGE}lines = [{{ find = \"(\", put = \"\" }}]") => "not a pattern";
        BODIES.replace("{{ input.last }}", "{{ field.test }}") => "unknown variable";
    } {
        let what = bench(&keys).mistake().what;
        assert!(what.contains(said), "{what}");
    }
}

const WEIGHT: &str = "\
def weight(a, b):
    side = a * b
    if side <= 0:
        raise ValueError(side)
    return side // 5
";

/// A gate over all of [`WEIGHT`], and how each run over changed code ends.
fn drawn(
    keys: &str,
    end: impl Fn(&CommandSpec) -> End + Send + 'static,
) -> (Judgement, Vec<CommandSpec>) {
    drawn_after(5, keys, end)
}

/// The same after a run over the code as it is that took so many milliseconds.
fn drawn_after(
    millis: u64,
    keys: &str,
    end: impl Fn(&CommandSpec) -> End + Send + 'static,
) -> (Judgement, Vec<CommandSpec>) {
    let (told, heard) = channel();
    let mut sandbox = changed(&[]);
    sandbox.expect_run().returning(move |order| {
        if order.edits.is_empty() {
            return CommandResult {
                millis,
                ..ran(End::Exited(0), "")
            };
        }
        told.send(order.clone()).unwrap();
        ran(end(order), "")
    });
    let file = |_: &TreePath| FileSeen::File(WEIGHT.into());
    sandbox.expect_file().returning(file);
    sandbox.expect_pinned().returning(file);
    let bench = bench(&format!("{RANGE}{keys}"));
    let judgement = bench.cell("first", "1").cell("last", "5").judge(&sandbox);
    (judgement, heard.try_iter().collect())
}

fn text_of(order: &CommandSpec) -> &str {
    &order.edits[0].text
}

/// How tests end that notice every mutant, but none that `missed` picks.
fn but(missed: impl Fn(&str) -> bool + Send + 'static) -> impl Fn(&CommandSpec) -> End + Send {
    move |order| {
        let is_green = is_neutral(order) || missed(text_of(order));
        End::Exited(i32::from(!is_green))
    }
}

#[test]
fn mutants_come_from_the_grammar_in_an_order_that_is_frozen() {
    let strict = "may_survive = 0\n";
    let (judgement, orders) = drawn(strict, but(|_| false));
    assert_eq!(judgement.verdict, Verdict::Pass);
    assert!(is_neutral(&orders[0]), "{orders:?}");
    // The first run comes again at the end.
    let last = CommandSpec {
        round: 1,
        ..orders[0].clone()
    };
    assert_eq!(orders.last(), Some(&last));
    let texts: Vec<_> = orders[1..orders.len() - 1].iter().map(text_of).collect();
    // One of line 2, and two each of the others.
    assert_eq!(texts.len(), 7, "{texts:#?}");
    let (_, again) = drawn(strict, but(|_| false));
    assert_eq!(again, orders);
    let (_, few) = drawn("may_survive = 0\nmax_mutants = 3\n", but(|_| false));
    assert_eq!(few, [&orders[..4], &[last]].concat());
}

#[test]
fn some_mutants_may_survive_and_no_more_run_than_decide() {
    let bound = |text: &str| text.contains("side < 0");
    let (judgement, orders) = drawn("", but(bound));
    assert_eq!(judgement.verdict, Verdict::Pass, "{judgement:#?}");
    // Two of seven may survive: five noticed ones decide, and the one that is missed may come before.
    assert!((6..=7).contains(&orders.len()), "{}", orders.len());
    let (judgement, _) = drawn("may_survive = 0\n", but(bound));
    let [fact] = judgement.facts.as_slice() else {
        panic!("{judgement:#?}");
    };
    let expected = "tests that fail when its line 3 is `if side < 0:` (boundary)";
    assert_eq!((&*fact.expected, &*fact.actual), (expected, "they pass"));
    assert_eq!(fact.location.as_deref(), Some("src/a.py:3"));
    let (judgement, orders) = drawn("", but(|_| true));
    assert_eq!(
        (judgement.verdict, judgement.facts.len()),
        (Verdict::Fail, 3)
    );
    assert_eq!(orders.len(), 4);
    // All of them may never survive.
    let (judgement, _) = drawn("may_survive = 100\nmax_mutants = 1\n", but(|_| true));
    assert_eq!(judgement.verdict, Verdict::Fail);
}

#[test]
fn tests_that_look_at_the_text_of_the_code_fail() {
    let (judgement, orders) = drawn("", |_| End::Exited(1));
    let [fact] = judgement.facts.as_slice() else {
        panic!("{judgement:#?}");
    };
    assert_eq!(
        (judgement.verdict, fact.rule.as_str()),
        (Verdict::Fail, "neutral-change")
    );
    assert_eq!(fact.location.as_deref(), Some("src/a.py:2"));
    assert!(
        fact.expected.contains("`side` is called `side_"),
        "{}",
        fact.expected
    );
    assert_eq!(orders.len(), 1);
    // Where that cannot be told, nothing is confirmed.
    let (judgement, _) = drawn("", |_| End::TimedOut);
    let rules: Vec<_> = judgement
        .facts
        .iter()
        .map(|fact| fact.rule.as_str())
        .collect();
    assert_eq!(
        (judgement.verdict, rules),
        (Verdict::Review, vec!["tests-bite-unconfirmed"])
    );
}

#[test]
fn tests_that_fail_anyway_notice_nothing() {
    let checks = format!("{CHECKS}{RANGE}").replace("exit = [3]", "exit = [3]\nlevel = \"review\"");
    let mut sandbox = changed(&[]);
    let run = |_: &CommandSpec| ran(End::Exited(1), "");
    sandbox.expect_run().returning(run);
    let file = |_: &TreePath| FileSeen::File(SOURCE.into());
    sandbox.expect_file().returning(file);
    sandbox.expect_pinned().returning(file);
    let facts = GateCase::new(&checks).judge(&sandbox).facts;
    let rules: Vec<_> = facts.iter().map(|fact| fact.rule.as_str()).collect();
    assert_eq!(rules, ["tests-pass"]);
}

#[test]
fn a_mutant_that_hangs_is_noticed_where_the_time_allows_to_tell() {
    let hangs = |which: fn(&str) -> bool| {
        move |order: &CommandSpec| match text_of(order) {
            _ if is_neutral(order) => End::Exited(0),
            text if which(text) => End::TimedOut,
            _ => End::Exited(1),
        }
    };
    let (judgement, orders) = drawn("may_survive = 0\n", hangs(|_| true));
    assert_eq!((judgement.verdict, orders.len()), (Verdict::Pass, 9));
    assert!(orders.iter().all(|order| order.timeout_ms == 5_050));
    // Of 60 s, no ten times 6 s are left.
    let strict = "may_survive = 0\n";
    let (judgement, _) = drawn_after(6_000, strict, hangs(|text| text.contains("> 0")));
    assert_eq!(judgement.verdict, Verdict::Pass);
    let (judgement, orders) = drawn_after(6_000, strict, hangs(|_| true));
    assert_eq!((judgement.verdict, orders.len()), (Verdict::Review, 5));
}

#[test]
fn a_language_without_a_grammar_needs_lines() {
    let (sandbox, heard) = sandbox(SOURCE, ran(End::Exited(1), ""));
    let lua = |keys: &str| bench(&format!("{RANGE}{keys}")).cell("file", "src/a.lua");
    assert_eq!(lua("").judge(&sandbox).verdict, Verdict::Review);
    let lines = "lines = [{ find = \"return .+\", put = \"return 0\" }]";
    assert_eq!(lua(lines).judge(&sandbox).verdict, Verdict::Pass);
    assert_eq!(heard.try_iter().count(), 1);
}

#[test]
fn two_checks_may_share_the_rule_of_a_neutral_change() {
    let more = "may_survive = 0\n[[check]]\nname = \"bite-too\"\nkind = \"mutation\"\n\
        from = \"tests-pass\"\nfile = \"{{ input.file }}\"\n";
    let (judgement, _) = drawn(&format!("{more}{RANGE}"), |_| End::Exited(1));
    assert_eq!(judgement.facts.len(), 2);
}
