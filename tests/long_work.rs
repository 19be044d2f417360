//! Long work: a bar at a terminal and silence elsewhere; Ctrl-C ends it with 130, and nothing of
//! it is half there.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::harness::agents::{Driven, QUEST};
use crate::harness::tmux::Tmux;
use crate::harness::{Place, Run, poll};

/// How many quests keep the program busy until it is interrupted.
const MANY: usize = 20_000;

/// The names of all that lies in a directory.
fn names(dir: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(dir).expect("a directory");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    names
        .map(|name| name.into_string().expect("UTF-8"))
        .collect()
}

fn has(dir: &Path, is_it: fn(&str) -> bool) -> bool {
    names(dir).iter().any(|name| is_it(name))
}

/// Runs the program, and presses Ctrl-C once `begun` says so.
#[track_caller]
fn interrupted(place: &Place, args: &[&str], begun: impl Fn(&Child) -> bool) -> Run {
    let mut command = place.command();
    command.args(args);
    signalled("INT", command, begun)
}

/// Runs the command, and sends it the signal once `begun` says so.
#[track_caller]
fn signalled(signal: &str, mut command: Command, begun: impl Fn(&Child) -> bool) -> Run {
    let piped = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = piped.spawn().expect("the program starts");
    poll::until("it has begun", || begun(&child));
    let id = child.id().to_string();
    let killed = Command::new("kill").args(["-s", signal, &id]).status();
    assert!(killed.expect("kill runs").success());
    Run::from(child.wait_with_output().expect("the program ends"))
}

/// Whether the program has said that it heeds Ctrl-C.
fn heeds(child: &Child) -> bool {
    const SIGINT: u64 = 1 << 1;
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    caught.is_some_and(|mask| mask & SIGINT != 0)
}

#[track_caller]
fn assert_stopped(run: &Run) {
    assert_eq!(run.code, 130, "{run:?}");
    assert_eq!(run.stdout, "");
    run.says("stopped before its end");
}

/// A list of so many names.
fn listed(count: usize) -> Place {
    let place = Place::new();
    let names: Vec<String> = (0..count)
        .map(|number| format!("Company {number}"))
        .collect();
    place.write("companies.txt", names.join("\n"));
    place
}

#[test]
fn what_ctrl_c_ends_leaves_nothing_behind() {
    let place = listed(MANY);
    let draft: fn(&str) -> bool = |name| name.starts_with(".comail-new-");
    let run = interrupted(&place, &["scan", "companies.txt"], |_| {
        has(place.path(), draft)
    });
    assert_stopped(&run);
    assert_eq!(names(place.path()), ["companies.txt".to_owned()].into());

    let run = place.run(["scan", "companies.txt"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let ledger = place.ledger();
    let session = || names(&place.at(".comail"));
    let before = session();

    place.write("out.csv", "old");
    let export = ["export", "--out=out.csv", "--force"];
    let part: fn(&str) -> bool = |name| name.starts_with(".comail-") && name.contains(".part");
    assert_stopped(&interrupted(&place, &export, |_| has(place.path(), part)));
    assert!(!has(place.path(), part));
    assert_eq!(fs::read(place.at("out.csv")).expect("a file"), b"old");

    let run = interrupted(&place, &["audit"], heeds);
    assert_eq!(run.code, 130, "{run:?}");

    let list = fs::read_to_string(place.at("companies.txt")).expect("the list");
    place.write("more.txt", list + "\nOne more\n");
    let more = ["scan", "--update", "more.txt"];
    assert_stopped(&interrupted(&place, &more, heeds));
    assert_eq!((session(), place.ledger()), (before.clone(), ledger));

    fs::remove_file(place.at(".comail/index.sqlite")).expect("an index");
    let making: fn(&str) -> bool = |name| name == "index.sqlite-new";
    let dir = place.at(".comail");
    let made = |child: &Child| has(&dir, making) && heeds(child);
    assert_stopped(&interrupted(&place, &["status"], made));
    assert!(!has(&dir, making) && !has(&dir, |name| name == "index.sqlite"));

    // All of it goes on as if nothing had been.
    let status = place.run(["status"]).ok();
    assert!(status.starts_with("20000 quests, 20000 left"), "{status}");
    assert_eq!(session(), before);
    let run = place.run(export);
    run.says("20000 of 20000 quests are still TODO");
    run.ok();
    assert_ne!(fs::read(place.at("out.csv")).expect("a file"), b"old");
}

#[test]
fn a_run_that_is_stopped_in_its_report_ends_as_stopped() {
    let slow = QUEST.replace(
        r#"["grep", "-q", "^right"]"#,
        r#"["sh", "-c", "sleep 1; grep -q ^right"]"#,
    );
    assert_ne!(slow, QUEST);
    for signal in ["INT", "TERM"] {
        let driven = Driven::of_kind(&slow, 3, &[]);
        let flags = ["--answer=stdout", "--parallel=3"];
        let command = driven.command(&flags, r#"echo '{"answer":"right"}'"#);
        // The report comes after the end of the run, and judges each quest for a second.
        let run = signalled(signal, command, |_| driven.reasons("ended") == ["complete"]);
        run.says("NOT COMPLETE; the report is ");
        assert_eq!(run.code, 130, "{signal}: {run:?}");
    }
}

#[test]
fn at_a_terminal_a_bar_tells_how_far_it_is() {
    // It is looked for while it moves, and the work is ended long before its end.
    let place = listed(10 * MANY);
    let scan = ["scan", "companies.txt"];
    let tmux = Tmux::run(&place, (100, 24), &[], &scan);
    let screen = tmux.glimpses(&["writing the session ", " of 200,000, ", "/s, ", " left"]);
    assert_eq!(screen.matches(" left").count(), 1, "{screen}");
    // The key itself would end the shell around it as well.
    tmux.signal("INT");
    assert_eq!(tmux.ends(), 130);
    let screen = tmux.shows(&["stopped before its end"]);
    assert!(!screen.contains("writing the session"), "{screen}");
    assert!(!has(place.path(), |name| name.starts_with(".comail")));
}
