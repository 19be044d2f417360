//! `comail run` with agents that die, hang, flood or attack it, runs that are killed at any moment,
//! and `--answer world`.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::harness::agents::{Driven, PATH, alive};
use crate::harness::quest_play::{QuestPlay, Shipped};
use crate::harness::{Place, Run, scale, tools, until};

const SUBMITS: &str = "comail submit --id $id --answer \"right $id\"";

const PRINTS: &str = "echo '{\"answer\":\"right it is\"}'";

/// The most bytes that a log may have, with its note.
const MOST_LOG: u64 = 16 * 1024 * 1024 + 100;

/// The most memory that a run may take for it, in bytes.
const MOST_MEMORY: u64 = 400 * 1024 * 1024;

#[test]
fn agents_that_die_at_their_start_end_the_run_and_burn_no_try() {
    let driven = Driven::new(3);
    let flags = ["--set=fruitless-starts=4", "--set=backoff=1ms"];
    let text = driven.drive(&flags, "exit 1").exits(8);
    assert!(text.contains("ended: fruitless-starts"), "{text}");
    let quest = "\nquest 1, word 1: TODO after 4 starts (fruitless-starts)\n";
    assert!(text.contains(quest), "{text}");
    assert_eq!(driven.reasons("attempt"), ["agent-failed"; 4]);
    assert_eq!(driven.place.attempts(), []);
    assert_eq!(driven.tally("todo"), 3);
    driven.assert_free();
}

#[test]
fn an_agent_that_cannot_be_started_ends_the_run() {
    let driven = Driven::new(1);
    let program = driven
        .place
        .write("no-program", "\0no program and no script");
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(program, executable).expect("its permissions");
    let args = [
        "run",
        "--set=fruitless-starts=2",
        "--set=backoff=1ms",
        "--",
        "./no-program",
    ];
    let run = driven.place.run(args);
    run.says("no-program");
    let text = run.exits(8);
    assert!(text.contains("ended: fruitless-starts"), "{text}");
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
    let flags = ["--set=backoff=1ms", "--answer=stdout"];
    // Each dies twice before it answers.
    let script = format!("echo >> tries$id; [ $(wc -l < tries$id) -lt 3 ] && exit 1; {PRINTS}");
    driven.drive(&flags, &script).ok();
    assert_eq!(driven.reasons("attempt").len(), 18);
}

#[test]
fn three_starts_without_a_submission_end_the_run_with_the_last_words_and_a_hint() {
    for parallel in ["--parallel=1", "--parallel=2"] {
        let driven = Driven::new(4);
        // The exit status does not matter, and neither does the quest.
        let script = "echo \"I need a permission for quest $id\"; exit 0";
        let flags = [parallel, "--set=run.max-attempts=1", "--set=backoff=1ms"];
        let run = driven.drive(&flags, script);
        run.says("3 starts in a row brought no submission; the last one ended with: I need a");
        run.says("hint: check the command line of sh, and that it may run `comail submit`");
        let text = run.exits(8);
        assert!(text.contains("ended: fruitless-starts"), "{text}");
        assert_eq!(driven.reasons("ended"), ["fruitless-starts"]);
        assert_eq!(driven.place.attempts(), []);
        driven.assert_free();
        // The last calls of the first quests are not counted, and none is made after the end.
        if parallel == "--parallel=1" {
            assert_eq!(driven.reasons("attempt"), ["agent-failed"; 5]);
        }
    }
}

#[test]
fn output_that_is_no_answer_says_why_at_its_start_and_at_the_end() {
    let flags = ["--answer=stdout", "--set=backoff=1ms"];
    for (printed, why, hint) in [
        (
            r#"{"anser":"right"}"#,
            r#"there is no field "anser"; the fields are answer; did you mean "answer"?"#,
            "hint: check the JSON object that sh prints: there is no field",
        ),
        (
            "right",
            "it printed no JSON object",
            "hint: check the command line of sh, and that it prints its answer as a JSON object",
        ),
    ] {
        let driven = Driven::new(1);
        let run = driven.drive(&flags, &format!("echo '{printed}'"));
        run.says(hint);
        let text = run.exits(8);
        let line = format!("agent-failed, exit 0\n  its output could not be judged: {why}\n");
        assert_eq!(text.matches(&line).count(), 3, "{text}");
    }
    let driven = Driven::new(1);
    let text = driven.drive(&flags, PRINTS).ok();
    assert!(!text.contains("could not be judged"), "{text}");
    assert!(
        text.contains("\nquest 1, word 1: PASS after 1 start\n"),
        "{text}"
    );
}

