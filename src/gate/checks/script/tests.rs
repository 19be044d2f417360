//! A script is told of the case, and nobody stands beside it.

use serde_json::json;

use crate::gate::checks::workbench::{Bench, ran};
use crate::quest::Verdict;
use crate::world::sandbox::{Changed, End, MockWorkshop, Order};

const PLAIN: &str = r#"
[[check]]
name = "sound"
kind = "script"
script = "checks/judge.py"
interpreter = ["python3", "-I"]
"#;

fn workshop(end: End, stdout: &'static str, changed: &[&str]) -> MockWorkshop {
    let changed = changed.iter().map(|path| Changed {
        path: (*path).to_owned(),
        how: "added".to_owned(),
        inside: true,
    });
    let changed: Vec<_> = changed.collect();
    let mut workshop = MockWorkshop::new();
    workshop
        .expect_changes()
        .returning(move || Ok(changed.clone()));
    workshop
        .expect_run()
        .returning(move |_| ran(end.clone(), stdout));
    workshop
}

fn ordered(bench: &Bench) -> Order {
    let mut workshop = MockWorkshop::new();
    let (told, heard) = std::sync::mpsc::channel();
    workshop.expect_changes().returning(|| Ok(Vec::new()));
    workshop.expect_run().times(1).returning(move |order| {
        told.send(order.clone()).unwrap();
        ran(End::Exited(0), "")
    });
    assert_eq!(bench.judge(&workshop).verdict, Verdict::Pass);
    heard.recv().unwrap()
}

#[test]
fn it_is_told_of_the_case() {
    let order = ordered(&Bench::new(PLAIN).field("test", "-x\n$(y)"));
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
    let bench = Bench::new(PLAIN);
    let verdict = |end| bench.judge(&workshop(end, "", &[])).verdict;
    for (end, expected) in [
        (End::Exited(0), Verdict::Pass),
        (End::Exited(1), Verdict::Fail),
        (End::Exited(2), Verdict::Review),
        (End::Exited(127), Verdict::Review),
        (End::Signalled(11), Verdict::Review),
        (End::TooMuchOutput, Verdict::Fail),
        (End::TimedOut, Verdict::Fail),
        (End::NotStarted("gone".into()), Verdict::Review),
    ] {
        assert_eq!(verdict(end.clone()), expected, "{end:?}");
    }
    let late = Bench::new(&format!("{PLAIN}on_timeout = \"review\"\n"));
    let judgement = late.judge(&workshop(End::TimedOut, "", &[]));
    assert_eq!(judgement.verdict, Verdict::Review);
}

#[test]
fn more_than_it_may_print_is_told_where_it_was_printed() {
    let bench = Bench::new(&format!("{PLAIN}output_cap = \"2 KiB\"\n"));
    let printed = r#"{"verdict": "PASS"}"#;
    let found = bench.fact(&workshop(End::TooMuchOutput, printed, &[]));
    let (verdict, fact) = found.unwrap();
    let told = (fact.location.as_deref(), fact.expected.as_str());
    let expected = (Some("judge.py"), "it prints at most 2048 bytes");
    assert_eq!((verdict, told), (Verdict::Fail, expected));
    assert_eq!(bench.fact(&workshop(End::Exited(0), printed, &[])), None);
}

#[test]
fn nobody_puts_a_module_beside_it() {
    let bench = Bench::new(&format!(
        "{PLAIN}env = {{ TEST = \"{{{{ field.test }}}}\" }}\n"
    ));
    for path in [".comail/sound/json.py", ".comail/sound", ".comail"] {
        let (verdict, fact) = bench.fact(&workshop(End::Exited(0), "", &[path])).unwrap();
        assert_eq!(
            (verdict, fact.location.as_deref()),
            (Verdict::Fail, Some(path))
        );
    }
    for path in [".comail/sounds/json.py", "json.py", ".comails", "a/.comail"] {
        assert_eq!(bench.fact(&workshop(End::Exited(0), "", &[path])), None);
    }
    let mut unsure = MockWorkshop::new();
    unsure.expect_changes().returning(|| Err("no tree".into()));
    assert_eq!(bench.judge(&unsure).verdict, Verdict::Review);
    let mut without = MockWorkshop::new();
    without.expect_run().returning(|_| ran(End::Exited(0), ""));
    assert_eq!(bench.without_tree().judge(&without).verdict, Verdict::Pass);
}

#[test]
fn a_mistake_is_told() {
    for (from, to, said) in [
        ("judge.py", "juge.py", "has not frozen the file"),
        ("[\"python3\", \"-I\"]", "[]", "name a program"),
        ("\"-I\"", "\"{{ field.test }}\"", "the same for every quest"),
        ("\"python3\"", "\"perl\"", "has not frozen the program"),
        (
            "interpreter",
            "exit = [0]\ninterpreter",
            "unknown field `exit`",
        ),
    ] {
        let what = Bench::new(&PLAIN.replace(from, to)).mistake().what;
        assert!(what.contains(said), "{what}");
    }
}
