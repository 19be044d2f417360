//! `comail run` driven by agents that attack it: its processes, its files, its session.

use crate::harness::agents::{Driven, alive};

/// Answers by the program itself.
const SUBMITS: &str = "comail submit --id $id --answer \"right $id\"";

#[test]
fn what_an_agent_leaves_that_killed_its_supervisor_is_ended() {
    let driven = Driven::new(1);
    let script = "setsid sh -c 'trap \"\" TERM HUP; sleep 98731' >/dev/null 2>&1 </dev/null & \
         sleep 0.1; kill -9 $PPID; sleep 98731";
    let _ = driven.drive(&["--breaker=1"], script).exits(8);
    assert_eq!(alive("sleep 98731"), [""; 0]);
    assert_eq!(driven.reasons("attempt"), ["agent-failed"]);
}

#[test]
fn an_agent_that_killed_its_supervisor_has_failed_and_is_gone_before_the_next() {
    let driven = Driven::new(1);
    // What it leaves would answer for the next.
    let script = format!(
        "mkdir first || {{ ls late 2>/dev/null; {SUBMITS}; exit; }}; \
         setsid sh -c 'sleep 98732; touch late' >/dev/null 2>&1 </dev/null & \
         sleep 0.1; kill -9 $PPID; sleep 98732"
    );
    driven.drive(&["--backoff=1ms"], &script).ok();
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
    driven.drive(&["--grace=200ms"], &script).ok();
    assert_eq!(alive("sleep 98733"), [""; 0]);
}