#[test]
fn a_run_says_once_for_whom_it_waits() {
    let driven = Driven::new(1);
    driven.place.run(["next", "--worker=kim"]).ok();
    let run = driven.drive(&["--wall-clock=500ms", "--set=poll=10ms"], SUBMITS);
    let note = "note: this run waits, because kim holds quest 1\n";
    assert_eq!(run.stderr.matches(note).count(), 1, "{run:?}");
    let hint =
        "hint: if that one is gone, `comail release 1` frees the quest before the lease ends\n";
    assert_eq!(run.stderr.matches(hint).count(), 1, "{run:?}");
    let _ = run.exits(8);

    // A free worker that waits for another agent of its own run says nothing.
    let driven = Driven::new(1);
    let run = driven.drive(&["--parallel=2", "--set=poll=10ms"], SUBMITS);
    assert!(!run.stderr.contains("waits"), "{run:?}");
    run.ok();
}

#[test]
fn a_submission_for_another_quest_does_not_keep_the_run_going() {
    let driven = Driven::new(4);
    let script = "comail submit --id 4 --answer \"wrong\"";
    let text = driven.drive(&["--set=backoff=1ms"], script).exits(8);
    assert!(text.contains("ended: fruitless-starts"), "{text}");
    assert_eq!(driven.reasons("attempt").len(), 3);
}

/// A run of a `claude` that prints these lines and fails.
fn claude(driven: &Driven, lines: &str) -> Command {
    driven.place.write("lines", lines);
    driven.known("claude", "#!/bin/sh\ncat > /dev/null; cat lines; exit 1")
}

#[test]
fn the_end_of_a_fruitless_run_names_what_is_missing() {
    let retry = |status| {
        format!(
            r#"{{"type":"system","subtype":"api_retry","attempt":1,"max_retries":10,"error_status":{status},"session_id":"c-1"}}"#
        )
    };
    let asks = r#"{"type":"result","is_error":false,"result":"May I run comail?","session_id":"c-1","permission_denials":[{"tool_name":"Bash"}]}"#;
    let driven = Driven::new(1);
    let run = Run::of(&mut claude(&driven, asks));
    run.says("the last one ended with: May I run comail?");
    run.says(
        "hint: check that claude is logged in, and allow it to run comail: -- --allowedTools \
         'Bash(comail:*),WebSearch,WebFetch'",
    );
    let text = run.exits(8);
    assert!(text.contains("ended: fruitless-starts"), "{text}");

    let driven = Driven::new(1);
    let run = Run::of(&mut claude(&driven, &retry(401)));
    run.says("hint: log in to claude, or set its API key");
    let _ = run.exits(8);

    assert_eq!(driven.reasons("attempt"), ["not-logged-in"; 3]);

    // A busy provider is no fault of the agent: only the budgets end the run, without a last call.
    let driven = Driven::new(1);
    let mut command = claude(&driven, &retry(429));
    driven.run_ends_for("attempts", command.arg("--set=run.max-attempts=5"));
    assert_eq!(driven.reasons("attempt"), ["rate-limited"; 5]);
    // What is no refusal is followed by a last call.
    let driven = Driven::new(1);
    let mut command = claude(&driven, &retry(500));
    driven.run_ends_for("attempts", command.arg("--set=run.max-attempts=2"));
    assert_eq!(driven.reasons("attempt"), ["agent-failed"; 3]);
}

