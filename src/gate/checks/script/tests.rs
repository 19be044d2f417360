//! A script gets the case, and is alone in its folder.

use std::sync::mpsc::{Receiver, channel};

use serde_json::json;

use super::*;
use crate::base::rows;
use crate::gate::checks::kind::first_facts;
use crate::gate::checks::tests::{GateCase, changed, ran};
use crate::quest::field::Shape;
use crate::quest::{FieldName, Verdict};
use crate::world::sandbox::{CommandSpec, End, MockSandbox, RunPlace};

const PLAIN: &str = r#"
[[control]]
name = "right"
key = "shop.sum"
input = { file = "src/b.py", first = "1", last = "4" }
submit = { test = "tests/test_b.py" }
verdict = "PASS"
[[check]]
name = "sound"
kind = "script"
script = "checks/judge.py"
interpreter = ["python3", "-I"]
fail_exit = [10]
unconfirmed_exit = [11]
"#;

const CODES: [i32; 3] = [0, 10, 11];

/// A sandbox in which the script ends so, and so on the control; `failures` are what is reported.
fn crashing(end: End, on_control: End) -> (MockSandbox, Receiver<CommandSpec>, Receiver<String>) {
    let mut sandbox = changed(&[]);
    let (order, orders) = channel();
    sandbox.expect_run().returning(move |ordered| {
        // Not every test looks at the orders.
        let _ = order.send(ordered.clone());
        let end = match ordered.place {
            RunPlace::Submission => &end,
            RunPlace::Control => &on_control,
        };
        let stdout = match end {
            End::Exited(0) => "",
            _ => "Traceback\nModuleNotFoundError: yaml",
        };
        ran(end.clone(), stdout)
    });
    let (failure, failures) = channel();
    let reported = sandbox.expect_report_failure();
    reported.returning(move |why| failure.send(why).unwrap());
    (sandbox, orders, failures)
}

fn crashes() -> [End; 6] {
    [
        End::Exited(1),
        End::Exited(2),
        End::Exited(127),
        End::Signalled(11),
        End::TimedOut,
        End::TooMuchOutput,
    ]
}

fn sandbox(end: End, stdout: &'static str, paths: &[&str]) -> MockSandbox {
    let mut sandbox = changed(paths);
    let run = sandbox.expect_run();
    run.returning(move |_| ran(end.clone(), stdout));
    sandbox
}

#[test]
fn it_is_told_of_the_case() {
    let order = GateCase::new(PLAIN).field("test", "-x\n$(y)").ordered();
    let script = ".comail/sound/judge.py";
    assert_eq!(order.argv, ["/usr/bin/python3", "-I", script]);
    assert_eq!(
        (order.edits[0].path.as_str(), order.edits[0].text.as_str()),
        (script, "print()\n")
    );
    let told: serde_json::Value = serde_json::from_str(&order.stdin).unwrap();
    let input = json!({"file": "src/a.py", "first": "2", "last": "3"});
    assert_eq!(
        told,
        json!({
            "quest": {"id": 7, "key": "shop.total", "input": input},
            "submission": {"test": "-x\n$(y)"},
        })
    );
    assert_eq!(order.env["COMAIL_FIELD_TEST"], "-x\n$(y)");
}

#[test]
fn its_code_is_its_answer() {
    let bench = GateCase::new(PLAIN);
    for (end, expected) in [
        (End::Exited(0), Verdict::Pass),
        (End::Exited(10), Verdict::Fail),
        (End::Exited(11), Verdict::Review),
        (End::NotStarted("gone".into()), Verdict::Review),
        (End::Withheld("a key".into()), Verdict::Review),
    ] {
        let mut sandbox = changed(&[]);
        let run = sandbox.expect_run().times(1);
        let ended = ran(end.clone(), "");
        run.returning(move |_| ended.clone());
        assert_eq!(bench.judge(&sandbox).verdict, expected, "{end:?}");
    }
}

