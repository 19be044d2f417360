//! What a line of JSON tells of an agent that nobody here knows.

use serde_json::Value;

use crate::run::agent::transcript::Transcript;
use crate::run::agent::usage::{self, Usage};

const ABOUT: [&str; 14] = [
    "type",
    "usage",
    "cost",
    "cost_usd",
    "costUSD",
    "total_cost_usd",
    "model",
    "session_id",
    "conversation_id",
    "thread_id",
    "timestamp",
    "id",
    "role",
    "duration_ms",
];

const ARGUMENTS: [&str; 5] = ["input", "arguments", "args", "parameters", "params"];

const NAMES: [&str; 4] = ["name", "tool", "tool_name", "function"];

const TEXTS: [&str; 5] = ["text", "content", "message", "result", "response"];

pub(super) fn read(event: &Value, line: &str, transcript: &mut Transcript) {
    let kind = event["type"].as_str().unwrap_or_default();
    for name in ["session_id", "conversation_id", "thread_id"] {
        transcript.converses(&event[name]);
    }
    if let Some(usage) = used(event) {
        transcript.turn(usage);
    }
    if let Some((tool, arguments)) = call(kind, event) {
        return transcript.calls(tool, arguments);
    }
    if only_tells(event) {
        return;
    }
    let text = TEXTS.iter().find_map(|name| event[*name].as_str());
    match text {
        Some(text) if tells(kind) => transcript.says(text),
        _ => transcript.says(line),
    }
    transcript.failed |= tells(kind) && event["is_error"] == true;
}

pub(in crate::run::agent) fn used(told: &Value) -> Option<Usage> {
    let tokens = usage::tokens(&told["usage"]).or_else(|| usage::tokens(&told["stats"]));
    let by_model = || {
        let models = told["stats"]["models"].as_object()?;
        let each = models
            .values()
            .filter_map(|model| usage::tokens(&model["tokens"]));
        Some(each.fold(0, u64::saturating_add))
    };
    let tokens = tokens.or_else(by_model)?;
    Some(Usage {
        tokens,
        cost: usage::cost(told).or_else(|| usage::cost(&told["usage"])),
    })
}

fn call<'a>(kind: &str, event: &'a Value) -> Option<(&'a str, &'a Value)> {
    if !kind.contains("tool") || kind.contains("result") {
        return None;
    }
    let tool = NAMES.iter().find_map(|name| event[*name].as_str())?;
    let arguments = ARGUMENTS.iter().find_map(|name| event.get(*name))?;
    Some((tool, arguments))
}

fn only_tells(event: &Value) -> bool {
    let told = event.as_object().is_some_and(|members| {
        members.contains_key("usage") || members.contains_key("session_id") || tells_cost(members)
    });
    let mut names = event
        .as_object()
        .into_iter()
        .flat_map(|members| members.keys());
    told && names.all(|name| ABOUT.contains(&name.as_str()))
}

fn tells_cost(members: &serde_json::Map<String, Value>) -> bool {
    members.contains_key("total_cost_usd")
}

fn tells(kind: &str) -> bool {
    matches!(
        kind,
        "assistant" | "message" | "result" | "text" | "error" | "agent_message"
    )
}
