//! `comail run`: agents that die, hang, flood or were never born, and a run that is killed itself.

use std::process::Stdio;

use crate::harness::agents::{Driven, alive};
use crate::harness::{Run, scale, until};

const PRINTS: &str = "echo '{\"answer\":\"right it is\"}'";

/// The most bytes that a log may have, with its note.
const MOST_LOG: u64 = 16 * 1024 * 1024 + 100;

/// The most memory that a run may take for it, in bytes.
const MOST_MEMORY: u64 = 400 * 1024 * 1024;

#[test]
fn agents_that_die_at_their_start_end_the_run_and_burn_no_try() {
    let driven = Driven::new(3);
    let flags = ["--set=breaker=4", "--set=backoff=1ms"];
    let text = driven.drive(&flags, "exit 1").exits(8);
    assert!(text.contains("ended: breaker"), "{text}");
    assert_eq!(driven.reasons("attempt"), ["agent-failed"; 4]);
    assert_eq!(driven.place.attempts(), []);
    assert_eq!(driven.tally("todo"), 3);
    driven.assert_free();
}

#[test]
fn an_agent_that_cannot_be_started_ends_the_run() {
    let driven = Driven::new(1);
    driven.place.write("no-program", "not even a script");
    let args = [
        "run",
        "--set=breaker=2",
        "--set=backoff=1ms",
        "--",
        "./no-program",
    ];
    let run = driven.place.run(args);
    run.says("no-program");
    let text = run.exits(8);
    assert!(text.contains("ended: breaker"), "{text}");
}

#[test]
fn what_cannot_come_to_anything_is_refused_before_anything_is_started() {
    let driven = Driven::new(1);
    let before = driven.place.ledger();
    for (args, code, why) in [
        (&["run", "--", "./gone"][..], 1, "there is no such program"),
        (&["run", "--", "comail-is-no-agent"], 1, "not in PATH"),
        (&["run", "--dir=gone", "--", "true"], 1, "not a directory"),
        (
            &["run", "--answer=world", "--", "true"],
            2,
            "fields to submit",
        ),
    ] {
        let run = driven.place.run(args);
        assert!(run.stderr.contains(why), "{args:?}: {}", run.stderr);
        run.exits(code);
        assert_eq!(driven.place.ledger(), before, "{args:?}");
    }
}

#[test]
fn one_that_lives_in_between_keeps_the_run_going() {
    let driven = Driven::new(6);
    let flags = ["--set=breaker=3", "--set=backoff=1ms", "--answer=stdout"];
    // Each dies twice before it answers.
    let script = format!("echo >> tries$id; [ $(wc -l < tries$id) -lt 3 ] && exit 1; {PRINTS}");
    driven.drive(&flags, &script).ok();
    assert_eq!(driven.reasons("attempt").len(), 18);
}

#[test]
fn an_agent_that_dies_half_way_is_started_again() {
    let driven = Driven::new(2);
    let flags = ["--answer=stdout", "--set=backoff=1ms"];
    let script = format!("mkdir been$id && {{ echo working; kill -9 $$; }}; {PRINTS}");
    driven.drive(&flags, &script).ok();
    assert_eq!(driven.reasons("quest"), ["settled"; 2]);
    assert_eq!(driven.reasons("attempt").len(), 4);
}

#[test]
fn a_wedged_agent_that_ignores_being_asked_is_killed_with_all_it_started() {
    let driven = Driven::new(1);
    let flags = [
        "--quest-timeout=300ms",
        "--set=grace=200ms",
        "--set=last-call=300ms",
    ];
    let script = "trap '' TERM; sh -c 'trap \"\" TERM; sleep 98713' & sleep 98713";
    let text = driven.drive(&flags, script).exits(8);
    assert!(text.contains("ended: quest-timeout"), "{text}");
    assert_eq!(alive("sleep 98713"), [""; 0]);
    assert_eq!(driven.reasons("attempt"), ["quest-timeout"; 2]);
}

