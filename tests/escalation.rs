//! `comail run` with the agents of a quest file, of which the next takes over after so many FAILs.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::harness::agents::{Driven, PATH, QUEST, with_id};
use crate::harness::{Place, Run};

const AGENTS: &str = r#"
[run]
agents = [{ agent = "claude", model = "small-1" }, { agent = "codex", after = 2 }]
"#;

/// A Claude that never finds the answer, keeps its arguments in `claude.args`, and does `act`.
fn claude(act: &str) -> String {
    let script = with_id(&format!(
        r#"echo "$@" >> claude.args
echo '{{"type":"system","session_id":"c-1"}}'
{act}"#
    ));
    format!("#!/bin/sh\n{script}\n")
}

/// A Codex that finds it, and keeps its prompt and its arguments.
fn codex() -> String {
    let script = with_id(
        r#"printf '%s' "$prompt" > codex.prompt; echo "$@" > codex.args
comail submit --id $id --answer right
echo '{"type":"turn.completed","usage":{"input_tokens":900,"output_tokens":7}}'"#,
    );
    format!("#!/bin/sh\n{script}\n")
}

const TWO_FAILS: &str = r#"comail submit --id $id --answer wrong1
echo '{"type":"result","total_cost_usd":0.5,"usage":{"input_tokens":300,"output_tokens":1}}'
comail submit --id $id --answer wrong2
exec sleep 1000"#;

fn of_file(agents: &str, quests: u32) -> Driven {
    let kind = format!("{QUEST}{agents}");
    Driven::of_kind(&kind, quests, &["--set=scan.pause-after=0"])
}

/// `comail run` with the agents of the quest file, of which Claude does `act`.
fn run(driven: &Driven, act: &str) -> Command {
    driven.program("claude", &claude(act));
    let path = driven.program("codex", &codex());
    let mut command = driven.place.command();
    command.env("PATH", path).arg("run");
    command.args(["--set=poll=10ms", "--set=grace=100ms", "--set=backoff=1ms"]);
    command
}

fn started(driven: &Driven) -> Vec<(u64, String, Value)> {
    let starts = driven.steps_of("start").into_iter().map(|step| {
        let number = step["start"].as_u64().expect("a number");
        let agent = step["agent"].as_str().expect("a name").to_owned();
        (number, agent, step["model"].clone())
    });
    starts.collect()
}

fn read(place: &Place, name: &str) -> String {
    fs::read_to_string(place.at(name)).expect(name)
}

#[test]
fn after_a_scan_the_next_step_names_an_agent_unless_the_file_does() {
    for (agents, hint) in [
        ("", "go on with `comail run --agent claude`,"),
        (AGENTS, "go on with `comail run`,"),
    ] {
        let place = Place::new();
        place.write("list.txt", "one\n");
        place.write("quest.toml", format!("{QUEST}{agents}"));
        let mut command = place.command();
        command.env("PATH", PATH);
        command.args(["scan", "list.txt", "--quest=quest.toml"]);
        let text = Run::of(&mut command).ok();
        assert!(text.contains(hint), "{text}");
    }
}

