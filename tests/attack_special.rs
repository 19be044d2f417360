//! Pipes, devices and endless files where a session's own files are looked for.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

use crate::harness::{Place, Run};

/// Longer than any of this takes, and shorter than for ever.
const PATIENCE: Duration = Duration::from_secs(20);

/// Runs a command that must end, however what lies there.
#[track_caller]
fn ends(command: &mut Command) -> Run {
    let piped = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().expect("the program starts");
    let began = Instant::now();
    while child.try_wait().expect("a child").is_none() {
        if began.elapsed() > PATIENCE {
            child.kill().expect("a child");
            panic!("it hangs: {command:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Run::from(child.wait_with_output().expect("what it wrote"))
}

fn pipe(path: &Path) {
    let _ = fs::remove_file(path);
    mkfifo(path, Mode::S_IRWXU).expect("a pipe");
}

fn scanned() -> Place {
    let place = Place::new();
    place.scan(&["Acme"], &[]);
    place
}

const READING: [&[&str]; 9] = [
    &["next"],
    &["status"],
    &["submit", "--id=1", "--none=x"],
    &["audit"],
    &["export", "out.csv", "--force"],
    &["log"],
    &["doctor"],
    &["review"],
    &["forget", "info@acme.com", "--note=asked"],
];

#[test]
fn what_a_session_rests_on_is_a_file_or_refused() {
    for name in ["session.json", "ledger.jsonl"] {
        let place = scanned();
        pipe(&place.at(".comail").join(name));
        for words in READING {
            let run = ends(place.command().args(words));
            let told = [&run.stdout[..], &run.stderr].concat();
            assert!(
                run.code != 0 && told.contains("not a regular file"),
                "{words:?}: {run:?}"
            );
            assert!(told.contains(name), "{words:?}: {run:?}");
        }
        let path = place.at(".comail").join(name);
        fs::remove_file(&path).unwrap();
        symlink("/dev/zero", &path).unwrap();
        ends(place.command().arg("status")).exits(1);
    }
    let place = scanned();
    let manifest = fs::File::create(place.at(".comail/session.json")).unwrap();
    manifest.set_len(4 << 30).unwrap();
    let run = ends(place.command().arg("next"));
    run.says("longer than");
    run.exits(1);
}

#[test]
fn an_index_that_is_no_file_is_made_anew() {
    for name in ["", "-journal", "-wal", "-shm"] {
        let name = format!("index.sqlite{name}");
        let place = scanned();
        pipe(&place.at(".comail").join(&name));
        let run = ends(place.command().arg("next"));
        assert!(run.stderr.contains("not a regular file"), "{name}: {run:?}");
        run.ok();
        ends(place.command().args(["submit", "--id=1", "--none=x"])).exits(5);
        assert_eq!(ends(place.command().arg("status")).stderr, "");
    }
}

#[test]
fn a_lock_that_is_no_file_lets_read_and_not_write() {
    let place = scanned();
    pipe(&place.at(".comail/lock"));
    ends(place.command().arg("status")).ok();
    let run = ends(place.command().args(["submit", "--id=1", "--none=x"]));
    assert!(
        run.stderr.contains("lock") && run.stderr.contains("not a regular file"),
        "{run:?}"
    );
    run.exits(1);
}

#[test]
fn a_copy_is_a_file_in_the_session() {
    let place = scanned();
    pipe(&place.at(".comail/source.txt"));
    for words in [
        &["export", "out.csv"][..],
        &["audit"],
        &["forget", "info@acme.com", "--note=asked"],
    ] {
        let run = ends(place.command().args(words));
        assert_ne!(run.code, 0, "{words:?}: {run:?}");
    }
    for copy in ["/dev/zero", "../../x", "a/b", ".."] {
        let place = scanned();
        let path = place.at(".comail/session.json");
        let manifest = fs::read_to_string(&path).unwrap();
        assert!(manifest.contains("\"source.txt\""));
        fs::write(
            &path,
            manifest.replace("\"source.txt\"", &format!("{copy:?}")),
        )
        .unwrap();
        let run = ends(place.command().args(["export", "out.csv"]));
        run.says("no name of a file");
        run.exits(1);
    }
}

#[test]
fn a_key_press_is_answered_whatever_lies_there() {
    for name in "session.json ledger.jsonl index.sqlite index.sqlite-journal index.sqlite-wal"
        .split_whitespace()
    {
        let place = scanned();
        pipe(&place.at(".comail").join(name));
        let mut command = place.command();
        command.env("COMAIL_COMPLETE", "fish");
        let began = Instant::now();
        let run = ends(command.args(["--", "comail", "submit", "--company", ""]));
        assert!(began.elapsed() < Duration::from_secs(5), "{name}: {run:?}");
        assert_eq!(run.stderr, "");
        run.ok();
    }
}

#[test]
fn rules_that_are_no_file_forbid_and_keep_nobody_waiting() {
    let place = scanned();
    pipe(&place.at("rules.toml"));
    let mut command = place.command();
    command.args(["hook", "tool", "--rules", "rules.toml"]);
    let run = ends(command.stdin(Stdio::null()));
    assert!(run.stdout.contains("deny"), "{run:?}");
}