#[test]
fn a_codex_that_is_refused_says_whether_it_is_the_login_or_the_rate() {
    let fails = |driven: &Driven, text: &str| {
        let line = format!(r#"{{"type":"turn.failed","error":{{"message":"{text}"}}}}"#);
        driven.place.write("lines", line);
        driven.known("codex", "#!/bin/sh\ncat > /dev/null; cat lines; exit 1")
    };
    let driven = Driven::new(1);
    let text = "unexpected status 401 Unauthorized: Invalid API key provided";
    let run = Run::of(&mut fails(&driven, text));
    run.says("hint: log in to codex, or set its API key");
    let _ = run.exits(8);
    assert_eq!(driven.reasons("attempt"), ["not-logged-in"; 3]);

    let driven = Driven::new(1);
    let mut command = fails(
        &driven,
        "exceeded retry limit, last status: 429 Too Many Requests",
    );
    driven.run_ends_for("attempts", command.arg("--set=run.max-attempts=2"));
    assert_eq!(driven.reasons("attempt"), ["rate-limited"; 2]);
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
        "--set=run.quest-timeout=300ms",
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
    // The first is silent forever; the second works for longer than the lease.
    let script = format!(
        "mkdir first && exec sleep 1000; end=$(($(date +%s) + 4)); \
         while [ $(date +%s) -lt $end ]; do :; done; {PRINTS}"
    );
    driven.drive(&flags, &script).ok();
    assert_eq!(driven.reasons("attempt"), ["stalled", "settled"]);
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
    // A confined agent does not see the process of the run.
    let flags = ["--answer=stdout", "--max-tokens=1000M", "--confine=off"];
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

/// How many runs are killed; `COMAIL_TEST_KILLS` asks for more.
const KILLS: u64 = 6;

/// How many quests there are for each run that is killed: enough that every one has work.
const QUESTS: u64 = 2;

/// A mark on the command line of every agent.
const MARK: &str = "agent-of-run-kills";

/// Writes down that it begins at its quest and that it ends there, in one file for all; some are
/// quick and some are slow, and some leave a process behind.
const SCRIPT: &str = ": agent-of-run-kills; \
     note() { flock log sh -c \"echo $1 $id $$ >> log\"; }; \
     note begin; case $((id % 3)) in 0) sleep 0.05;; 1) (sleep 98716 &);; esac; \
     comail submit --id $id --answer right; note end";

#[test]
fn a_run_killed_at_any_moment_is_taken_up_again() {
    let kills = scale::kills(KILLS);
    let quests = kills * QUESTS;
    let driven = Driven::new(u32::try_from(quests).expect("a small number"));
    driven.place.write("log", "");
    let mut moment = 7_u64;
    for _ in 0..kills {
        let mut command = driven.command(&["--parallel=3", "--set=poll=10ms"], SCRIPT);
        // A kill in the middle of adding to a shared file of counts would spoil it.
        command.env("LLVM_PROFILE_FILE", "/dev/null");
        let mut child = command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        // The moment is the test's subject; there is nothing to wait for instead.
        moment = moment
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        thread::sleep(Duration::from_millis(20 + (moment >> 33) % 250));
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
        until("no agent is left", || {
            alive(MARK).is_empty() && alive("sleep 98716").is_empty()
        });
        // Whoever was killed is gone from its quest.
        let log = driven.place.at("log");
        let noted = std::fs::read_to_string(&log).expect("a log");
        std::fs::write(log, noted + "killed 0 0\n").expect("a log");
    }
    driven.drive(&["--parallel=3"], SCRIPT).ok();
    assert_eq!(driven.tally("pass"), quests);
    assert_alone(&std::fs::read_to_string(driven.place.at("log")).expect("a log"));
    assert_eq!(alive("sleep 98716"), [""; 0]);
    assert_eq!(driven.place.attempts().len() as u64, quests);
    // Every run that began has an end, and of all of them one is complete.
    let ends = driven.reasons("ended");
    assert_eq!(ends.len(), driven.steps_of("began").len());
    assert_eq!(ends.last().map(String::as_str), Some("complete"));
    driven.assert_free();
    driven.place.run(["audit"]).ok();
}

/// Expects that no quest had two agents at once.
#[track_caller]
fn assert_alone(log: &str) {
    let mut at_work = BTreeMap::new();
    for line in log.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["killed", ..] => at_work.clear(),
            ["begin", quest, pid] => {
                let other = at_work.insert(quest, pid);
                assert_eq!(other, None, "quest {quest} was driven twice at once: {log}");
            }
            ["end", quest, pid] => assert_eq!(at_work.remove(quest), Some(pid), "{log}"),
            _ => panic!("{line}"),
        }
    }
}

#[test]
#[should_panic(expected = "twice at once")]
fn two_agents_at_one_quest_would_be_seen() {
    assert_alone("begin 1 10\nend 1 10\nbegin 1 11\nbegin 2 12\nbegin 1 13\n");
}

/// The handbook of two chapters, none of which is written.
fn handbook() -> Driven {
    let play = QuestPlay::of("handbook");
    play.scan(
        &play.beside("chapters.jsonl"),
        &["--set=scan.pause-after=0"],
    );
    Driven { place: play.place }
}