#[test]
fn a_submission_that_makes_it_crash_fails_and_says_how_it_ended() {
    let bench = GateCase::new(PLAIN);
    for (end, on_control) in crashes().into_iter().zip([0, 10, 11].repeat(2)) {
        let (sandbox, orders, failures) = crashing(end.clone(), End::Exited(on_control));
        let (verdict, fact) = bench.fact(&sandbox).unwrap();
        assert_eq!(verdict, Verdict::Fail, "{end:?}");
        assert_eq!(fact.location.as_deref(), Some("judge.py"), "{end:?}");
        let [own, control] = <[_; 2]>::try_from(orders.try_iter().collect::<Vec<_>>()).unwrap();
        assert_eq!(
            (own.place, control.place),
            (RunPlace::Submission, RunPlace::Control)
        );
        let told: serde_json::Value = serde_json::from_str(&control.stdin).unwrap();
        assert_eq!(told["quest"]["key"], "shop.sum");
        assert_eq!(told["quest"]["input"]["file"], "src/b.py");
        assert_eq!(told["submission"]["test"], "tests/test_b.py");
        assert_eq!(control.env["COMAIL_FIELD_TEST"], "tests/test_b.py");
        assert_eq!(failures.try_iter().count(), 0, "{end:?}");
    }
    let (sandbox, ..) = crashing(End::Exited(1), End::Exited(0));
    let (_, fact) = bench.fact(&sandbox).unwrap();
    assert_eq!(
        &*fact.expected,
        "the script exits with the code 0 or 10 or 11"
    );
    assert!(
        fact.actual
            .starts_with("it exited with the code 1: Traceback"),
        "{fact:?}"
    );
}

#[test]
fn a_script_that_crashes_on_its_control_too_is_broken() {
    let bench = GateCase::new(PLAIN);
    let gone = [End::NotStarted("gone".into())];
    for on_control in crashes().into_iter().chain(gone) {
        let (sandbox, _orders, failures) = crashing(End::Exited(1), on_control.clone());
        assert_ne!(
            bench.judge(&sandbox).verdict,
            Verdict::Fail,
            "{on_control:?}"
        );
        let why = failures.try_iter().collect::<Vec<_>>().concat();
        let expected = "the script judge.py crashes on the control `right` too";
        assert!(why.starts_with(expected), "{on_control:?}: {why}");
    }
}

#[test]
fn more_than_it_may_print_is_told_where_it_was_printed() {
    let bench = GateCase::new(&format!("{PLAIN}output_cap = \"2 KiB\"\n"));
    let printed = r#"{"verdict": "PASS"}"#;
    let (too_much, ..) = crashing(End::TooMuchOutput, End::Exited(0));
    let (verdict, fact) = bench.fact(&too_much).unwrap();
    let told = (fact.location.as_deref(), &*fact.expected);
    let expected = (Some("judge.py"), "it prints at most 2048 bytes");
    assert_eq!((verdict, told), (Verdict::Fail, expected));
    assert_eq!(bench.fact(&sandbox(End::Exited(0), printed, &[])), None);
}

#[test]
fn nobody_puts_a_module_beside_it() {
    let bench = GateCase::new(&format!(
        "{PLAIN}env = {{ TEST = \"{{{{ field.test }}}}\" }}\n"
    ));
    for path in [".comail/sound/json.py", ".comail/sound", ".comail"] {
        let (verdict, fact) = bench.fact(&sandbox(End::Exited(0), "", &[path])).unwrap();
        assert_eq!(
            (verdict, fact.location.as_deref()),
            (Verdict::Fail, Some(path))
        );
    }
    for path in [".comail/sounds/json.py", "json.py", ".comails", "a/.comail"] {
        assert_eq!(bench.fact(&sandbox(End::Exited(0), "", &[path])), None);
    }
    let mut unsure = MockSandbox::new();
    unsure.expect_changes().returning(|| Err("no tree".into()));
    assert_eq!(bench.judge(&unsure).verdict, Verdict::Review);
    let mut without = MockSandbox::new();
    without.expect_run().returning(|_| ran(End::Exited(0), ""));
    assert_eq!(bench.without_tree().judge(&without).verdict, Verdict::Pass);
}

#[test]
fn a_mistake_is_told() {
    for (from, to, said) in rows! {
        "judge.py", "juge.py" => "has not frozen the file";
        "[\"python3\", \"-I\"]", "[]" => "name a program";
        "\"-I\"", "\"{{ field.test }}\"" => "the same for every quest";
        "\"python3\"", "\"perl\"" => "has not frozen the program";
        "interpreter", "exit = [0]\ninterpreter" => "unknown field `exit`";
        "[10]", "[1]" => "1: expected a code from 3 to 125";
        "[10]", "[0]" => "0: expected";
        "[10]", "[126]" => "126: expected";
        "[11]", "[2]" => "2: expected";
        "[11]", "[10]" => "the code 10 is in `fail_exit` too";
    } {
        let what = GateCase::new(&PLAIN.replace(from, to)).mistake().what;
        assert!(what.contains(said), "{what}");
    }
}

