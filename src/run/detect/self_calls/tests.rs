use proptest::prelude::*;
use serde_json::json;

use super::*;

fn bash(line: &str) -> Option<SelfCall> {
    SelfCall::in_arguments(&json!({"command": line, "description": "what it is for"}))
}

#[test]
fn questions_are_known_wherever_they_stand() {
    for line in [
        "comail next",
        "comail --json next --worker w",
        "/opt/bin/comail --session 'a dir' next",
        "cd /tmp/it && comail next | head -40",
        "COMAIL_WORKER=a comail next 2>&1",
        "sleep 5; comail next",
        "timeout 5 comail next",
        "bash -lc 'comail next'",
        "while comail next; do sleep 1; done",
        "x=$(comail next)",
    ] {
        assert_eq!(bash(line), Some(SelfCall::Next), "{line}");
    }
    assert_eq!(bash("comail status --json"), Some(SelfCall::Status));
    let codex = json!({"command": ["bash", "-lc", "comail status"]});
    assert_eq!(SelfCall::in_arguments(&codex), Some(SelfCall::Status));
    let words = json!({"cmd": ["comail", "status"]});
    assert_eq!(SelfCall::in_arguments(&words), Some(SelfCall::Status));
}

#[test]
fn work_is_no_question() {
    for line in [
        "cargo test && comail status",
        "comail status; make",
        "echo comail next",
        "grep 'comail next' README.md",
        "ls # comail next",
        "comail rules",
        "comailx next",
        "",
    ] {
        assert_eq!(bash(line), None, "{line}");
    }
    assert_eq!(
        SelfCall::in_arguments(&json!({"path": "comail next"})),
        None
    );
    assert_eq!(SelfCall::in_arguments(&json!("comail next")), None);
}

#[test]
fn an_answer_is_known_by_its_flags_whatever_their_order() {
    let one = bash("comail submit --id 3 --email 'a@b.c' --site=https://b.c");
    assert!(matches!(one, Some(SelfCall::Submit(_))));
    for same in [
        "comail submit --site https://b.c --email a@b.c --id 3",
        "make && comail --json submit --email \"a@b.c\" --id=3 --site=https://b.c || true",
        "comail next; sh -c \"comail submit --id 3 --email a@b.c --site https://b.c\"",
    ] {
        assert_eq!(bash(same), one, "{same}");
    }
    for other in [
        "comail submit --id 4 --email a@b.c --site https://b.c",
        "comail submit --id 3 --email https://b.c --site a@b.c",
        "comail submit --id 3",
    ] {
        assert_ne!(bash(other), one, "{other}");
    }
}

fn called(line: &str) -> Vec<String> {
    simple_commands(line)
        .iter()
        .filter_map(|simple| simple.called())
        .map(|(program, rest)| format!("{program}({})", rest.join(",")))
        .collect()
}

#[test]
fn finds_the_programs_that_are_called() {
    assert_eq!(called("a b 'c d' \"e\\\"f\" g\\ h"), ["a(b,c d,e\"f,g h)"]);
    assert_eq!(
        called("a;b&&c||d|e&f\ng"),
        ["a()", "b()", "c()", "d()", "e()", "f()", "g()"]
    );
    assert_eq!(called("X=1 /usr/bin/a b # c; d"), ["a(b)"]);
    assert_eq!(called("while a; do b; done"), ["a()", "b()"]);
    assert_eq!(called("a 2>&1 b"), ["a(2>&1,b)"]);
    assert_eq!(called("timeout 5 a"), ["a()"]);
    assert_eq!(called("a '; b'"), ["a(; b)"]);
}

#[test]
fn a_shell_is_given_a_script() {
    let words = |words: &[&str]| {
        words
            .iter()
            .map(|&word| word.to_owned())
            .collect::<Vec<_>>()
    };
    let given = words(&["-l", "-c", "a b"]);
    assert_eq!(script_of("bash", &given), Some("a b"));
    assert_eq!(script_of("python", &given), None);
    assert_eq!(script_of("bash", &words(&["x.sh"])), None);
}

proptest! {
    #[test]
    fn never_panics(line in any::<String>()) {
        for simple in simple_commands(&line) {
            let _ = simple.called();
        }
    }
}