#[test]
fn a_silent_agent_is_stopped_when_its_lease_ends_and_a_busy_one_is_not() {
    let driven = Driven::new(1);
    let flags = ["--set=lease=1s", "--set=grace=100ms", "--answer=stdout"];
    // The first is silent for ever; the second works for longer than the lease.
    let script = format!(
        "mkdir first && exec sleep 1000; end=$(($(date +%s) + 4)); \
         while [ $(date +%s) -lt $end ]; do :; done; {PRINTS}"
    );
    driven.drive(&flags, &script).ok();
    assert_eq!(driven.reasons("attempt"), ["agent-failed", "settled"]);
}

#[test]
fn a_person_who_ends_the_run_leaves_nothing_behind() {
    let driven = Driven::new(2);
    let mut command = driven.command(&["--set=grace=200ms"], "touch begun; sleep 98714");
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = child.spawn().expect("the program starts");
    until("an agent begins", || driven.place.at("begun").exists());
    let pid = nix_pid(child.id());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).expect("a signal");
    let run = Run::from(child.wait_with_output().expect("its end"));
    let _ = run.exits(130);
    assert_eq!(alive("sleep 98714"), [""; 0]);
    assert_eq!(driven.reasons("quest"), ["interrupted"]);
    assert_eq!(driven.reasons("ended"), ["interrupted"]);
    driven.assert_free();
}

#[test]
fn the_log_of_an_agent_is_bounded_and_the_run_goes_on() {
    let megabytes = scale::pick(50, 1024);
    let driven = Driven::new(2);
    // No line has an end, and the answer comes behind all of it.
    let script = format!(
        "[ $id = 1 ] && head -c {megabytes}M /dev/zero | tr '\\0' x; \
         echo; echo '{{\"answer\":\"right\"}}'; \
         grep VmHWM /proc/$(cut -d' ' -f4 /proc/$PPID/stat)/status > memory$id"
    );
    // What is estimated by what it printed is no matter here.
    let flags = ["--answer=stdout", "--max-tokens=1000M"];
    driven.drive(&flags, &script).ok();
    assert_eq!(driven.tally("pass"), 2);
    let run = driven.steps_of("began")[0]["run"].clone();
    let folder = driven
        .place
        .at(".comail/runs")
        .join(run.as_str().expect("a name"));
    let log = |start: u32| {
        let log = folder.join(format!("{start}.log"));
        std::fs::metadata(log).expect("a log").len()
    };
    assert!(log(1) < MOST_LOG, "{}", log(1));
    assert!(log(1) > 1024 * 1024 && log(2) < 1024);
    let memory = std::fs::read_to_string(driven.place.at("memory1")).expect("a number");
    let kilobytes = memory.split_whitespace().nth(1).expect("a number");
    let memory = kilobytes.parse::<u64>().expect("a number") * 1024;
    assert!(memory < MOST_MEMORY, "{memory}");
}

#[test]
fn a_run_that_was_killed_is_resumed_by_the_next() {
    let driven = Driven::new(8);
    for kill in 0..3 {
        let mark = format!("begun{kill}");
        let script = format!("echo >> {mark}; sleep 98715");
        let mut command = driven.command(&["--parallel=2"], &script);
        command.env("LLVM_PROFILE_FILE", "/dev/null");
        let child = command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = child.spawn().expect("the program starts");
        until("an agent begins", || driven.place.at(&mark).exists());
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
        until("no agent is left", || alive("sleep 98715").is_empty());
    }
    let run = driven.drive(&["--answer=stdout", "--parallel=2"], PRINTS);
    run.says("was killed");
    run.ok();
    assert_eq!(driven.tally("pass"), 8);
    let ends = driven.reasons("ended");
    let expected = ["interrupted", "interrupted", "interrupted", "complete"];
    assert_eq!(ends, expected);
    // Every drive has an end, and every start.
    let quests = driven.reasons("quest");
    let settled = quests.iter().filter(|it| *it == "settled").count();
    assert_eq!(settled, 8);
    assert!(quests.len() > 8, "{quests:?}");
    driven.assert_free();
    driven.place.run(["audit"]).ok();
}

fn nix_pid(id: u32) -> nix::unistd::Pid {
    nix::unistd::Pid::from_raw(i32::try_from(id).expect("a process"))
}
