//! The hooks of coding agents: who may stop, and what may be run and edited.

mod install;
mod tool;

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::harness::{Place, Run};

/// What the program answers to an agent that says this.
#[track_caller]
fn answer(command: &mut Command, said: &[u8]) -> Value {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    // Who does not read it to its end has its reasons.
    let _ = stdin.write_all(said);
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

/// Expects that the agent may stop, and returns what is said.
#[track_caller]
fn lets_go(reply: &Value) -> String {
    assert!(reply.get("decision").is_none(), "{reply:#}");
    reply["systemMessage"]
        .as_str()
        .expect("a reason")
        .to_owned()
}

/// Expects that the agent may not stop, and returns what it is handed.
#[track_caller]
fn holds(reply: &Value) -> String {
    assert_eq!(reply["decision"], "block", "{reply:#}");
    reply["reason"].as_str().expect("a reason").to_owned()
}

#[test]
fn while_quests_are_left_a_stop_is_refused_with_the_next() {
    let place = scanned(&["Acme", "Bolt"]);
    let text = holds(&stop(&place, &[], &call(false)));
    let next = place.run(["next"]).ok();
    assert!(
        text.contains("2 quests left") && text.ends_with(&next),
        "{text}"
    );
    assert_eq!(place.give_up(1), 6);
    let text = holds(&stop(&place, &[], &call(true)));
    assert!(
        text.contains("Bolt") && text.contains("1 quest left"),
        "{text}"
    );
}

#[test]
fn an_agent_may_stop_when_all_is_settled() {
    let place = scanned(&["Acme"]);
    holds(&stop(&place, &[], &call(false)));
    assert_eq!(place.give_up(1), 6);
    let said = lets_go(&stop(&place, &[], &call(true)));
    assert!(said.contains("complete"), "{said}");
}

#[test]
fn an_agent_may_stop_when_the_session_is_paused() {
    let place = scanned(&["Acme", "Bolt", "Cargo"]);
    assert_eq!([place.give_up(1), place.give_up(2)], [6, 6]);
    let said = lets_go(&stop(&place, &[], &call(false)));
    assert!(said.contains("paused"), "{said}");
}

#[test]
fn an_agent_that_others_leave_nothing_waits_and_is_let_go_in_the_end() {
    let place = scanned(&["Acme"]);
    place.run(["next", "--worker=a"]).ok();
    let others = |active| stop(&place, &["--worker=b", "--most=2"], &call(active));
    for active in [false, true] {
        let text = holds(&others(active));
        assert!(
            text.contains("others hold") && text.contains("nothing is free"),
            "{text}"
        );
    }
    let said = lets_go(&others(true));
    assert!(said.contains("2 times"), "{said}");
    let text = holds(&stop(&place, &["--worker=a"], &call(false)));
    assert!(text.contains("claimed by a"), "{text}");
}

#[test]
fn an_agent_is_let_go_when_nothing_new_comes_of_it() {
    let place = scanned(&["Acme", "Bolt"]);
    let again = |active| stop(&place, &["--most=3"], &call(active));
    for turn in 0..3 {
        holds(&again(turn > 0));
    }
    let said = lets_go(&again(true));
    assert!(
        said.contains("2 quests left") && said.contains("3 times"),
        "{said}"
    );
    // A new turn begins with new patience, and so does another conversation.
    holds(&again(false));
    holds(&again(true));
    holds(&again(true));
    let mut other = call(true);
    other["session_id"] = "two".into();
    holds(&stop(&place, &["--most=3"], &other));
    // So it does when the ledger moves.
    assert_eq!(place.give_up(1), 6);
    holds(&again(true));
}

#[cfg(unix)]
#[test]
fn where_refusals_cannot_be_counted_one_is_all() {
    let place = scanned(&["Acme"]);
    std::fs::write(place.at(".comail/hooks"), "in the way").expect("a file");
    holds(&stop(&place, &[], &call(false)));
    let said = lets_go(&stop(&place, &[], &call(true)));
    assert!(said.contains("cannot be kept"), "{said}");
}

#[test]
fn what_cannot_be_judged_lets_an_agent_go() {
    let place = Place::new();
    assert!(lets_go(&stop(&place, &[], &call(false))).contains("no session"));
    let place = scanned(&["Acme"]);
    let part = json!({ "hook_event_name": "SubagentStop" });
    lets_go(&stop(&place, &[], &part));
    std::fs::write(place.at(".comail/ledger.jsonl"), "no ledger\n").expect("a file");
    lets_go(&stop(&place, &[], &call(false)));
    // At 2, the exit of bad usage, an agent would be held.
    let run = place.run(["hook", "stop", "--no-such-flag"]);
    let _ = run.exits(1);
    let _ = place.run(["hook", "tool", "--no-such-flag"]).exits(2);
}

#[test]
fn an_agent_that_says_nothing_readable_is_held_by_the_ledger_and_let_go_in_the_end() {
    let place = scanned(&["Acme"]);
    for said in [&b""[..], b"{", b"\xff"] {
        let mut command = place.command();
        holds(&answer(command.args(["hook", "stop", "--most=3"]), said));
    }
    let mut command = place.command();
    lets_go(&answer(command.args(["hook", "stop", "--most=3"]), b""));
}

#[test]
fn in_a_run_an_agent_is_held_to_its_own_quest_alone() {
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
    assert!(holds(&stop("run-r.1")).contains("Acme"));
    let before = place.ledger();
    assert!(lets_go(&stop("run-r.2")).contains("the run"));
    assert_eq!(place.ledger(), before);
    let mut command = place.command();
    command
        .args(["hook", "stop", "--worker=run-r.1"])
        .env("COMAIL_LAST_CALL", "1");
    let last = answer(&mut command, call(false).to_string().as_bytes());
    assert!(lets_go(&last).contains("budget"));
}

#[test]
fn other_agents_are_answered_in_their_own_words() {
    let place = scanned(&["Acme"]);
    let said = json!({ "hook_event_name": "AfterAgent", "stop_hook_active": false });
    let reply = stop(&place, &["--agent=gemini"], &said);
    assert_eq!(reply["decision"], "deny", "{reply:#}");
    holds(&stop(&place, &["--agent=codex"], &call(false)));
    let _ = place.run(["hook", "tool", "--agent=nobody"]).exits(2);
}
