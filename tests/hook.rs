//! The hooks of coding agents: when an agent may stop, and what it may run and edit.

mod install;
mod tool;

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::harness::{Place, Run};

/// The program's reply to a call.
#[track_caller]
fn answer(command: &mut Command, call: &[u8]) -> Value {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    // The program may reply before it has read everything.
    let _ = stdin.write_all(call);
    drop(stdin);
    let run = Run::from(child.wait_with_output().expect("the program ends"));
    let stdout = run.ok();
    serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}"))
}

fn scanned(names: &[&str]) -> Place {
    let place = Place::new();
    place.scan(
        names,
        &["--max-tries=1".to_owned(), "--pause-after=2".to_owned()],
    );
    place
}

fn call(active: bool) -> Value {
    json!({
        "session_id": "one", "transcript_path": "/t", "cwd": "/",
        "hook_event_name": "Stop", "stop_hook_active": active,
    })
}

#[track_caller]
fn stop(place: &Place, args: &[&str], said: &Value) -> Value {
    let mut command = place.command();
    command.args(["hook", "stop"]).args(args);
    answer(&mut command, said.to_string().as_bytes())
}

/// Expects that the agent may stop, and returns the reason.
#[track_caller]
fn may_stop(reply: &Value) -> String {
    assert!(reply.get("decision").is_none(), "{reply:#}");
    reply["systemMessage"]
        .as_str()
        .expect("a reason")
        .to_owned()
}

/// Expects that the agent may not stop, and returns its task.
#[track_caller]
fn must_go_on(reply: &Value) -> String {
    assert_eq!(reply["decision"], "block", "{reply:#}");
    reply["reason"].as_str().expect("a reason").to_owned()
}

#[test]
fn a_stop_is_refused_with_the_next_quest_while_quests_are_left() {
    let place = scanned(&["Acme", "Bolt"]);
    let text = must_go_on(&stop(&place, &[], &call(false)));
    let next = place.run(["next"]).ok();
    assert!(text.contains("2 quests left"), "{text}");
    assert!(text.ends_with(&next), "{text}");
    assert_eq!(place.give_up(1), 6);
    let text = must_go_on(&stop(&place, &[], &call(true)));
    assert!(text.contains("Bolt"), "{text}");
    assert!(text.contains("1 quest left"), "{text}");
}

#[test]
fn an_agent_may_stop_when_no_quest_is_left_or_the_session_is_paused() {
    let place = scanned(&["Acme"]);
    must_go_on(&stop(&place, &[], &call(false)));
    assert_eq!(place.give_up(1), 6);
    let said = may_stop(&stop(&place, &[], &call(true)));
    assert!(said.contains("complete"), "{said}");
    let place = scanned(&["Acme", "Bolt", "Cargo"]);
    assert_eq!([place.give_up(1), place.give_up(2)], [6, 6]);
    let said = may_stop(&stop(&place, &[], &call(false)));
    assert!(said.contains("paused"), "{said}");
}

#[test]
fn an_agent_waits_for_other_workers_up_to_the_limit() {
    let place = scanned(&["Acme"]);
    place.run(["next", "--worker=a"]).ok();
    let others = |active| stop(&place, &["--worker=b", "--max-refusals=2"], &call(active));
    for active in [false, true] {
        let text = must_go_on(&others(active));
        assert!(text.contains("other workers hold"), "{text}");
        assert!(text.contains("no quest is available"), "{text}");
    }
    let said = may_stop(&others(true));
    assert!(said.contains("2 times"), "{said}");
    let text = must_go_on(&stop(&place, &["--worker=a"], &call(false)));
    assert!(text.contains("claimed by a"), "{text}");
}

#[test]
fn an_agent_may_stop_after_the_limit_of_refusals() {
    let place = scanned(&["Acme", "Bolt"]);
    let again = |active| stop(&place, &["--max-refusals=3"], &call(active));
    for turn in 0..3 {
        must_go_on(&again(turn > 0));
    }
    let said = may_stop(&again(true));
    assert!(said.contains("2 quests left"), "{said}");
    assert!(said.contains("3 times"), "{said}");
    // The count starts over once the agent may stop, and each conversation has its own.
    must_go_on(&again(false));
    must_go_on(&again(true));
    must_go_on(&again(true));
    let mut other = call(true);
    other["session_id"] = "two".into();
    must_go_on(&stop(&place, &["--max-refusals=3"], &other));
    // It also starts over when the ledger changes.
    assert_eq!(place.give_up(1), 6);
    must_go_on(&again(true));
}

#[test]
fn one_stop_is_refused_if_the_count_cannot_be_saved() {
    let place = scanned(&["Acme"]);
    std::fs::write(place.at(".comail/hooks"), "in the way").expect("a file");
    must_go_on(&stop(&place, &[], &call(false)));
    let said = may_stop(&stop(&place, &[], &call(true)));
    assert!(said.contains("cannot be saved"), "{said}");
}

#[test]
fn an_agent_may_stop_if_the_session_cannot_be_read() {
    let place = Place::new();
    assert!(may_stop(&stop(&place, &[], &call(false))).contains("no session"));
    let place = scanned(&["Acme"]);
    let part = json!({ "hook_event_name": "SubagentStop" });
    may_stop(&stop(&place, &[], &part));
    std::fs::write(place.at(".comail/ledger.jsonl"), "no ledger\n").expect("a file");
    may_stop(&stop(&place, &[], &call(false)));
    // Exit code 2 of bad usage would never let the agent stop.
    let run = place.run(["hook", "stop", "--no-such-flag"]);
    let _ = run.exits(1);
    let _ = place.run(["hook", "tool", "--no-such-flag"]).exits(2);
}

#[test]
fn a_call_that_cannot_be_read_is_answered_from_the_ledger() {
    let place = scanned(&["Acme"]);
    let answer = |said: &[u8]| {
        let mut command = place.command();
        answer(command.args(["hook", "stop", "--max-refusals=3"]), said)
    };
    for said in [&b""[..], b"{", b"\xff"] {
        must_go_on(&answer(said));
    }
    may_stop(&answer(b""));
}

#[test]
fn in_a_run_an_agent_continues_only_its_own_quest() {
    let place = scanned(&["Acme", "Bolt"]);
    let stop = |worker: &str| {
        let mut command = place.command();
        command
            .args(["hook", "stop"])
            .env("COMAIL_RUN", "r")
            .env("COMAIL_WORKER", worker);
        answer(&mut command, call(false).to_string().as_bytes())
    };
    place.run(["next", "--worker=run-r.1"]).ok();
    assert!(must_go_on(&stop("run-r.1")).contains("Acme"));
    let before = place.ledger();
    assert!(may_stop(&stop("run-r.2")).contains("the run"));
    assert_eq!(place.ledger(), before);
    let mut command = place.command();
    command
        .args(["hook", "stop", "--worker=run-r.1"])
        .env("COMAIL_LAST_CALL", "1");
    let last = answer(&mut command, call(false).to_string().as_bytes());
    assert!(may_stop(&last).contains("budget"));
}

#[test]
fn each_agent_gets_its_own_form_of_reply() {
    let place = scanned(&["Acme"]);
    let said = json!({ "hook_event_name": "AfterAgent", "stop_hook_active": false });
    let reply = stop(&place, &["--agent=gemini"], &said);
    assert_eq!(reply["decision"], "deny", "{reply:#}");
    must_go_on(&stop(&place, &["--agent=codex"], &call(false)));
    let _ = place.run(["hook", "tool", "--agent=nobody"]).exits(2);
}