fn command(driven: &Driven, flags: &[&str], script: &str) -> Command {
    let whole = Shipped::named("handbook").beside("controls/whole");
    let readable = format!("--set=readable={}", whole.display());
    let flags = [flags, &[readable.as_str()]].concat();
    let mut command = driven.command(&flags, script);
    command.env("PATH", tools::path()).env("whole", whole);
    command
}

#[test]
fn an_agent_is_stopped_the_moment_that_the_checks_hold() {
    let driven = handbook();
    // It does the work, and would then go on forever.
    let script = "cp -r \"$whole\"/. tree; exec sleep 1000";
    let flags = ["--answer=world", "--set=poll=20ms", "--set=grace=100ms"];
    Run::of(&mut command(&driven, &flags, script)).ok();
    assert_eq!(driven.tally("pass"), 2);
    assert_eq!(driven.reasons("attempt"), ["settled"; 2]);
    assert_eq!(driven.place.attempts().len(), 2, "each was judged once");
    driven.place.run(["audit"]).ok();
}

#[test]
fn one_that_does_nothing_has_settled_nothing_whatever_it_says() {
    let driven = handbook();
    let flags = ["--answer=world", "--set=run.max-attempts=1"];
    let mut command = command(&driven, &flags, "echo 'All chapters are written.'");
    driven.run_ends_for("attempts", &mut command);
    assert_eq!(driven.tally("todo"), 2);
}

/// One file to be written, whose right text nobody writes by chance.
const FILES: &str = r#"
name = "files"
unit = "file"
[input]
format = "lines"
[tree]
root = "tree"
write = ["out/*"]
[prompt]
text = "Write out/{{ key }}"
[[check]]
name = "right"
kind = "command"
argv = ["grep", "-q", "right", "out/{{ key }}"]
timeout = "10s"
[[control]]
name = "right"
key = "a"
writes = "right"
verdict = "PASS"
[[control]]
name = "nothing"
key = "a"
verdict = "FAIL"
fires = ["right"]
"#;

fn one_file() -> Driven {
    let place = Place::new();
    std::fs::create_dir_all(place.at("tree/out")).expect("a folder");
    std::fs::create_dir_all(place.at("right/out")).expect("a folder");
    place.write("right/out/a", "right");
    place.write("list.txt", "a");
    place.write("files.toml", FILES);
    let mut scan = place.command();
    scan.env("PATH", PATH).args(["scan", "list.txt"]);
    Run::of(scan.args(["--quest=files.toml", "--tree=tree"])).ok();
    Driven { place }
}

#[test]
fn who_changes_the_tree_asks_with_reason() {
    let flags = [
        "--set=detect-warn=3",
        "--set=detect-stop=6",
        "--set=poll=10ms",
        "--set=grace=100ms",
        "--set=run.max-attempts=1",
    ];
    let asks = |first: &str| {
        format!(
            "i=0; while [ $i -lt 9 ]; do i=$((i+1)); {first}; comail status; sleep 0.1; done; \
             echo right > tree/out/a; comail submit --id $id"
        )
    };
    let driven = one_file();
    driven.drive(&flags, &asks("echo $i > tree/out/a")).ok();
    assert_eq!(driven.reasons("attempt"), ["settled"]);
    one_file().ends_for("poll", &flags, &asks(":"));
}

#[test]
fn an_agent_that_killed_its_supervisor_has_failed_and_is_gone_before_the_next() {
    let driven = Driven::new(1);
    // What it leaves would answer for the next.
    let script = format!(
        "mkdir first || {{ ls late 2>/dev/null; {SUBMITS}; exit; }}; \
         setsid sh -c 'trap \"\" TERM HUP; sleep 98732; touch late' >/dev/null 2>&1 </dev/null & \
         sleep 0.1; kill -9 $PPID; sleep 98732"
    );
    driven
        .drive(&["--confine=off", "--set=backoff=1ms"], &script)
        .ok();
    assert_eq!(alive("sleep 98732"), [""; 0]);
    assert_eq!(driven.reasons("attempt"), ["agent-failed", "settled"]);
    driven.assert_free();
}

#[test]
fn a_supervisor_that_was_stopped_holds_nothing_up() {
    let driven = Driven::new(1);
    let script = format!(
        "setsid sh -c 'trap \"\" TERM; sleep 98733' >/dev/null 2>&1 </dev/null & \
         kill -STOP $PPID; {SUBMITS}; sleep 98733"
    );
    driven
        .drive(&["--confine=off", "--set=grace=200ms"], &script)
        .ok();
    assert_eq!(alive("sleep 98733"), [""; 0]);
}

