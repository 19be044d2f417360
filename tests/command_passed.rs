//! Variables that a command is given when it is run, and that nothing keeps.

use std::path::Path;

use comail::world::sandbox::{
    CommandResult, CommandSpec, End, Launcher, LiveSandbox, Pinned, Sandbox, SandboxConfig,
};

use super::harness::bench::{shell, stdout};

/// A variable of every test's environment that is long enough to be looked for.
const PASSED: &str = "CARGO_PKG_DESCRIPTION";

/// What comes of an order, and what kept it from being carried out.
fn run(order: &CommandSpec) -> (CommandResult, Option<String>) {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let shell = Pinned::find("/bin/sh", "".as_ref(), Path::new("/")).expect("a shell");
    let launcher = Launcher::new(env!("CARGO_BIN_EXE_comail").into());
    let config = SandboxConfig {
        programs: vec![shell],
        ..SandboxConfig::without_tree(scratch.path().to_owned(), launcher)
    };
    let sandbox = LiveSandbox::new(&config);
    let ran = sandbox.run(order);
    (ran, sandbox.failure())
}

fn passing(script: &str, names: &[&str]) -> CommandSpec {
    CommandSpec {
        pass: names.iter().map(|name| (*name).to_owned()).collect(),
        reports: vec!["report".to_owned()],
        ..shell(script)
    }
}

#[test]
fn a_command_has_the_value_and_what_it_leaves_has_the_name() {
    let script = format!(
        r#"echo "${{#{PASSED}}}"; echo "no such key: ${PASSED}" >&2
        echo "${PASSED}" > report"#
    );
    let (ran, failure) = run(&passing(&script, &[PASSED]));
    assert_eq!((&ran.end, failure), (&End::Exited(0), None));
    let length = std::env::var(PASSED).expect("cargo sets it").len();
    assert_eq!(stdout(&ran), format!("{length}\n"));
    assert_eq!(ran.stderr, format!("no such key: [{PASSED}]\n").as_bytes());
    let report = format!("[{PASSED}]\n").into_bytes();
    assert_eq!(ran.reports["report"], Some(report));
    let (without, _) = run(&passing(&script, &[]));
    assert_eq!(stdout(&without), "0\n");
}

#[test]
fn an_answer_in_which_the_value_stands_is_none_and_not_our_failure() {
    let script = format!("echo \"${PASSED}\"; echo \"${PASSED}\" >&2; echo report > report");
    let (ran, failure) = run(&passing(&script, &[PASSED]));
    assert_eq!(failure, None);
    let value = std::env::var(PASSED).expect("cargo sets it");
    let End::Withheld(why) = &ran.end else {
        panic!("{ran:?}");
    };
    assert!(why.contains(PASSED) && !why.contains(&value), "{why}");
    assert!(ran.stdout.is_empty() && ran.stderr.is_empty(), "{ran:?}");
    assert_eq!(ran.reports["report"], None);
}

#[test]
fn what_is_not_set_keeps_the_command_from_running() {
    let (ran, failure) = run(&passing("echo ran", &["COMAIL_TEST_NOT_SET"]));
    assert!(matches!(ran.end, End::NotStarted(_)), "{ran:?}");
    assert!(failure.is_some_and(|why| why.contains("COMAIL_TEST_NOT_SET")));
}

#[test]
fn an_order_is_kept_with_the_names_alone() {
    let json = serde_json::to_string(&passing("true", &[PASSED])).expect("JSON");
    assert!(json.contains(&format!(r#""pass":["{PASSED}"]"#)), "{json}");
    let without = serde_json::to_string(&passing("true", &[])).expect("JSON");
    assert!(!without.contains("pass"), "{without}");
}
