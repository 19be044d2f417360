//! The agents that `comail run` knows, and a model for them that follows a script.
//!
//! `COMAIL_TEST_AGENTS=claude,codex` names the agents whose programs really run here; `.ci/agents`
//! installs them. A script plays each other agent: it prints the stream that the program printed when
//! it was recorded, with `COMAIL_RECORD_AGENTS=1`.

mod anthropic;
mod chat;
mod gemini;
mod kit;
mod model;
mod responses;

use serde_json::json;

use crate::harness::Place;
use crate::harness::agents::Driven;
use crate::harness::email_net::{EmailNet, Submission};

use kit::{Kit, Played};
use model::{READ, Turn, WRITTEN};

/// The servers that Claude Code is given: comail, which finds the judge in its environment.
const MCP: &str = r#"{"mcpServers": {"comail": {"command": "comail", "args": ["mcp"]}}}"#;

fn verdicts(place: &Place) -> Vec<String> {
    let attempts = place.events("attempt").into_iter();
    let verdicts = attempts.map(|it| it["verdict"].as_str().expect("a verdict").to_owned());
    verdicts.collect()
}

/// The agent looks at its quest, answers wrongly, and then as the facts say. Its recorded stream
/// tells what this many calls of the model used.
fn passes(name: &'static str, calls: u64) {
    let turns = [
        Turn::shell("comail next"),
        Turn::shell("comail submit --id=1 --answer wrong"),
        Turn::shell("comail submit --id=1 --answer 'right as rain'"),
        Turn::say("It is done."),
    ];
    plays_until_pass(name, "passes", &turns, &[], calls);
}

fn plays_until_pass(name: &'static str, recording: &str, turns: &[Turn], own: &[&str], calls: u64) {
    let place = Driven::new(1).place;
    place.write("mcp.json", MCP);
    Kit::of(name, &place).with(own).record(recording, turns, 0);

    let driven = Driven::new(1);
    driven.place.write("mcp.json", MCP);
    let kit = Kit::of(name, &driven.place).with(own);
    let Played { run, asked } = kit.plays(recording, turns, 0, &[]);
    let seen = format!("{run:?}");
    run.ok();
    assert_eq!(verdicts(&driven.place), ["FAIL", "PASS"], "{seen}");
    let attempts = driven.steps_of("attempt");
    assert_eq!(attempts.len(), 1, "{seen}");
    let spent = &attempts[0]["spent"];
    if let Some(asked) = asked {
        assert!(asked[0].talk.text.contains("Say that word 1 is right"));
        let facts = &asked[2].talk.outputs[1];
        assert!(facts.contains("is-right"), "{facts}");
        // The agent is stopped after PASS, maybe before it reports all that it used.
        assert!(spent["tokens"].as_u64() > Some(0), "{spent}");
    } else {
        assert_eq!(spent["tokens"], calls * (READ + WRITTEN), "{spent}");
        assert_eq!(spent["told"], true, "{spent}");
    }
}

#[test]
fn claude_answers_until_pass() {
    passes("claude", 4);
}

#[test]
fn codex_answers_until_pass() {
    passes("codex", 4);
}

#[test]
fn gemini_answers_until_pass() {
    passes("gemini", 4);
}

#[test]
fn qwen_answers_until_pass() {
    // It asks its model for two things more.
    passes("qwen", 6);
}

#[test]
fn opencode_answers_until_pass() {
    passes("opencode", 4);
}

#[test]
fn claude_answers_with_the_tools_of_mcp() {
    let answer = |text: &str| json!({"id": 1, "fields": {"answer": text}});
    let turns = [
        Turn::Tool("next", json!({})),
        Turn::Tool("submit", answer("wrong")),
        Turn::Tool("submit", answer("right as rain")),
        Turn::say("It is done."),
    ];
    let own = [
        "--mcp-config=mcp.json",
        "--allowedTools=mcp__comail__next,mcp__comail__submit",
    ];
    plays_until_pass("claude", "mcp", &turns, &own, 4);
}

#[test]
fn aider_prints_its_answer() {
    let turns = [Turn::say(r#"{"answer": "right as rain"}"#)];
    Kit::of("aider", &Driven::new(1).place).record("prints", &turns, 0);

    let driven = Driven::new(1);
    let kit = Kit::of("aider", &driven.place);
    let Played { run, .. } = kit.plays("prints", &turns, 0, &["--answer=stdout"]);
    run.ok();
    assert_eq!(verdicts(&driven.place), ["PASS"]);
}

/// The sandbox of Codex has no network, and the gate asks the network of the run.
#[test]
fn codex_is_judged_with_the_network_of_the_run() {
    const REACHED: &str = "the web was reached";
    let net = EmailNet::start();
    let port = net.net.web.address().port();
    let submit = |answer: &Submission| Turn::shell(format!("comail {}", answer.args(1).join(" ")));
    let turns = [
        Turn::shell(format!(
            "bash -c 'exec 3<> /dev/tcp/127.0.0.1/{port}' && echo {REACHED}"
        )),
        submit(&net.acme().email("nobody@acme.co.kr")),
        submit(&net.acme()),
        Turn::say("It is done."),
    ];
    let Played { run, asked } = Kit::of("codex", &net.place).plays("passes", &turns, 0, &[]);
    let seen = format!("{run:?}");
    run.ok();
    assert_eq!(verdicts(&net.place), ["FAIL", "PASS"], "{seen}");
    if let Some(asked) = asked {
        let outputs = &asked[2].talk.outputs;
        assert!(!outputs[0].contains(REACHED), "{outputs:?}");
    }
}

/// The provider refuses every request with this status.
fn is_refused(name: &'static str, status: u16, exit: i32, reason: &str) {
    let recording = format!("refused-{status}");
    let turns = [Turn::Refuse(status)];
    Kit::of(name, &Driven::new(1).place).record(&recording, &turns, exit);

    let driven = Driven::new(1);
    let kit = Kit::of(name, &driven.place);
    let flags = ["--set=run.max-attempts=1"];
    let Played { run, .. } = kit.plays(&recording, &turns, exit, &flags);
    let seen = format!("{run:?}");
    let _ = run.exits(8);
    assert_eq!(driven.reasons("attempt"), [reason], "{seen}");
}

#[test]
fn claude_says_that_its_login_is_refused() {
    is_refused("claude", 401, 1, "not-logged-in");
}

#[test]
fn codex_says_that_its_login_is_refused() {
    is_refused("codex", 401, 1, "not-logged-in");
}

#[test]
fn gemini_says_that_its_login_is_refused() {
    is_refused("gemini", 401, 145, "not-logged-in");
}

#[test]
fn qwen_says_that_its_login_is_refused() {
    is_refused("qwen", 401, 1, "not-logged-in");
}

#[test]
fn opencode_says_that_its_login_is_refused() {
    is_refused("opencode", 401, 1, "not-logged-in");
}

#[test]
fn codex_says_that_its_rate_is_limited() {
    is_refused("codex", 429, 1, "rate-limited");
}