fn fields() -> Vec<Field> {
    vec![Field {
        name: FieldName::known("test"),
        help: "".into(),
        example: "".into(),
        required: true,
        shape: Shape::default(),
        unchecked: false,
    }]
}

fn of(code: i32, stdout: &str) -> Vec<Fact> {
    let ran = ran(End::Exited(code), stdout);
    first_facts(judged(&ran, &exits(), &fields(), None))
}

fn exits() -> Exits {
    Exits::build(vec![10], vec![11]).unwrap()
}

/// `P`, or a letter for each fact: `W` for wrong, `U` for unconfirmed.
fn letters(code: i32, stdout: &str) -> String {
    let found = of(code, stdout);
    let letter = |fact: &Fact| if fact.cause.is_wrong() { 'W' } else { 'U' };
    if found.is_empty() {
        return String::from("P");
    }
    found.iter().map(letter).collect()
}

const FACT: &str = r#"{"expected":"a","actual":"b"}"#;

fn says(verdict: &str, facts: &[&str]) -> String {
    format!(
        r#" {{"verdict":"{verdict}","facts":[{}]}} "#,
        facts.join(",")
    )
}

#[test]
fn an_answer_is_read_whole_or_confirms_nothing() {
    let twice = r#"{"expected":"a","expected":"b","actual":"b"}"#;
    let facts = format!(r#"{{"verdict":"FAIL","facts":[{FACT}],"facts":[]}}"#);
    let pass = says("PASS", &[]);
    for (code, stdout) in rows! {
        0 => r#"{"verdict":"FAIL","verdict":"PASS"}"#;
        11 => &facts;
        0 => &says("FAIL", &[twice]);
        0 => r#"{"verdict":"PASS","evidence":{"seen":1,"seen":2}}"#;
        0 => "{";
        0 => "{}";
        0 => &format!("{pass}{pass}");
        0 => &format!("{pass}\nTraceback");
        0 => r#"{"verdict":"PASS","fact":[]}"#;
        0 => r#"{"verdict":"PASS","facts":[{}]}"#;
        0 => "{\"verdict\":\"\0ASS\"}";
        0 => r#"{"verdict":"PASS\ud800"}"#;
        0 => r#"{"verdict":"PASS"}\ud800"#;
        0 => &says("FAIL", &[r#"{"field":"tset","expected":"x","actual":"y"}"#]);
    } {
        assert_eq!(letters(code, stdout), "U", "{stdout}");
    }
    for stdout in [
        r#"{"verdict":"PASS","evidence":{"saw":1,"seen":2}}"#,
        r#"{"verdict":"PASS","evidence":{"anything":[1,null]}}"#,
        r#"{"verdict":"PASS","evidence":"\udfff"}"#,
    ] {
        assert_eq!(letters(0, stdout), "P", "{stdout}");
    }
}

#[test]
fn words_and_code_agree() {
    for (verdict, facts, codes) in [
        ("PASS", &[][..], ["P", "W", "U"]),
        ("FAIL", &[][..], ["W", "W", "U"]),
        ("REVIEW", &[][..], ["U", "W", "U"]),
        ("PASS", &[FACT][..], ["U", "W", "U"]),
        ("FAIL", &[FACT, FACT][..], ["WW", "WW", "U"]),
        ("REVIEW", &[FACT, FACT][..], ["UU", "W", "UU"]),
        ("pass", &[][..], ["U", "W", "U"]),
    ] {
        for (code, expected) in CODES.into_iter().zip(codes) {
            let found = letters(code, &says(verdict, facts));
            assert_eq!(found, expected, "{verdict} {code}");
        }
    }
}

#[test]
fn without_an_answer_the_code_counts() {
    let fail = format!("hello\n{}", says("FAIL", &[FACT]));
    for (stdout, codes) in [
        ("", ["P", "W", "U"]),
        (" \n", ["P", "W", "U"]),
        // After other words nothing is read, and code 0 alone does not say that all is well.
        ("all is well\n", ["U", "W", "U"]),
        ("\u{feff}{}", ["U", "W", "U"]),
        (&fail, ["U", "W", "U"]),
    ] {
        for (code, expected) in CODES.into_iter().zip(codes) {
            assert_eq!(letters(code, stdout), expected, "{code} {stdout}");
        }
    }
}

#[test]
fn what_is_printed_takes_back_no_code_of_fail() {
    let wrong_field = r#"{"field":"tset","location":"a:1","expected":"x","actual":"y"}"#;
    for stdout in [
        "{",
        r#"{"verdict":"PASS"}"#,
        &says("PASS", &[FACT]),
        &says("REVIEW", &[FACT]),
        &says("FAIL", &[wrong_field]),
        &format!("{{\n{}", says("FAIL", &[FACT])),
    ] {
        let found = of(10, stdout);
        assert_eq!(letters(10, stdout), "W", "{stdout}");
        assert_eq!(&*found[0].expected, "the script passes it", "{stdout}");
        assert_eq!(found[0].location, None, "{stdout}");
    }
}

#[test]
fn without_a_readable_answer_the_code_0_is_a_crash() {
    let answers = |kind: &str, own: &'static str, on_control: &'static str| {
        let mut sandbox = changed(&[]);
        sandbox.expect_run().returning(move |ordered| {
            let stdout = match ordered.place {
                RunPlace::Submission => own,
                RunPlace::Control => on_control,
            };
            ran(End::Exited(0), stdout)
        });
        let (failure, failures) = channel();
        let reported = sandbox.expect_report_failure();
        reported.returning(move |why| failure.send(why).unwrap());
        let found = GateCase::new(kind).fact(&sandbox);
        (found, failures.try_iter().count())
    };
    let pass = r#"{"verdict": "PASS"}"#;
    let printed = "hello\n{\"verdict\": \"FAIL\"}";
    let without_code = PLAIN.replace("fail_exit = [10]\n", "");
    for (kind, unread) in [
        (without_code.as_str(), ["", " \n", printed, "{}"].as_slice()),
        (PLAIN, [printed, "{}"].as_slice()),
    ] {
        assert_eq!(answers(kind, pass, ""), (None, 0));
        for &unread in unread {
            let (found, failures) = answers(kind, unread, pass);
            let (verdict, fact) = found.unwrap();
            assert_eq!((verdict, failures), (Verdict::Fail, 0), "{unread}");
            assert_eq!(&*fact.expected, "the script prints its answer as JSON");
            let (found, failures) = answers(kind, unread, unread);
            assert_ne!(found.unwrap().0, Verdict::Fail, "{unread}");
            assert_eq!(failures, 1, "{unread}");
        }
    }
}

#[test]
fn what_is_no_text_is_read_with_a_sign_in_its_place() {
    for (actual, read) in rows! {
        &br"a\ud800b\udc00\ud83d\ude00"[..] => "a\u{fffd}b\u{fffd}\u{1f600}";
        b"it says \xff." => "it says \u{fffd}.";
    } {
        let answer = br#"{"verdict":"FAIL","facts":[{"expected":"x","actual":""#;
        let answer = [&answer[..], actual, br#""}]}"#].concat();
        let ran = CommandResult {
            stdout: answer,
            ..ran(End::Exited(10), "")
        };
        let found = judged(&ran, &exits(), &fields(), None);
        let found: Vec<_> = found.iter().map(|fact| &*fact.actual).collect();
        assert_eq!(found, [read]);
    }
}

#[test]
fn facts_name_fields_and_places() {
    let fact = r#"{"field":"test","location":"a:1","expected":"x","actual":"y"}"#;
    let found = of(10, &says("FAIL", &[fact]));
    let [detail] = found.as_slice() else {
        panic!("not wrong");
    };
    assert_eq!(detail.field, Some(FieldName::known("test")));
    assert_eq!(detail.location.as_deref(), Some("a:1"));
    assert_eq!((&*detail.expected, &*detail.actual), ("x", "y"));
    let many = [FACT; 30];
    let found = of(10, &says("FAIL", &many));
    let [.., last] = found.as_slice() else {
        panic!("not wrong");
    };
    assert_eq!((found.len(), last.count), (20, 11));
    let long = format!(r#"{{"expected":"x","actual":"{}"}}"#, "y".repeat(9_000));
    assert_eq!(
        of(10, &says("FAIL", &[&long]))[0].actual.chars().count(),
        2_001
    );
}
