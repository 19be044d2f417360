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

use kit::{Kit, Played};
use model::{READ, Turn, WRITTEN};

/// The agent looks at its quest, answers wrongly, and then as the facts say. Its recorded stream
/// tells what this many calls of the model used.
fn passes(name: &'static str, calls: u64) {
    let kit = Kit::of(name);
    let turns = [
        Turn::shell("comail next"),
        Turn::shell("comail submit --id=1 --answer wrong"),
        Turn::shell("comail submit --id=1 --answer 'right as rain'"),
        Turn::say("It is done."),
    ];
    let Played { run, asked } = kit.plays("passes", &turns, 0, &[]);
    let seen = format!("{run:?}");
    run.ok();
    let verdicts: Vec<_> = kit.driven.place.events("attempt");
    let verdicts: Vec<_> = verdicts.iter().map(|it| &it["verdict"]).collect();
    assert_eq!(verdicts, ["FAIL", "PASS"], "{seen}");
    let attempts = kit.driven.steps_of("attempt");
    assert_eq!(attempts.len(), 1, "{seen}");
    let spent = &attempts[0]["spent"];
    if let Some(asked) = asked {
        assert!(asked[0].talk.text.contains("Say that word 1 is right"));
        let facts = &asked[2].talk.outputs[1];
        assert!(facts.contains("FAIL is-right"), "{facts}");
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

/// The provider refuses every request with this status.
fn is_refused(name: &'static str, status: u16, exit: i32, reason: &str) {
    let kit = Kit::of(name);
    let recording = format!("refused-{status}");
    let flags = ["--set=run.max-attempts=1"];
    let Played { run, .. } = kit.plays(&recording, &[Turn::Refuse(status)], exit, &flags);
    let seen = format!("{run:?}");
    let _ = run.exits(8);
    assert_eq!(kit.driven.reasons("attempt"), [reason], "{seen}");
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