#[test]
fn the_next_agent_takes_over_after_so_many_fails() {
    let driven = of_file(AGENTS, 1);
    let place = &driven.place;
    let text = Run::of(run(&driven, TWO_FAILS).arg("--set=resume=true")).ok();
    let first = "claude with small-1, after 2 FAILs codex, 1 agent at a time";
    assert!(text.contains(first), "{text}");
    assert!(
        text.contains("quest 1, word 1: start 2 of codex\n"),
        "{text}"
    );
    let starts = [
        (1, "claude".to_owned(), json!("small-1")),
        (2, "codex".to_owned(), Value::Null),
    ];
    assert_eq!(started(&driven), starts);
    assert_eq!(driven.reasons("attempt"), ["escalated", "settled"]);
    let args = read(place, "claude.args");
    assert!(args.contains("--model small-1"), "{args}");
    // The conversation of the other agent is not continued, so the prompt tells of it.
    let args = read(place, "codex.args");
    assert!(!args.contains("resume"), "{args}");
    let prompt = read(place, "codex.prompt");
    assert!(
        prompt.contains("start 1 of claude with small-1 ended: escalated"),
        "{prompt}"
    );
    assert!(prompt.contains("wrong2"), "{prompt}");

    let log = place.run(["log"]).ok();
    assert!(
        log.contains("begins: claude with small-1, after 2 FAILs codex"),
        "{log}"
    );
    assert!(
        log.contains("word 1: start 1 of claude with small-1, as run-"),
        "{log}"
    );
    assert!(log.contains("word 1: start 2 of codex, as run-"), "{log}");

    let (_, insights) = place.json(["insights"]);
    let [claude, codex] = &insights["agents"].as_array().expect("agents")[..] else {
        panic!("{insights:#}");
    };
    assert_eq!(
        (&claude["agent"], &claude["model"]),
        (&json!("claude"), &json!("small-1"))
    );
    assert_eq!(
        (&claude["submissions"], &claude["passed"]),
        (&json!(2), &json!(0))
    );
    assert_eq!(
        (&claude["dollars"], &claude["tokens"]),
        (&json!(0.5), &json!(301))
    );
    assert_eq!(
        (&codex["agent"], &codex["model"]),
        (&json!("codex"), &Value::Null)
    );
    assert_eq!(
        (&codex["submissions"], &codex["passed"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(
        (&codex["dollars"], &codex["tokens"]),
        (&Value::Null, &json!(907))
    );
    let text = place.run(["insights"]).ok();
    assert!(text.contains("agent claude, model small-1\n"), "{text}");
    assert!(text.contains("301 tokens, $0.5000 reported\n"), "{text}");
    let report = place.run(["report"]).ok();
    assert!(
        report.contains("| claude, model small-1; after 2 FAILs codex |"),
        "{report}"
    );
    place.run(["audit"]).ok();
}

#[test]
fn an_agent_that_ends_by_itself_is_started_again_until_the_next_takes_over() {
    let driven = of_file(AGENTS, 2);
    Run::of(&mut run(&driven, "comail submit --id $id --answer wrong$$")).ok();
    let agents: Vec<_> = started(&driven)
        .into_iter()
        .map(|(_, agent, _)| agent)
        .collect();
    assert_eq!(agents, ["claude", "claude", "codex"].repeat(2));
    let reasons = ["agent-failed", "escalated", "settled"].repeat(2);
    assert_eq!(driven.reasons("attempt"), reasons);
}

#[test]
fn another_run_goes_on_with_the_agent_for_the_fails_of_the_quest() {
    let driven = of_file(AGENTS, 1);
    for answer in ["--answer=wrong1", "--answer=wrong2"] {
        let _ = driven.place.run(["submit", "--id=1", answer]).exits(5);
    }
    Run::of(&mut run(&driven, TWO_FAILS)).ok();
    assert_eq!(started(&driven), [(1, "codex".to_owned(), Value::Null)]);
}

#[test]
fn an_agent_of_the_command_line_works_alone() {
    let driven = of_file(AGENTS, 1);
    driven
        .drive(&[], "comail submit --id $id --answer right")
        .ok();
    assert_eq!(started(&driven), []);
    let driven = of_file(AGENTS, 1);
    let refused = Run::of(run(&driven, "").arg("--model=small-2"));
    refused.says("--model small-2: the quest file names the agents");
    let _ = refused.exits(2);
    let dry = Run::of(run(&driven, "").arg("--dry-run")).ok();
    assert!(
        dry.contains("claude -p ") && dry.contains("codex exec "),
        "{dry}"
    );
    let driven = Driven::new(1);
    let none = Run::of(&mut run(&driven, ""));
    none.says("name agents in [run] of the quest file");
    let _ = none.exits(2);
}

#[test]
fn agents_that_would_never_take_over_are_refused_before_a_session_is_made() {
    let place = Place::new();
    place.write("list.txt", "a\n");
    place.write("quest.toml", format!("{QUEST}{AGENTS}"));
    let comail = |args: &[&str]| Run::of(place.command().env("PATH", PATH).args(args));
    comail(&["quest", "check", "quest.toml"]).ok();
    let refused = comail(&["scan", "list.txt", "--quest=quest.toml", "--max-tries=2"]);
    refused.says("expected fewer than 2, the tries of a quest");
    let _ = refused.exits(2);
    assert!(!place.at(".comail").exists());
    let text = format!("max_tries = 2\n{QUEST}{AGENTS}");
    let line = text.lines().position(|line| line.contains("after = "));
    place.write("quest.toml", &text);
    let refused = comail(&["quest", "check", "quest.toml"]);
    refused.says(&format!("quest.toml:{}:", line.expect("a line") + 1));
    let _ = refused.exits(2);
}
