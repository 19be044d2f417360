//! `command-policy` against lines that are meant to slip through.

use crate::gate::checks::bench::Bench;

const CHECK: &str = r#"
    kind = "command-policy"
    field = "value"
    allow = ["git status", "git log", "ls", "cargo"]
    prompt = ["git push", "cargo publish"]
    forbid = ["git push --force", "rm"]
"#;

fn fired(line: &str) -> Vec<String> {
    Bench::of(CHECK).submit("value", line).fired()
}

#[test]
fn allowed_commands_pass() {
    for line in [
        "git status",
        " git  status --short ",
        "'git' \"status\"",
        "ls -l src/*.rs",
        "git log --format='%h $(x) ; | `y`'",
        "ls | ls -l && git status || cargo test; git log",
        "git log HEAD~1",
        "ls \\; x",
        "cargo test;",
    ] {
        assert_eq!(fired(line), [""; 0], "{line}");
    }
}

#[test]
fn commands_to_ask_about_are_left_to_a_person() {
    for line in [
        "git push",
        "git push origin main",
        "cargo publish --dry-run",
        "ls; git push",
    ] {
        assert_eq!(fired(line), ["it-unconfirmed"], "{line}");
    }
}

#[test]
fn the_gravest_decides() {
    for line in ["rm -rf x", "git push --force", "git push --force origin"] {
        assert_eq!(fired(line), ["it"], "{line}");
    }
    assert_eq!(fired("git push && rm x"), ["it", "it-unconfirmed"]);
    assert_eq!(fired("ls|rm x"), ["it"]);
}

#[test]
fn what_is_on_no_list_is_refused_or_asked_about() {
    for line in [
        "git",
        "git commit",
        "/tmp/git status",
        "./ls",
        "lsof",
        "LS",
        "git\u{a0}status",
    ] {
        assert_eq!(fired(line), ["it"], "{line}");
    }
    let asks = Bench::of(&format!("{CHECK}default = \"prompt\""));
    assert_eq!(
        asks.clone().submit("value", "make").fired(),
        ["it-unconfirmed"]
    );
    assert_eq!(asks.submit("value", "rm x").fired(), ["it"]);
}

#[test]
fn what_a_shell_would_make_something_else_of_is_refused() {
    for line in [
        "ls $(rm x)",
        "ls `rm x`",
        "ls \"$(rm x)\"",
        "ls \"`rm x`\"",
        "ls $HOME",
        "ls $'\\n'",
        "ls <(rm x)",
        "ls > x",
        "ls < x",
        "ls\nrm x",
        "ls\rrm x",
        "(rm x)",
        "{ rm x; }",
        "ls & rm x",
        "ls &",
        "PATH=/tmp ls",
        "A+=1 ls",
        "git {push,--force}",
        "git stat*",
        "l? x",
        "ls # x",
        "ls 'x",
        "ls \"x",
        "ls \\",
        "ls !!",
        "~/ls",
        "; ls",
        "ls ;; ls",
        "ls &&",
        "ls |",
        "ls || || ls",
        "ls \0",
    ] {
        assert!(fired(line).contains(&"it".to_owned()), "{line:?}");
    }
    assert_eq!(fired(" "), [""; 0]);
}

#[test]
fn an_entry_that_is_no_command_is_a_mistake() {
    for entry in ["", "ls; rm", "ls $x", "git stat*"] {
        let check = format!("kind = \"command-policy\"\nfield = \"value\"\nallow = [{entry:?}]");
        assert!(!Bench::of(&check).mistake().is_empty(), "{entry}");
    }
    let none = "kind = \"command-policy\"\nfield = \"value\"";
    assert!(Bench::of(none).mistake().contains("allow"));
}