#[test]
fn no_name_but_its_own_gets_an_agent_a_quest_while_a_run_goes_on() {
    let driven = Driven::new(3);
    // Without the server, commands open the session.
    let script = format!(
        "server=$COMAIL_SERVER; unset COMAIL_SERVER; \
         for name in evil1 evil2; do comail next --worker $name --lease 23h; echo $? >> others; done; \
         comail next --worker run-deadbeef.7 --lease 23h; echo $? >> forged; \
         comail next --worker run-$COMAIL_RUN.99; echo $? >> others; \
         export COMAIL_SERVER=$server; comail next >> own || echo failed >> own; {SUBMITS}"
    );
    driven.drive(&["--confine=off"], &script).ok();
    let read = |name| std::fs::read_to_string(driven.place.at(name)).expect("a file");
    assert!(
        read("others").starts_with("4\n4\n4\n"),
        "{}",
        read("others")
    );
    assert!(read("forged").starts_with("1\n"), "{}", read("forged"));
    assert!(!read("own").contains("failed"), "{}", read("own"));
    driven.assert_free();
    // Without a run the session is as free as before.
    let free = Driven::new(1);
    free.place.run(["next", "--worker=w1"]).ok();
}

#[test]
fn a_run_whose_lock_was_replaced_goes_on_and_no_other_begins_inside_it() {
    let driven = Driven::new(2);
    let script = format!(
        "server=$COMAIL_SERVER; unset COMAIL_SERVER; \
         cd .comail/runs; rm $COMAIL_RUN.lock; touch $COMAIL_RUN.lock deadbeef.lock; cd ../..; \
         comail next --worker w1; echo $? >> others; \
         comail run -- true; echo $? >> inside; \
         env -u COMAIL_RUN comail run -- true; echo $? >> inside; \
         export COMAIL_SERVER=$server; {SUBMITS}"
    );
    driven.drive(&["--confine=off"], &script).ok();
    let read = |name| std::fs::read_to_string(driven.place.at(name)).expect("a file");
    assert!(read("inside").starts_with("2\n2\n"), "{}", read("inside"));
    assert!(read("others").starts_with("4\n"), "{}", read("others"));
    assert_eq!(driven.reasons("ended"), ["complete"]);
    assert_eq!(driven.steps_of("began").len(), 1);
    driven.assert_free();
}

#[test]
fn a_last_call_may_use_up_a_tenth_and_nothing_where_the_run_has_no_more() {
    let tells = "echo '{\"usage\":{\"input_tokens\":5000}}'; exec sleep 98734";
    let script = format!("case \"$prompt\" in *'last call'*) {tells};; esac");
    let driven = Driven::new(1);
    let flags = [
        "--set=run.max-attempts=1",
        "--max-tokens=10k",
        "--set=grace=100ms",
    ];
    let _ = driven.drive(&flags, &script).exits(8);
    assert_eq!(driven.reasons("attempt"), ["agent-failed", "tokens"]);
    let driven = Driven::new(1);
    let flags = ["--set=max-tokens-total=5k", "--set=grace=100ms"];
    let _ = driven.drive(&flags, tells).exits(8);
    assert_eq!(driven.reasons("attempt"), ["tokens"]);
}

#[test]
fn one_token_that_is_told_does_not_hide_what_is_written() {
    let driven = Driven::new(1);
    let script = "echo '{\"type\":\"result\",\"usage\":{\"input_tokens\":1}}'; \
         head -c 2000000 /dev/zero | tr '\\0' x | fold -w 1000; exec sleep 98735";
    let flags = [
        "--max-tokens=100k",
        "--set=grace=100ms",
        "--set=last-call=100ms",
    ];
    let _ = driven.drive(&flags, script).exits(8);
    assert_eq!(driven.reasons("quest"), ["tokens"]);
    let spent = &driven.steps_of("attempt")[0]["spent"];
    assert_eq!(spent["told"], false);
    assert!(spent["tokens"].as_u64() > Some(400_000), "{spent}");
}

#[test]
fn what_is_planted_where_a_run_keeps_its_own_does_not_end_it() {
    let driven = Driven::new(2);
    let script = format!(
        "cd .comail/runs/$COMAIL_RUN; mkdir -p report.json/x report.md/x report.html/x; \
         touch 2.log; cd - >/dev/null; {SUBMITS}"
    );
    driven.drive(&["--confine=off"], &script).ok();
    assert_eq!(driven.tally("pass"), 2);
}
