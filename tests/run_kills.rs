//! `comail run` killed at any moment: the next one takes up what is left, and nothing is doubled.
//!
//! A few runs are killed in each run of the tests, `COMAIL_TEST_KILLS=200` kills that many.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use crate::harness::agents::{Driven, alive};
use crate::harness::{scale, until};

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
